//! Generates the JSON Schemas of the results from their types; `docs/schema/` holds the published ones.

use schemars::{JsonSchema, schema_for};

use super::capture::CaptureResult;
use super::ci::CiResult;
use super::compare::CompareResult;
use super::devices::DevicesResult;
use super::inspect::InspectResult;
use super::probe_map::ProbeMap;
use super::set::{InSet, SetResult};

/// Returns the schemas of a command's results: for one kernel, and for several.
macro_rules! of_kernels {
    ($($(#[$about:meta])* $variant:ident $field:ident $result:ident,)*) => {
        [$({
            use super::$field::$result;
            [
                (concat!(stringify!($field), ".schema.json"), schema::<$result>()),
                (concat!(stringify!($field), "-set.schema.json"), schema::<SetResult<$result, <$result as InSet>::Total>>()),
            ]
        }),*]
    };
}

/// Returns the schema of every result with the name of its file under `docs/schema/`.
pub fn schemas() -> Vec<(&'static str, serde_json::Value)> {
    let others = [
        ("devices.schema.json", schema::<DevicesResult>()),
        ("inspect.schema.json", schema::<InspectResult>()),
        ("ci.schema.json", schema::<CiResult>()),
        ("capture.schema.json", schema::<CaptureResult>()),
        ("compare.schema.json", schema::<CompareResult>()),
        ("map.schema.json", schema::<ProbeMap>()),
    ];
    kernel_commands!(of_kernels).into_iter().flatten().chain(others).collect()
}

/// Returns the schema of one type: JSON Schema 2020-12, with the doc comments as descriptions.
fn schema<T: JsonSchema>() -> serde_json::Value {
    schema_for!(T).to_value()
}
