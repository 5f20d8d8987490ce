//! Checks what is read from CUDA: that it comes in the form of OpenCL C, and what is refused.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use kassay_base::error::Result;
use kassay_ir::kernel::compile::{Loaded, load};
use kassay_ir::kernel::cuda;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::{KernelFile, sources_of};
use kassay_model::interface::{Access, Arg, ArgKind, ArgSource, Interface};
use kassay_model::options::KernelOptions;
use kassay_model::sub_groups::SubGroups;

use crate::common::testdata::{repository, testdata};

pub struct Read {
    /// The kernels' names, sorted.
    pub kernels: Vec<String>,
    interface: Interface,
    /// The functions with sites, in the module's order.
    functions: Vec<String>,
    /// The lines of decisions, loops and barriers.
    lines: BTreeSet<u32>,
    /// The canonical form.
    pub text: String,
    pub loaded: Loaded,
}

pub fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cu");
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn read_entry(text: &str, entry: &str) -> Result<Read> {
    let (_folder, path) = file(text);
    let loaded = load(&path, &KernelOptions::default(), true)?;
    let context = Context::create();
    let all = KernelFile::parse(&context, &loaded)?;
    let under_test = all.under_test(entry, &loaded, &sources_of(&path))?;
    let functions = &under_test.sites.functions;
    let mut kernels = all.kernels.clone();
    kernels.sort();
    Ok(Read {
        kernels,
        interface: under_test.interface.clone(),
        functions: functions.iter().map(|f| f.cfg.function.clone()).collect(),
        lines: under_test.sites.sites.iter().filter_map(|site| Some(site.location.as_ref()?.line)).collect(),
        text: under_test.module.print_to_string().to_string(),
        loaded,
    })
}

pub fn read(text: &str) -> Read {
    read_entry(text, "k").unwrap()
}

pub fn refusal(text: &str) -> String {
    let (_folder, path) = file(text);
    load(&path, &KernelOptions::default(), false).unwrap_err().to_string()
}

fn names(interface: &Interface) -> Vec<String> {
    interface.args.iter().map(Arg::label).collect()
}

#[test]
fn arguments_have_the_names_and_types_of_the_source() {
    let found =
        read("__global__ void k(const float *in, unsigned *out, int n, bool flip) { out[n] = in[0] > 0 && flip; }");
    assert_eq!(names(&found.interface), ["in", "out", "n", "flip"]);
    let types: Vec<&str> = found.interface.args.iter().map(|arg| arg.type_name.as_str()).collect();
    assert_eq!(types[..3], ["float*", "uint*", "int"]);
    assert!(found.interface.args[0].is_const && !found.interface.args[1].is_const);
    assert!(!found.text.contains("coerce") && !found.text.contains("addrspace(4)"), "{}", found.text);
}

#[test]
fn a_pack_of_parameters_has_a_name_for_each() {
    let found = read_entry(
        "template <typename... T> __global__ void k(int *out, T... more) { out[0] = (more + ...); }
         template __global__ void k<int, float>(int *, int, float);",
        "k<int, float>",
    )
    .unwrap();
    assert_eq!(names(&found.interface), ["out", "more0", "more1"]);
}

#[test]
fn kernels_and_functions_have_the_names_of_the_source() {
    let found = read_entry(
        "namespace ns { template <typename T> __device__ T twice(T x) { return 2 * x; }
         template <typename T, int N> __global__ void k(T *out) { if (N > 2) out[0] = twice(out[N]); } }
         template __global__ void ns::k<int, 3>(int *);
         __global__ void f(int *p) { *p = 1; }
         __global__ void f(float *p) { *p = 1; }",
        "ns::k<int, 3>",
    )
    .unwrap();
    assert_eq!(found.kernels, ["f(float*)", "f(int*)", "ns::k<int, 3>"]);
    assert_eq!(found.functions, ["ns::k<int, 3>", "ns::twice<int>"]);
    assert_eq!(found.interface.args[0].type_name, "int*");
}

#[test]
fn variables_that_other_kernels_use_are_no_arguments() {
    let found = read(
        "__device__ int a; __device__ int b = 3; __global__ void k(int *p) { *p = b; } __global__ void o() { a = 1; }",
    );
    assert_eq!(names(&found.interface), ["p", "b"]);
}

#[test]
fn constant_variables_are_set_by_tests_and_only_read_by_kernels() {
    let found = read(
        "__constant__ float c[4]; __device__ const int table[2] = {3, 4};
         __global__ void k(float *p, int i) { p[0] = c[i] * table[i & 1]; }",
    );
    let constant = &found.interface.args[2];
    assert!(matches!(constant.source, ArgSource::Variable { .. }) && constant.is_const);
    assert_eq!(names(&found.interface), ["p", "i", "c"]);
}

#[test]
fn dynamic_shared_memory_is_the_last_of_the_kernels_own_arguments() {
    let found = read(
        "extern __shared__ float s[]; __device__ int v; __device__ void set(int i) { s[i] = 1; }
         __global__ void k(float *p) { set(threadIdx.x); __syncthreads(); p[0] = s[1] + v; }",
    );
    assert_eq!(names(&found.interface), ["p", "s", "v"]);
    assert!(matches!(found.interface.args[1].kind, ArgKind::Local { .. }));
    assert!(found.interface.local_variables.is_empty());
}

#[test]
fn static_shared_memory_is_named_after_its_function() {
    let found = read(
        "__global__ void k(int *p) { __shared__ int tile[32]; tile[threadIdx.x] = 1; __syncthreads(); p[0] = tile[1]; }",
    );
    let variables: Vec<&str> = found.interface.local_variables.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(variables, ["tile"]);
}

#[test]
fn nothing_of_a_header_is_a_site() {
    let found = read(
        "#include <algorithm>
         __global__ void k(float *p, unsigned *n) {
             p[0] = std::max(p[1], sqrtf(p[2]));
             n[0] = min(n[1], 3u) + atomicInc(n + 2, 7u);
         }",
    );
    assert_eq!(found.functions, ["k"]);
    assert!(found.lines.iter().all(|line| *line <= 5), "{:?}", found.lines);
}

#[test]
fn builtins_are_those_of_opencl_for_the_pointers_space() {
    let found = read(
        "__global__ void k(int *p, unsigned long long *q, float *f) {
             __shared__ int s;
             if (threadIdx.x == 0) s = 0;
             __syncthreads();
             atomicAdd(p + 1, 2);
             atomicMax(&s, p[0]);
             atomicCAS(q, 1ull, 2ull);
             __threadfence();
             f[0] = rsqrtf(f[1]) + __fdividef(f[2], f[3]);
         }",
    );
    for call in [
        "@_Z10atomic_addPU3AS1Vii(",
        "@_Z10atomic_maxPU3AS3Vii(",
        "@_Z12atom_cmpxchgPU3AS1Vmmm(",
        "@_Z7barrierj(i32 noundef 3)",
        "@_Z22atomic_work_item_fencej12memory_order12memory_scope(i32 noundef 3, i32 noundef 5, i32 noundef 2)",
        "@_Z5rsqrtf(",
    ] {
        assert!(found.text.contains(call), "{call} is not in\n{}", found.text);
    }
}

#[test]
fn formats_are_in_constant_memory() {
    let found = read("__global__ void k(int *p) { printf(\"%d %s\\n\", p[0], \"words\"); }");
    assert!(found.text.contains("@printf(ptr addrspace(2)"), "{}", found.text);
    assert!(!found.text.contains("addrspace(4)"), "{}", found.text);
}

#[test]
fn warps_are_sub_groups_of_32() {
    let of = |body: &str| {
        let text = format!(
            "__device__ int f(int v) {{ return __shfl_down_sync(~0u, v, 1); }}
             __global__ void k(int *p) {{ {body} }}"
        );
        read(&text).interface.sub_groups
    };
    assert_eq!(of("p[0] = f(p[threadIdx.x]);"), SubGroups::Of(32));
    assert_eq!(of("p[0] = threadIdx.x % warpSize;"), SubGroups::Unused);
}

#[test]
fn masks_that_name_all_lanes_are_known_through_variables_and_parameters() {
    let found = read(
        "__device__ int sum(unsigned mask, int v) { return v + __shfl_xor_sync(mask, v, 1); }
         __global__ void k(int *p) {
             const unsigned all = 0xffffffff;
             p[threadIdx.x] = sum(all, p[threadIdx.x]) + __any_sync(all, p[0]);
         }",
    );
    assert!(found.text.contains("sub_group_shuffle") && found.text.contains("sub_group_any"), "{}", found.text);
    assert!(!found.text.contains("kassay_warp_"), "{}", found.text);
    let partial = read(
        "__global__ void k(int *p, unsigned m) {
             p[threadIdx.x] = __shfl_sync(m, p[threadIdx.x], 0) + __all_sync(__activemask(), p[0]);
         }",
    );
    assert!(!partial.text.contains("sub_group_shuffle"), "{}", partial.text);
    assert!(partial.text.contains("@_Z19kassay_warp_shufflejij("), "{}", partial.text);
    assert!(partial.text.contains("@_Z15kassay_warp_allji("), "{}", partial.text);
    assert_eq!(partial.interface.sub_groups, SubGroups::Of(32));
}

/// The names, types and accesses of a kernel's arguments.
fn arguments(interface: &Interface) -> Vec<String> {
    let one = |arg: &Arg| match arg.access {
        Access::None => format!("{}: {}", arg.label(), arg.type_name),
        access => format!("{}: {} {}", arg.label(), access.name(), arg.type_name),
    };
    interface.args.iter().map(one).collect()
}

#[test]
fn textures_are_images_with_samplers_behind_the_parameters() {
    let found = read(
        "__device__ float at(cudaTextureObject_t t, float x) { return tex2D<float>(t, x, 0); }
         __global__ void k(float *p, cudaTextureObject_t a, cudaTextureObject_t b, int n, cudaTextureObject_t lin) {
             cudaTextureObject_t same = b;
             p[0] = at(a, n) + at(same, n) + tex1Dfetch<float>(lin, n);
         }",
    );
    let expected = [
        "p: float*",
        "a: read_only image2d_t",
        "b: read_only image2d_t",
        "n: int",
        "lin: read_only image1d_t",
        "a.sampler: sampler_t",
        "b.sampler: sampler_t",
    ];
    assert_eq!(arguments(&found.interface), expected);
    assert!(!found.text.contains("cuda."), "{}", found.text);
    assert_eq!(found.functions, ["k", "at"]);
}

#[test]
fn references_to_textures_and_variables_with_handles_are_images() {
    let found = read(
        "texture<uchar4, 2, cudaReadModeNormalizedFloat> colours;
         namespace n { static texture<int> whole; }
         surface<void, 2> out;
         __constant__ cudaTextureObject_t object;
         texture<float, 3> unused;
         __device__ float inner(int i) { return tex2D(colours, i, 0).y; }
         __device__ float outer(int i) { return inner(i) + tex1Dfetch(n::whole, i); }
         __global__ void k(float *p, int i) { p[i] = outer(i) + tex1D<float>(object, i); surf2Dwrite(1.0f, out, 4 * i, 0); }
         __global__ void other(float *p) { p[0] = tex3D(unused, 0, 0, 0); }",
    );
    let expected = [
        "p: float*",
        "i: int",
        "colours: read_only image2d_t",
        "colours.sampler: sampler_t",
        "out: write_only image2d_t",
        "object: read_only image1d_t",
        "object.sampler: sampler_t",
        "n::whole: read_only image1d_t",
    ];
    assert_eq!(arguments(&found.interface), expected);
    assert!(found.text.contains("read_imagei14ocl_image1d_ro") && !found.text.contains("cuda."), "{}", found.text);
}

#[test]
fn surfaces_are_accessed_as_all_functions_together_access_them() {
    let found = read(
        "__device__ void put(cudaSurfaceObject_t s, uchar4 v) { surf2Dwrite(v, s, 0, 0, cudaBoundaryModeTrap); }
         __global__ void k(float *p, cudaSurfaceObject_t both, cudaSurfaceObject_t in, cudaSurfaceObject_t out) {
             uchar4 v = surf2Dread<uchar4>(both, 4, 0);
             put(both, v);
             surf1Dread(p, in, 0);
             surf3Dwrite(p[0], out, 0, 0, 0);
         }",
    );
    let expected = ["p: float*", "both: read_write image2d_t", "in: read_only image1d_t", "out: write_only image3d_t"];
    assert_eq!(arguments(&found.interface), expected);
    assert!(found.text.contains("write_imageui14ocl_image2d_rw"), "{}", found.text);
}

#[test]
fn handles_that_are_no_images_stay_and_are_named() {
    let remains = |arguments: &str, code: &str| {
        let head = "struct S { cudaTextureObject_t t; };";
        let found = read(&format!("{head} __global__ void k(float *p, {arguments}) {{ p[0] = {code}; }}"));
        let names: Vec<&str> = found.text.split("@cuda.").skip(1).filter_map(|rest| rest.split('(').next()).collect();
        let absent: Vec<String> =
            names.iter().filter_map(|name| Some(cuda::absent(&format!("cuda.{name}"))?.0)).collect();
        absent.first().cloned().unwrap_or_default()
    };
    let handle = |name: &str| format!("`{name}` with a handle that cannot become an image");
    assert_eq!(remains("S s", "tex1D<float>(s.t, 0)"), handle("tex1D"));
    assert_eq!(remains("cudaTextureObject_t *t", "tex1D<float>(t[1], 0)"), handle("tex1D"));
    assert_eq!(remains("cudaTextureObject_t t", "tex1D<float>(t, 0) + tex2D<float>(t, 0, 0)"), handle("tex1D"));
    assert_eq!(
        remains("cudaTextureObject_t t", "tex1Dfetch<float>(t, 0) + surf1Dread<float>(t, 0)"),
        handle("tex1Dfetch")
    );
    assert_eq!(remains("cudaTextureObject_t t", "t ? tex2D<float>(t, 0, 0) : 0"), handle("tex2D"));
    assert_eq!(
        remains("cudaTextureObject_t t, cudaTextureObject_t o, int n", "tex2D<float>(n ? t : o, 0, 0)"),
        handle("tex2D")
    );
    let other = remains("cudaTextureObject_t t", "tex1D<double>(t, 0)");
    assert!(other.contains("for a type that kassay has no texels of"), "{other}");
    let mode = remains("cudaSurfaceObject_t s", "surf1Dread<float>(s, 0, cudaBoundaryModeZero)");
    assert!(mode.contains("boundary mode"), "{mode}");
}

#[test]
fn the_architecture_is_one_with_doubles_and_atomics() {
    read("#if __CUDA_ARCH__ < 600\n#error too old\n#endif\n__global__ void k(double *p) { atomicAdd(p, 1.0); }");
    let options = KernelOptions { defines: vec!["__CUDA_ARCH__=900".to_owned()], ..KernelOptions::default() };
    let (_folder, path) =
        file("#if __CUDA_ARCH__ != 900\n#error not asked for\n#endif\n__global__ void k(int *p) { *p = 1; }");
    load(&path, &options, false).unwrap();
}

#[test]
fn host_code_that_does_not_compile_is_skipped_with_a_note() {
    let found = read(
        "#include \"helper_of_somebody.h\"
         __global__ void k(int *p) { *p = 1; }
         int main() { checkErrors(unknown(3)); k<<<1, 1>>>(nullptr); }",
    );
    let note = found.loaded.accepted_errors();
    assert!(note.contains("host functions") && note.contains("helper_of_somebody.h"), "{note}");
    let whole =
        read("__global__ void k(int *p) { *p = 1; } int main() { k<<<1, 1>>>(nullptr); cudaDeviceSynchronize(); }");
    assert_eq!(whole.loaded.accepted_errors(), "");
    let asking = read(
        "#include <cuda_runtime.h>
         __global__ void k(int *p) { *p = 1; }
         bool usable(int device) {
             int mode = -1;
             cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device);
             return mode != cudaComputeModeProhibited;
         }",
    );
    assert_eq!(asking.loaded.accepted_errors(), "");
}

#[test]
fn templates_that_only_skipped_functions_launch_are_kernels_or_named() {
    const KERNEL: &str = "template <int N> __global__ void k(int *p) { *p = N; }";
    let found = read_entry(&format!("{KERNEL} int main() {{ nothing(); k<4><<<1, 1>>>(0); }}"), "k<4>").unwrap();
    let note = found.loaded.accepted_errors();
    assert!(note.contains("has the kernels `k<4>` because skipped host functions launch them"), "{note}");
    // Arguments that functions know, or that are deduced, and a template that launches another.
    const TYPED: &str = "struct Library; extern Library *library; namespace n { enum Mode { Fast, Slow };
         template <typename T, Mode M> __global__ void k(T *p) { *p = M; } }
         template <typename T> void launch(Library &library) {
             library.begin(); T *p = 0; n::k<T, n::Slow><<<1, library.threads()>>>(p); }";
    let host = "int main() { nothing(); const int n = 2; k<n><<<1, 1>>>(0); launch<float>(*library); }";
    let note =
        read_entry(&format!("{KERNEL} {TYPED} {host}"), "n::k<float, (n::Mode)1>").unwrap().loaded.accepted_errors();
    assert!(note.contains("has the kernels `k<2>`, `n::k<float, n::Slow>` because"), "{note}");
    // Launches whose arguments are not known, members of classes, and what is not launched.
    const MEMBER: &str = "template <typename T> struct Q { static __global__ void m(T *p) { *p = T(); }
                                                           static __global__ void other(T *p) { *p = T(); } };";
    let host = "int main() { k<5><<<1, 1>>>(nothing()); Q<float>::m<<<1, 1>>>(0); }";
    let note = read_entry(&format!("{KERNEL} {MEMBER} {host}"), "k<5>").unwrap().loaded.accepted_errors();
    assert!(note.contains("has the kernels `Q<float>::m`, `k<5>` because"), "{note}");
    // A type of a function cannot be named outside of it.
    const LOCAL: &str = "template <typename T> __global__ void k(T *p) { *p = T(); }";
    let host = "int main() { struct Local { int x; }; nothing(); k<Local><<<1, 1>>>(0); }";
    let (_folder, path) = file(&format!("{LOCAL} {host}"));
    let error = load(&path, &KernelOptions::default(), false).unwrap_err();
    assert!(error.to_string().contains("has no kernel") && format!("{error:?}").contains("--instantiate"), "{error:?}");
}

#[test]
fn types_of_hosts_that_are_not_there_are_taken_as_unknown() {
    let found = read(
        "void import(cudaExternalThing_t *thing, CUsomething s) { }
         __global__ void k(int *p) { *p = 1; }",
    );
    let note = found.loaded.accepted_errors();
    assert!(note.contains("types that are not there: CUsomething, cudaExternalThing_t"), "{note}");
    let what = refusal("__global__ void k(real *p) { *p = 1; }");
    assert!(what.contains("unknown type name 'real'"), "{what}");
}

#[test]
fn a_version_of_opencl_is_refused() {
    let (_folder, path) = file("__global__ void k(int *p) { *p = 1; }");
    let options = KernelOptions { cl_std: Some("CL2.0".to_owned()), ..KernelOptions::default() };
    let what = load(&path, &options, false).unwrap_err().to_string();
    assert!(what.contains("is CUDA, which has no version CL2.0"), "{what}");
}

#[test]
fn without_the_standard_library_the_error_says_what_to_install() {
    let (_folder, path) = file("__global__ void k(int *p) { *p = 1; }");
    let options = KernelOptions { clang_args: vec!["-nostdinc++".to_owned()], ..KernelOptions::default() };
    let error = load(&path, &options, false).unwrap_err();
    assert!(format!("{error:?}").contains("libstdc++-12-dev"), "{error:?}");
}

#[test]
fn a_part_of_a_source_is_known_by_what_includes_it() {
    let (folder, _) = file("#include \"part.cu\"\n");
    let part = folder.path().join("part.cu");
    fs::write(&part, "__global__ void k(Unknown *p) { }").unwrap();
    let error = load(&part, &KernelOptions::default(), false).unwrap_err();
    assert!(format!("{error:?}").contains("k.cu includes this file"), "{error:?}");
}

#[test]
fn all_headers_compile_together() {
    read(
        "#include <cuda_runtime.h>
         #include <cuda_fp16.h>
         #include <cuda_bf16.h>
         #include <cooperative_groups.h>
         #include <cuComplex.h>
         #include <math_constants.h>
         #include <curand_kernel.h>
         #include <cublas_v2.h>
         #include <hip/hip_runtime.h>
         __global__ void k(float *p) { p[0] = CUDART_PI_F; }",
    );
}

/// The functions that a table of `docs/cuda.md` lists: what stands between backticks in its second column.
fn listed(heading: &str) -> Vec<String> {
    let page = fs::read_to_string(repository("docs/cuda.md")).unwrap();
    let table = page.split(heading).nth(1).unwrap_or_else(|| panic!("no heading {heading}"));
    let rows = table.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(2)).map(str::to_owned).collect::<Vec<_>>();
    let names = cells.iter().flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

#[test]
fn the_page_lists_functions_that_are_declared() {
    let names = listed("## Device functions");
    assert!(names.len() > 200, "{}", names.len());
    let uses: String = names.iter().map(|name| format!("using ::{name};\n")).collect();
    let text = format!(
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <curand_kernel.h>\n#include <cuComplex.h>\n\
         namespace listed {{\n{uses}}}\n__global__ void k(int *p) {{ *p = 1; }}\n"
    );
    read(&text);
}

#[test]
fn fixtures_of_cuda_have_entries_that_exist() {
    let folders = fs::read_dir(testdata("")).unwrap().map(|entry| entry.unwrap().path());
    let cuda = folders.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cuda_")));
    assert!(cuda.count() >= 12);
}

/// One statement for each instruction that `docs/cuda.md` lists. `x` to `z` are of 32 bits, `l` of 64, `f` and `d` floats,
/// `p` a pointer.
const STATEMENTS: [&str; 59] = [
    r#""mov.u32 %0, %%tid.x;" : "=r"(x)"#,
    r#""mov.u32 %0, %lanemask_gt;" : "=r"(x)"#,
    r#""mov.u32 %0, %%warpid;" : "=r"(x)"#,
    r#""mov.u64 %0, %globaltimer;" : "=l"(l)"#,
    r#""mov.b64 {%0, %1}, %2;" : "=r"(x), "=r"(y) : "l"(l)"#,
    r#""{ .reg .pred q; setp.lt.s32 q, %1, %2; selp.b32 %0, %1, %2, q; }" : "=r"(x) : "r"(y), "r"(z)"#,
    r#""cvt.rn.f32.u32 %0, %1;" : "=f"(f) : "r"(x)"#,
    r#""cvt.rzi.s32.f32 %0, %1;" : "=r"(x) : "f"(f)"#,
    r#""cvt.s64.s32 %0, %1;" : "=l"(l) : "r"(x)"#,
    r#""add.cc.u32 %0, %1, %2; addc.u32 %0, %0, 0;" : "=r"(x) : "r"(y), "r"(z)"#,
    r#""sub.cc.u32 %0, %1, %2; subc.u32 %0, %0, 0;" : "=r"(x) : "r"(y), "r"(z)"#,
    r#""mul.wide.s32 %0, %1, %2;" : "=l"(l) : "r"(y), "r"(z)"#,
    r#""mul.hi.u64 %0, %1, %1;" : "=l"(l) : "l"(l)"#,
    r#""mad.lo.s32 %0, %1, %2, -3;" : "=r"(x) : "r"(y), "r"(z)"#,
    r#""fma.rn.f64 %0, %0, %0, %0;" : "+d"(d)"#,
    r#""abs.s32 %0, %0;" : "+r"(x)"#,
    r#""max.f32 %0, %0, 0f00000000;" : "+f"(f)"#,
    r#""div.rn.f32 %0, %0, %0;" : "+f"(f)"#,
    r#""rsqrt.approx.ftz.f32 %0, %0;" : "+f"(f)"#,
    r#""tanh.approx.f32 %0, %0;" : "+f"(f)"#,
    r#""ex2.approx.f16 %0, %0;" : "+h"(h)"#,
    r#""dp4a.u32.s32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z)"#,
    r#""vabsdiff4.u32.u32.u32.add %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z)"#,
    r#""vshr.u32.u32.u32.clamp.add %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z)"#,
    r#""not.b32 %0, %0;" : "+r"(x)"#,
    r#""xor.b64 %0, %0, 0xff;" : "+l"(l)"#,
    r#""popc.b64 %0, %1;" : "=r"(x) : "l"(l)"#,
    r#""clz.b32 %0, %0;" : "+r"(x)"#,
    r#""brev.b32 %0, %0;" : "+r"(x)"#,
    r#""ld.volatile.global.f32 %0, [%1+16];" : "=f"(f) : "l"(p)"#,
    r#""ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, _}, [%3];" : "=r"(x), "=r"(y), "=r"(z) : "l"(p)"#,
    r#""ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(p)"#,
    r#""st.release.sys.global.u32 [%0], %1;" :: "l"(p), "r"(x)"#,
    r#""st.global.wt.v2.f32 [%0], {%1, %1};" :: "l"(p), "f"(f)"#,
    r#""atom.global.add.u32 %0, [%1], %2;" : "=r"(x) : "l"(p), "r"(y)"#,
    r#""atom.cas.b32 %0, [%1], %2, %3;" : "=r"(x) : "l"(p), "r"(y), "r"(z)"#,
    r#""atom.acq_rel.cta.global.max.s32 %0, [%1], %2;" : "=r"(x) : "l"(p), "r"(y)"#,
    r#""red.global.add.f32 [%0], %1;" :: "l"(p), "f"(f)"#,
    r#""prefetch.global.L2 [%0];" :: "l"(p)"#,
    r#""{ .reg .pred q; setp.eq.u32 q, %0, 0; @!q st.global.u32 [%1], %0; }" :: "r"(x), "l"(p)"#,
    r#""cp.async.ca.shared.global.L2::128B [%0], [%1], 8, %2;" :: "r"((unsigned)__cvta_generic_to_shared(s)), "l"(p), "r"(x)"#,
    r#""cp.async.commit_group; cp.async.wait_group %0;" :: "n"(1)"#,
    r#""cp.async.wait_all;" ::: "memory""#,
    r#""{ .reg .u64 q; cvta.to.global.u64 q, %1; ld.global.u32 %0, [q]; }" : "=r"(x) : "l"(p)"#,
    r#""bar.sync 0;" ::"#,
    r#""bar.warp.sync 0xffffffff;" ::"#,
    r#""membar.gl;" ::: "memory""#,
    r#""fence.acq_rel.gpu;" ::: "memory""#,
    r#""{ .reg .pred q; setp.ne.u32 q, %1, 0; vote.sync.ballot.b32 %0, q, -1; }" : "=r"(x) : "r"(y)"#,
    r#""{ .reg .pred q; shfl.sync.up.b32 %0|q, %1, 1, 0, 0xffffffff; @!q mov.u32 %0, 0; }" : "=r"(x) : "r"(y)"#,
    r#""activemask.b32 %0;" : "=r"(x)"#,
    r#""nanosleep.u32 20;" ::"#,
    r#""trap;" ::"#,
    r#""" ::: "memory""#,
    r#""lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(x) : "r"(y), "r"(z)"#,
    r#""prmt.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z)"#,
    r#""bfe.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z)"#,
    r#""bfind.s32 %0, %0;" : "+r"(x)"#,
    r#""shf.r.wrap.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z)"#,
];

/// A kernel with inline assembly.
fn kernel_with(statements: &str) -> String {
    format!(
        "__global__ void k(unsigned *p, float f, double d, unsigned long long l, short h) {{
           unsigned x = p[0], y = p[1], z = p[2];
           {statements}
           p[3] = x + y + z + (unsigned)f + (unsigned)d + (unsigned)l + h;
         }}"
    )
}

#[test]
fn instructions_of_inline_assembly_take_its_place() {
    let all: String = STATEMENTS.iter().map(|one| format!("asm volatile({one});\n")).collect();
    let all = format!("__shared__ int s[2];\n{all}");
    let text = read(&kernel_with(&all)).text;
    let left: Vec<&str> = text.lines().filter(|line| line.contains("cuda.ptx") || line.contains(" asm ")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn other_instructions_are_refused_by_name() {
    for (statement, name) in [
        (r#""mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 %0, %0;" : "+f"(f)"#, "mma.sync.aligned.m8n8k4.row.col"),
        (r#""add.sat.s32 %0, %0, 1;" : "+r"(x)"#, "add.sat.s32"),
        (r#""add.f16x2 %0, %0, %0;" : "+r"(x)"#, "add.f16x2"),
        // Of a variable in shared memory, which the kernel lacks.
        (r#""ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(y)"#, "shared memory by a number of 32 bits"),
        (r#""ld.global.u32 %0, [%1];" : "=r"(x) : "r"(y)"#, "ld.global.u32"),
        (r#""cp.async.bulk.wait_group 0;" ::"#, "cp.async.bulk.wait_group"),
        (
            r#""{ .reg .pred q; setp.eq.u32 q, %0, 0; @q red.global.add.u32 [%1], %0; }" :: "r"(x), "l"(p)"#,
            "red.global",
        ),
        (r#""bar.sync 1, 64;" ::"#, "bar.sync"),
        (r#""addc.u32 %0, %0, 0;" : "+r"(x)"#, "addc.u32"),
        (r#""again: bra again;" ::"#, "a label"),
        (r#""mov.u32 %0, %%smid;" : "=r"(x)"#, "mov.u32"),
    ] {
        let text = read(&kernel_with(&format!("asm volatile({statement});"))).text;
        assert!(text.contains(&format!("cuda.ptx {name}")), "{statement}");
    }
}

#[test]
fn launch_bounds_are_those_of_each_instance() {
    let text = "template <int N> __global__ void __launch_bounds__(N * 32) k(int *p) { p[0] = N; }
                template __global__ void k<2>(int *);
                template __global__ void k<4>(int *);
                __global__ void any(int *p) { p[0] = 1; }";
    let of = |entry: &str| read_entry(text, entry).unwrap().interface.max_group;
    assert_eq!([of("k<2>"), of("k<4>"), of("any")], [Some(64), Some(128), None]);
}
