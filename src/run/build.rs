//! Builds the layer that goes into host programs (`layer/`), and tells builds of workers apart.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    layer();
    worker_build();
}

/// Sets `KASSAY_WORKER_BUILD` to a hash (FNV-1a) of the sources of what a worker and its parent say to each other,
/// where these lie beside each other: a package that is published goes with packages of its version.
fn worker_build() {
    let mut files = Vec::new();
    for folder in ["exec", "../base", "../model", "../suite"] {
        if Path::new(folder).exists() {
            println!("cargo:rerun-if-changed={folder}");
            sources(Path::new(folder), &mut files);
        }
    }
    files.sort();
    let version = std::env::var("CARGO_PKG_VERSION").expect("cargo sets CARGO_PKG_VERSION");
    let texts =
        files.iter().map(|file| std::fs::read(file).expect("a file that was just listed")).chain([version.into()]);
    let hash = texts
        .flatten()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    println!("cargo:rustc-env=KASSAY_WORKER_BUILD={hash:016x}");
}

/// Appends the Rust files in a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder that exists").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Builds the layer with cargo. `KASSAY_LAYER` names one that is built already.
fn layer() {
    for path in ["layer/src", "layer/manifest.toml", "layer/build.rs"] {
        println!("cargo:rerun-if-changed={path}");
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
                let placed =
                    if with_lock { lock_file().and_then(|text| std::fs::write(&lock, text)) } else { remove(&lock) };
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

/// Reads the lock file of the workspace, or of the published package.
fn lock_file() -> std::io::Result<Vec<u8>> {
    std::fs::read("../../Cargo.lock").or_else(|_| std::fs::read("Cargo.lock"))
}

/// Makes a package of the layer's sources in `out`. It is a workspace of its own, because neither a published kassay
/// nor a checkout of it may be written to while it is built.
fn layer_package(out: &Path) -> PathBuf {
    let sources = std::env::current_dir().expect("cargo runs this in the package").join("layer");
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
