//! Compiles what the package embeds: the device-side code (`runtime-cl/`) and the library around clang.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of `runtime-cl/` that run on devices, without extension.
const RUNTIME: &[&str] = &["coverage", "device_races", "guard", "ids", "infection", "joint"];

/// Optimised, so that inlining with constant arguments leaves constant addresses, which promotion requires.
const RUNTIME_OPTIONS: &[&str] = &["-cl-std=CL1.2", "-O2"];

/// Those of `image_buffers.cl` besides: devices divide as the simulator does, and no table becomes a variable, which
/// not every device takes.
const IMAGE_OPTIONS: &[&str] = &["-cl-fp32-correctly-rounded-divide-sqrt", "-fno-jump-tables"];

/// What runs around joint launches of NVIDIA GPUs, as PTX (`lower/ptx/target.rs`).
#[rustfmt::skip]
const PTX_OPTIONS: &[&str] = &[
    "-target", "nvptx64-nvidia-nvcl", "-Xclang", "-target-cpu", "-Xclang", "sm_70", "-Xclang", "-target-feature", "-Xclang", "+ptx70",
    "-cl-std=CL1.2", "-O2", "-cl-no-stdinc", "-include", "opencl-c-base.h", "-S",
];

/// The builtins of the simulator and of NVIDIA GPUs. They define what clang would otherwise declare itself, so only its
/// types and constants are included. Not optimised for speed, so that loops stay as they are written.
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
}

/// The files of the library around clang by the headers that they include: those of clang, or of LLVM alone.
const CLANG_LIBRARY: [(&str, &[&str]); 2] = [
    (
        "clang",
        &[
            "kernel/clang/compile.cpp",
            "kernel/clang/records.cpp",
            "kernel/cuda/assembly.cpp",
            "kernel/cuda/callees.cpp",
            "kernel/cuda/instances.cpp",
            "kernel/cuda/returns.cpp",
            "kernel/cuda/unknown.cpp",
        ],
    ),
    (
        "llvm",
        &[
            "kernel/cuda/builtins.cpp",
            "kernel/cuda/calls.cpp",
            "kernel/cuda/origins.cpp",
            "kernel/cuda/handles.cpp",
            "kernel/cuda/headers.cpp",
            "kernel/cuda/module.cpp",
            "kernel/cuda/names.cpp",
            "kernel/cuda/ptx.cpp",
            "kernel/cuda/ptx_builder.cpp",
            "kernel/cuda/ptx_instructions.cpp",
            "kernel/cuda/ptx_matrices.cpp",
            "kernel/cuda/ptx_memory.cpp",
            "kernel/cuda/shared_addresses.cpp",
            "kernel/cuda/spaces.cpp",
            "kernel/cuda/textures.cpp",
            "kernel/cuda/waits.cpp",
            "kernel/cuda/warps.cpp",
        ],
    ),
];

/// Compiles `kernel/clang/` and `kernel/cuda/`, the library around clang that the compiling child process loads. It is
/// separate so that only that child loads libclang-cpp.
fn clang_library() {
    println!("cargo:rerun-if-changed=kernel/clang");
    println!("cargo:rerun-if-changed=kernel/cuda/assembly.h");
    println!("cargo:rerun-if-changed=kernel/cuda/callees.h");
    println!("cargo:rerun-if-changed=kernel/cuda/instances.h");
    println!("cargo:rerun-if-changed=kernel/cuda/module.h");
    println!("cargo:rerun-if-changed=kernel/cuda/ptx.h");
    println!("cargo:rerun-if-changed=kernel/cuda/ptx_builder.h");
    println!("cargo:rerun-if-changed=kernel/cuda/ptx_step.h");
    println!("cargo:rerun-if-changed=kernel/cuda/returns.h");
    println!("cargo:rerun-if-changed=kernel/cuda/unknown.h");
    println!("cargo:rerun-if-changed=kernel/cuda/textures.h");
    println!("cargo:rerun-if-env-changed=CXX");
    let llvm_config = |what: &str| {
        let output = Command::new("llvm-config-22").arg(what).output();
        let output =
            output.unwrap_or_else(|error| panic!("llvm-config-22 could not be run ({error}); run scripts/setup"));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let (include, lib) = (llvm_config("--includedir"), llvm_config("--libdir"));
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "g++".to_owned());
    let folder = std::env::current_dir().expect("cargo sets the working directory");
    // Reading the headers takes longer than compiling a file, so files with the same headers are one unit.
    let units: Vec<PathBuf> = CLANG_LIBRARY
        .iter()
        .map(|(headers, files)| {
            files.iter().for_each(|file| println!("cargo:rerun-if-changed={file}"));
            let text: String =
                files.iter().map(|file| format!("#include \"{}\"\n", folder.join(file).display())).collect();
            let unit = out(headers).with_extension("cpp");
            std::fs::write(&unit, text).expect("OUT_DIR can be written");
            unit
        })
        .collect();
    let status = Command::new(&compiler)
        .args(["-std=c++17", "-O2", "-fPIC", "-shared", "-fno-rtti", "-fno-exceptions", "-fvisibility=hidden"])
        .args(["-isystem", &include])
        .args(&units)
        .args([&format!("-L{lib}"), &format!("-Wl,-rpath,{lib}"), "-Wl,-s"])
        // Debian has no unversioned name for clang's library.
        .args(["-l:libclang-cpp.so.22.1", "-l:libLLVM.so.22.1"])
        .arg("-o")
        .arg(out("libkassay_clang.so"))
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!(
            "{compiler} could not compile kernel/clang: {status}; it needs Debian's libclang-22-dev, or run scripts/setup"
        ),
        Err(error) => {
            panic!("{compiler} could not be run ({error}); install Debian's package g++, or run scripts/setup")
        }
    }
}

/// Returns the path of a file that the package includes.
fn out(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join(name)
}

fn compile(name: &str, options: &[&str]) {
    let of_all = ["-target", "spirv64-unknown-unknown", "-emit-llvm", "-c"];
    compile_for(name, &[&of_all, options].concat(), "bc");
}

/// Compiles a file of `runtime-cl/` to one with this extension.
fn compile_for(name: &str, options: &[&str], extension: &str) {
    let clang = std::env::var("KASSAY_CLANG").unwrap_or_else(|_| "clang-22".to_owned());
    let status = Command::new(&clang)
        .args(["-x", "cl", "-ffp-contract=off"])
        .args(options)
        .args(["-fno-strict-aliasing", "-Xclang", "-disable-lifetime-markers"])
        .args(["-Wall", "-Werror", "-Wno-missing-prototypes"])
        .arg(Path::new("runtime-cl").join(name).with_extension("cl"))
        .arg("-o")
        .arg(out(name).with_extension(extension))
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{clang} could not compile runtime-cl/{name}.cl: {status}"),
        Err(error) => {
            panic!("{clang} could not be run ({error}); install Debian's package clang-22, or run scripts/setup")
        }
    }
}
