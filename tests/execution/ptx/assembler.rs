//! NVIDIA's assembler `ptxas`, which set-up installs.

use std::path::PathBuf;
use std::process::Command;

/// Returns the assembler's path.
///
/// # Panics
/// If it is not there, with what helps.
pub fn path() -> PathBuf {
    let folder = kassay_base::external_tools::data_folder().expect("there is a data folder").join("ptxas");
    let versions = std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<PathBuf> =
        versions.map(|version| version.path().join("bin/ptxas")).filter(|path| path.is_file()).collect();
    found.sort();
    found.pop().unwrap_or_else(|| panic!("there is no ptxas in {}: run scripts/setup", folder.display()))
}

/// Assembles PTX for the architecture that it is made for; returns the assembler's complaints.
pub fn assemble(ptx: &[u8]) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("k.ptx"), folder.path().join("k.cubin"));
    std::fs::write(&input, ptx).unwrap();
    // Unoptimised: only whether it is accepted matters.
    let done = Command::new(path()).args(["-arch=sm_70", "-O0", "-o"]).arg(&output).arg(&input).output().unwrap();
    match done.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}
