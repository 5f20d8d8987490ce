//! Writes generated suites into a folder. What kassay wrote there earlier is replaced; what it did not write is
//! not touched.
//!
//! A generated suite file begins with comments that list its data files and the hashes of their contents. A file whose
//! hash has changed no longer counts as kassay's.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use kassay_base::error::{Error, Result};
use kassay_base::files;
use kassay_base::hash;
use kassay_model::interface::Interface;
use kassay_results::result::store;
use kassay_suite::write::{self, NewSuite};

const FILE: &str = "suite.toml";

/// The file that lists data files that are being put in place, as a suite file's first lines do: a process that is
/// killed meanwhile leaves it.
const UNFINISHED: &str = ".suite.toml.files";

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
    files::remove_left(folder);
    let draft = files::draft_folder_in(folder).map_err(|e| io_error(folder, "write into", "", &e))?;
    let written = write::write_data(draft.path(), suite, interface, &others(folder, &before)?)?;
    let mut text = format!("{HEADING}\n");
    for name in &written.files {
        text.push_str(&format!("{DATA}{} {name}\n", hash_of(draft.path(), name)?));
    }
    // What is put in place and what is there, until the suite's file says so.
    let mut all = text.clone();
    for name in before.iter().filter(|name| !written.files.contains(name)) {
        all.push_str(&format!("{DATA}{} {name}\n", hash_of(folder, name)?));
    }
    store::write_text(&all, &folder.join(UNFINISHED))?;
    remove(folder, FILE)?;
    for name in &written.files {
        fs::rename(draft.path().join(name), folder.join(name)).map_err(|e| io_error(folder, "write", name, &e))?;
    }
    text.push('\n');
    text.push_str(&written.text);
    store::write_text(&text, &folder.join(FILE))?;
    for name in before.iter().filter(|name| !written.files.contains(name)) {
        remove(folder, name)?;
    }
    remove(folder, UNFINISHED)
}

fn suite_text(folder: &Path) -> Result<Option<String>> {
    match fs::read(folder.join(FILE)) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(io_error(folder, "read", FILE, &e)),
    }
}

/// Returns data files of the generated suite that is there, or that a killed process was about to write, except those
/// that were changed since.
fn own_files(folder: &Path) -> Result<BTreeSet<String>> {
    let unfinished = fs::read_to_string(folder.join(UNFINISHED)).unwrap_or_default();
    let text = suite_text(folder)?.unwrap_or_default();
    let lists = [&unfinished, &text].map(|text| text.lines().skip(1));
    let lines = lists.into_iter().flat_map(|list| list.map_while(|line| line.strip_prefix(DATA)?.split_once(' ')));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_has_put_in_place_is_its_own() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["x.npy", "y.npy", "mine.npy"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let line = |name: &str| format!("{DATA}{} {name}\n", hash_of(folder.path(), name).unwrap());
        fs::write(folder.path().join(UNFINISHED), format!("{HEADING}\n{}{}", line("x.npy"), line("y.npy"))).unwrap();
        fs::write(folder.path().join("y.npy"), "edited since").unwrap();
        assert_eq!(own_files(folder.path()).unwrap(), BTreeSet::from(["x.npy".to_owned()]));
    }
}
