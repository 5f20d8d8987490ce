//! Compares the outputs of two runs of a test. Not a test.

use kassay_model::interface::{Scalar, Type};
use kassay_run::exec::Observation;
use kassay_suite::compare;
use kassay_suite::resolve::Test;
use kassay_suite::scalar_layout::{self, Leaf};

/// Returns a float's position on the line of all floats of its type, so that neighbours differ by one.
fn ordinal(scalar: Scalar, bytes: &[u8]) -> i128 {
    let bits = bytes.iter().rev().fold(0i128, |n, b| n << 8 | i128::from(*b));
    let sign = 1i128 << (8 * scalar.size() - 1);
    if bits & sign == 0 { bits } else { -(bits & (sign - 1)) }
}

/// Returns the largest distance between two outputs in ULP; an error names values that have to be equal and are not.
pub fn distance(ty: &Type, a: &[u8], b: &[u8], bound: u64) -> Result<u64, String> {
    if a.len() != b.len() {
        return Err(format!("{} and {} bytes", a.len(), b.len()));
    }
    let size = ty.size() as usize;
    let leaves = scalar_layout::leaves(ty);
    let mut largest = 0;
    for (index, (x, y)) in a.chunks_exact(size).zip(b.chunks_exact(size)).enumerate() {
        for Leaf { offset, scalar, path } in &leaves {
            let at = *offset as usize..(*offset + scalar.size()) as usize;
            let (x, y) = (&x[at.clone()], &y[at]);
            if x == y {
                continue;
            }
            let nan =
                |v: &[u8]| matches!(scalar_layout::decode(*scalar, v), scalar_layout::Number::Float(f) if f.is_nan());
            let apart = match (scalar.is_float(), nan(x), nan(y)) {
                (true, false, false) => ordinal(*scalar, x).abs_diff(ordinal(*scalar, y)) as u64,
                // Which NaN a device returns is its choice (IEEE 754, 6.2.3).
                (true, true, true) => 0,
                _ => u64::MAX,
            };
            if apart > bound {
                let (x, y) = (scalar_layout::text(*scalar, x), scalar_layout::text(*scalar, y));
                return Err(format!("[{index}]{path}: {x} became {y}, {bound} ULP allowed"));
            }
            largest = largest.max(apart);
        }
    }
    Ok(largest)
}

/// Appends to `wrong` what differs from the suite's expectations.
pub fn expected(test: &Test, seen: &Observation, which: &str, wrong: &mut Vec<String>) {
    for e in &test.expectations {
        let actual = seen.outputs.iter().find(|(p, _)| *p == e.position).map_or(&[][..], |(_, b)| b);
        let found = compare::compare(&e.bytes, actual, Some(&e.ty), e.tolerance);
        if !found.passed() {
            wrong.push(format!("{which}: argument {} is not what the suite expects: {:?}", e.position, found.first));
        }
    }
}
