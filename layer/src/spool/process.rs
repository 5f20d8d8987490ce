//! The process, as the spool knows it: a folder with a name that no other process has, made at the first OpenCL call.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use serde::Serialize;

use super::counts::{Counts, Header, MAGIC, Row};
use super::{config, files};
use crate::generation;
use crate::lock::lock;

/// This process's part of the spool.
pub struct Process {
    /// The name of its folder.
    pub name: String,
    pub folder: PathBuf,
    /// Whether the folder could be made.
    pub is_writable: bool,
    pub counts: Counts,
    /// Row 0: the process's own counters, in the order of [`Header`].
    pub header: &'static Row,
    /// Counters of launches whose kernel the layer has not seen made.
    pub unknown: &'static Row,
    /// Numbers launches of all kernels.
    pub sequence: AtomicU64,
}

/// `process.json`.
#[derive(Serialize)]
struct Record<'a> {
    schema: &'static str,
    pid: u32,
    parent: u32,
    /// Clock ticks from boot to the process's start (`/proc/PID/stat`, field 22), which tells processes apart that had
    /// the same number.
    start_ticks: u64,
    started_ms: u64,
    command: Vec<String>,
    executable: Option<String>,
    directory: Option<String>,
    /// `proxy` or `layer`.
    way: &'a str,
    /// The process that this one was forked from without a new program.
    forked_from: Option<&'a str>,
    layer_version: &'static str,
}

/// A line of `notes.jsonl`.
#[derive(Serialize)]
struct Note<'a> {
    time_ms: u64,
    kind: &'a str,
    message: &'a str,
    #[serde(flatten)]
    about: Option<About<'a>>,
}

/// The kernel that a note is about.
#[derive(Serialize)]
pub struct About<'a> {
    pub program: &'a str,
    pub kernel: &'a str,
    /// Short, and the same for the same cause.
    pub reason: &'a str,
}

/// What is known of the process, by the generation (`generation`) in which it was found out.
pub struct Current {
    process: Option<Arc<Process>>,
    generation: u64,
    way: Option<&'static str>,
}

static CURRENT: Mutex<Current> = Mutex::new(Current { process: None, generation: 0, way: None });

/// Notes the first call in this process; writes `process.json` at once, so that kassay knows that OpenCL was used.
pub fn start(way: &'static str) {
    lock(&CURRENT).way.get_or_insert(way);
    let _ = current();
}

/// Returns this process's part of the spool; `None` if the layer has not been started. A spool that cannot be written
/// gives counters that nothing reads.
pub fn current() -> Option<Arc<Process>> {
    let mut current = lock(&CURRENT);
    let way = current.way?;
    let generation = generation::current();
    if let Some(process) = current.process.as_ref().filter(|_| current.generation == generation) {
        return Some(process.clone());
    }
    let parent = current.process.take();
    let process = Arc::new(Process::create(way, parent.as_ref().map(|parent| parent.name.as_str())));
    current.process = Some(process.clone());
    current.generation = generation;
    drop(current);
    if let Some(error) = &config().error {
        process.note("config-unreadable", error, None);
    }
    Some(process)
}

/// Locks this module for the time of a fork.
pub fn hold() -> MutexGuard<'static, Current> {
    lock(&CURRENT)
}

impl Process {
    fn create(way: &str, forked_from: Option<&str>) -> Process {
        let pid = std::process::id();
        let stat = stat();
        let name = format!("{pid}-{}-{:016x}", stat.start_ticks, files::random());
        let spool = config::folder();
        let folder = spool.map(|spool| spool.join("processes").join(&name));
        let made = spool.zip(folder.as_ref()).is_some_and(|(spool, folder)| {
            let record = Record {
                schema: "kassay.spool/1",
                pid,
                parent: std::os::unix::process::parent_id(),
                start_ticks: stat.start_ticks,
                started_ms: files::now_ms(),
                command: command(),
                executable: std::env::current_exe().ok().map(|path| path.to_string_lossy().into_owned()),
                directory: std::env::current_dir().ok().map(|path| path.to_string_lossy().into_owned()),
                way,
                forked_from,
                layer_version: env!("CARGO_PKG_VERSION"),
            };
            // A spool that is gone is not made anew: it would not be read.
            spool.is_dir()
                && ["tmp", "blobs", "programs"].iter().all(|part| files::make_folder(&spool.join(part)).is_ok())
                && files::make_folder(&folder.join("launches")).is_ok()
                && files::write_json(spool, &folder.join("process.json"), &record).is_ok()
        });
        let counts = Counts::new(folder.as_deref().filter(|_| made));
        let (_, header) = counts.next_row();
        header[Header::Magic as usize].store(MAGIC, Ordering::Relaxed);
        let (_, unknown) = counts.next_row();
        Process {
            name,
            folder: folder.unwrap_or_default(),
            is_writable: made,
            counts,
            header,
            unknown,
            sequence: AtomicU64::new(0),
        }
    }

    /// Tells kassay something that is no launch.
    pub fn note(&self, kind: &str, message: &str, about: Option<About>) {
        let note = Note { time_ms: files::now_ms(), kind, message, about };
        let _ = files::append_line(&self.folder.join("notes.jsonl"), &note);
    }

    /// Adds one to a counter of the process.
    pub fn count(&self, header: Header) {
        self.header[header as usize].fetch_add(1, Ordering::Relaxed);
    }
}

/// Counts something of the process.
pub fn count(header: Header) {
    if let Some(process) = current() {
        process.count(header);
    }
}

/// The process's arguments. `std::env::args` knows them only if glibc tells libraries, so the kernel is asked.
fn command() -> Vec<String> {
    let bytes = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
    bytes.split(|byte| *byte == 0).map(|argument| String::from_utf8_lossy(argument).into_owned()).collect()
}

struct Stat {
    start_ticks: u64,
}

/// Reads `/proc/self/stat`. The second field, a name in parentheses, may contain anything.
fn stat() -> Stat {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    Stat { start_ticks: fields.split_ascii_whitespace().nth(19).and_then(|field| field.parse().ok()).unwrap_or(0) }
}
