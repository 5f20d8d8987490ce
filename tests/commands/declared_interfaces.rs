//! Checks that a declaration gives SPIR-V the interface that its source has, and that suites then run as on the source.
//! `tests/cli/declared-interfaces.md` has what is refused.

use std::path::{Path, PathBuf};
use std::process::Command;

use kassay::OpenOptions;
use kassay_model::interface::{Arg, ArgKind, Evidence, Interface, Type};
use kassay_model::options::{KernelOptions, Language};
use kassay_suite::declared::write;
use kassay_suite::resolve::Suite;

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
