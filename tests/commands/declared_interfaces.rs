//! Checks that a declaration gives SPIR-V the interface that its source has, and that suites then run as on the source;
//! that what contradicts the module is refused with its place.

use std::path::{Path, PathBuf};
use std::process::Command;

use kassay::OpenOptions;
use kassay::kernel::interface::{Arg, ArgKind, Evidence, Interface, Type};
use kassay::kernel::options::{KernelOptions, Language};
use kassay::suite::declared::write;
use kassay::suite::resolve::Suite;

use crate::common::TestResult;
use crate::common::kernels::options_of;
use crate::common::program::{at, kassay, run};
use crate::common::testdata::{suite, suites};

/// Compiles a kernel with clang 22 to SPIR-V without names and debug information.
fn without_names(source: &Path, options: &KernelOptions, module: &Path) -> TestResult {
    let mut command = Command::new("clang-22");
    command.args(["-x", "cl", &format!("-cl-std={}", options.effective_cl_std(Language::OpenClC))]);
    command.args(options.suite_options.iter().chain(&options.clang_args));
    command.args(["-target", "spirv64v1.2-unknown-unknown", "-O0", "-c"]).arg(source).arg("-o").arg(module);
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{}: {text}", source.display()).into()) }
}

/// Removes from a type what a file cannot say: that a struct has no name.
fn without_struct_names(ty: &mut Type) {
    match ty {
        Type::Struct(record) => {
            record.name.clear();
            record.fields.iter_mut().for_each(|field| without_struct_names(&mut field.ty));
        }
        Type::Array(element, _) => without_struct_names(element),
        Type::Pointer { pointee: Some(pointee), .. } => without_struct_names(pointee),
        Type::Scalar(_) | Type::Vector(..) | Type::Pointer { pointee: None, .. } | Type::Opaque { .. } => {}
    }
}

/// Returns the arguments as far as they can be declared. Of an atomic type, a file has what it is in memory.
fn declarable(interface: &Interface) -> Vec<Arg> {
    let plain = |arg: &Arg| {
        let plain_name = arg.type_name.replace("_Atomic(unsigned int)", "uint").replace("_Atomic(int)", "int");
        let mut arg = Arg { evidence: Evidence::Declared, type_name: plain_name, ..arg.clone() };
        match &mut arg.kind {
            ArgKind::Value(ty) => without_struct_names(ty),
            ArgKind::Buffer { element: Some(ty), .. } | ArgKind::Local { element: Some(ty) } => {
                without_struct_names(ty);
            }
            _ => {}
        }
        arg
    };
    interface.args.iter().map(plain).collect()
}

#[test]
fn the_interface_of_a_source_declared_for_its_module_is_the_same() -> TestResult {
    let folder = tempfile::tempdir()?;
    let (module, file) = (folder.path().join("k.spv"), folder.path().join("k.toml"));
    let mut seen = Vec::new();
    for path in suites() {
        let loaded = Suite::load(&path)?;
        let (source, options) = (loaded.kernel.clone(), options_of(&loaded));
        let key = (source.clone(), loaded.entry.clone(), loaded.options.clone());
        if seen.contains(&key) || without_names(&source, &options, &module).is_err() {
            continue;
        }
        seen.push(key);
        let open = OpenOptions::new().syntax_tree(false).entry(loaded.entry.clone());
        let of_source = open.clone().clang_args(loaded.options.clone()).open_kernel(&source)?;
        std::fs::write(&file, write::interface_file(of_source.interface()))?;
        let declared = open.interface(Some(file.clone())).open_kernel(&module);
        let declared = declared.map_err(|e| format!("{}: {e}", source.display()))?;
        assert_eq!(declarable(declared.interface()), declarable(of_source.interface()), "{}", source.display());
    }
    assert!(seen.len() >= 50, "{}", seen.len());
    Ok(())
}

/// A suite beside links to its data, with another kernel.
fn with_module(of: &Path, folder: &Path) -> TestResult<PathBuf> {
    let loaded = Suite::load(of)?;
    without_names(&loaded.kernel, &options_of(&loaded), &folder.join("k.spv"))?;
    for entry in std::fs::read_dir(of.parent().unwrap_or(Path::new("")))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "npy") {
            std::os::unix::fs::symlink(&path, folder.join(path.file_name().unwrap_or_default()))?;
        }
    }
    let kernel = loaded.kernel.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let text = std::fs::read_to_string(of)?;
    let replaced = text.replacen(&format!("kernel = \"{kernel}\""), "kernel = \"k.spv\"", 1);
    assert_ne!(text, replaced);
    let path = folder.join("suite.toml");
    std::fs::write(&path, replaced)?;
    Ok(path)
}

#[test]
fn suites_run_on_modules_without_names() -> TestResult {
    let chosen = ["struct_args", "struct_pointers", "program_variables", "half_math", "blur_image", "reduction_tree"];
    for name in chosen {
        let folder = tempfile::tempdir()?;
        let original = suite(name);
        let copy = with_module(&original, folder.path())?;
        let (_, err, code) = run(&["run", at(&copy), "--device", "sim"])?;
        assert_eq!(code, 2, "{name}: {err}");
        let interface = folder.path().join("k.toml");
        let loaded = Suite::load(&original)?;
        let mut inspect = kassay();
        inspect.arg("inspect").arg(&loaded.kernel).arg("--write-interface").arg(&interface).arg("--quiet");
        for option in &loaded.options {
            inspect.args(["--clang-arg", option]);
        }
        inspect.args(loaded.entry.iter().flat_map(|entry| ["--entry", entry]));
        let inspected = inspect.output()?;
        assert!(inspected.status.success(), "{name}: {}", String::from_utf8_lossy(&inspected.stderr));
        for device in ["sim", "auto"] {
            let (out, err, code) = run(&["run", at(&copy), "--device", device, "--interface", at(&interface)])?;
            assert_eq!(code, 0, "{name} on {device}: {err}{out}");
        }
        // The same tables in the suite itself.
        let tables = std::fs::read_to_string(&interface)?;
        let tables: String =
            tables.lines().filter(|line| !line.starts_with("kernel =")).map(|l| format!("{l}\n")).collect();
        std::fs::write(&copy, std::fs::read_to_string(&copy)? + &tables)?;
        let (out, err, code) = run(&["run", at(&copy), "--device", "sim"])?;
        assert_eq!(code, 0, "{name}: {err}{out}");
    }
    Ok(())
}

const KERNEL: &str = "typedef struct { int a; float b; } P;
kernel void k(global const uint *x, uint n, P p, local float *t, read_only image2d_t i, sampler_t s) {
    size_t g = get_global_id(0);
    t[0] = p.b + read_imagef(i, s, (int2)(0, 0)).x;
    if (g < n && x[g] > 7u) t[0] += p.a;
}
";

const TABLES: &str = "[[struct]]
name = \"P\"
fields = [{ name = \"a\", type = \"int\" }, { name = \"b\", type = \"float\" }]
[[arg]]
name = \"x\"
type = \"const uint*\"
[[arg]]
name = \"n\"
type = \"unsigned int\"
[[arg]]
name = \"p\"
type = \"P\"
[[arg]]
name = \"t\"
type = \"local float*\"
[[arg]]
name = \"i\"
type = \"read_only image2d_t\"
[[arg]]
name = \"s\"
type = \"sampler_t\"
";

#[test]
fn what_contradicts_the_module_is_refused_with_its_place() -> TestResult {
    let folder = tempfile::tempdir()?;
    let (source, module, file) =
        (folder.path().join("k.cl"), folder.path().join("k.spv"), folder.path().join("k.toml"));
    std::fs::write(&source, KERNEL)?;
    without_names(&source, &KernelOptions::default(), &module)?;
    std::fs::write(&file, TABLES)?;
    let (out, err, code) = run(&["inspect", at(&module), "--interface", at(&file)])?;
    assert_eq!(code, 0, "{err}");
    for line in ["x     uint*", "n     uint ", "p     P ", "t     float*", "i     image2d_t", "s     sampler_t"] {
        assert!(out.contains(line), "{line}: {out}");
    }
    // From, to, place, message.
    let wrong = [
        ("\"const uint*\"", "\"const uint\"", "k.toml:6:8", "pointer to global memory"),
        ("\"unsigned int\"", "\"ulong\"", "k.toml:9:8", "has 4 bytes in the module, but `ulong` has 8"),
        ("\"unsigned int\"", "\"float\"", "k.toml:9:8", "cannot be `float`"),
        ("\"unsigned int\"", "\"unt\"", "k.toml:9:8", "there is no type `unt`"),
        ("\"unsigned int\"", "\"int[\"", "k.toml:9:8", "not spelt like a type"),
        ("type = \"int\" }", "type = \"long\" }", "k.toml:12:8", "has 8 bytes in the module, but `P` has 16"),
        ("\"local float*\"", "\"global float*\"", "k.toml:15:8", "scope of this argument is `local`, not `global`"),
        ("\"read_only image2d_t\"", "\"image3d_t\"", "k.toml:18:8", "is an image (`image2d_t`) in the module"),
        ("\"read_only image2d_t\"", "\"uchar*\"", "k.toml:18:8", "is an image"),
        ("\"read_only image2d_t\"", "\"write_only image2d_t\"", "k.toml:18:8", "is `read_only`, not `write_only`"),
        ("name = \"n\"", "name = \"x\"", "k.toml:8:8", "is the name of the argument 0, too"),
        (
            "[[arg]]\nname = \"s\"\ntype = \"sampler_t\"\n",
            "",
            "k.toml:16:1",
            "has 6 arguments, but the declaration has 5",
        ),
        ("name = \"s\"", "position = 2\nname = \"s\"", "k.toml:20:12", "described twice"),
        ("name = \"s\"", "position = 6\nname = \"s\"", "k.toml:20:12", "no argument 6"),
        ("name = \"s\"", "nmae = \"s\"", "k.toml:20:1", "did you mean `name`"),
        ("name = \"b\"", "name = \"a\"", "k.toml:3:50", "two fields `a`"),
        ("fields = [", "size = 4\nfields = [", "k.toml:3:8", "need 8 bytes, not 4"),
        ("type = \"float\" }", "type = \"P\" }", "k.toml:2:8", "contains itself"),
        ("[[struct]]", "kernel = \"other\"\n[[struct]]", "k.toml:1:10", "not for `k`"),
    ];
    for (from, to, place, message) in wrong {
        let text = TABLES.replacen(from, to, 1);
        assert_ne!(text, TABLES, "{from}");
        std::fs::write(&file, text)?;
        let (_, err, code) = run(&["inspect", at(&module), "--interface", at(&file)])?;
        assert_eq!(code, 2, "{to}: {err}");
        assert!(
            err.contains(place) && err.contains(message) && err.contains("help:"),
            "{to}: {place}: {message}: {err}"
        );
    }
    // In a suite, too.
    let text = "kernel = \"k.spv\"\n[[arg]]\ntype = \"int\"\n[[test]]\nglobal = [1]\n";
    std::fs::write(folder.path().join("suite.toml"), text)?;
    let (_, err, code) = run(&["run", at(&folder.path().join("suite.toml"))])?;
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("suite.toml:2:1") && err.contains("has 6 arguments, but the declaration has 1"), "{err}");
    Ok(())
}

#[test]
fn generate_takes_corrected_types_and_writes_a_suite_that_declares_them() -> TestResult {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    std::fs::write(
        path("k.cl"),
        "kernel void k(global uint *out, uint n) { size_t g = get_global_id(0); if (g < 4) out[g] = n * 3000000000u; }",
    )?;
    without_names(&path("k.cl"), &KernelOptions::default(), &path("k.spv"))?;
    let out = path("made");
    let module = path("k.spv");
    let arguments = ["generate", at(&module), "-o", at(&out), "--no-fuzz"];
    let (_, err, code) = run(&arguments)?;
    assert_eq!(code, 0, "{err}");
    let file = out.join("interface.toml");
    let text = std::fs::read_to_string(&file)?;
    assert!(text.contains("a guess"), "{text}");
    let corrected =
        text.replacen("# name = \"…\"", "name = \"out\" #", 1).replacen("# name = \"…\"", "name = \"n\" #", 1);
    let types = ["\"uint*\"", "\"uint\""];
    let corrected: String = corrected
        .lines()
        .scan(0, |seen, line| {
            let is_type = line.starts_with("type = ");
            let line = if is_type { format!("type = {}", types[*seen]) } else { line.to_owned() };
            *seen += usize::from(is_type);
            Some(line + "\n")
        })
        .collect();
    std::fs::write(&file, &corrected)?;
    let (_, err, code) = run(&arguments)?;
    assert_eq!(code, 0, "{err}");
    let written: toml::Table = std::fs::read_to_string(out.join("suite.toml"))?.parse()?;
    assert_eq!(written["arg"][0]["type"].as_str(), Some("uint*"), "{written}");
    assert_eq!(written["arg"][1]["name"].as_str(), Some("n"), "{written}");
    let (_, err, code) = run(&["run", at(&out.join("suite.toml")), "--device", "sim"])?;
    assert_eq!(code, 0, "{err}");
    Ok(())
}

#[test]
fn numbers_of_a_test_decide_a_signedness_that_is_a_guess() -> TestResult {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("k.cl"), "kernel void k(global uint *x) { size_t g = get_global_id(0); x[g] = x[g] ^ 1; }")?;
    without_names(&path("k.cl"), &KernelOptions::default(), &path("k.spv"))?;
    let suite = |declared: &str, argument: &str| -> TestResult<(String, i32)> {
        let test = format!("[[test]]\nglobal = [2]\nlocal = [1]\n[test.args]\n{argument}\n");
        std::fs::write(path("suite.toml"), format!("kernel = \"k.spv\"\n{declared}{test}"))?;
        let (_, err, code) = run(&["run", at(&path("suite.toml")), "--device", "sim"])?;
        Ok((err, code))
    };
    for argument in
        ["0 = { values = [4294967295, 0], expect = [4294967294, 1] }", "0 = { values = [-1, 0], expect = [-2, 1] }"]
    {
        let (err, code) = suite("", argument)?;
        assert_eq!(code, 0, "{argument}: {err}");
        // Neither fits both.
        let (err, code) = suite("", &argument.replace("0]", "0.5]"))?;
        assert_eq!(code, 2, "{argument}: {err}");
    }
    let (err, code) = suite("[[arg]]\ntype = \"int*\"\n", "0 = { values = [4294967295, 0] }")?;
    assert!(code == 2 && err.contains("does not fit `int`"), "{err}");
    Ok(())
}
