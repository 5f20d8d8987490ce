//! Compares outputs with expected contents.
//!
//! Integers must be equal. Floats agree if their bits are equal, if both are NaN (with any payload), or if
//! `|actual - expected| <= abs + rel * |expected|`; an infinity agrees only with itself, and the two zeros agree.
//! Padding is ignored. Unions are compared byte by byte, unless all their fields have the same scalars at the same
//! places. Images are compared channel by channel.

use kassay_model::interface::{Scalar, Type};

use super::scalar_layout::{self, Leaf, Number};

/// The permitted deviation of a float from the expected value.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tolerance {
    /// Permitted absolute deviation.
    pub abs: f64,
    /// Permitted deviation relative to the expected value.
    pub rel: f64,
}

/// The result of a comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Comparison {
    /// Elements compared, including those that only one side has.
    pub elements: u64,
    /// Elements that differ by more than the tolerance.
    pub mismatches: u64,
    /// The first of them.
    pub first: Option<Mismatch>,
    /// The largest `|actual - expected|` of all scalars, whether or not within the tolerance; differences that are
    /// infinite or NaN are left out. `None` if there is none.
    pub largest_absolute_error: Option<f64>,
}

impl Comparison {
    /// Returns whether all elements agree.
    pub fn passed(&self) -> bool {
        self.mismatches == 0
    }

    /// Says where the first difference is, and how many there are. `expected` and `actual` name who left which values.
    pub fn message(&self, expected: &str, actual: &str) -> Option<String> {
        let first = self.first.as_ref()?;
        let field = first.field.as_ref().map(|field| format!(".{field}")).unwrap_or_default();
        Some(format!(
            "element {}{field}: {expected} left {}, {actual} {}; {} of {} elements differ",
            first.index, first.expected, first.actual, self.mismatches, self.elements
        ))
    }
}

/// The first scalar that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Index of the element, from 0, with all dimensions flattened.
    pub index: u64,
    /// Path of the field, or component of the vector (`s0`); `None` for scalars.
    pub field: Option<String>,
    /// The expected value, as text.
    pub expected: String,
    /// The actual value, as text.
    pub actual: String,
}

/// Compares two arrays of `ty`; as single bytes if no type is known.
pub fn compare(expected: &[u8], actual: &[u8], ty: Option<&Type>, tolerance: Tolerance) -> Comparison {
    let byte = Type::Scalar(Scalar::U8);
    let ty = ty.filter(|t| t.size() > 0).unwrap_or(&byte);
    let size = usize::try_from(ty.size()).unwrap_or(usize::MAX);
    let elements = expected.len().max(actual.len()).div_ceil(size) as u64;
    if expected == actual {
        let largest_absolute_error = (elements > 0).then_some(0.0);
        return Comparison { elements, largest_absolute_error, ..Comparison::default() };
    }
    let leaves = scalar_layout::leaves_through_unions(ty);
    let mut out = Comparison { elements, ..Comparison::default() };
    let both = expected.len().min(actual.len()) / size;
    for (index, (e, a)) in expected.chunks_exact(size).zip(actual.chunks_exact(size)).enumerate() {
        let mut differs = false;
        for leaf in &leaves {
            let agree = agrees(leaf, e, a, tolerance, &mut out.largest_absolute_error);
            if !agree && out.first.is_none() {
                out.first = Some(Mismatch {
                    index: index as u64,
                    field: (!leaf.path.is_empty()).then(|| leaf.path.clone()),
                    expected: text(leaf, e),
                    actual: text(leaf, a),
                });
            }
            differs |= !agree;
        }
        out.mismatches += u64::from(differs);
    }
    let missing = elements - both as u64;
    if missing > 0 {
        out.mismatches += missing;
        out.first.get_or_insert_with(|| Mismatch {
            index: both as u64,
            field: None,
            expected: format!("{} bytes in all", expected.len()),
            actual: format!("{} bytes in all", actual.len()),
        });
    }
    out
}

/// Compares as [`compare`] does. `None` if nothing differs but for the rounding of floats.
pub fn beyond_rounding(expected: &[u8], actual: &[u8], ty: Option<&Type>) -> Option<Comparison> {
    let compared = compare(expected, actual, ty, Tolerance::default());
    let is_rounding = || ty.and_then(|ty| Deviation::between(expected, actual, ty)?.tolerance()).is_some();
    if compared.passed() || is_rounding() { None } else { Some(compared) }
}

/// Relative differences up to this are called rounding, of whatever element.
const ROUNDING: f64 = 1e-4;

/// Differences up to this part of the largest element are called rounding.
const ROUNDING_OF_LARGEST: f64 = 1e-2;

/// How far floats differ, of all elements together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviation {
    /// The largest `|actual - expected|`.
    pub absolute: f64,
    /// The largest `|actual - expected| / |expected|`; infinite where 0 is expected and something else is there.
    pub relative: f64,
    /// The largest `|expected|`.
    pub largest: f64,
}

impl Deviation {
    /// Measures how far two arrays of `ty` differ. `None` if a tolerance could not make them agree: there are not as
    /// many elements, integers differ, or a float is infinite or NaN and the other one is not the same.
    pub fn between(expected: &[u8], actual: &[u8], ty: &Type) -> Option<Deviation> {
        let mut all = Deviation { absolute: 0.0, relative: 0.0, largest: 0.0 };
        let size = usize::try_from(ty.size()).ok().filter(|size| *size > 0)?;
        if expected.len() != actual.len() || !expected.len().is_multiple_of(size) {
            return None;
        }
        let leaves = scalar_layout::leaves_through_unions(ty);
        for (e, a) in expected.chunks_exact(size).zip(actual.chunks_exact(size)) {
            for leaf in &leaves {
                let (e, a) = (leaf_bytes(leaf, e), leaf_bytes(leaf, a));
                match (scalar_layout::decode(leaf.scalar, e), scalar_layout::decode(leaf.scalar, a)) {
                    (Number::Float(x), Number::Float(y)) if x.is_finite() && y.is_finite() => {
                        let error = (y - x).abs();
                        all.absolute = all.absolute.max(error);
                        all.relative = all.relative.max(if error == 0.0 { 0.0 } else { error / x.abs() });
                        all.largest = all.largest.max(x.abs());
                    }
                    (Number::Float(x), Number::Float(y)) if x == y || (x.is_nan() && y.is_nan()) => {}
                    (Number::Integer(x), Number::Integer(y)) if x == y => {}
                    _ => return None,
                }
            }
        }
        Some(all)
    }

    /// Returns twice what was measured, relative to each element if that is little, otherwise absolute; `None` if it is
    /// more than rounding.
    pub fn tolerance(self) -> Option<Tolerance> {
        let twice = |measured: f64| round_up(2.0 * measured);
        if self.relative <= ROUNDING {
            Some(Tolerance { abs: 0.0, rel: twice(self.relative) })
        } else if self.absolute <= ROUNDING_OF_LARGEST * self.largest {
            Some(Tolerance { abs: twice(self.absolute), rel: 0.0 })
        } else {
            None
        }
    }

    /// Returns what two measurements have in common.
    #[must_use]
    pub fn max(self, other: Deviation) -> Deviation {
        Deviation {
            absolute: self.absolute.max(other.absolute),
            relative: self.relative.max(other.relative),
            largest: self.largest.max(other.largest),
        }
    }
}

/// Rounds up to two digits.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    let unit = 10_f64.powf(value.log10().floor() - 1.0);
    let rounded = (value / unit).ceil() * unit;
    // Without the digits that the multiplication adds.
    let text = format!("{rounded:.1e}");
    text.parse::<f64>().ok().filter(|short| *short >= value).unwrap_or(rounded)
}

fn leaf_bytes<'a>(leaf: &Leaf, element: &'a [u8]) -> &'a [u8] {
    let start = usize::try_from(leaf.offset).unwrap_or(usize::MAX);
    let end = start.saturating_add(usize::try_from(leaf.scalar.size()).unwrap_or(8));
    element.get(start..end).unwrap_or(&[])
}

fn text(leaf: &Leaf, element: &[u8]) -> String {
    scalar_layout::text(leaf.scalar, leaf_bytes(leaf, element))
}

/// Compares one scalar and updates the largest finite error.
fn agrees(leaf: &Leaf, e: &[u8], a: &[u8], tolerance: Tolerance, largest: &mut Option<f64>) -> bool {
    let (e, a) = (leaf_bytes(leaf, e), leaf_bytes(leaf, a));
    let (error, agree) = match (scalar_layout::decode(leaf.scalar, e), scalar_layout::decode(leaf.scalar, a)) {
        (Number::Float(x), Number::Float(y)) => {
            let error = (y - x).abs();
            let within = x.is_finite() && y.is_finite() && error <= tolerance.abs + tolerance.rel * x.abs();
            (error, e == a || within || x == y || (x.is_nan() && y.is_nan()))
        }
        (Number::Integer(x), Number::Integer(y)) => (Number::Integer((y - x).abs()).as_f64(), x == y),
        _ => (f64::NAN, false),
    };
    if error.is_finite() && largest.is_none_or(|l| error > l) {
        *largest = Some(error);
    }
    agree
}

#[cfg(test)]
mod tests {
    use kassay_model::interface::{Field, Struct};

    use super::*;

    fn record(is_union: bool, size: u64, fields: &[(&str, u64, Type)]) -> Type {
        let field = |(name, offset, ty): &(&str, u64, Type)| Field {
            name: (*name).to_owned(),
            offset: *offset,
            ty: ty.clone(),
        };
        let fields = fields.iter().map(field).collect();
        Type::Struct(Struct { name: String::new(), size, align: 4, fields, is_union })
    }

    fn bytes(numbers: &[f32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    #[test]
    fn unions_whose_fields_agree_are_compared_number_by_number() {
        let float = Type::Scalar(Scalar::F32);
        let pair = |a, b| record(false, 8, &[(a, 0, float.clone()), (b, 4, float.clone())]);
        let complex =
            record(true, 8, &[("real", 0, float.clone()), ("", 0, pair("x", "y")), ("", 0, pair("re", "im"))]);
        let (expected, near) = (bytes(&[1.0, 2.0]), bytes(&[1.0, 2.000_000_2]));
        let tolerance = Tolerance { abs: 0.0, rel: 1e-6 };
        assert!(compare(&expected, &near, Some(&complex), tolerance).passed());
        let first = compare(&expected, &near, Some(&complex), Tolerance::default()).first.unwrap();
        assert_eq!((first.field.as_deref(), first.actual.as_str()), (Some("y"), "2.0000002"));
        let deviation = Deviation::between(&expected, &near, &complex).unwrap();
        assert!(deviation.relative > 0.0 && deviation.relative < 1e-6, "{deviation:?}");
        // Where fields differ in kind, bits are all that can be compared.
        let bits = record(true, 8, &[("", 0, pair("x", "y")), ("whole", 0, Type::Scalar(Scalar::U64))]);
        assert!(!compare(&expected, &near, Some(&bits), tolerance).passed());
        assert_eq!(Deviation::between(&expected, &near, &bits), None);
    }

    #[test]
    fn padding_is_not_compared() {
        let ty = record(false, 8, &[("tag", 0, Type::Scalar(Scalar::U8)), ("value", 4, Type::Scalar(Scalar::F32))]);
        let expected = [7, 0, 0, 0, 0, 0, 128, 63];
        let other_padding = [7, 1, 2, 3, 0, 0, 128, 63];
        assert!(compare(&expected, &other_padding, Some(&ty), Tolerance::default()).passed());
        assert!(!compare(&expected, &[8, 0, 0, 0, 0, 0, 128, 63], Some(&ty), Tolerance::default()).passed());
    }

    #[test]
    fn tolerances_are_rounded_up() {
        assert_eq!(round_up(1.21e-7), 1.3e-7);
        assert_eq!(round_up(2.0), 2.0);
        assert_eq!(round_up(0.0), 0.0);
        assert!(round_up(9.99e-5) >= 9.99e-5);
    }

    #[test]
    fn what_is_more_than_rounding_has_no_tolerance() {
        let of = |absolute, relative, largest| Deviation { absolute, relative, largest }.tolerance();
        assert_eq!(of(1e-6, 1e-6, 1.0), Some(Tolerance { abs: 0.0, rel: 2e-6 }));
        // Near zero, the difference is relative to nothing.
        assert_eq!(of(1e-6, f64::INFINITY, 1.0), Some(Tolerance { abs: 2e-6, rel: 0.0 }));
        assert_eq!(of(0.5, 0.5, 1.0), None);
    }
}
