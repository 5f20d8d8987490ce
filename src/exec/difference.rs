//! Finds the first difference between an output and its expected contents.

use crate::kernel::interface::Type;
use crate::suite::compare::{self, Tolerance};

/// Number of elements that are compared one by one where bytes differ, before the bytes after them are looked at.
const WINDOW: usize = 64;

/// The first difference beyond the tolerance, as text; `None` if the contents agree.
pub fn first(label: &str, ty: Option<&Type>, tolerance: Tolerance, expected: &[u8], actual: &[u8]) -> Option<String> {
    if expected == actual {
        return None;
    }
    let size = ty.map_or(1, |t| usize::try_from(t.size()).unwrap_or(1)).max(1);
    let window = size.saturating_mul(WINDOW);
    // Unequal lengths differ at the shorter end, unless there is a difference before it.
    let parts = expected.len().max(actual.len()).div_ceil(window);
    for part in 0..parts {
        let of = |all: &[u8]| -> std::ops::Range<usize> {
            let start = (part * window).min(all.len());
            start..(start + window).min(all.len())
        };
        let (e, a) = (&expected[of(expected)], &actual[of(actual)]);
        if e == a {
            continue;
        }
        if let Some(first) = compare::compare(e, a, ty, tolerance).first {
            let index = first.index + (part * WINDOW) as u64;
            let at = match &first.field {
                Some(field) if field.starts_with('[') => format!("{index}{field}"),
                Some(field) => format!("{index}.{field}"),
                None => index.to_string(),
            };
            return Some(format!("{label} differs at {at}: {} instead of {}", first.actual, first.expected));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::interface::Scalar;

    #[test]
    fn the_first_difference_beyond_the_tolerance_is_reported() {
        let bytes = |values: &[f32]| -> Vec<u8> { values.iter().flat_map(|v| v.to_le_bytes()).collect() };
        let ty = Type::Scalar(Scalar::F32);
        let differs = |expected: &[f32], actual: &[f32]| {
            first("`out`", Some(&ty), Tolerance { abs: 0.1, rel: 0.0 }, &bytes(expected), &bytes(actual))
        };
        let right: Vec<f32> = (0..200).map(|i| i as f32).collect();
        let mut close = right.clone();
        close[3] += 0.05;
        assert_eq!(differs(&right, &close), None);
        close[130] = 7.5;
        assert_eq!(differs(&right, &close).as_deref(), Some("`out` differs at 130: 7.5 instead of 130.0"));
        assert!(differs(&right, &right[..100]).is_some_and(|s| s.contains("at 100")));
    }
}
