//! Journals a run: appends every decision as a line, so that an interrupted run can be resumed.
//!
//! `<result file>.journal.jsonl` is JSON Lines. Its first line is the [`Header`], with which the file is created, by
//! rename. Every entry is written with a single write as soon as it is decided, so that a killed process loses at most
//! the entry that it was writing; entries are synced in groups, so that a machine failure loses at most the last
//! second. The journal exists until the result file does; then [`Journal::remove`] deletes it.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_base::files::has_dead_owner;
use kassay_base::json::{self, Layout};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::store;

/// Longest time that a written entry waits before its group is synced.
const SYNC_DELAY: Duration = Duration::from_millis(500);

/// Longest wait for the lock of a journal: the last children of a killed run may outlive it for a moment.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// The first line of a journal: identifies the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// `kassay.journal/1`
    pub schema: String,
    /// `mutate` or `generate`
    pub command: String,
    /// Version of kassay.
    pub version: String,
    /// The entry's name.
    pub kernel: String,
    /// Hash of everything that determines the entries.
    pub configuration: String,
}

impl Header {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "kassay.journal/1";

    /// Returns the header of a journal that this version of kassay writes.
    pub fn new(command: &str, kernel: &str, configuration: &str) -> Header {
        Header {
            schema: Header::SCHEMA.into(),
            command: command.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            kernel: kernel.into(),
            configuration: configuration.into(),
        }
    }
}

/// Returns the path of the journal of a run with this result file.
pub fn path_for(result: &Path) -> PathBuf {
    let mut path = OsString::from(result);
    path.push(".journal.jsonl");
    path.into()
}

/// Returns the path of the journal of a part of such a run, numbered from 0: of 0, that of the run.
pub fn path_for_part(result: &Path, part: usize) -> PathBuf {
    let mut path = OsString::from(result);
    if part > 0 {
        path.push(format!(".{}", part + 1));
    }
    path_for(Path::new(&path))
}

/// Deletes a journal of an earlier run, if there is one.
///
/// # Errors
/// `Environment` if it cannot be deleted.
pub fn discard(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => {
            Err(Error::environment(format!("cannot delete {}: {e}", path.display()))
                .help("delete it by hand, or write to another file with -o"))
        }
        _ => Ok(()),
    }
}

/// An open journal. Threads may append concurrently. Dropping it syncs the remaining entries; the file stays.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    shared: Arc<Shared>,
    syncer: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Signals that there is something to sync or that the journal is closed.
    changed: Condvar,
    /// A second handle of the file, so that appending need not wait for a sync.
    sync_handle: File,
}

#[derive(Debug)]
struct State {
    file: File,
    /// Time at which the oldest entry not yet synced was written.
    waiting_since: Option<Instant>,
    closed: bool,
    /// The first error. Nothing is written after it, because an entry after a torn line could not be read back.
    broken: Option<String>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Syncs groups of entries until the journal is closed, then the remaining ones.
    fn sync_groups(&self) {
        let mut state = self.lock();
        loop {
            let wait = match (state.waiting_since, state.closed) {
                (None, true) => return,
                (None, false) => None,
                (Some(_), true) => Some(Duration::ZERO),
                (Some(since), false) => Some(SYNC_DELAY.saturating_sub(since.elapsed())),
            };
            match wait {
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => {
                    state.waiting_since = None;
                    drop(state);
                    let outcome = self.sync_handle.sync_data();
                    state = self.lock();
                    if let Err(e) = outcome {
                        state.broken.get_or_insert(e.to_string());
                    }
                }
                Some(time) => {
                    state = self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }
}

impl Journal {
    /// Creates a journal; replaces an existing one.
    ///
    /// # Errors
    /// As [`store::write_text`]; `Caller` if another process is writing this journal; `Environment` if the file
    /// system fails.
    pub fn create(path: &Path, header: &Header) -> Result<Journal> {
        // The old file stays locked until the new one has replaced it.
        let old = path.exists().then(|| open(path)).transpose()?;
        let mut line = json::text(header, Layout::Compact)
            .map_err(|e| Error::internal(format!("cannot turn the journal's header into JSON: {e}")))?;
        line.push('\n');
        store::write_text(&line, path)?;
        drop(old);
        let mut file = open(path)?;
        file.seek(SeekFrom::End(0)).map_err(|e| io_error(path, &e.to_string()))?;
        Journal::start(path, file)
    }

    /// Opens the journal of an interrupted run and returns its entries; creates one if there is none. A torn end, as a
    /// power failure leaves it, is cut off.
    ///
    /// # Errors
    /// `Caller` if the journal belongs to another configuration, command or version of kassay, if its first line is
    /// damaged, or if another process is writing it; `Environment` if the file system fails.
    pub fn resume<E: DeserializeOwned>(path: &Path, header: &Header) -> Result<(Journal, Vec<E>)> {
        if !path.exists() {
            return Ok((Journal::create(path, header)?, Vec::new()));
        }
        let mut file = open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| io_error(path, &e.to_string()))?;
        let end = bytes.iter().position(|b| *b == b'\n');
        let found = end.and_then(|end| json::read::<Header>(&bytes[..end]).ok());
        let (Some(end), Some(found)) = (end, found) else {
            return Err(Error::caller(format!(
                "{} is not a journal of kassay, or its first line is damaged",
                path.display()
            ))
            .help("delete it, or leave out --resume: the run then begins anew"));
        };
        check_same_run(path, &found, header)?;
        let mut good = end + 1;
        let mut entries = Vec::new();
        while let Some(len) = bytes[good..].iter().position(|b| *b == b'\n') {
            let Ok(entry) = json::read(&bytes[good..good + len]) else { break };
            entries.push(entry);
            good += len + 1;
        }
        let truncate = |file: &mut File| {
            file.set_len(good as u64)?;
            file.seek(SeekFrom::Start(good as u64))
        };
        truncate(&mut file).map_err(|e| io_error(path, &e.to_string()))?;
        Ok((Journal::start(path, file)?, entries))
    }

    fn start(path: &Path, file: File) -> Result<Journal> {
        let sync_handle = file.try_clone().map_err(|e| io_error(path, &e.to_string()))?;
        let state = State { file, waiting_since: None, closed: false, broken: None };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), sync_handle });
        let syncer = std::thread::Builder::new()
            .name("journal".into())
            .spawn({
                let shared = Arc::clone(&shared);
                move || shared.sync_groups()
            })
            .map_err(|e| Error::environment(format!("cannot start a thread for the journal: {e}")))?;
        Ok(Journal { path: path.to_owned(), shared, syncer: Some(syncer) })
    }

    /// Appends an entry. Once this returns, the entry survives a kill of the process; within a second it is on disk.
    ///
    /// # Errors
    /// `Environment` if this or an earlier entry was not written or synced; `Internal` if the entry has no JSON form.
    pub fn append<E: Serialize>(&self, entry: &E) -> Result<()> {
        let mut line = json::text(entry, Layout::Compact)
            .map_err(|e| Error::internal(format!("cannot turn an entry of the journal into JSON: {e}")))?;
        line.push('\n');
        let mut state = self.shared.lock();
        if state.broken.is_none()
            && let Err(e) = state.file.write_all(line.as_bytes())
        {
            state.broken = Some(e.to_string());
        }
        if let Some(why) = &state.broken {
            return Err(io_error(&self.path, why));
        }
        if state.waiting_since.is_none() {
            state.waiting_since = Some(Instant::now());
            self.shared.changed.notify_one();
        }
        Ok(())
    }

    /// Deletes the journal; to be called once the result is stored.
    ///
    /// # Errors
    /// `Environment` if it cannot be deleted.
    pub fn remove(self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(e) if e.kind() != ErrorKind::NotFound => {
                Err(Error::environment(format!("cannot delete {}: {e}", self.path.display()))
                    .help("delete it by hand: the result is complete"))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_one();
        if let Some(syncer) = self.syncer.take() {
            // The thread does not panic; if it did, nothing could be done about it here.
            let _ = syncer.join();
        }
    }
}

/// Opens a journal and locks it; closing the handle releases the lock.
fn open(path: &Path) -> Result<File> {
    let file = File::options().read(true).write(true).open(path).map_err(|e| io_error(path, &e.to_string()))?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if started.elapsed() < LOCK_WAIT && has_dead_owner(&file) => {
                std::thread::sleep(Duration::from_millis(20))
            }
            Err(TryLockError::WouldBlock) => {
                return Err(Error::caller(format!("another kassay is writing {}", path.display()))
                    .help("wait until it is done, or name another result file with -o"));
            }
            // The file system has no locks: go on without one.
            Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
}

fn check_same_run(path: &Path, found: &Header, expected: &Header) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let what = [
        ("has the schema", &found.schema, &expected.schema),
        ("is of the command", &found.command, &expected.command),
        ("was written by version", &found.version, &expected.version),
        ("is of the kernel", &found.kernel, &expected.kernel),
        ("has the configuration", &found.configuration, &expected.configuration),
    ]
    .into_iter()
    .find(|(_, found, expected)| found != expected)
    .map_or(String::new(), |(what, found, expected)| format!(": it {what} `{found}`, this run's is `{expected}`"));
    Err(Error::caller(format!("{} is the journal of another run{what}", path.display()))
        .help("resume with the kernel, suite and options that it was begun with, or leave out --resume to begin anew"))
}

fn io_error(path: &Path, why: &str) -> Error {
    Error::environment(format!("the journal {} cannot be read or written: {why}", path.display()))
        .help("free some space, or write to another file system with -o; --resume goes on from what is there")
}
