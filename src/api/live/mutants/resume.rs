//! Interrupted and finished runs: what makes a run the same as an earlier one, and what that has left.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use kassay_base::hash::{self, Fnv1a};
use kassay_results::result::any::AnyResult;
use kassay_results::result::journal::{self, Journal};
use kassay_results::result::set::MutateSet;
use kassay_results::result::store;

use super::super::super::options::OpenOptions;
use super::super::compiled::working;
use super::judge::{Entry, Measured};
use super::options::MutateProgramOptions;

/// Files of a command that are longer, in bytes, are not read.
const LONGEST_FILE: u64 = 256 << 20;

/// Returns a hash, in hexadecimal, of what is asked for: the command, with the contents of the files that it names, and
/// the options.
pub fn request(command: &[OsString], options: &MutateProgramOptions, open: &OpenOptions) -> String {
    let MutateProgramOptions {
        oracle,
        shown_as_gpu,
        kernels,
        operators,
        sample,
        timeout_factor,
        replay,
        max_bytes,
        ..
    } = options;
    let OpenOptions { defines, include_dirs, cl_std, clang_args, seed, .. } = open;
    let about = format!(
        "{oracle} {shown_as_gpu} {kernels:?} {operators} {sample:?} {timeout_factor} {replay} {max_bytes} {defines:?} \
         {include_dirs:?} {cl_std:?} {clang_args:?} {}",
        seed.unwrap_or(0)
    );
    let mut parts = vec![env!("CARGO_PKG_VERSION").as_bytes().to_vec(), about.into_bytes()];
    parts.push(working().as_os_str().as_encoded_bytes().to_vec());
    for (at, word) in command.iter().enumerate() {
        parts.push(word.as_encoded_bytes().to_vec());
        let path = if at == 0 { executable(word) } else { Some(PathBuf::from(word)) };
        let is_file =
            |path: &PathBuf| fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() <= LONGEST_FILE);
        parts.extend(path.filter(is_file).and_then(|path| fs::read(path).ok()));
    }
    let mut hash = Fnv1a::default();
    for part in parts {
        hash.add(&(part.len() as u64).to_le_bytes());
        hash.add(&part);
    }
    format!("{:016x}", hash.value())
}

/// Returns the file of a program that is named as in a shell.
fn executable(name: &OsString) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.components().count() > 1 || name.as_encoded_bytes().contains(&b'/') {
        return Some(path.to_owned());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Returns the complete result of an earlier run of the same request, with which nothing is left to resume.
///
/// # Errors
/// `Caller` if the file holds the result of another request, or the kernels' texts have changed since.
pub fn completed(options: &MutateProgramOptions, request: &str) -> Result<Option<MutateSet>> {
    let Some(output) = options.output.as_deref().filter(|_| options.resume) else { return Ok(None) };
    if journal::path_for(output).exists() {
        return Ok(None);
    }
    // Any other file is replaced, as without --resume.
    let Ok(AnyResult::Mutate(result)) = store::read(output) else { return Ok(None) };
    let Some(program) = &result.program else { return Ok(None) };
    let refuse = |what: String| {
        Err(Error::caller(what).help("resume with what it was begun with, or leave out --resume to begin anew"))
    };
    if program.request.as_deref() != Some(request) {
        let what = "its command, files that this names, options or the version are others";
        return refuse(format!("{} is the result of another run: {what}", output.display()));
    }
    let texts = result.kernels.iter().flat_map(|kernel| &kernel.result.texts);
    let has_changed =
        |(file, known): &(&String, &String)| fs::read(file).map_or(true, |text| hash::hex_digest(&text) != **known);
    if let Some((file, _)) = texts.into_iter().find(has_changed) {
        return refuse(format!("{file} is not what it was when {} was written", output.display()));
    }
    Ok(Some(*result))
}

/// Opens the journal, if the result goes to a file, and returns what an earlier run has written.
///
/// # Errors
/// As [`Journal::create`] and [`Journal::resume`].
pub fn journal(
    command: &[OsString],
    options: &MutateProgramOptions,
    configuration: &str,
) -> Result<(Option<Journal>, Vec<Entry>)> {
    let Some(output) = &options.output else { return Ok((None, Vec::new())) };
    let path = journal::path_for(output);
    let command: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let header = journal::Header::new("mutate -- COMMAND", &command.join(" "), configuration);
    let (journal, known) = match options.resume {
        true => Journal::resume(&path, &header)?,
        false => (Journal::create(&path, &header)?, Vec::new()),
    };
    Ok((Some(journal), known))
}

/// Returns a hash, in hexadecimal, of what determines mutants and verdicts, as far as it is known.
pub fn configuration(
    command: &[OsString],
    options: &MutateProgramOptions,
    open: &OpenOptions,
    measured: &[Measured],
) -> String {
    let mut hash = Fnv1a::default();
    let mut add = |part: &[u8]| {
        hash.add(part);
        hash.add(&[0]);
    };
    let MutateProgramOptions { oracle, shown_as_gpu, operators, sample, timeout_factor, .. } = options;
    let about = format!("{oracle} {shown_as_gpu} {operators} {sample:?} {timeout_factor} {}", open.seed.unwrap_or(0));
    for part in [env!("CARGO_PKG_VERSION"), &about, &working().to_string_lossy()] {
        add(part.as_bytes());
    }
    command.iter().for_each(|word| add(word.as_encoded_bytes()));
    for Measured { key: (program, kernel), map, .. } in measured {
        let modules = map.modules.iter().map(|module| module.hash.as_str());
        let ids = map.mutants.iter().map(|mutant| mutant.id.as_str());
        for part in [program.as_str(), kernel].into_iter().chain(modules).chain(ids) {
            add(part.as_bytes());
        }
    }
    format!("{:016x}", hash.value())
}
