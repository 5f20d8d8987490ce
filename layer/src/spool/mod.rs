//! The folder in which the layer leaves what it has seen (`layer/README.md` describes the format).
//!
//! Nothing here prints or panics; what cannot be written is counted where it can, and the program goes on.

pub mod blobs;
pub mod config;
pub mod counts;
pub mod files;
pub mod process;

use std::path::Path;
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

pub use config::Config;

static CONFIG: LazyLock<Config> = LazyLock::new(Config::read);

/// What kassay asks for.
pub fn config() -> &'static Config {
    &CONFIG
}

/// The spool, if there is one.
pub fn folder() -> Option<&'static Path> {
    config().spool.as_deref()
}

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0))
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

/// Tells kassay something that is no launch. `kind` is for programs, `message` for people.
pub fn note(kind: &str, message: &str) {
    note_about(kind, message, None);
}

/// The same of a kernel.
pub fn note_about(kind: &str, message: &str, about: Option<About>) {
    if let Some(process) = process::current() {
        let note = Note { time_ms: now_ms(), kind, message, about };
        let _ = files::append_line(&process.folder.join("notes.jsonl"), &note);
    }
}

/// Tells kassay something once in the life of this library.
pub fn note_once(told: &'static std::sync::Once, kind: &str, message: impl FnOnce() -> String) {
    told.call_once(|| note(kind, &message()));
}
