//! Compiles the device side (`runtime-cl/`) to bitcode, which the library embeds.

use std::path::PathBuf;
use std::process::Command;

/// The files of `runtime-cl/`, without their extension.
const RUNTIME: &[&str] = &["coverage", "guard", "ids", "infection"];

fn main() {
    println!("cargo:rerun-if-changed=runtime-cl");
    println!("cargo:rerun-if-env-changed=KASSAY_CLANG");
    let clang = std::env::var("KASSAY_CLANG").unwrap_or_else(|_| "clang-22".to_owned());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for name in RUNTIME {
        let status = Command::new(&clang)
            .args(["-x", "cl", "-cl-std=CL1.2", "-ffp-contract=off", "-target", "spirv64-unknown-unknown"])
            // Optimised, so that inlining with constant arguments leaves constant addresses, which promotion needs.
            .args(["-O2", "-fno-strict-aliasing", "-Xclang", "-disable-lifetime-markers"])
            .args(["-Wall", "-Werror", "-Wno-missing-prototypes", "-emit-llvm", "-c"])
            .arg(format!("runtime-cl/{name}.cl"))
            .arg("-o")
            .arg(out.join(format!("{name}.bc")))
            .status();
        match status {
            Ok(status) if status.success() => {}
            Ok(status) => panic!("{clang} could not compile runtime-cl/{name}.cl: {status}"),
            Err(error) => {
                panic!("{clang} could not be run ({error}); install Debian's package clang-22, or run scripts/setup")
            }
        }
    }
}
