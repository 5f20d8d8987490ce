//! Compiles the device side (`runtime-cl/`) to bitcode, which the library embeds.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of `runtime-cl/` that devices run, without their extension.
const RUNTIME: &[&str] = &["coverage", "guard", "ids", "infection"];

/// Optimised, so that inlining with constant arguments leaves constant addresses, which promotion needs.
const RUNTIME_OPTIONS: &[&str] = &["-cl-std=CL1.2", "-O2"];

/// The simulator's builtins: they define what clang would declare by itself, so only its types and constants are asked for. Not
/// optimised for speed, so that loops stay as they are written.
const HOST_OPTIONS: &[&str] =
    &["-cl-std=CL3.0", "-O1", "-cl-no-stdinc", "-include", "opencl-c-base.h", "-Wno-unused-parameter"];

fn main() {
    println!("cargo:rerun-if-changed=runtime-cl");
    println!("cargo:rerun-if-env-changed=KASSAY_CLANG");
    for name in RUNTIME {
        compile(name, RUNTIME_OPTIONS);
    }
    compile("host", HOST_OPTIONS);
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
