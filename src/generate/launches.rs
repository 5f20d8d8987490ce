//! Launches for a kernel without a suite.

use super::model::KernelModel;
use crate::error::Result;
use crate::suite::launch::{Launch, NdRange};

/// What the caller fixes.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Sizes to use; without them several small ones are tried.
    pub range: Option<NdRange>,
    /// Launches with the same seed are equal.
    pub seed: u64,
}

/// A launch that kassay made.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedLaunch {
    pub launch: Launch,
    /// Unique among the launches of a kernel.
    pub name: String,
    /// What was assumed in making it.
    pub preconditions: Vec<String>,
}

/// Several launches in different geometry and with different values.
///
/// # Errors
/// `Caller` if an argument's type is none that a launch can give, or the sizes asked for do not fit the kernel.
pub fn launches(model: &KernelModel, request: &Request) -> Result<Vec<GeneratedLaunch>> {
    let _ = (model, request);
    Ok(Vec::new())
}
