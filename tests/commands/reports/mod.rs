//! Checks the forms of results: text, lcov, files and published schemas.
//!
//! Snapshots are in `tests/snapshots/`; `BLESS=1` accepts the current output.

mod examples;
mod files;
mod formats;
mod hostile;
mod html;
mod lcov;
mod mutation;
mod sync;
mod text;
