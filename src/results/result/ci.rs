//! The result of `kassay ci`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Header;
use super::check::CheckSet;
use super::generate::GenerateSet;
use super::run::RunSet;
use super::schedule::ScheduleSet;
use super::set::{CoverSet, MutateSet};

/// The result of `kassay ci`: that of every command which a project asks for, for all of its suites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CiResult {
    /// The fields that every result begins with. `kernel` names all kernels, joined by commas; `source` is the
    /// project's file.
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds of everything.
    pub elapsed_s: f64,
    /// The profile.
    pub profile: Option<String>,
    /// What is wrong, in the order run, cover, mutate, check, schedule, generate; nothing: everything is as the project
    /// wants it.
    pub complaints: Vec<Complaint>,
    /// Results of `kassay run`. In this set and the others `elapsed_s` is the sum over the kernels, which ran side by
    /// side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunSet>,
    /// Results of `kassay cover`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cover: Option<CoverSet>,
    /// Results of `kassay mutate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutate: Option<MutateSet>,
    /// Results of `kassay check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckSet>,
    /// Results of `kassay schedule`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleSet>,
    /// Results of `kassay generate`, which began with the suites' launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generate: Option<GenerateSet>,
}

impl CiResult {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "kassay.ci/1";
}

/// Something that is not as the project wants it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Complaint {
    /// The suite.
    pub suite: String,
    /// The command.
    pub command: String,
    /// What is wrong, a sentence without a full stop.
    pub text: String,
}
