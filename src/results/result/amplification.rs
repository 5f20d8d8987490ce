//! What a run of `kassay check` stands for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::proofs::ProvedLaunches;

/// The argument values for which a `clean` verdict holds (LEUNG 3 and 4).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Amplification {
    /// Whether addresses, guards of accesses and barriers are independent of the contents of all buffers and images.
    pub access_invariant: bool,
    /// Inputs for all of whose values a clean verdict holds: `n` is a value, `x[]` the contents of a buffer.
    pub holds_for_all_values_of: Vec<String>,
    /// Inputs that influence addresses, guards of accesses or barriers.
    pub property_integrity_inputs: Vec<String>,
    /// What each of these inputs influences, and where.
    pub why_not: Vec<String>,
    /// What proofs add: launches of which it is proved that no work-items race and barriers converge, for all values of
    /// all inputs; null if that is not proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proved: Option<ProvedLaunches>,
}
