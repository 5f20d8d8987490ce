//! Makes launches and reads their outputs.

use std::sync::Arc;

use kassay_run::exec::Observation;
use kassay_suite::launch::{ArgValue, NdRange};

/// Returns a range of one dimension: `items` work-items in groups of `group`.
pub fn line(items: u64, group: u64) -> NdRange {
    NdRange { dims: 1, global: [items, 1, 1], local: Some([group, 1, 1]), offset: [0; 3] }
}

pub fn ints(values: &[i32]) -> ArgValue {
    ArgValue::Buffer(Arc::new(values.iter().flat_map(|v| v.to_le_bytes()).collect()))
}

pub fn int(value: i32) -> ArgValue {
    ArgValue::Value(value.to_le_bytes().to_vec())
}

/// Returns the output of the argument at `position`.
pub fn output(seen: &Observation, position: u32) -> Result<&[u8], String> {
    let found = seen.outputs.iter().find(|(p, _)| *p == position);
    found.map(|(_, b)| b.as_slice()).ok_or_else(|| format!("no output at {position}"))
}

/// Returns the output of the argument at `position`, as ints.
pub fn ints_of(seen: &Observation, position: u32) -> Result<Vec<i32>, String> {
    Ok(words(output(seen, position)?))
}

/// Returns the ints of a buffer.
pub fn words(bytes: &[u8]) -> Vec<i32> {
    bytes.as_chunks::<4>().0.iter().map(|b| i32::from_le_bytes(*b)).collect()
}
