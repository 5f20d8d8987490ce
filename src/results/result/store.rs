//! Writes result files by rename and reads them back by their `schema`.
//!
//! Not for the journal, nor for the contents of results.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Place, Result};
use kassay_base::files::{self, pieces};
use kassay_base::json::{self, Layout};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::any::{AnyResult, OfKernel};
use super::capture::CaptureResult;
use super::ci::CiResult;
use super::compare::CompareResult;
use super::devices::DevicesResult;
use super::inspect::InspectResult;
use super::schedule::ScheduleResult;
use super::set::{InSet, SetResult};

/// A result and the path of the file that it was read from.
pub type ResultFile = (PathBuf, AnyResult);

/// Checks whether a file could be written later, as far as this can be known in advance.
///
/// # Errors
/// `Caller` if `path` is a folder or its folder does not exist.
pub fn check_writable(path: &Path) -> Result<()> {
    let what = format!("cannot write {}", path.display());
    if path.is_dir() {
        return Err(Error::caller(format!("{what}: it is a folder")).help("name a file in it"));
    }
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) if folder.exists() && !folder.is_dir() => {
            Err(Error::caller(format!("{what}: {} is not a folder", folder.display()))
                .help("name a file in an existing folder"))
        }
        Some(folder) if !folder.exists() => {
            Err(Error::caller(format!("{what}: the folder {} does not exist", folder.display()))
                .help(format!("create it first: mkdir -p {}", folder.display())))
        }
        _ => Ok(()),
    }
}

/// Writes `result` as indented JSON with [`write_text`].
///
/// # Errors
/// As [`write_text`]; `Internal` if the value has no JSON form.
pub fn write<T: Serialize>(result: &T, path: &Path) -> Result<()> {
    let mut json = json::text(result, Layout::Indented)
        .map_err(|e| Error::internal(format!("cannot turn the result into JSON: {e}")))?;
    json.push('\n');
    write_text(&json, path)
}

/// Writes `result` as [`write()`] does, but piece by piece, so that its text need not fit into memory: for large
/// results, and for values whose parts are made while they are written.
///
/// # Errors
/// As [`write()`].
pub fn write_in_pieces<T: Serialize>(result: &T, path: &Path) -> Result<()> {
    write_with(path, |sink| {
        pieces::write(sink, |sink| {
            json::write(result, Layout::Indented, sink)?;
            sink.write_all(b"\n")
        })
    })
}

/// Writes `text` atomically, so that `path` always holds either its previous contents or all of `text`: to a temporary
/// file in the same folder, synced, then renamed. Pipes and terminals (such as `/dev/stdout`) are written directly.
///
/// # Errors
/// `Caller` if the folder does not exist or `path` is a folder; `Environment` if the disk is full, the folder is not
/// writable, or the file system fails otherwise.
pub fn write_text(text: &str, path: &Path) -> Result<()> {
    write_with(path, |sink| sink.write_all(text.as_bytes()))
}

fn write_with(path: &Path, content: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    if path.is_dir() {
        return Err(Error::caller(format!("cannot write {}: it is a folder", path.display())).help("name a file in it"));
    }
    // Renaming over a standard stream's path would replace that path or unlink the file that the shell redirected to.
    let stream = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter().any(|p| path.starts_with(p));
    if stream || path.metadata().is_ok_and(|m| !m.is_file()) {
        let through = || content(&mut File::options().write(true).open(path)?);
        return through().map_err(|e| write_error(path, path, &e));
    }
    // A symbolic link stays one; the file that it points to is replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    write_by_rename(content, &target, &folder).map_err(|e| write_error(path, &folder, &e))
}

fn write_by_rename(content: impl FnOnce(&mut File) -> io::Result<()>, target: &Path, folder: &Path) -> io::Result<()> {
    let mut file = files::draft_in(folder)?;
    content(file.as_file_mut())?;
    file.as_file().sync_all()?;
    file.persist(target).map_err(|e| e.error)?;
    // Syncing the folder makes the rename durable; file systems that cannot sync folders fail here, which is ignored.
    let _ = File::open(folder).and_then(|f| f.sync_all());
    Ok(())
}

fn write_error(path: &Path, folder: &Path, error: &io::Error) -> Error {
    let what = format!("cannot write {}", path.display());
    match error.kind() {
        ErrorKind::NotFound => Error::caller(format!("{what}: the folder {} does not exist", folder.display()))
            .help(format!("create it first: mkdir -p {}", folder.display())),
        ErrorKind::NotADirectory => Error::caller(format!("{what}: {} is not a folder", folder.display()))
            .help("name a file in an existing folder"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::environment(format!("{what}: {error}"))
            .help("free some space, or write to another file system with -o"),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Error::environment(format!("{what}: {error}"))
            .help(format!("make {} writable, or write elsewhere with -o", folder.display())),
        _ => Error::environment(format!("{what}: {error}")).help("write elsewhere with -o"),
    }
}

/// The help for a file that is no result.
const NAME_A_RESULT: &str = "name a result file that a command wrote with -o";

/// Reads a result of any command.
///
/// # Errors
/// `Caller` if the file does not exist, is not a result, or has a schema that is unknown or newer than this kassay;
/// `Environment` if it cannot be read.
pub fn read(path: &Path) -> Result<AnyResult> {
    parse(&read_text(path, NAME_A_RESULT)?, path)
}

/// Reads a part of a result, or a result whose kind is known.
///
/// # Errors
/// As [`read`].
pub(super) fn read_as<T: DeserializeOwned>(path: &Path) -> Result<T> {
    json(&read_text(path, NAME_A_RESULT)?, path, "this is not a valid result of kassay", NAME_A_RESULT)
}

/// Reads a file of text. `help` says which file is wanted.
pub(super) fn read_text(path: &Path, help: &str) -> Result<String> {
    files::read_text_or_pipe(path).map_err(|e| {
        let what = format!("cannot read {}: {e}", path.display());
        match e.kind() {
            ErrorKind::NotFound
            | ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidData => Error::caller(what).help(help),
            _ => Error::environment(what).help("make the file readable"),
        }
    })
}

/// The part of a result that identifies its type.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    schema: Option<serde_json::Value>,
}

/// Parses the text of a result; `path` is used in messages.
///
/// # Errors
/// As [`read`].
pub fn parse(text: &str, path: &Path) -> Result<AnyResult> {
    let Some(schema) = schema_of(text, path, "this is not a result of kassay", NAME_A_RESULT)? else {
        return Err(Error::caller(format!("{} is not a result of kassay: it has no `schema`", path.display()))
            .help(NAME_A_RESULT));
    };
    let wrong = format!("this is not a valid `{schema}` result");
    match schemas().find(|(known, _)| *known == schema) {
        Some((_, read)) => read(text, path, &wrong),
        None => Err(unknown_schema(&schema, path)),
    }
}

/// Reads a result whose schema is known: its text, the path for messages, and what is wrong if it does not fit.
type Reader = fn(&str, &Path, &str) -> Result<AnyResult>;

/// The schemas of a command's results: for one kernel, and for several.
macro_rules! of_kernels {
    ($($(#[$about:meta])* $variant:ident $field:ident $result:ident,)*) => {
        &[$(
            (super::$field::$result::SCHEMA, one::<super::$field::$result>),
            (<super::$field::$result as InSet>::SET_SCHEMA, set::<super::$field::$result>),
        )*]
    };
}
const OF_KERNELS: &[(&str, Reader)] = kernel_commands!(of_kernels);

const OTHERS: &[(&str, Reader)] = &[
    (ScheduleResult::SCHEMA_1, one::<ScheduleResult>),
    (DevicesResult::SCHEMA, |text, path, wrong| from_json(text, path, wrong).map(AnyResult::Devices)),
    (InspectResult::SCHEMA, |text, path, wrong| from_json(text, path, wrong).map(AnyResult::Inspect)),
    (CompareResult::SCHEMA, |text, path, wrong| from_json(text, path, wrong).map(AnyResult::Compare)),
    (CaptureResult::SCHEMA, |text, path, wrong| from_json(text, path, wrong).map(AnyResult::Capture)),
    (CiResult::SCHEMA, |text, path, wrong| from_json(text, path, wrong).map(AnyResult::Ci)),
];

/// Returns all schemas of results, in the order in which messages list them.
fn schemas() -> impl Iterator<Item = &'static (&'static str, Reader)> {
    OF_KERNELS.iter().chain(OTHERS)
}

/// Reads the result of one kernel.
fn one<R: OfKernel + DeserializeOwned>(text: &str, path: &Path, wrong: &str) -> Result<AnyResult> {
    from_json(text, path, wrong).map(|result: R| R::any(SetResult::of_one(result)))
}

/// Reads the result of several kernels.
fn set<R>(text: &str, path: &Path, wrong: &str) -> Result<AnyResult>
where
    R: OfKernel<Total: DeserializeOwned> + DeserializeOwned,
{
    from_json::<SetResult<R, R::Total>>(text, path, wrong).map(R::any)
}

/// Returns the `schema` of a file's JSON; `None` without. The messages are those of [`json`].
pub(super) fn schema_of(text: &str, path: &Path, what: &str, help: &str) -> Result<Option<String>> {
    let head: Head = json(text, path, what, help)?;
    Ok(head.schema.as_ref().and_then(|s| s.as_str()).map(str::to_owned))
}

fn unknown_schema(schema: &str, path: &Path) -> Error {
    let known: Vec<&str> = schemas().map(|(known, _)| *known).collect();
    let version = |s: &str| s.rsplit_once('/').and_then(|(name, v)| Some((name.to_owned(), v.parse::<u64>().ok()?)));
    let newer = version(schema).is_some_and(|(name, v)| {
        known.iter().filter_map(|k| version(k)).any(|(known_name, known_v)| name == known_name && v > known_v)
    });
    if newer {
        Error::caller(format!("{} was written by a newer kassay: its schema is `{schema}`", path.display()))
            .help(format!("update kassay; this one ({}) reads {}", env!("CARGO_PKG_VERSION"), list(&known)))
    } else {
        Error::caller(format!("{} has the unknown schema `{schema}`", path.display()))
            .help(format!("this kassay reads {}", list(&known)))
    }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

fn from_json<T: DeserializeOwned>(text: &str, path: &Path, what: &str) -> Result<T> {
    json(text, path, what, NAME_A_RESULT)
}

/// Parses JSON. `what` begins the message if it does not fit, `help` says which file is wanted.
pub(super) fn json<T: DeserializeOwned>(text: &str, path: &Path, what: &str, help: &str) -> Result<T> {
    json::read(text.as_bytes()).map_err(|e| {
        let line = u32::try_from(e.line()).unwrap_or(u32::MAX);
        let column = u32::try_from(e.column()).unwrap_or(u32::MAX);
        // Long lines are not shown: compact JSON has the entire result on one line.
        let shown = text.lines().nth(e.line().saturating_sub(1)).filter(|l| l.len() <= 200).map(str::to_owned);
        let message = e.to_string();
        let message = message.split(" at line ").next().unwrap_or(&message);
        Error::caller(format!("{what}: {message}"))
            .at(Place { file: path.to_owned(), line: line.max(1), column: column.max(1), text: shown })
            .help(help)
    })
}
