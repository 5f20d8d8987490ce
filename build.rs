//! Compiles the device side (`runtime-cl/`) to bitcode, which the library embeds.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=runtime-cl");
    println!("cargo:rerun-if-env-changed=KASSAY_CLANG");
    let clang = std::env::var("KASSAY_CLANG").unwrap_or_else(|_| "clang-22".to_owned());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let status = Command::new(&clang)
        .args(["-x", "cl", "-cl-std=CL1.2", "-ffp-contract=off", "-target", "spirv64-unknown-unknown"])
        // Optimised, so that inlining with constant arguments leaves constant addresses, which promotion needs.
        .args(["-O2", "-fno-strict-aliasing", "-Xclang", "-disable-lifetime-markers"])
        .args(["-Wall", "-Werror", "-Wno-missing-prototypes", "-emit-llvm", "-c", "runtime-cl/coverage.cl", "-o"])
        .arg(out.join("coverage.bc"))
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{clang} could not compile runtime-cl/coverage.cl: {status}"),
        Err(error) => {
            panic!("{clang} could not be run ({error}); install Debian's package clang-22, or run scripts/setup")
        }
    }
}
