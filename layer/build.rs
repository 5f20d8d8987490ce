//! Options for the linker. rustc itself gives it a version script that exports the C entry points alone.

fn main() {
    // Calls inside of the library stay inside, whatever a program or a driver defines under the same names.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    // Drivers' tables point to the wrappers until the process ends, also after a loader has closed the library.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
