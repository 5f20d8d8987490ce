//! The result of any command, and the list of the commands that have one for each kernel.
//!
//! A file with the result of one kernel is read as a set of one, so that what reads results sees sets alone.

use super::Header;
use super::capture::CaptureResult;
use super::ci::CiResult;
use super::compare::CompareResult;
use super::devices::DevicesResult;
use super::inspect::InspectResult;
use super::set::{AnySet, InSet, KernelResult, SetResult};

/// A result of one command of [`KERNEL_COMMANDS`] for one kernel.
pub trait OfKernel: InSet {
    /// Returns the result, whatever the command.
    fn part(&self) -> Part<'_>;

    /// Returns a set of such results as a result of any command.
    fn any(set: SetResult<Self, Self::Total>) -> AnyResult;

    /// Returns the set that a result is, or gives it back if it is one of another command.
    ///
    /// # Errors
    /// The result of the other command.
    fn set_of(result: AnyResult) -> Result<SetResult<Self, Self::Total>, AnyResult>;
}

/// Defines what there is for each command with a result for each kernel.
macro_rules! define {
    ($($(#[$about:meta])* $variant:ident $field:ident $result:ident,)*) => {
        $(use super::$field::$result;)*

        /// The names of the commands with a result for each kernel, in the order in which `kassay ci` asks them.
        pub const KERNEL_COMMANDS: &[&str] = &[$($result::COMMAND),*];

        /// A result of any command. That of one kernel is a set of one ([`SetResult::of_one`]).
        #[derive(Debug, Clone, PartialEq)]
        pub enum AnyResult {
            $($(#[$about])* $variant(Box<SetResult<$result, <$result as InSet>::Total>>),)*
            /// A result of `kassay devices`.
            Devices(Box<DevicesResult>),
            /// A result of `kassay inspect`.
            Inspect(Box<InspectResult>),
            /// A result of `kassay compare`.
            Compare(Box<CompareResult>),
            /// A result of `kassay capture`.
            Capture(Box<CaptureResult>),
            /// A result of `kassay ci`.
            Ci(Box<CiResult>),
        }

        /// A result that is no set: one of a kernel, or one of a command that has no sets.
        #[derive(Debug, Clone, Copy)]
        pub enum Part<'a> {
            $($(#[$about])* $variant(&'a $result),)*
            /// A result of `kassay devices`.
            Devices(&'a DevicesResult),
            /// A result of `kassay inspect`.
            Inspect(&'a InspectResult),
            /// A result of `kassay compare`.
            Compare(&'a CompareResult),
            /// A result of `kassay capture`.
            Capture(&'a CaptureResult),
        }

        impl AnyResult {
            /// Returns the set, if the command has a result for each kernel.
            pub fn set(&self) -> Option<&dyn AnySet> {
                match self {
                    $(AnyResult::$variant(set) => Some(&**set),)*
                    AnyResult::Devices(_)
                    | AnyResult::Inspect(_)
                    | AnyResult::Compare(_)
                    | AnyResult::Capture(_)
                    | AnyResult::Ci(_) => None,
                }
            }

            /// Returns the results of kernels; none if the command has no result for each kernel.
            pub fn kernels(&self) -> Vec<Kernel<'_>> {
                match self {
                    $(AnyResult::$variant(set) => set.kernels.iter().map(Kernel::of).collect(),)*
                    AnyResult::Devices(_)
                    | AnyResult::Inspect(_)
                    | AnyResult::Compare(_)
                    | AnyResult::Capture(_)
                    | AnyResult::Ci(_) => Vec::new(),
                }
            }
        }

        impl<'a> Part<'a> {
            /// Returns the remarks for the reader.
            pub fn notes(self) -> &'a [String] {
                match self {
                    $(Part::$variant(result) => InSet::notes(result),)*
                    Part::Devices(_) => &[],
                    Part::Inspect(result) => &result.notes,
                    Part::Compare(result) => &result.notes,
                    Part::Capture(result) => &result.notes,
                }
            }

            /// Returns what makes the result a finding ([`InSet::findings`]).
            pub fn findings(self) -> Vec<String> {
                match self {
                    $(Part::$variant(result) => InSet::findings(result),)*
                    Part::Devices(_) | Part::Inspect(_) | Part::Compare(_) | Part::Capture(_) => Vec::new(),
                }
            }

            /// Returns what is not as it was asked for, with the header of the result that says so; nothing of commands
            /// without a result for each kernel.
            pub fn complaints(self) -> Option<(&'a Header, &'a [String])> {
                match self {
                    $(Part::$variant(result) => Some((result.header(), InSet::complaints(result))),)*
                    Part::Devices(_) | Part::Inspect(_) | Part::Compare(_) | Part::Capture(_) => None,
                }
            }
        }

        impl CiResult {
            /// Returns the sets of the commands that were asked for.
            pub fn sets(&self) -> Vec<&dyn AnySet> {
                let sets = [$(self.$field.as_ref().map(|set| set as &dyn AnySet)),*];
                sets.into_iter().flatten().collect()
            }

            /// Takes the result apart: what each command says.
            pub fn apart(self) -> Vec<AnyResult> {
                let sets = [$(self.$field.map($result::any)),*];
                sets.into_iter().flatten().collect()
            }
        }

        $(impl OfKernel for $result {
            fn part(&self) -> Part<'_> {
                Part::$variant(self)
            }

            fn any(set: SetResult<Self, Self::Total>) -> AnyResult {
                AnyResult::$variant(Box::new(set))
            }

            fn set_of(result: AnyResult) -> Result<SetResult<Self, Self::Total>, AnyResult> {
                match result {
                    AnyResult::$variant(set) => Ok(*set),
                    other => Err(other),
                }
            }
        })*
    };
}

kernel_commands!(define);

/// The result of a kernel in a set, whatever the command.
#[derive(Debug, Clone, Copy)]
pub struct Kernel<'a> {
    /// The result.
    pub part: Part<'a>,
    /// The suite; nothing for kernels of a host program, and for a kernel alone.
    pub suite: Option<&'a str>,
    /// For a host program: the id of the program object.
    pub program: Option<&'a str>,
    /// For a host program: the launches that the driver took.
    pub launches: Option<u64>,
}

impl<'a> Kernel<'a> {
    fn of<R: OfKernel>(kernel: &'a KernelResult<R>) -> Kernel<'a> {
        let (suite, program) = (kernel.suite.as_deref(), kernel.program.as_deref());
        Kernel { part: kernel.result.part(), suite, program, launches: kernel.launches }
    }
}

impl AnyResult {
    /// Returns the command that produces such results, such as `cover`.
    pub fn command(&self) -> &'static str {
        match self {
            AnyResult::Devices(_) => "devices",
            AnyResult::Inspect(_) => "inspect",
            AnyResult::Compare(_) => "compare",
            AnyResult::Capture(_) => "capture",
            AnyResult::Ci(_) => "ci",
            of_kernels => of_kernels.set().map_or("", AnySet::command),
        }
    }

    /// Returns the command as it was given: `cover -- COMMAND` for kernels of a host program.
    pub fn command_line(&self) -> String {
        let is_of_program = self.set().is_some_and(|set| set.program().is_some());
        format!("{}{}", self.command(), if is_of_program { " -- COMMAND" } else { "" })
    }

    /// Returns the result of a kernel alone, or gives the result back if it is a set, or one of another command.
    ///
    /// # Errors
    /// The result.
    pub fn one<R: OfKernel>(self) -> Result<R, AnyResult> {
        R::set_of(self)?.into_one().map_err(|set| R::any(*set))
    }
}
