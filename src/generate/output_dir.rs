//! Writes generated suites into a folder. What kassay wrote there earlier is replaced; what it did not write is
//! not touched.
//!
//! A generated suite file begins with comments that list its data files and the hashes of their contents. A file whose
//! hash has changed no longer counts as kassay's.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, Result};
use crate::hash;
use crate::kernel::interface::Interface;
use crate::result::store;
use crate::suite::write::{self, NewSuite};

const FILE: &str = "suite.toml";

/// First line of every generated suite file, and prefix of the lines that list its data files.
const HEADING: &str = "# Written by kassay generate, which replaces this file and those named here:";
const DATA: &str = "#   ";

/// Refuses a folder with a suite file that `kassay generate` did not write.
///
/// # Errors
/// `Caller` in that case; `Environment` if the file cannot be read.
pub fn check(folder: &Path) -> Result<()> {
    match suite_text(folder)? {
        Some(text) if !text.starts_with(HEADING) => {
            let path = folder.join(FILE);
            Err(Error::caller(format!("{} is there already, and kassay generate did not write it", path.display()))
                .help("name another folder with -o, or move the file away"))
        }
        _ => Ok(()),
    }
}

/// Writes a suite and its data, in place of the suite that was generated there before. At no moment does the folder
/// hold a suite file with the data of another suite.
///
/// # Errors
/// As [`check`] and [`write::write`].
pub fn write(folder: &Path, suite: &NewSuite<'_>, interface: &Interface) -> Result<()> {
    check(folder)?;
    let before = own_files(folder)?;
    remove(folder, FILE)?;
    let written = write::write_data(folder, suite, interface, &others(folder, &before)?)?;
    let mut text = format!("{HEADING}\n");
    for name in &written.files {
        text.push_str(&format!("{DATA}{} {name}\n", hash_of(folder, name)?));
    }
    text.push('\n');
    text.push_str(&written.text);
    store::write_text(&text, &folder.join(FILE))?;
    for name in before.iter().filter(|name| !written.files.contains(name)) {
        remove(folder, name)?;
    }
    Ok(())
}

fn suite_text(folder: &Path) -> Result<Option<String>> {
    match fs::read(folder.join(FILE)) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(io_error(folder, "read", FILE, &e)),
    }
}

/// Returns data files of the generated suite that is there, except those that were changed since.
fn own_files(folder: &Path) -> Result<BTreeSet<String>> {
    let text = suite_text(folder)?.unwrap_or_default();
    let lines = text.lines().skip(1).map_while(|line| line.strip_prefix(DATA)?.split_once(' '));
    let is_own = |(hash, name): &(&str, &str)| {
        // Data lies in the folder itself, whatever the line says.
        !name.contains('/') && hash_of(folder, name).is_ok_and(|now| now == *hash)
    };
    Ok(lines.filter(is_own).map(|(_, name)| name.to_owned()).collect())
}

/// Returns names in the folder that are not in `own`.
fn others(folder: &Path, own: &BTreeSet<String>) -> Result<BTreeSet<String>> {
    let list = fs::read_dir(folder).map_err(|e| io_error(folder, "list", "", &e))?;
    let names = list.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter(|name| !own.contains(name)).collect())
}

fn hash_of(folder: &Path, name: &str) -> Result<String> {
    let bytes = fs::read(folder.join(name)).map_err(|e| io_error(folder, "read", name, &e))?;
    Ok(hash::hex_digest(&bytes))
}

fn remove(folder: &Path, name: &str) -> Result<()> {
    match fs::remove_file(folder.join(name)) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(io_error(folder, "remove", name, &e)),
        _ => Ok(()),
    }
}

fn io_error(folder: &Path, what: &str, name: &str, error: &std::io::Error) -> Error {
    Error::environment(format!("cannot {what} {}: {error}", folder.join(name).display()))
        .help("make the folder writable, or name another one with -o")
}
