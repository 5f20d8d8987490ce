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
//! The modules that the documentation does not show are not part of the interface and may change at any time.
//! `ARCHITECTURE.md` describes them, the rooms, and which of them may import which; `tests/architecture` enforces these
//! rules.

#![warn(missing_docs)]

/// The example of the page is compiled with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;

#[doc(hidden)]
pub mod api;
#[doc(hidden)]
pub mod cfg;
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod compare;
#[doc(hidden)]
pub mod coverage;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod exec;
#[doc(hidden)]
pub mod files;
#[doc(hidden)]
pub mod generate;
#[doc(hidden)]
pub mod hash;
#[doc(hidden)]
pub mod host;
#[doc(hidden)]
pub mod instrument;
#[doc(hidden)]
pub mod kernel;
#[doc(hidden)]
pub mod llvm;
#[doc(hidden)]
pub mod lower;
#[doc(hidden)]
pub mod mutation;
#[doc(hidden)]
pub mod program;
#[doc(hidden)]
pub mod report;
pub mod result;
#[doc(hidden)]
pub mod solve;
#[doc(hidden)]
pub mod suite;
#[doc(hidden)]
pub mod symbolic;
#[doc(hidden)]
pub mod sync;

#[doc(inline)]
pub use api::{
    CheckOptions, CodeForm, CompareOptions, CoverOptions, GenerateOptions, Goal, InspectOptions, Inspected,
    LowerOptions, Lowered, LoweredForm, LoweringStage, MutateOptions, Observer, OpenOptions, Opened, Replay,
    RunOptions, ScheduleOptions, Silent, StartWorkers, Strategy, check, compare, cover, generate, inspect, lower,
    merge, merge_comparisons, merge_coverage, merge_set, mutate, open, report, report_text, report_to, run, schedule,
    tally, tally_by, tally_mutants,
};
#[doc(inline)]
pub use coverage::build::Level;
#[doc(inline)]
pub use error::{Error, Place, Report, Result};
#[doc(inline)]
pub use exec::DeviceRequest;
#[doc(inline)]
pub use mutation::level::{MutationLevel, OperatorLevel};
#[doc(inline)]
pub use report::Format as ReportFormat;

/// The interface of a kernel: what its arguments are.
pub mod interface {
    #[doc(inline)]
    pub use crate::kernel::interface::{
        Access, AddressSpace, Arg, ArgKind, ArgSource, Field, ImageKind, Interface, LocalVariable, Scalar, Step,
        Struct, Type,
    };
}

/// The tests of a suite: their launches and what they expect.
pub mod test {
    #[doc(inline)]
    pub use crate::suite::Output;
    #[doc(inline)]
    pub use crate::suite::compare::Tolerance;
    #[doc(inline)]
    pub use crate::suite::faults::AllowedFault;
    #[doc(inline)]
    pub use crate::suite::launch::{
        Addressing, ArgValue, Filter, ImageFormat, ImageShape, Launch, NdRange, ResolvedRange,
    };
    #[doc(inline)]
    pub use crate::suite::resolve::{Expectation, Test};
    #[doc(inline)]
    pub use crate::suite::schedule::{Preemption, Schedule};
}
