//! The folder in which the layer leaves what it has seen (`layer/README.md` describes the format).
//!
//! Nothing here prints or panics; what cannot be written is counted where it can, and the program goes on.

pub mod blobs;
pub mod config;
pub mod counts;
pub mod files;
pub mod process;

pub use config::{config, folder};
pub use files::now_ms;
pub use process::About;

/// Tells kassay something that is no launch. `kind` is for programs, `message` for people.
pub fn note(kind: &str, message: &str) {
    note_about(kind, message, None);
}

/// The same of a kernel.
pub fn note_about(kind: &str, message: &str, about: Option<About>) {
    if let Some(process) = process::current() {
        process.note(kind, message, about);
    }
}

/// Tells kassay something once in the life of this library.
pub fn note_once(once: &'static std::sync::Once, kind: &str, message: impl FnOnce() -> String) {
    once.call_once(|| note(kind, &message()));
}
