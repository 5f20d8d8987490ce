//! Compiles what the library embeds: the device-side code (`runtime-cl/`), the library around clang, and the layer that
//! goes into host programs (`layer/`).

use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of `runtime-cl/` that run on devices, without extension.
const RUNTIME: &[&str] = &["coverage", "device_races", "guard", "ids", "infection", "joint"];

/// Optimised, so that inlining with constant arguments leaves constant addresses, which promotion requires.
const RUNTIME_OPTIONS: &[&str] = &["-cl-std=CL1.2", "-O2"];

/// Those of `image_buffers.cl` besides: devices divide as the simulator does, and no table becomes a variable, which not
/// every device takes.
const IMAGE_OPTIONS: &[&str] = &["-cl-fp32-correctly-rounded-divide-sqrt", "-fno-jump-tables"];

/// What runs around joint launches of NVIDIA GPUs, as PTX (`lower/ptx/target.rs`).
#[rustfmt::skip]
const PTX_OPTIONS: &[&str] = &[
    "-target", "nvptx64-nvidia-nvcl", "-Xclang", "-target-cpu", "-Xclang", "sm_70", "-Xclang", "-target-feature", "-Xclang", "+ptx70",
    "-cl-std=CL1.2", "-O2", "-cl-no-stdinc", "-include", "opencl-c-base.h", "-S",
];

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
    compile("image_buffers", &[BUILTIN_OPTIONS, IMAGE_OPTIONS].concat());
    compile_for("joint_ptx", PTX_OPTIONS, "ptx");
    clang_library();
    layer();
}

/// Builds the layer with cargo. `KASSAY_LAYER` names one that is built already.
fn layer() {
    for path in ["layer/src", "layer/Cargo.toml", "layer/build.rs", "packaging/layer"] {
        // Those of `layer/` are the same files; a published package has only `packaging/layer`.
        if Path::new(path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    println!("cargo:rerun-if-env-changed=KASSAY_LAYER");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let name = "libkassay_layer.so";
    let built = match std::env::var_os("KASSAY_LAYER").filter(|path| !path.is_empty()) {
        Some(path) => PathBuf::from(path),
        None => {
            let package = layer_package(&out);
            // First with the versions of kassay's lock file. Where kassay is built with others (as a dependency, or by
            // `cargo install` without `--locked`), those are the ones that have been downloaded.
            let lock = package.join("Cargo.lock");
            let mut failures = Vec::new();
            for with_lock in [true, false] {
                let placed = if with_lock {
                    std::fs::read("Cargo.lock").and_then(|text| std::fs::write(&lock, text))
                } else {
                    remove(&lock)
                };
                match placed.map_err(|error| error.to_string()).and_then(|()| build_layer(&package)) {
                    Ok(()) => {
                        failures.clear();
                        break;
                    }
                    Err(message) => failures.push(message),
                }
            }
            assert!(failures.is_empty(), "cargo could not build the layer: {}", failures.join("\nand then:\n"));
            package.join("target/release").join(name)
        }
    };
    if let Err(error) = std::fs::copy(&built, out.join(name)) {
        panic!("{} could not be copied: {error}", built.display());
    }
}

/// Makes a package of the layer's sources in `out`. It is a workspace of its own, because neither a published kassay nor
/// a checkout of it may be written to while it is built.
fn layer_package(out: &Path) -> PathBuf {
    let sources = std::env::current_dir().expect("cargo runs this in the package").join("packaging/layer");
    let manifest = sources.join("manifest.toml");
    let text = match std::fs::read_to_string(&manifest) {
        Ok(text) => text,
        Err(error) => panic!("{} could not be read: {error}", manifest.display()),
    };
    let script = sources.join("build.rs");
    let root = sources.join("src/lib.rs");
    let text = text
        .replacen("[package]\n", &format!("[workspace]\n\n[package]\nbuild = {script:?}\n"), 1)
        .replacen("[lib]\n", &format!("[lib]\npath = {root:?}\n"), 1)
        .replacen("readme = \"README.md\"\n", "", 1);
    let package = out.join("layer");
    let written = std::fs::create_dir_all(&package).and_then(|()| std::fs::write(package.join("Cargo.toml"), text));
    if let Err(error) = written {
        panic!("{} could not be written: {error}", package.display());
    }
    package
}

/// Builds the layer, into a folder of its own: the build of kassay holds the lock of the usual one. Nothing is
/// downloaded: what the layer depends on, kassay depends on too. The layer is always optimised, because it lives in
/// programs whose time is measured.
fn build_layer(package: &Path) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--release", "--lib", "--offline", "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(package.join("target"))
        // What this build is made with (clippy, coverage, sanitisers) does not belong into other programs.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        .env("CARGO_PROFILE_RELEASE_STRIP", "true")
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
}

/// Removes a file if it is there.
fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
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
    let of_all = ["-target", "spirv64-unknown-unknown", "-emit-llvm", "-c"];
    compile_for(name, &[&of_all, options].concat(), "bc");
}

/// Compiles a file of `runtime-cl/` to one with this extension.
fn compile_for(name: &str, options: &[&str], extension: &str) {
    let clang = std::env::var("KASSAY_CLANG").unwrap_or_else(|_| "clang-22".to_owned());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let status = Command::new(&clang)
        .args(["-x", "cl", "-ffp-contract=off"])
        .args(options)
        .args(["-fno-strict-aliasing", "-Xclang", "-disable-lifetime-markers"])
        .args(["-Wall", "-Werror", "-Wno-missing-prototypes"])
        .arg(Path::new("runtime-cl").join(name).with_extension("cl"))
        .arg("-o")
        .arg(out.join(name).with_extension(extension))
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{clang} could not compile runtime-cl/{name}.cl: {status}"),
        Err(error) => {
            panic!("{clang} could not be run ({error}); install Debian's package clang-22, or run scripts/setup")
        }
    }
}
