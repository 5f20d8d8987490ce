//! Checks how SPIR-V is read: as modules of every version and as text, by either translator; what is refused, and that
//! damaged modules are refused too.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kassay_base::error::Error;
use kassay_ir::kernel::compile::{Format, Loaded, load};
use kassay_ir::kernel::spirv::words::Words;
use kassay_model::options::KernelOptions;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::program::kassay;
use crate::common::testdata::{kernel, testdata};
use crate::common::threads::spread;

fn text() -> String {
    fs::read_to_string(testdata("spirv/spec_constants/scale.spvasm")).unwrap()
}

fn put(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

fn read(path: &Path) -> Result<Loaded, Error> {
    load(path, &KernelOptions::default(), false)
}

fn assembled(loaded: &Loaded) -> &Words {
    &loaded.spirv.as_ref().unwrap().words
}

/// The module of a kernel of `testdata`, as clang makes it.
fn compiled(folder: &Path, name: &str) -> Vec<u8> {
    let to = folder.join(format!("{name}.spv"));
    let arguments = ["-x", "cl", "-cl-std=CL1.2", "-target", "spirv64v1.2-unknown-unknown", "-O0", "-c"];
    let made = Command::new("clang-22").args(arguments).arg(kernel(name)).arg("-o").arg(&to).status().unwrap();
    assert!(made.success(), "{name}");
    fs::read(to).unwrap()
}

/// Runs `kassay inspect` with these variables; returns the exit code and standard error.
fn inspect(path: &Path, variables: &[(&str, &Path)]) -> (Option<i32>, String) {
    let mut command = kassay();
    command.args(["inspect", "--quiet"]).arg(path).envs(variables.iter().copied());
    let done = command.output().unwrap();
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn every_version_is_read_alike() {
    let folder = tempfile::tempdir().unwrap();
    let mut kernels = Vec::new();
    for minor in 0..=6 {
        let versioned = text().replace("; Version: 1.2", &format!("; Version: 1.{minor}"));
        let loaded = read(&put(folder.path(), "k.spvasm", versioned)).unwrap();
        assert_eq!((loaded.format, assembled(&loaded).version()), (Format::SpirV, (1, minor)));
        let module = read(&put(folder.path(), "k.spv", assembled(&loaded).bytes())).unwrap();
        assert_eq!(assembled(&module), assembled(&loaded));
        let (code, _) = inspect(&folder.path().join("k.spv"), &[]);
        assert_eq!(code, Some(0), "1.{minor}");
        kernels.push(module.bitcode);
    }
    let lengths: Vec<usize> = kernels.iter().map(Vec::len).collect();
    assert!(lengths.iter().all(|length| length.abs_diff(lengths[0]) < 64), "{lengths:?}");
}

#[test]
fn errors_of_the_assembler_have_places() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = text().replace("OpIAdd %uint %sum %term", "OpIAddd %uint %sum %term");
    let line = 1 + wrong.lines().position(|line| line.contains("OpIAddd")).unwrap();
    let error = read(&put(folder.path(), "k.spvasm", &wrong)).unwrap_err();
    let place = error.report().place.clone().unwrap();
    assert_eq!((error.exit_code(), place.line as usize, place.column), (2, line, 16), "{error}");
    assert!(place.text.unwrap().contains("OpIAddd") && error.to_string().contains("OpIAddd'"), "{error}");
}

#[test]
fn modules_that_are_no_kernels_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let kernels = |text: &str| text.replace("OpCapability Kernel", "OpCapability Kernel\nOpCapability Geometry");
    let compute = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %m \"m\"
        %v = OpTypeVoid\n%f = OpTypeFunction %v\n%m = OpFunction %v None %f\n%l = OpLabel\nOpReturn\nOpFunctionEnd\n";
    for (text, capability) in [(compute.to_owned(), "Shader"), (kernels(&text()), "Geometry")] {
        let error = read(&put(folder.path(), "k.spvasm", text)).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains(&format!("it needs the capability {capability}, which no")), "{error}");
    }
}

#[test]
fn the_validator_is_asked_if_wanted() {
    let options = KernelOptions { validate: true, ..KernelOptions::default() };
    let folder = tempfile::tempdir().unwrap();
    let valid = load(&put(folder.path(), "k.spvasm", text()), &options, false).unwrap();
    assert!(valid.warnings.contains("note: spirv-val finds") && valid.accepted_errors().is_empty(), "{valid:?}");
    // The translator does not mind a capability that is missing.
    let wrong = text().replace("               OpCapability Int64\n", "");
    let invalid = load(&put(folder.path(), "w.spvasm", wrong), &options, false).unwrap();
    assert!(invalid.warnings.contains("note: spirv-val rejects"), "{}", invalid.warnings);
    assert!(read(&folder.path().join("k.spvasm")).unwrap().warnings.is_empty());
}

/// A folder in which kassay finds this program as the translator that set-up installs.
fn installed(script: &str) -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let data = tempfile::tempdir().unwrap();
    let bin = data.path().join("kassay/llvm-spirv/2024.2.0/bin");
    fs::create_dir_all(&bin).unwrap();
    let program = put(&bin, "llvm-spirv", script);
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    data
}

#[test]
fn debians_translator_stands_in_for_one_that_is_missing_or_crashes() {
    let folder = tempfile::tempdir().unwrap();
    let module =
        put(folder.path(), "k.spv", assembled(&read(&testdata("spirv/spec_constants/scale.spvasm")).unwrap()).bytes());
    let nothing = tempfile::tempdir().unwrap();
    assert_eq!(inspect(&module, &[("XDG_DATA_HOME", nothing.path())]), (Some(0), String::new()));
    let crashing = installed("#!/bin/sh\nkill -ABRT $$\n");
    assert_eq!(inspect(&module, &[("XDG_DATA_HOME", crashing.path())]), (Some(0), String::new()));
    // What refuses a module has decided.
    let refusing = installed("#!/bin/sh\necho 'so bad' >&2\nexit 1\n");
    let (code, message) = inspect(&module, &[("XDG_DATA_HOME", refusing.path())]);
    assert!(code == Some(2) && message.contains("so bad"), "{message}");
    // A named one is the only one.
    let named = crashing.path().join("kassay/llvm-spirv/2024.2.0/bin/llvm-spirv");
    let (code, message) = inspect(&module, &[("KASSAY_LLVM_SPIRV", &named)]);
    assert!(code == Some(4) && message.contains("died of signal 6"), "{message}");
    let (code, message) = inspect(&module, &[("KASSAY_LLVM_SPIRV", Path::new("/nonexistent/llvm-spirv"))]);
    assert!(code == Some(3) && message.contains("KASSAY_LLVM_SPIRV") && message.contains("help: "), "{message}");
    // A pointer to what is no type makes the module invalid.
    let broken =
        text().replace("%array_ptr = OpTypePointer Workgroup %array", "%array_ptr = OpTypePointer Workgroup %in");
    let broken = put(folder.path(), "broken.spvasm", broken);
    let (code, message) = inspect(&broken, &[("KASSAY_LLVM_SPIRV", &named)]);
    assert!(code == Some(2) && message.contains("spirv-val rejects it"), "{message}");
}

#[test]
fn truncated_modules_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let scale = assembled(&read(&testdata("spirv/spec_constants/scale.spvasm")).unwrap()).bytes();
    for (n, module) in [scale, compiled(folder.path(), "switch_machine")].iter().enumerate() {
        let path = folder.path().join("cut.spv");
        let mut end = 20;
        while end < module.len() {
            fs::write(&path, &module[..end]).unwrap();
            let refused = read(&path).unwrap_err();
            assert_eq!(refused.exit_code(), 2, "{n}, {end} bytes: {refused}");
            let count = u16::from_le_bytes([module[end + 2], module[end + 3]]);
            end += 4 * usize::from(count);
        }
        assert_eq!(end, module.len());
    }
}

#[test]
fn mutated_modules_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let scale = assembled(&read(&testdata("spirv/spec_constants/scale.spvasm")).unwrap()).bytes();
    let modules = [scale, compiled(folder.path(), "saxpy_tail"), compiled(folder.path(), "switch_machine")];
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let mut mutated = Vec::new();
    for module in modules {
        for _ in 0..25 {
            let mut copy = module.clone();
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(1..copy.len() / 4) * 4;
                let other = random.random_range(0..copy.len() / 4) * 4;
                let word: [u8; 4] = match random.random_range(0..4) {
                    0 => random.random(),
                    1 => random.random_range(1_u32..100).to_le_bytes(),
                    2 => [copy[other], copy[other + 1], copy[other + 2], copy[other + 3]],
                    _ => [copy[at] ^ 1 << random.random_range(0..8), copy[at + 1], copy[at + 2], copy[at + 3]],
                };
                copy[at..at + 4].copy_from_slice(&word);
            }
            let path = put(folder.path(), &format!("{}.spv", mutated.len()), copy);
            mutated.push(path);
        }
    }
    let ends = spread(&mutated, |path| (path.clone(), inspect(path, &[])));
    for (path, (code, message)) in &ends {
        assert!(matches!(code, Some(0 | 2)), "{}: {code:?}: {message}", path.display());
    }
    let read = ends.iter().filter(|(_, (code, _))| *code == Some(0)).count();
    assert!((5..mutated.len() - 5).contains(&read), "{read} of {} are read", mutated.len());
}

#[test]
fn atomics_on_pointers_without_an_address_space_run() {
    let folder = tempfile::tempdir().unwrap();
    for (instruction, given, left) in [("OpAtomicUMax", 4, 9), ("OpAtomicUMin", 12, 9), ("OpAtomicIAdd", 1, 10)] {
        let module = format!(
            "OpCapability Addresses\nOpCapability Kernel\nOpCapability GenericPointer
            OpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %k \"k\"\nOpSource OpenCL_C 300000
            %void = OpTypeVoid\n%uint = OpTypeInt 32 0
            %device = OpConstant %uint 1\n%relaxed = OpConstant %uint 0\n%nine = OpConstant %uint 9
            %global = OpTypePointer CrossWorkgroup %uint\n%generic = OpTypePointer Generic %uint
            %type = OpTypeFunction %void %global\n%k = OpFunction %void None %type
            %a = OpFunctionParameter %global\n%entry = OpLabel\n%cast = OpPtrCastToGeneric %generic %a
            %old = {instruction} %uint %cast %device %relaxed %nine\nOpReturn\nOpFunctionEnd\n"
        );
        put(folder.path(), "k.spvasm", module);
        let args = format!("0 = {{ values = [{given}], expect = {{ values = [{left}] }} }}");
        let suite = format!("kernel = \"k.spvasm\"\n[[test]]\nname = \"one\"\nglobal = [1]\n[test.args]\n{args}\n");
        let suite = put(folder.path(), "suite.toml", suite);
        // On the first OpenCL device, if there is one.
        for device in [&["--device", "sim"][..], &[]] {
            let done = kassay().args(["run", "--quiet"]).args(device).arg(&suite).output().unwrap();
            assert!(done.status.success(), "{instruction} {device:?}: {}", String::from_utf8_lossy(&done.stderr));
        }
    }
}
