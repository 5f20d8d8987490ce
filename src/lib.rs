//! kassay tests GPU kernels and assesses their tests at the level of LLVM IR.
//!
//! [`open`] a suite, then [`cover`] its kernel, [`mutate`] it, [`check`] it for races or [`run`] its tests;
//! [`generate`] a suite for a kernel that has none. Each function takes what was opened and its options, and returns a
//! result: plain data of [`result`], which serialises to the JSON that the command of the same name writes. [`merge`]
//! and [`report`] work on such results.
//!
//! ```
//! # fn main() -> kassay::Result<()> {
//! use kassay::{CheckOptions, CoverOptions, OpenOptions, check, cover};
//!
//! let opened = OpenOptions::new().device("sim".into()).open("testdata/vector_add/suite.toml")?;
//! let coverage = cover(&opened, &CoverOptions::new())?;
//! println!("{} of {} outcomes of branches are covered", coverage.coverage.branch.covered, coverage.coverage.branch.total);
//! for finding in check(&opened, &CheckOptions::new())?.findings {
//!     println!("{finding:?}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The work is done by packages in the folders of `src/`, which are not part of the interface and may change at any
//! time; `ARCHITECTURE.md` is their map.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

/// The example of the page is compiled with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;

mod api;
mod cli;

#[doc(hidden)]
pub use api::Parsed;
#[doc(inline)]
pub use api::changes_since;
#[doc(inline)]
pub use api::{
    CheckOptions, CodeForm, CompareOptions, CoverOptions, GenerateOptions, Goal, InspectOptions, Inspected,
    LowerOptions, Lowered, LoweredForm, LoweringStage, MutateOptions, Observer, OpenOptions, Opened, Proving, Replay,
    RunOptions, ScheduleOptions, Silent, StartWorkers, Strategy, check, compare, cover, generate, inspect, lower,
    merge, merge_comparisons, merge_coverage, merge_set, mutate, open, report, report_text, report_to, run, schedule,
    tally, tally_by, tally_mutants,
};
#[doc(hidden)]
pub use cli::check_project;
pub use cli::main;
#[doc(inline)]
pub use kassay_base::error::{Error, Place, Report, Result};
#[doc(inline)]
pub use kassay_judge::coverage::build::Level;
#[doc(inline)]
pub use kassay_judge::mutation::catalogue::changed_lines::ChangedLines;
#[doc(inline)]
pub use kassay_judge::mutation::catalogue::level::{MutationLevel, OperatorLevel};
#[doc(inline)]
pub use kassay_results::report::Format as ReportFormat;
#[doc(inline)]
pub use kassay_results::result;
#[doc(inline)]
pub use kassay_run::exec::DeviceRequest;

/// The interface of a kernel: what its arguments are.
pub mod interface {
    #[doc(inline)]
    pub use kassay_model::interface::{
        Access, AddressSpace, Arg, ArgKind, ArgSource, Field, ImageKind, Interface, LocalVariable, Scalar, Step,
        Struct, Type,
    };
}

/// The tests of a suite: their launches and what they expect.
pub mod test {
    #[doc(inline)]
    pub use kassay_suite::Output;
    #[doc(inline)]
    pub use kassay_suite::compare::Tolerance;
    #[doc(inline)]
    pub use kassay_suite::faults::AllowedFault;
    #[doc(inline)]
    pub use kassay_suite::launch::{
        Addressing, ArgValue, Filter, ImageFormat, ImageShape, Launch, NdRange, ResolvedRange,
    };
    #[doc(inline)]
    pub use kassay_suite::resolve::{Expectation, Test};
    #[doc(inline)]
    pub use kassay_suite::schedule::{Preemption, Schedule};
}
