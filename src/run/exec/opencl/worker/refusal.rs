//! Why the device does not run a launch, or has not run it to its end.
//!
//! OpenCL gives the same codes for a launch that the driver refuses and for one that the device stopped, which NVIDIA's
//! driver also gives for everything that follows in the process. So what counts is when the code comes, and whether the
//! queue still works afterwards.

use opencl3::types::cl_int;

use super::super::errors;
use crate::exec::protocol::Reply;

/// What became of the launch and of the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The launch was not started, and others can be.
    Refused,
    /// The device began the launch and stopped it, and with it the context.
    Stopped,
    /// The context had been lost before.
    Lost,
}

/// Why the device does not run a launch, or has not run it to its end.
#[derive(Debug)]
pub struct Refusal {
    kind: Kind,
    error: String,
    explanation: String,
}

impl Refusal {
    /// A refusal with an OpenCL error name and an explanation.
    pub fn new(error: &str, explanation: String) -> Refusal {
        Refusal { kind: Kind::Refused, error: error.to_owned(), explanation }
    }

    /// A refusal by the driver: its error code, and what was being done (`doing`).
    pub fn driver(doing: &str, code: cl_int) -> Refusal {
        Refusal::new(&errors::name(code), format!("{doing}: {}", errors::explain(code)))
    }

    /// The error code with which a launch ended that had been given to the device.
    pub fn ended(code: cl_int) -> Refusal {
        let refusal = Refusal::driver("running the kernel", code);
        if errors::is_want_of_memory(code) { refusal } else { Refusal { kind: Kind::Stopped, ..refusal } }
    }

    /// The same refusal, because of the argument at `position`.
    pub fn of_argument(self, position: u32) -> Refusal {
        Refusal { explanation: format!("argument {position}: {}", self.explanation), ..self }
    }

    /// What it means, now that waiting for the queue afterwards gave `finished`: a queue that does not work any more
    /// was broken by a launch, that which had been given to the device before (`launched`) or an earlier one.
    pub fn after(self, finished: Result<(), cl_int>, launched: bool) -> Refusal {
        match finished {
            Err(code) if self.kind == Kind::Refused && !errors::is_want_of_memory(code) => {
                let kind = if launched { Kind::Stopped } else { Kind::Lost };
                Refusal { kind, error: errors::name(code), ..self }
            }
            _ => self,
        }
    }

    /// The reply to the parent.
    pub fn reply(self) -> Reply {
        let Refusal { kind, error, explanation } = self;
        match kind {
            Kind::Refused => Reply::Rejected { error, explanation },
            Kind::Stopped => Reply::Stopped { error },
            Kind::Lost => Reply::Lost { error },
        }
    }
}

/// The refusal of a launch whose spans lie outside the shared memory.
pub fn outside() -> Refusal {
    Refusal::new("CL_INVALID_VALUE", "the launch names memory that is not shared".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kind of reply, and the error in it.
    fn described(refusal: Refusal) -> (&'static str, String) {
        match refusal.reply() {
            Reply::Rejected { error, .. } => ("rejected", error),
            Reply::Stopped { error } => ("stopped", error),
            Reply::Lost { error } => ("lost", error),
            other => panic!("{other:?}"),
        }
    }

    /// Codes that NVIDIA's driver was seen to give.
    #[test]
    fn a_launch_that_ends_with_a_code_was_stopped_by_the_device() {
        for code in [-36, -5, -14, -9999] {
            assert_eq!(described(Refusal::ended(code)).0, "stopped", "{code}");
        }
        assert_eq!(described(Refusal::ended(-36)).1, "CL_INVALID_COMMAND_QUEUE");
        assert_eq!(described(Refusal::ended(-4)).0, "rejected", "the device only had no memory");
    }

    #[test]
    fn a_launch_that_the_driver_does_not_take_is_rejected_as_long_as_the_queue_works() {
        for code in [-5, -52, -54, -55, -63] {
            assert_eq!(
                described(Refusal::driver("global size [64]", code).after(Ok(()), false)).0,
                "rejected",
                "{code}"
            );
            assert_eq!(
                described(Refusal::driver("global size [64]", code).after(Ok(()), true)).0,
                "rejected",
                "{code}"
            );
        }
    }

    #[test]
    fn a_queue_that_does_not_work_any_more_was_broken_by_a_launch() {
        let refused = || Refusal::driver("putting the inputs back", -5);
        assert_eq!(described(refused().after(Err(-36), true)), ("stopped", "CL_INVALID_COMMAND_QUEUE".into()));
        assert_eq!(described(refused().after(Err(-36), false)), ("lost", "CL_INVALID_COMMAND_QUEUE".into()));
        assert_eq!(described(refused().after(Err(-6), true)).0, "rejected", "only memory is wanting");
        // The code with which the launch ended says more than those that follow.
        assert_eq!(
            described(Refusal::ended(-14).after(Err(-5), true)).1,
            "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"
        );
        // What kassay itself finds wrong with a launch remains that.
        assert_eq!(described(outside().after(Ok(()), false)).0, "rejected");
    }
}
