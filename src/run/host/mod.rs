//! Host programs: runs an unmodified program with the layer in it, reads what the layer has left, and turns launches of
//! the program into launches of suites.
//!
//! `session` makes what program and layer share, from `library`, which has the layer; `command` and `trial` run the
//! program. `spool`, `watch` and `records` read what the layer has left. `origin` finds the code of a program in it,
//! `build_options`, `headers` and `sources` what belongs to that code, `variants` which programs are one text with
//! other macros; `convert` makes launches of suites. `server` and `protocol` answer the layer.
//!
//! The layer (`layer/`) is a library of its own, because it lives in the user's process; `layer/README.md`
//! describes the folder (the spool) through which it speaks to this room. Must never know: LLVM, how a suite is run.

mod absolute_names;
mod build_options;
mod command;
mod convert;
mod globs;
mod headers;
mod hexadecimal;
mod images;
mod library;
mod origin;
pub mod protocol;
mod records;
mod server;
mod session;
mod sources;
mod spool;
mod trial;
mod variants;
mod watch;

pub use absolute_names::{Places, includes_macro, rename_in_option, rename_in_text};
pub use build_options::{BuildOptions, translate};
pub use command::{Ended, signal_name};
pub use convert::{Contents, Converted, convert};
pub use globs::matches_one;
pub use headers::{PlacedHeaders, copy_headers, place_headers};
pub use images::format as image_format;
pub use origin::{Code, IncludedFile, code_of, most_forms};
pub use records::{BuildStatus, Constant, Header, Launch, Origin, Piece, Program};
pub use server::{Answers, Server};
pub use session::{CaptureSettings, Session, Spot, Verify, run_natively};
pub use sources::{SameText, SourceFiles, same_texts};
pub use spool::{
    DIFFERS, LaunchedKernel, NOT_SELECTED, NotWoven, ProbeFile, Process, Reason, Spool, UNWRITABLE, kernels_of,
    unknown_launches,
};
pub use trial::{Trial, TrialEnd, Tried};
pub use variants::Variant;
pub use watch::{Arrival, Watch};
