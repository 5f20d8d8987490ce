//! Finds the first difference between an output and its expected contents.

use kassay_model::interface::{Scalar, Type};
use kassay_suite::compare::{self, Tolerance};
use kassay_suite::scalar_layout;

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
            return Some(words(label, index, first.field.as_deref(), &first.actual, &first.expected));
        }
    }
    None
}

/// Describes a difference as [`first`] does, of which it is known where it is (the index of the element, and the number
/// of the scalar within it) and what is there.
pub fn at(label: &str, ty: Option<&Type>, expected: &[u8], place: (u64, usize), actual: &[u8; 8]) -> String {
    let (index, leaf) = place;
    let byte = Type::Scalar(Scalar::U8);
    let ty = ty.filter(|ty| ty.size() > 0).unwrap_or(&byte);
    let leaves = scalar_layout::leaves_through_unions(ty);
    let Some(leaf) = leaves.get(leaf) else { return format!("{label} differs at {index}") };
    let start = index.checked_mul(ty.size()).and_then(|start| usize::try_from(start + leaf.offset).ok());
    let expected = start.and_then(|start| expected.get(start..)).unwrap_or_default();
    let [expected, actual] = [expected, &actual[..]].map(|bytes| scalar_layout::text(leaf.scalar, bytes));
    words(label, index, (!leaf.path.is_empty()).then_some(&leaf.path), &actual, &expected)
}

fn words(label: &str, index: u64, field: Option<&str>, actual: &str, expected: &str) -> String {
    let at = match field {
        Some(field) if field.starts_with('[') => format!("{index}{field}"),
        Some(field) => format!("{index}.{field}"),
        None => index.to_string(),
    };
    format!("{label} differs at {at}: {actual} instead of {expected}")
}

#[cfg(test)]
mod tests {
    use kassay_model::interface::Scalar;

    use super::*;

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
