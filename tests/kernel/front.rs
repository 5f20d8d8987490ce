//! Checks the front end against the real tools: kernel files in, bitcode, interfaces, syntax trees and messages out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kassay_base::error::Error;
use kassay_ir::kernel::compile::{Format, Loaded, load};
use kassay_ir::kernel::{module, signature};
use kassay_ir::llvm::Context;
use kassay_model::interface::{
    Access, AddressSpace, Arg, ArgKind, ImageKind, Interface, LocalVariable, Scalar, Struct, Type,
};
use kassay_model::options::KernelOptions;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }
}

fn std(version: &str) -> KernelOptions {
    KernelOptions { cl_std: Some(version.to_owned()), ..KernelOptions::default() }
}

fn compiled(text: &str, options: &KernelOptions) -> Loaded {
    load(&Folder::new().file("k.cl", text), options, false).unwrap()
}

fn interfaces(bytes: &[u8]) -> Vec<Interface> {
    let context = Context::create();
    let module = module::parse(&context, bytes, Path::new("k")).unwrap();
    signature::interfaces(&module).unwrap()
}

fn interface(text: &str) -> Interface {
    interfaces(&compiled(text, &KernelOptions::default()).bitcode).remove(0)
}

fn refusal(path: &Path) -> Error {
    load(path, &KernelOptions::default(), false).unwrap_err()
}

fn tool(program: &str, arguments: &[&str], input: &Path, output: &Path) {
    let status = Command::new(program).args(arguments).arg(input).arg("-o").arg(output).status().unwrap();
    assert!(status.success(), "{program}");
}

fn record(ty: &Type) -> &Struct {
    match ty {
        Type::Struct(record) => record,
        other => panic!("no struct: {other:?}"),
    }
}

fn fields(record: &Struct) -> Vec<(&str, u64, String)> {
    record.fields.iter().map(|field| (field.name.as_str(), field.offset, field.ty.name())).collect()
}

fn element(arg: &Arg) -> &Type {
    match &arg.kind {
        ArgKind::Buffer { element: Some(element), .. } | ArgKind::Local { element: Some(element) } => element,
        other => panic!("no element: {other:?}"),
    }
}

const ALL_KINDS: &str = r#"
typedef struct { int x; float4 v; } In;
typedef enum { A, B } En;
typedef union { int i; float f; } U;
struct Q { __global int *p; bool b; struct Q *next; };
struct P { char c; In in[2]; U u; En e; ushort h; struct { long q; } anon; };
typedef struct P PT;
static int helper(__local int *p) { return p[0]; }
__kernel __attribute__((reqd_work_group_size(8,2,1))) __attribute__((work_group_size_hint(16,1,1)))
void k(__global float *restrict o, __global struct Q *qs, __global const PT *ps, PT byv, __constant uint4 *c,
       __local int *l, int n, uchar3 u3, read_only image2d_t img, sampler_t s, write_only image3d_t im3, En en,
       __global int (*arr)[4], volatile __global ulong *ul, read_only image1d_buffer_t b1, __global void *vp) {
  __local int tmp[16];
  __local float4 more;
  tmp[get_local_id(0)] = n;
  more = (float4)(0);
  o[0] = helper(tmp) + ps->in[0].x + byv.h + c[0].x + l[0] + u3.x + more.x;
}
__kernel void other(__global float *o) { __local int tmp[2]; tmp[0] = 1; o[0] = tmp[0]; }
"#;

#[test]
fn every_kind_of_argument_is_read_with_its_layout() {
    let k = interface(ALL_KINDS);
    assert_eq!(k.name, "k");
    assert_eq!(k.required_local, Some([8, 2, 1]));
    assert_eq!(k.local_hint, Some([16, 1, 1]));
    let names: Vec<_> = k.args.iter().map(Arg::label).collect();
    let wanted = "o qs ps byv c l n u3 img s im3 en arr ul b1 vp";
    assert_eq!(names.join(" "), wanted);
    let types: Vec<_> = k.args.iter().map(|arg| arg.type_name.as_str()).collect();
    assert_eq!(types[..6], ["float*", "struct Q*", "struct P*", "struct P", "uint4*", "int*"]);
    assert_eq!(types[6..11], ["int", "uchar3", "image2d_t", "sampler_t", "image3d_t"]);

    assert_eq!(*element(&k.args[0]), Type::Scalar(Scalar::F32));
    assert!(k.args[0].is_restrict && !k.args[0].is_const);
    assert!(k.args[2].is_const && k.args[4].is_const && k.args[13].is_volatile);
    assert_eq!(k.args[0].address_space(), AddressSpace::Global);
    assert_eq!(k.args[4].address_space(), AddressSpace::Constant);
    assert_eq!(*element(&k.args[4]), Type::Vector(Scalar::U32, 4));
    assert_eq!(k.args[5].kind, ArgKind::Local { element: Some(Type::Scalar(Scalar::I32)) });
    assert_eq!(k.args[6].kind, ArgKind::Value(Type::Scalar(Scalar::I32)));
    assert_eq!(k.args[7].kind, ArgKind::Value(Type::Vector(Scalar::U8, 3)));
    assert_eq!((&k.args[8].kind, k.args[8].access), (&ArgKind::Image(ImageKind::D2), Access::ReadOnly));
    assert_eq!(k.args[9].kind, ArgKind::Sampler);
    assert_eq!((&k.args[10].kind, k.args[10].access), (&ArgKind::Image(ImageKind::D3), Access::WriteOnly));
    assert_eq!(k.args[11].kind, ArgKind::Value(Type::Scalar(Scalar::U32)));
    assert_eq!(*element(&k.args[12]), Type::Array(Box::new(Type::Scalar(Scalar::I32)), 4));
    assert_eq!(*element(&k.args[13]), Type::Scalar(Scalar::U64));
    assert_eq!(k.args[14].kind, ArgKind::Image(ImageKind::D1Buffer));
    assert_eq!(k.args[15].kind, ArgKind::Buffer { element: None, space: AddressSpace::Global });

    let q = record(element(&k.args[1]));
    assert_eq!(fields(q), [("p", 0, "int*".into()), ("b", 8, "uchar".into()), ("next", 16, "Q*".into())]);
    assert_eq!((q.size, q.align), (24, 8));
    let p = record(element(&k.args[2]));
    assert_eq!((p.name.as_str(), p.size, p.align), ("P", 112, 16));
    let offsets: Vec<_> = p.fields.iter().map(|field| (field.name.as_str(), field.offset)).collect();
    assert_eq!(offsets, [("c", 0), ("in", 16), ("u", 80), ("e", 84), ("h", 88), ("anon", 96)]);
    let Type::Array(inner, 2) = &p.fields[1].ty else { panic!() };
    assert_eq!(fields(record(inner)), [("x", 0, "int".into()), ("v", 16, "float4".into())]);
    assert!(record(&p.fields[2].ty).is_union);
    assert_eq!(p.fields[3].ty, Type::Scalar(Scalar::U32));
    assert_eq!(k.args[3].kind, ArgKind::Value(element(&k.args[2]).clone()));
    let local = |name: &str, size| LocalVariable { name: name.into(), size };
    assert_eq!(k.local_variables, [local("tmp", 64), local("more", 16)]);
}

#[test]
fn each_kernel_has_its_own_local_variables() {
    let all = interfaces(&compiled(ALL_KINDS, &KernelOptions::default()).bitcode);
    assert_eq!(all.len(), 2);
    assert_eq!(all[1].local_variables, [LocalVariable { name: "tmp".into(), size: 8 }]);
    assert_eq!(all[1].required_local, None);
}

#[test]
fn without_debug_information_names_and_signs_come_from_metadata_and_fields_from_the_ir() {
    let options = KernelOptions { suite_options: vec!["-g0".into()], ..KernelOptions::default() };
    let k = interfaces(&compiled(ALL_KINDS, &options).bitcode).remove(0);
    assert_eq!(k.args[0].label(), "o");
    assert_eq!(*element(&k.args[4]), Type::Vector(Scalar::U32, 4));
    assert_eq!(k.args[7].kind, ArgKind::Value(Type::Vector(Scalar::U8, 3)));
    let p = record(element(&k.args[2]));
    let offsets: Vec<_> = p.fields.iter().map(|field| (field.name.as_str(), field.offset)).collect();
    // The last field is clang's padding, which cannot be distinguished from an array of bytes.
    assert_eq!(offsets, [("0", 0), ("1", 16), ("2", 80), ("3", 84), ("4", 88), ("5", 96), ("6", 104)]);
    assert_eq!(k.args[3].kind, ArgKind::Value(element(&k.args[2]).clone()));
    assert_eq!(k.args[10].access, Access::WriteOnly);
}

#[test]
fn a_bare_module_goes_by_position() {
    let text = "target triple = \"spir64-unknown-unknown\"
        declare spir_kernel void @elsewhere()
        define spir_kernel void @k(ptr addrspace(1) %0, <3 x i16> %1, target(\"spirv.Image\", void, 1, 0, 1, 0, 0, 0, 2) %2,
            target(\"spirv.Queue\") %3, ptr addrspace(3) %4, half %5) {
          %a = getelementptr inbounds double, ptr addrspace(1) %0, i64 1
          store double 0.0, ptr addrspace(1) %a
          ret void
        }";
    let loaded = load(&Folder::new().file("k.ll", text), &KernelOptions::default(), true).unwrap();
    assert_eq!((loaded.format, loaded.ast), (Format::LlvmIr, None));
    let all = interfaces(&loaded.bitcode);
    assert_eq!(all.len(), 1);
    let args = &all[0].args;
    assert_eq!(args[0].name, None);
    assert_eq!(args[5].label(), "5");
    assert_eq!(*element(&args[0]), Type::Scalar(Scalar::F64));
    assert_eq!(args[1].kind, ArgKind::Value(Type::Vector(Scalar::I16, 3)));
    assert_eq!((&args[2].kind, args[2].access), (&ArgKind::Image(ImageKind::D2Array), Access::ReadWrite));
    assert_eq!(args[3].kind, ArgKind::Unsupported("spirv.Queue".into()));
    assert_eq!(args[4].kind, ArgKind::Local { element: None });
    assert_eq!(args[5].kind, ArgKind::Value(Type::Scalar(Scalar::F16)));
}

#[test]
fn opaque_pointers_of_older_clang_are_images_by_their_metadata() {
    let text = "target triple = \"spir64-unknown-unknown\"
        %opencl.image2d_ro_t = type opaque
        define spir_kernel void @k(%opencl.image2d_ro_t addrspace(1)* %i, float addrspace(1)* %o)
            !kernel_arg_type !1 !kernel_arg_access_qual !2 {
          ret void
        }
        !1 = !{!\"image2d_t\", !\"float*\"}
        !2 = !{!\"read_only\", !\"none\"}";
    let args = interfaces(text.as_bytes()).remove(0).args;
    assert_eq!((&args[0].kind, args[0].access), (&ArgKind::Image(ImageKind::D2), Access::ReadOnly));
    assert_eq!(*element(&args[1]), Type::Scalar(Scalar::F32));
}

#[test]
fn bitcode_and_spirv_are_read_back() {
    let folder = Folder::new();
    let loaded = compiled(
        "__kernel void k(__global float *o, int n, read_only image2d_t i, sampler_t s, __local float4 *l) {
           l[0] = read_imagef(i, s, (int2)(0, n)); o[n] = n > 3 ? 0.0f : l[0].x; }",
        &KernelOptions::default(),
    );
    let bitcode = folder.file("k.bc", &loaded.bitcode);
    let again = load(&bitcode, &KernelOptions::default(), true).unwrap();
    // It is written anew before it is read.
    let text = |bitcode: &[u8]| {
        let context = Context::create();
        module::parse(&context, bitcode, Path::new("k.bc")).unwrap().print_to_string().to_string()
    };
    assert_eq!((again.format, text(&again.bitcode)), (Format::Bitcode, text(&loaded.bitcode)));
    let spirv = folder.0.path().join("k.spv");
    let flags = ["-mtriple=spirv64v1.2-unknown-unknown", "-O0", "-filetype=obj"];
    tool("llc-22", &flags, &bitcode, &spirv);
    let read = load(&spirv, &KernelOptions::default(), true).unwrap();
    assert_eq!(read.format, Format::SpirV);
    let k = interfaces(&read.bitcode).remove(0);
    assert_eq!(k.args.iter().map(Arg::label).collect::<Vec<_>>(), ["o", "n", "i", "s", "l"]);
    assert_eq!(*element(&k.args[0]), Type::Scalar(Scalar::F32));
    assert_eq!(k.args[0].type_name, "float*");
    assert_eq!((&k.args[2].kind, k.args[2].access), (&ArgKind::Image(ImageKind::D2), Access::ReadOnly));
    assert_eq!(k.args[3].kind, ArgKind::Sampler);
    assert_eq!(*element(&k.args[4]), Type::Vector(Scalar::F32, 4));

    let bytes = fs::read(&spirv).unwrap();
    for cut in [0, 3, 12, (bytes.len() / 2) & !3, bytes.len() - 2] {
        let error = refusal(&folder.file("cut.spv", &bytes[..cut]));
        assert_eq!(error.exit_code(), 2, "{cut}: {error}");
    }
}

#[test]
fn defines_includes_and_the_suites_options_reach_clang() {
    let folder = Folder::new();
    folder.file("near.h", "#define NEAR 1\n");
    folder.file("inc/far.h", "#define FAR 2\n");
    let kernel = folder.file(
        "sub/k.cl",
        "#include \"../near.h\"\n#include <far.h>\n__kernel void k(__global int *o) { __local int t[NEAR + FAR + SIZE]; t[0] = 1; o[0] = t[0]; }\n",
    );
    let options = KernelOptions {
        defines: vec!["SIZE=4".into()],
        include_dirs: vec![folder.0.path().join("inc")],
        suite_options: vec!["-USIZE".into(), "-DSIZE=5".into()],
        ..KernelOptions::default()
    };
    let loaded = load(&kernel, &options, false).unwrap();
    assert_eq!(interfaces(&loaded.bitcode)[0].local_variables[0].size, 8 * 4);
}

#[test]
fn clangs_diagnostics_are_shown_as_they_are() {
    let folder = Folder::new();
    let error = refusal(&folder.file("bad.cl", "__kernel void k(__global int *o) {\n  o[0] = nothing;\n}\n"));
    let Error::Caller(report) = &error else { panic!("{error}") };
    let place = report.place.as_ref().unwrap();
    assert_eq!((place.line, place.column), (2, 10));
    assert!(place.file.ends_with("bad.cl"));
    assert!(report.details.as_ref().unwrap().contains("use of undeclared identifier 'nothing'"), "{error}");
    let loaded = compiled("__kernel void k(__global int *o) { int x; o[0] = 1 == 1 == 2; 3; }", &std("CL1.2"));
    assert!(loaded.warnings.contains("warning:"), "{}", loaded.warnings);
}

#[test]
fn what_is_really_undeclared_is_said_alone() {
    // Functions of vendors are declared by clang's header, in a second try.
    let folder = Folder::new();
    let text = "kernel void k(global int *o) {\n  o[0] = nothing + intel_sub_group_shuffle(o[1], 0);\n}\n";
    let error = refusal(&folder.file("k.cl", text)).to_string();
    assert!(
        error.contains("undeclared identifier 'nothing'") && !error.contains("'intel_sub_group_shuffle'"),
        "{error}"
    );
    // Also where either try has more errors than clang shows by itself.
    let line = |n: usize| format!("  o[{n}] = intel_sub_group_shuffle(o[1], {n});\n");
    let wrong = |n: usize| format!("  o[{n}] = nothing{n};\n");
    let lines: String = (0..30).map(line).chain((0..25).map(wrong)).collect();
    let text = format!("kernel void k(global int *o) {{\n{lines}}}\n");
    let error = refusal(&folder.file("k.cl", &text)).to_string();
    assert!(error.contains("'nothing0'") && error.contains("... and 5 more errors"), "{error}");
    assert!(!error.contains("'intel_sub_group_shuffle'"), "{error}");
}

#[test]
fn halves_need_no_pragma() {
    let text = "half twice(half x) { half y = (half)2; return x * y; }\n\
                kernel void k(global half *o) { o[0] = twice(o[1]) + 1.5h; }\n";
    for version in ["CL1.2", "CL2.0", "CL3.0"] {
        let loaded = compiled(text, &std(version));
        assert_eq!(loaded.warnings, "", "{version}");
    }
    // Who turns them off has none.
    let folder = Folder::new();
    let kernel = folder.file("k.cl", text);
    let without = KernelOptions { clang_args: vec!["-Xclang".into(), "-cl-ext=-cl_khr_fp16".into()], ..std("CL1.2") };
    let error = load(&kernel, &without, false).unwrap_err().to_string();
    assert!(error.contains("'half'"), "{error}");
}

#[test]
fn extensions_of_other_devices_are_not_announced() {
    let text = "#if defined(cl_amd_media_ops) || defined(cl_amd_media_ops2)\n#error no device has these\n#endif\n\
                #ifndef cl_khr_fp16\n#error devices have halves\n#endif\nkernel void k(global int *o) { o[0] = 1; }\n";
    for version in ["CL1.2", "CL2.0", "CL3.0"] {
        compiled(text, &std(version));
    }
}

/// Constructs that clang 22 refuses by default and drivers accept with a warning, one for each diagnostic group.
const ACCEPTED: &[(&str, &str)] = &[
    ("incompatible-pointer-types", "__kernel void k(__global float *o) { __global int *p = o; p[0] = 1; }"),
    ("int-conversion", "__kernel void k(__global int *o) { o[0] = o; }"),
    ("int-conversion", "__kernel void k(__global long *o) { __global long *p = o[1]; o[0] = p == 0; }"),
    (
        "return-mismatch",
        "int f(int x) { if (x) return 1; return; } __kernel void k(__global int *o) { o[0] = f(o[1]); }",
    ),
    ("return-mismatch", "void f(int x) { return x + 1; } __kernel void k(__global int *o) { f(o[0]); o[0] = 1; }"),
    ("implicit-int", "f(int x) { return x; } __kernel void k(__global int *o) { o[0] = f(2); }"),
];

#[test]
fn what_drivers_accept_is_a_warning_unless_the_caller_asks_for_more() {
    for (group, text) in ACCEPTED {
        let folder = Folder::new();
        let file = folder.file("k.cl", text);
        let with = |clang: &[&str], suite: &[&str]| {
            let own = |all: &[&str]| all.iter().map(|&one| one.to_owned()).collect();
            let options =
                KernelOptions { clang_args: own(clang), suite_options: own(suite), ..KernelOptions::default() };
            load(&file, &options, false)
        };
        let loaded = with(&[], &[]).unwrap_or_else(|error| panic!("{group}: {error}"));
        assert!(loaded.warnings.contains("warning:") && loaded.warnings.contains(group), "{}", loaded.warnings);
        assert!(loaded.accepted_errors().contains("warning:"), "{}", loaded.warnings);
        let one = format!("-Werror={group}");
        for (clang, suite) in
            [(&["-Werror"][..], &[][..]), (&[], &["-Werror"]), (&[&one], &[]), (&["-Wno-error"], &[&one])]
        {
            let error = with(clang, suite).unwrap_err();
            assert!(
                matches!(error, Error::Caller(_)) && error.to_string().contains(group),
                "{clang:?} {suite:?}: {error}"
            );
        }
        with(&["-Werror", "-Wno-error"], &[]).unwrap();
        with(&["-Werror"], &[&format!("-Wno-error={group}")]).unwrap();
    }
}

#[test]
fn functions_that_only_clangs_header_declares_are_found() {
    let text = "__kernel void k(__global int *o) { o[0] = intel_sub_group_shuffle(o[1], 0); }";
    let loaded = compiled(text, &KernelOptions::default());
    assert!(String::from_utf8_lossy(&loaded.bitcode).contains("intel_sub_group_shuffle"));
    assert_eq!(loaded.accepted_errors(), "");
}

#[test]
fn options_that_change_the_kind_of_output_are_refused() {
    let folder = Folder::new();
    let file = folder.file("k.cl", "__kernel void k(__global int *o) { o[0] = 1; }");
    for argument in ["-E", "-fsyntax-only", "-save-temps", "--version"] {
        let options = KernelOptions { clang_args: vec![argument.to_owned()], ..KernelOptions::default() };
        let error = load(&file, &options, false).unwrap_err();
        assert!(matches!(error, Error::Caller(_)), "{argument}: {error}");
    }
    let options = KernelOptions { clang_args: vec!["-no-such-option".to_owned()], ..KernelOptions::default() };
    let error = load(&file, &options, false).unwrap_err().to_string();
    assert!(error.contains("clang-22: error: unknown argument") && error.contains("-no-such-option"), "{error}");
}

#[test]
fn three_versions_of_the_language_compile_with_their_features() {
    let atomics = "__kernel void k(__global atomic_int *a, __global int *o) {
        o[0] = atomic_fetch_add(a, 1); work_group_barrier(CLK_LOCAL_MEM_FENCE); }";
    let generic = "int f(int *p) { return *p; } __global int g = 3;
        __kernel void k(__global int *o) { int x = 1; o[0] = f(o) + f(&x) + g; }";
    let halves = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable
        __kernel void k(__global double *d, half h) { d[0] = h; }";
    for version in ["CL1.2", "CL2.0", "CL3.0"] {
        let loaded = compiled(halves, &std(version));
        assert_eq!(*element(&interfaces(&loaded.bitcode)[0].args[0]), Type::Scalar(Scalar::F64), "{version}");
        let fails = version == "CL1.2";
        for text in [atomics, generic] {
            let path = Folder::new();
            let result = load(&path.file("k.cl", text), &std(version), false);
            assert_eq!(result.is_err(), fails, "{version}: {text}");
        }
    }
    // Without generic pointers, CL 3.0's atomics name their address space.
    let text = String::from_utf8_lossy(&compiled(atomics, &std("CL3.0")).bitcode).into_owned();
    assert!(text.contains("_Z16atomic_fetch_addPU3AS1VU7_Atomicii"), "the builtin is not the global one");
}

#[test]
fn line_directives_do_not_move_what_is_seen() {
    let folder = Folder::new();
    folder.file("part.h", "#line 100 \"elsewhere.cl\"\nint part(int a) { if (a) return 1; return 2; }\n");
    let text = "#include \"part.h\"\n#line 900 \"gone.cl\"\n__kernel void k(__global int *o) {\n# 7 \"there.cl\"\n  o[0] = part(3);\n}\n";
    let path = folder.file("k.cl", text);
    let loaded = load(&path, &KernelOptions::default(), true).unwrap();
    let context = Context::create();
    let module = module::parse(&context, &loaded.bitcode, &path).unwrap();
    let ir = module.print_to_string().to_string();
    for name in ["gone.cl", "there.cl", "elsewhere.cl"] {
        assert!(!ir.contains(name), "{name}");
    }
    assert!(ir.contains("name: \"k\", scope") && ir.contains("line: 3,"), "{ir}");
    let ast = loaded.ast.unwrap();
    let (part, k) = (ast.function("part").unwrap(), ast.function("k").unwrap());
    assert_eq!((part.location.expansion.line, k.location.expansion.line), (2, 3));
    assert_eq!(*k.location.expansion.file, *path.to_str().unwrap());
    assert!(part.location.expansion.file.ends_with("part.h"));
    let error = refusal(&folder.file("bad.cl", "#line 50 \"x.cl\"\n__kernel void k() { y; }\n"));
    assert_eq!(error.report().place.as_ref().unwrap().line, 2);
    assert!(error.report().place.as_ref().unwrap().file.ends_with("bad.cl"), "{error}");
}

#[test]
fn wrong_inputs_are_the_callers_and_say_so() {
    let folder = Folder::new();
    let cases = [
        (folder.0.path().join("absent.cl"), "no such file"),
        (folder.file("k.txt", "x"), "no kernel file"),
        (folder.file("plain", "x"), "no kernel file"),
        (folder.file("empty.cl", " \n"), "empty"),
        (folder.file("elf.spv", "\u{7f}ELF"), "magic number"),
    ];
    for (path, words) in cases {
        let error = refusal(&path);
        assert_eq!(error.exit_code(), 2, "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.report().help.is_some(), "{error}");
    }
    fs::create_dir(folder.0.path().join("dir.cl")).unwrap();
    assert!(refusal(&folder.0.path().join("dir.cl")).to_string().contains("folder"));
}

#[test]
fn modules_that_kassay_cannot_take_are_refused() {
    let parse = |bytes: &[u8]| {
        let context = Context::create();
        module::parse(&context, bytes, Path::new("m.ll")).map(|_| ()).unwrap_err()
    };
    let kernel = "define spir_kernel void @k() {\n  ret void\n}\n";
    let with = |triple: &str| format!("target triple = \"{triple}\"\n{kernel}");
    assert!(parse(with("spir-unknown-unknown").as_bytes()).to_string().contains("32-bit"));
    assert!(parse(with("x86_64-pc-linux-gnu").as_bytes()).to_string().contains("not for SPIR"));
    let narrow = format!("target datalayout = \"p:32:32\"\n{}", with("spir64"));
    assert!(parse(narrow.as_bytes()).to_string().contains("32-bit"));
    assert!(parse(b"target triple = \"spir64\"\ndeclare spir_kernel void @k()\n").to_string().contains("no kernel"));
    let error = parse(b"target triple = \"spir64\"\ndefine spir_kernel void @k() {\n  oops\n}\n");
    let place = error.report().place.as_ref().unwrap();
    assert_eq!((place.line, place.text.as_deref()), (3, Some("  oops")));
    let good = compiled("__kernel void k(__global int *o) { o[0] = 1; }", &KernelOptions::default()).bitcode;
    for cut in [4, 40, (good.len() / 2) & !3, good.len() - 8] {
        let error = parse(&good[..cut]);
        assert_eq!(error.exit_code(), 2, "{error}");
    }
    let invalid = "target triple = \"spir64\"\ndefine spir_kernel void @k(i1 %c) {\n  br i1 %c, label %a, label %b\na:\n  %x = add i32 1, 2\n  ret void\nb:\n  %y = add i32 %x, 2\n  ret void\n}\n";
    let error = parse(invalid.as_bytes());
    assert!(error.to_string().contains("dominate"), "{error}");
}

#[test]
fn an_unknown_kernel_is_answered_with_the_known_ones() {
    let loaded = compiled(ALL_KINDS, &KernelOptions::default());
    let context = Context::create();
    let module = module::parse(&context, &loaded.bitcode, Path::new("k.cl")).unwrap();
    assert_eq!(module::kernels(&module), ["k", "other"]);
    let error = signature::interface(&module, "absent").unwrap_err();
    assert!(error.to_string().contains("k, other"), "{error}");
}
