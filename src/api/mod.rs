//! The library's functions: opens suites and kernels, and does what the commands do, with options and results as types.
//!
//! The crate's root re-exports all of it. Must never know: terminals, exit codes.

mod against_source;
mod baseline;
mod capture;
mod changes;
mod check;
mod compare;
mod cover;
pub(crate) mod executors;
mod faults;
mod generate;
mod host_kernel;
mod input;
mod inspect;
mod live;
mod lower;
mod metrics;
mod mutate;
mod observer;
mod opened;
mod options;
mod own_host;
mod pool;
mod results;
mod run;
mod schedule;
mod second_opinion;
mod several;
mod tally;

use std::path::Path;

use kassay_base::error::Result;

pub use baseline::Baseline;
pub use capture::{CaptureOptions, capture};
pub use changes::{changes_since, roots_of_diffs};
pub use check::{CheckOptions, CheckProgramOptions, KernelText, Proving, check, check_program};
pub use compare::{CompareOptions, compare, merge_comparisons};
pub use cover::{CoverOptions, cover};
pub use generate::{GenerateOptions, Goal, generate};
#[doc(hidden)]
pub use input::Parsed;
pub use inspect::{InspectOptions, Inspected, inspect};
pub use live::{CoverProgramOptions, MutateProgramOptions, Oracle, cover_program, mutate_program, texts_beside};
pub use lower::{CodeForm, LowerOptions, Lowered, LoweredForm, LoweringStage, lower};
pub(crate) use mutate::too_low;
pub use mutate::{Batching, MutateOptions, Strategy, mutate};
pub use observer::{Observer, Silent};
pub use opened::Opened;
pub use options::{OpenOptions, StartWorkers};
pub use results::{merge, merge_coverage, merge_set, report, report_text, report_to};
pub use run::{RunOptions, run};
pub use schedule::{Replay, ScheduleOptions, schedule};
pub use several::{
    Asked, ProjectOptions, Question, are_several, ask_all, check_all, cover_all, generate_all, mutate_all, run_all,
    schedule_all,
};
pub(crate) use several::{Wanted, expand, matching};
pub use tally::{tally, tally_by, tally_mutants};

/// Opens a suite (TOML or JSON) and the kernel that it names, with the default [`OpenOptions`].
///
/// ```
/// # fn main() -> kassay::Result<()> {
/// let opened = kassay::open("testdata/vector_add/suite.toml")?;
/// assert_eq!(opened.entry(), "vector_add");
/// assert!(opened.tests().iter().all(|test| test.launch.args.len() == opened.interface().args.len()));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`OpenOptions::open`].
pub fn open(suite: impl AsRef<Path>) -> Result<Opened> {
    OpenOptions::new().open(suite)
}
