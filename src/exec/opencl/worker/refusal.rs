//! Why the device does not run a launch.

use opencl3::types::cl_int;

use super::super::errors;
use crate::exec::protocol::Reply;

/// Why the device does not run a launch.
#[derive(Debug)]
pub struct Refusal {
    error: String,
    explanation: String,
}

impl Refusal {
    /// A refusal with an OpenCL error name and an explanation.
    pub fn new(error: &str, explanation: String) -> Refusal {
        Refusal { error: error.to_owned(), explanation }
    }

    /// A refusal by the driver: its error code, and what was being done (`doing`).
    pub fn driver(doing: &str, code: cl_int) -> Refusal {
        Refusal { error: errors::name(code), explanation: format!("{doing}: {}", errors::explain(code)) }
    }

    /// The same refusal, because of the argument at `position`.
    pub fn of_argument(self, position: u32) -> Refusal {
        Refusal { explanation: format!("argument {position}: {}", self.explanation), ..self }
    }

    /// The reply to the parent.
    pub fn reply(self) -> Reply {
        Reply::Rejected { error: self.error, explanation: self.explanation }
    }
}

/// The refusal of a launch whose spans lie outside the shared memory.
pub fn outside() -> Refusal {
    Refusal::new("CL_INVALID_VALUE", "the launch names memory that is not shared".into())
}
