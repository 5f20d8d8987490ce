//! Between which work-items something is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the two accesses of a race are within a work-group or in different ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The two work-items belong to one work-group.
    IntraGroup,
    /// The two work-items belong to different work-groups.
    InterGroup,
}
