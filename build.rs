//! Compiles what the library embeds: the device-side code (`runtime-cl/`), the library around clang, and the layer that
//! goes into host programs (`layer/`).

use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of `runtime-cl/` that run on devices, without extension.
const RUNTIME: &[&str] = &["coverage", "guard", "ids", "infection"];

/// Optimised, so that inlining with constant arguments leaves constant addresses, which promotion requires.
const RUNTIME_OPTIONS: &[&str] = &["-cl-std=CL1.2", "-O2"];

/// The builtins of the simulator and of NVIDIA GPUs. They define what clang would otherwise declare itself, so only its types and constants are
/// included. Not optimised for speed, so that loops stay as they are written.
const BUILTIN_OPTIONS: &[&str] =
    &["-cl-std=CL3.0", "-O1", "-cl-no-stdinc", "-include", "opencl-c-base.h", "-Wno-unused-parameter"];

fn main() {
    println!("cargo:rerun-if-changed=runtime-cl");
    println!("cargo:rerun-if-env-changed=KASSAY_CLANG");
    for name in RUNTIME {
        compile(name, RUNTIME_OPTIONS);
    }
    compile("host", BUILTIN_OPTIONS);
    compile("ptx", BUILTIN_OPTIONS);
    clang_library();
    layer();
}

/// Builds `layer/` with cargo, into a folder of its own: this build holds the lock of the usual one. The layer is always
/// optimised, because it lives in programs whose time is measured. `KASSAY_LAYER` names one that is built already.
fn layer() {
    for path in ["layer/src", "layer/Cargo.toml", "layer/build.rs"] {
        println!("cargo:rerun-if-changed={path}");
    }
    println!("cargo:rerun-if-env-changed=KASSAY_LAYER");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let name = "libkassay_layer.so";
    let built = match std::env::var_os("KASSAY_LAYER").filter(|path| !path.is_empty()) {
        Some(path) => PathBuf::from(path),
        None => {
            let target = out.join("layer");
            let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let status = Command::new(cargo)
                .args(["build", "--release", "--manifest-path", "layer/Cargo.toml", "--target-dir"])
                .arg(&target)
                // What this build is made with (clippy, coverage, sanitisers) does not belong into other programs.
                .env_remove("RUSTC_WORKSPACE_WRAPPER")
                .env_remove("RUSTFLAGS")
                .env_remove("CARGO_ENCODED_RUSTFLAGS")
                .env_remove("CARGO_BUILD_TARGET")
                .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
                .env("CARGO_PROFILE_RELEASE_STRIP", "true")
                .status();
            match status {
                Ok(status) if status.success() => {}
                Ok(status) => panic!("cargo could not build layer/: {status}"),
                Err(error) => panic!("cargo could not be run for layer/: {error}"),
            }
            target.join("release").join(name)
        }
    };
    if let Err(error) = std::fs::copy(&built, out.join(name)) {
        panic!("{} could not be copied: {error}", built.display());
    }
}

/// Compiles `src/kernel/clang/`, the library around clang that the compiling child process loads. It is separate so
/// that only that child loads libclang-cpp.
fn clang_library() {
    println!("cargo:rerun-if-changed=src/kernel/clang");
    println!("cargo:rerun-if-env-changed=CXX");
    let llvm_config = |what: &str| {
        let output = Command::new("llvm-config-22").arg(what).output();
        let output =
            output.unwrap_or_else(|error| panic!("llvm-config-22 could not be run ({error}); run scripts/setup"));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let (include, lib) = (llvm_config("--includedir"), llvm_config("--libdir"));
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "g++".to_owned());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let status = Command::new(&compiler)
        .args(["-std=c++17", "-O2", "-fPIC", "-shared", "-fno-rtti", "-fno-exceptions", "-fvisibility=hidden"])
        .args(["-isystem", &include, "src/kernel/clang/compile.cpp", "src/kernel/clang/records.cpp"])
        .args([&format!("-L{lib}"), &format!("-Wl,-rpath,{lib}"), "-Wl,-s"])
        // Debian has no unversioned name for clang's library.
        .args(["-l:libclang-cpp.so.22.1", "-l:libLLVM.so.22.1"])
        .arg("-o")
        .arg(out.join("libkassay_clang.so"))
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!(
            "{compiler} could not compile src/kernel/clang: {status}; it needs Debian's libclang-22-dev, or run scripts/setup"
        ),
        Err(error) => {
            panic!("{compiler} could not be run ({error}); install Debian's package g++, or run scripts/setup")
        }
    }
}

fn compile(name: &str, options: &[&str]) {
    let clang = std::env::var("KASSAY_CLANG").unwrap_or_else(|_| "clang-22".to_owned());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let status = Command::new(&clang)
        .args(["-x", "cl", "-ffp-contract=off", "-target", "spirv64-unknown-unknown"])
        .args(options)
        .args(["-fno-strict-aliasing", "-Xclang", "-disable-lifetime-markers"])
        .args(["-Wall", "-Werror", "-Wno-missing-prototypes", "-emit-llvm", "-c"])
        .arg(Path::new("runtime-cl").join(name).with_extension("cl"))
        .arg("-o")
        .arg(out.join(name).with_extension("bc"))
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{clang} could not compile runtime-cl/{name}.cl: {status}"),
        Err(error) => {
            panic!("{clang} could not be run ({error}); install Debian's package clang-22, or run scripts/setup")
        }
    }
}
