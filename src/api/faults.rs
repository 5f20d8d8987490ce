//! Runs tests on variants of a kernel that have faults, to learn which tests find them.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use kassay_base::hash;
use kassay_study::study::Fault;
use kassay_suite::compare::compare;
use kassay_suite::resolve::Test;

use super::input::Input;
use super::opened::Opened;
use super::options::OpenOptions;
use super::run::{Ended, each_test};

/// Runs of the original: a test whose outputs differ between them says nothing of faults.
const ORIGINALS: usize = 2;

/// What a launch of a test left: its outputs by position; `None` if it faulted.
type Left = Option<Vec<(u32, Vec<u8>)>>;

/// Returns the files of faulty variants for a kernel: those in the folder of the kernel's name, if there is one, or in
/// its folder `faults`, which leaves room for the kernel itself; otherwise those in `folder` itself; with the extension
/// of the kernel, by name.
///
/// # Errors
/// `Caller` if there are none.
pub(super) fn variants(folder: &Path, kernel: &Path, is_only: bool) -> Result<Vec<PathBuf>> {
    let own = kernel.file_stem().map(|stem| folder.join(stem));
    let own = own.and_then(|own| [own.join("faults"), own].into_iter().find(|place| place.is_dir()));
    // Of several kernels, the variants of one say nothing of another.
    let Some(place) = own.or_else(|| is_only.then(|| folder.to_owned())) else { return Ok(Vec::new()) };
    let unreadable = |e: std::io::Error| {
        Error::caller(format!("cannot read the folder {}: {e}", place.display()))
            .help("name a folder with faulty variants of the kernel's file")
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&place).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_file() && path.extension() == kernel.extension() {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        let extension = kernel.extension().unwrap_or_default().display();
        return Err(Error::caller(format!("{} has no file with the extension {extension}", place.display()))
            .help("put each faulty variant of the kernel there, as a whole file"));
    }
    Ok(files)
}

/// Returns a hash of all files in a folder and in the folders there, in hexadecimal. What cannot be read is left out:
/// using it says so.
pub(super) fn digest(folder: &Path) -> String {
    let listed = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let inner = |path: PathBuf| if path.is_dir() { listed(&path) } else { vec![path] };
    let mut text = String::new();
    for path in listed(folder).into_iter().flat_map(inner) {
        if let Ok(bytes) = std::fs::read(&path) {
            let _ = writeln!(text, "{} {}", path.display(), hash::hex_digest(&bytes));
        }
    }
    hash::hex_digest(text.as_bytes())
}

/// Runs a suite's tests and `more` on each variant of its kernel; a test finds the fault if the variant faults, or an
/// output differs from the original's by more than the suite tolerates.
///
/// # Errors
/// `Caller` if a variant does not compile or has another interface; those of the device.
pub(super) fn find(suite: &Path, files: &[PathBuf], more: &[Test], open: &OpenOptions) -> Result<Vec<Fault>> {
    let original = Opened::of_input(Input { more_tests: more.to_vec(), ..Input::suite(suite, open)? })?;
    let runs: Vec<Vec<Left>> = (0..ORIGINALS).map(|_| left(&original)).collect::<Result<_>>()?;
    let tests = original.tests();
    let steady: BTreeSet<usize> = (0..tests.len())
        .filter(|at| runs.iter().all(|run| runs[0][*at].is_some() && is_same(&tests[*at], &runs[0][*at], &run[*at])))
        .collect();
    files.iter().map(|file| find_one(suite, file, more, open, &original, &runs[0], &steady)).collect()
}

fn find_one(
    suite: &Path,
    file: &Path,
    more: &[Test],
    open: &OpenOptions,
    original: &Opened,
    expected: &[Left],
    steady: &BTreeSet<usize>,
) -> Result<Fault> {
    let input = Input { kernel: file.to_owned(), more_tests: more.to_vec(), ..Input::suite(suite, open)? };
    let variant = Opened::of_input(input).map_err(|error| with_file(error, file))?;
    if variant.interface().args != original.interface().args {
        return Err(Error::caller(format!("{} has other arguments than the kernel", file.display()))
            .help("a variant must take what the kernel takes, so that the same tests run on it"));
    }
    let found = left(&variant)?;
    let tests = original.tests();
    let finds = |at: &usize| !is_same(&tests[*at], &expected[*at], &found[*at]);
    Ok(Fault {
        name: file.file_stem().map(|stem| stem.display().to_string()).unwrap_or_default(),
        found_by: steady.iter().filter(|at| finds(at)).map(|at| tests[*at].name.clone()).collect(),
    })
}

/// Adds to an error which variant it is about, if it does not say so.
fn with_file(error: Error, file: &Path) -> Error {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match &error {
        Error::Caller(_) if !error.to_string().contains(&name) => {
            let what = format!("{} does not take what the suite gives: {}", file.display(), error.report().what);
            Error::caller(what).help("a variant must take what the kernel takes, so that the same tests run on it")
        }
        _ => error,
    }
}

/// Runs all tests once that the device can run; of others, nothing is known.
fn left(opened: &Opened) -> Result<Vec<Left>> {
    let outputs = |run: &Ended| run.as_ref().ok().map(|observation| observation.outputs.clone());
    let found = each_test(opened, |test, run| Ok((test.name.clone(), outputs(run))))?;
    let mut found: HashMap<String, Left> = found.into_iter().collect();
    Ok(opened.tests().iter().map(|test| found.remove(&test.name).flatten()).collect())
}

/// Whether two runs of a test left the same, within the tolerances.
fn is_same(test: &Test, one: &Left, other: &Left) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return one.is_none() && other.is_none() };
    test.outputs.iter().all(|output| {
        let of = |left: &[(u32, Vec<u8>)]| left.iter().find(|(at, _)| *at == output.position).map(|(_, b)| b.clone());
        let (one, other) = (of(one).unwrap_or_default(), of(other).unwrap_or_default());
        compare(&one, &other, Some(&output.ty), output.tolerance).passed()
    })
}
