//! What a run of the host program has shown, and how that differs from what the original showed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use kassay_base::error::{Error, Result};
use kassay_base::files::private::PrivateFolder;
use kassay_base::hash;
use kassay_run::host::{self, TrialEnd, Tried};

/// What tells a mutant of a host program's kernel from the original.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Oracle {
    /// How the program ends: its exit code, or the signal that ends it. The original's exit code must be 0.
    #[default]
    Exit,
    /// How it ends, and what it writes to standard output.
    Stdout,
    /// How it ends, and the files whose paths, relative to the working directory, match a shell pattern (`fnmatch`).
    Files(String),
    /// What each launch leaves in memory, bit for bit: the launches are captured, and the mutants run on them alone.
    Outputs,
}

impl FromStr for Oracle {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Oracle, String> {
        match (text, text.strip_prefix("files:")) {
            ("exit", _) => Ok(Oracle::Exit),
            ("stdout", _) => Ok(Oracle::Stdout),
            ("outputs", _) => Ok(Oracle::Outputs),
            (_, Some(glob)) if !glob.is_empty() => Ok(Oracle::Files(glob.to_owned())),
            _ => Err("there are exit, stdout, files:GLOB and outputs".to_owned()),
        }
    }
}

impl std::fmt::Display for Oracle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Oracle::Exit => f.write_str("exit"),
            Oracle::Stdout => f.write_str("stdout"),
            Oracle::Files(glob) => write!(f, "files:{glob}"),
            Oracle::Outputs => f.write_str("outputs"),
        }
    }
}

/// What a run has shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    pub tried: Tried,
    /// The hash of each file that is compared, by its path.
    pub files: BTreeMap<String, String>,
}

impl Oracle {
    /// Says how a run differs from the original's.
    pub fn difference(&self, original: &Shown, other: &Shown) -> Option<String> {
        let (was, is) = (&original.tried, &other.tried);
        if was.end != is.end {
            return Some(format!("the program {}; the original {}", ended(is.end), ended(was.end)));
        }
        match self {
            Oracle::Exit | Oracle::Outputs => None,
            Oracle::Stdout => different_line(&was.stdout, &is.stdout),
            Oracle::Files(_) => different_file(&original.files, &other.files),
        }
    }

    /// Advises what to do about a program whose runs differ by themselves.
    pub fn advice(&self) -> &'static str {
        match self {
            Oracle::Exit => {
                "make the program end in the same way each time, such as by a fixed seed; or judge by --oracle outputs"
            }
            Oracle::Stdout => {
                "leave out what differs from run to run, such as times; or judge by --oracle exit, files:GLOB or outputs"
            }
            Oracle::Files(_) => "name files that are the same after each run; or judge by --oracle exit or outputs",
            Oracle::Outputs => "judge by --oracle exit, stdout or files:GLOB",
        }
    }
}

/// Says how a program has ended, as a sentence goes on.
pub fn ended(end: TrialEnd) -> String {
    match end {
        TrialEnd::Exited(code) => format!("ended with exit code {code}"),
        TrialEnd::Signalled(signal) => format!("was ended by {}", host::signal_name(signal)),
        TrialEnd::TimedOut => "did not end in time".to_owned(),
        TrialEnd::TooMuchOutput => "printed without end".to_owned(),
    }
}

/// Characters of a line that a message shows.
const SHOWN: usize = 60;

fn different_line(was: &[u8], is: &[u8]) -> Option<String> {
    if was == is {
        return None;
    }
    let (mut old, mut new) = (was.split(|byte| *byte == b'\n'), is.split(|byte| *byte == b'\n'));
    let mut line = 1;
    loop {
        match (old.next(), new.next()) {
            (Some(old), Some(new)) if old == new => line += 1,
            (old, new) => {
                return Some(format!("line {line} of its output is {} instead of {}", quoted(new), quoted(old)));
            }
        }
    }
}

fn quoted(line: Option<&[u8]>) -> String {
    let Some(line) = line else { return "missing".to_owned() };
    let text = String::from_utf8_lossy(line);
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

fn different_file(was: &BTreeMap<String, String>, is: &BTreeMap<String, String>) -> Option<String> {
    let changed = was.iter().find_map(|(file, hash)| match is.get(file) {
        None => Some(format!("the file {file} is missing")),
        Some(other) => (other != hash).then(|| format!("the file {file} is different")),
    });
    changed.or_else(|| is.keys().find(|file| !was.contains_key(*file)).map(|file| format!("the file {file} is new")))
}

/// A copy of the working directory, for one run. It vanishes when dropped.
#[derive(Debug)]
pub struct Workplace {
    folder: PathBuf,
    /// Holds the folder.
    _private: PrivateFolder,
}

impl Workplace {
    /// Copies a folder, but for `.git` and the folder `without` in it; `most` bytes at most.
    ///
    /// # Errors
    /// `Caller` if it holds more; `Environment` if it cannot be copied.
    pub fn of(folder: &Path, without: &Path, most: u64) -> Result<Workplace> {
        let broken = |error: std::io::Error| {
            Error::environment(format!("cannot copy the working directory {}: {error}", folder.display()))
                .help("free some space, set TMPDIR to another file system, or run the program in a smaller folder")
        };
        let private = PrivateFolder::temporary().map_err(broken)?;
        // What is in it besides is not the program's.
        let copy = private.path().join("work");
        fs::create_dir(&copy).map_err(broken)?;
        let mut left = most;
        let omitted = [without, private.path()];
        if copy_into(folder, &copy, &omitted, &mut left).map_err(broken)? {
            return Ok(Workplace { folder: copy, _private: private });
        }
        let what = format!("the working directory {} holds more than {most} bytes", folder.display());
        Err(Error::caller(what)
            .help("each run gets a copy of it: run the program in a smaller folder, or raise --max-bytes"))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Hashes the files whose paths match a pattern.
    ///
    /// # Errors
    /// `Environment` if one cannot be read.
    pub fn files(&self, glob: &str) -> Result<BTreeMap<String, String>> {
        let (glob, mut all) = ([glob.to_owned()], BTreeMap::new());
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(self.folder().join(&folder)) else { continue };
            for entry in entries.flatten() {
                let (path, kind) = (folder.join(entry.file_name()), entry.file_type().ok());
                let name = path.to_string_lossy().into_owned();
                if kind.is_some_and(|kind| kind.is_dir()) {
                    folders.push(path);
                } else if kind.is_some_and(|kind| kind.is_file()) && host::matches_one(&name, &glob) {
                    let bytes = fs::read(entry.path()).map_err(|error| {
                        Error::environment(format!("cannot read the file {name} that the program wrote: {error}"))
                            .help("let the program make files that its user can read")
                    })?;
                    all.insert(name, hash::hex_digest(&bytes));
                }
            }
        }
        Ok(all)
    }
}

/// Copies a folder's files, folders and links. Returns whether there were at most `left` bytes.
fn copy_into(from: &Path, to: &Path, omitted: &[&Path], left: &mut u64) -> std::io::Result<bool> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
        if entry.file_name() == ".git" || omitted.contains(&source.as_path()) {
            continue;
        }
        if kind.is_dir() {
            fs::create_dir(&target)?;
            if !copy_into(&source, &target, omitted, left)? {
                return Ok(false);
            }
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if kind.is_file() {
            let Some(rest) = left.checked_sub(entry.metadata()?.len()) else { return Ok(false) };
            *left = rest;
            fs::copy(&source, &target)?;
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(end: TrialEnd, stdout: &str) -> Shown {
        let tried = Tried { end, seconds: 1.0, stdout: stdout.as_bytes().to_vec(), stderr: String::new() };
        Shown { tried, files: BTreeMap::new() }
    }

    #[test]
    fn oracles_are_parsed() {
        for text in ["exit", "stdout", "files:*.out", "outputs"] {
            assert_eq!(text.parse::<Oracle>().unwrap().to_string(), text);
        }
        for wrong in ["", "files:", "Exit", "files"] {
            assert!(wrong.parse::<Oracle>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn differences_are_said() {
        let was = shown(TrialEnd::Exited(0), "a\nb\n");
        let say = |oracle: &Oracle, other: Shown| oracle.difference(&was, &other).unwrap_or_default();
        let failed = shown(TrialEnd::Exited(2), "");
        assert_eq!(
            say(&Oracle::Exit, failed),
            "the program ended with exit code 2; the original ended with exit code 0"
        );
        let crashed = shown(TrialEnd::Signalled(libc::SIGSEGV), "");
        assert_eq!(
            say(&Oracle::Stdout, crashed),
            "the program was ended by SIGSEGV; the original ended with exit code 0"
        );
        assert_eq!(say(&Oracle::Exit, shown(TrialEnd::Exited(0), "c")), "");
        let other = shown(TrialEnd::Exited(0), "a\nc\n");
        assert_eq!(say(&Oracle::Stdout, other), "line 2 of its output is `c` instead of `b`");
        assert_eq!(
            say(&Oracle::Stdout, shown(TrialEnd::Exited(0), "a\nb")),
            "line 3 of its output is missing instead of ``"
        );
        let mut files = was.clone();
        files.files.insert("x".to_owned(), "1".to_owned());
        assert_eq!(say(&Oracle::Files("*".to_owned()), files), "the file x is new");
    }

    #[test]
    fn a_workplace_is_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [("a/b.out", "1"), ("c.txt", "22"), (".git/x.out", "3"), ("spool/y.out", "4")] {
            fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
            fs::write(folder.path().join(path), text).unwrap();
        }
        std::os::unix::fs::symlink("c.txt", folder.path().join("link.out")).unwrap();
        let copy = Workplace::of(folder.path(), &folder.path().join("spool"), 3).unwrap();
        let files = copy.files("*.out").unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["a/b.out"]);
        fs::write(copy.folder().join("a/b.out"), "2").unwrap();
        assert_ne!(copy.files("*.out").unwrap(), files);
        assert_eq!(fs::read_to_string(folder.path().join("a/b.out")).unwrap(), "1");
        let error = Workplace::of(folder.path(), &folder.path().join("spool"), 2).unwrap_err();
        assert_eq!(error.exit_code(), 2);
    }
}
