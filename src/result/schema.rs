//! Generates the JSON Schemas of the results from their types; `docs/schema/` holds the published ones.

use schemars::{JsonSchema, schema_for};

use super::capture::CaptureResult;
use super::check::{CheckResult, CheckSet};
use super::ci::CiResult;
use super::compare::CompareResult;
use super::cover::CoverResult;
use super::devices::DevicesResult;
use super::generate::{GenerateResult, GenerateSet};
use super::inspect::InspectResult;
use super::mutate::MutateResult;
use super::probe_map::ProbeMap;
use super::run::{RunResult, RunSet};
use super::schedule::{ScheduleResult, ScheduleSet};
use super::set::{CoverSet, MutateSet};

/// Returns the schema of every result with the name of its file under `docs/schema/`.
pub fn schemas() -> Vec<(&'static str, serde_json::Value)> {
    vec![
        ("devices.schema.json", schema::<DevicesResult>()),
        ("inspect.schema.json", schema::<InspectResult>()),
        ("run.schema.json", schema::<RunResult>()),
        ("run-set.schema.json", schema::<RunSet>()),
        ("cover.schema.json", schema::<CoverResult>()),
        ("cover-set.schema.json", schema::<CoverSet>()),
        ("check-set.schema.json", schema::<CheckSet>()),
        ("mutate.schema.json", schema::<MutateResult>()),
        ("mutate-set.schema.json", schema::<MutateSet>()),
        ("schedule.schema.json", schema::<ScheduleResult>()),
        ("schedule-set.schema.json", schema::<ScheduleSet>()),
        ("generate.schema.json", schema::<GenerateResult>()),
        ("generate-set.schema.json", schema::<GenerateSet>()),
        ("ci.schema.json", schema::<CiResult>()),
        ("check.schema.json", schema::<CheckResult>()),
        ("capture.schema.json", schema::<CaptureResult>()),
        ("compare.schema.json", schema::<CompareResult>()),
        ("map.schema.json", schema::<ProbeMap>()),
    ]
}

/// Returns the schema of one type: JSON Schema 2020-12, with the doc comments as descriptions.
fn schema<T: JsonSchema>() -> serde_json::Value {
    schema_for!(T).to_value()
}
