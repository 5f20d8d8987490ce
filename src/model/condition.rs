//! Conditions on launches: what a host has to keep to so that a verdict holds.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::words::Words;

/// A number that a launch determines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// The same number in every launch.
    Constant(i64),
    /// A scalar that is passed by value.
    Scalar(ScalarArgument),
    /// Work-items of the launch in a dimension, from 0.
    GlobalSize(u8),
    /// Work-items of a work-group in a dimension, from 0.
    LocalSize(u8),
    /// Work-groups of the launch in a dimension, from 0.
    Groups(u8),
    /// The sum of two.
    Sum(Box<Quantity>, Box<Quantity>),
    /// The product of two.
    Product(Box<Quantity>, Box<Quantity>),
}

/// A scalar of an argument that is passed by value: the argument itself, or a member of its struct.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ScalarArgument {
    /// Position of the argument.
    pub position: u32,
    /// In bytes from the start of the argument.
    #[serde(default)]
    pub offset: u64,
    /// The name in messages: `n`, `params.pitch`.
    pub name: String,
}

/// A buffer that holds integers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct IndexBuffer {
    /// Position of the argument.
    pub position: u32,
    /// The name in messages.
    pub name: String,
}

/// Something that is true of some launches only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// The first is at least the second.
    AtLeast(Quantity, Quantity),
    /// The first is at most the second.
    AtMost(Quantity, Quantity),
    /// A stride is no smaller than what all steps of the next smaller stride cover: `outer >= inner * extent`.
    Strides {
        /// The greater stride.
        outer: Quantity,
        /// The smaller stride.
        inner: Quantity,
        /// Number of steps of the smaller one.
        extent: Quantity,
    },
    /// The first is a multiple of the second, which is not 0.
    MultipleOf(Quantity, Quantity),
    /// It is 1, 2, 4, 8 ….
    PowerOfTwo(Quantity),
    /// Every element is at least 0 and less than a length.
    Within(IndexBuffer, Quantity),
    /// No element is less than the one before it.
    Rising(IndexBuffer),
    /// No two elements are equal.
    Distinct(IndexBuffer),
    /// What its pointers point to does not overlap.
    Apart(IndexBuffer),
    /// Both are the same.
    Equal(Quantity, Quantity),
    /// They are not the same.
    Different(Quantity, Quantity),
    /// The launch has a single work-item.
    OneWorkItem,
    /// All of them hold.
    All(Vec<Condition>),
}

/// What is known of a concrete launch. `None`: not known.
pub trait KnownLaunch {
    /// Work-items of the launch in a dimension.
    fn global_size(&self, dimension: u8) -> Option<u64>;

    /// Work-items of a work-group in a dimension.
    fn local_size(&self, dimension: u8) -> Option<u64>;

    /// The value of a scalar; `None` also if it is no integer.
    fn scalar(&self, scalar: &ScalarArgument) -> Option<i128>;

    /// The elements of a buffer of integers.
    fn elements(&self, buffer: &IndexBuffer) -> Option<Vec<i128>>;
}

impl Quantity {
    /// A scalar argument of a simple type.
    pub fn scalar(position: u32, name: impl Into<String>) -> Quantity {
        Quantity::Scalar(ScalarArgument { position, offset: 0, name: name.into() })
    }

    /// The sum of this and another one.
    #[must_use]
    pub fn plus(self, other: Quantity) -> Quantity {
        Quantity::Sum(Box::new(self), Box::new(other))
    }

    /// The product of this and another one.
    #[must_use]
    pub fn times(self, other: Quantity) -> Quantity {
        Quantity::Product(Box::new(self), Box::new(other))
    }

    /// Its value in a launch; `None` if something of it is not known, or if it exceeds 128 bits.
    pub fn value(&self, launch: &impl KnownLaunch) -> Option<i128> {
        match self {
            Quantity::Constant(value) => Some(i128::from(*value)),
            Quantity::Scalar(scalar) => launch.scalar(scalar),
            Quantity::GlobalSize(d) => launch.global_size(*d).map(i128::from),
            Quantity::LocalSize(d) => launch.local_size(*d).map(i128::from),
            Quantity::Groups(d) => {
                let (global, local) = (launch.global_size(*d)?, launch.local_size(*d)?);
                (local > 0).then(|| i128::from(global.div_ceil(local)))
            }
            Quantity::Sum(a, b) => a.value(launch)?.checked_add(b.value(launch)?),
            Quantity::Product(a, b) => a.value(launch)?.checked_mul(b.value(launch)?),
        }
    }

    /// Whether it is the same in every launch.
    fn is_constant(&self) -> bool {
        match self {
            Quantity::Constant(_) => true,
            Quantity::Sum(a, b) | Quantity::Product(a, b) => a.is_constant() && b.is_constant(),
            _ => false,
        }
    }

    /// Whether it says something about the size of the launch or of its work-groups.
    fn is_of_range(&self) -> bool {
        match self {
            Quantity::GlobalSize(_) | Quantity::LocalSize(_) | Quantity::Groups(_) => true,
            Quantity::Sum(a, b) | Quantity::Product(a, b) => a.is_of_range() || b.is_of_range(),
            Quantity::Constant(_) | Quantity::Scalar(_) => false,
        }
    }

    /// Number of its parts.
    fn parts(&self) -> usize {
        match self {
            Quantity::Sum(a, b) | Quantity::Product(a, b) => a.parts() + b.parts(),
            _ => 1,
        }
    }

    /// As an expression of the kernel's language.
    pub fn expression(&self, words: Words) -> String {
        let letter = |d: &u8| ["x", "y", "z"].get(usize::from(*d)).copied().unwrap_or("?");
        match (self, words) {
            (Quantity::Constant(value), _) => value.to_string(),
            (Quantity::Scalar(scalar), _) => scalar.name.clone(),
            (Quantity::GlobalSize(d), Words::OpenCl) => format!("get_global_size({d})"),
            (Quantity::GlobalSize(d), Words::Cuda) => format!("gridDim.{0} * blockDim.{0}", letter(d)),
            (Quantity::LocalSize(d), Words::OpenCl) => format!("get_local_size({d})"),
            (Quantity::LocalSize(d), Words::Cuda) => format!("blockDim.{}", letter(d)),
            (Quantity::Groups(d), Words::OpenCl) => format!("get_num_groups({d})"),
            (Quantity::Groups(d), Words::Cuda) => format!("gridDim.{}", letter(d)),
            (Quantity::Sum(a, b), _) => format!("{} + {}", a.expression(words), b.expression(words)),
            (Quantity::Product(a, b), _) => format!("{} * {}", a.factor(words), b.factor(words)),
        }
    }

    /// As an operand of `*`.
    fn factor(&self, words: Words) -> String {
        let text = self.expression(words);
        if matches!(self, Quantity::Sum(..)) { format!("({text})") } else { text }
    }

    /// As the right operand of `%`.
    fn divisor(&self, words: Words) -> String {
        let text = self.expression(words);
        if text.contains(' ') { format!("({text})") } else { text }
    }
}

impl Condition {
    /// All of the conditions: the only one itself, conditions within others' lists in one list.
    pub fn all(conditions: impl IntoIterator<Item = Condition>) -> Condition {
        let mut flat = Vec::new();
        for condition in conditions {
            match condition {
                Condition::All(several) => flat.extend(several),
                one => flat.push(one),
            }
        }
        match <[Condition; 1]>::try_from(flat) {
            Ok([only]) => only,
            Err(several) => Condition::All(several),
        }
    }

    /// The conditions of which it consists.
    pub fn parts(&self) -> &[Condition] {
        match self {
            Condition::All(several) => several,
            one => std::slice::from_ref(one),
        }
    }

    /// Whether it holds in a launch; `None` if not enough is known of it.
    pub fn holds(&self, launch: &impl KnownLaunch) -> Option<bool> {
        let value = |quantity: &Quantity| quantity.value(launch);
        Some(match self {
            Condition::AtLeast(a, b) => value(a)? >= value(b)?,
            Condition::AtMost(a, b) => value(a)? <= value(b)?,
            Condition::Strides { outer, inner, extent } => {
                value(outer)? >= value(inner)?.checked_mul(value(extent)?)?
            }
            Condition::MultipleOf(a, b) => match (value(a)?, value(b)?) {
                (_, 0) => false,
                (a, b) => a.checked_rem(b)? == 0,
            },
            Condition::PowerOfTwo(a) => u128::try_from(value(a)?).is_ok_and(u128::is_power_of_two),
            Condition::Within(buffer, length) => {
                let length = value(length)?;
                launch.elements(buffer)?.iter().all(|element| (0..length).contains(element))
            }
            Condition::Rising(buffer) => launch.elements(buffer)?.is_sorted(),
            Condition::Distinct(buffer) => {
                let mut elements = launch.elements(buffer)?;
                elements.sort_unstable();
                elements.windows(2).all(|pair| pair[0] != pair[1])
            }
            // How much each points to is not known.
            Condition::Apart(_) => return None,
            Condition::Equal(a, b) => value(a)? == value(b)?,
            Condition::Different(a, b) => value(a)? != value(b)?,
            Condition::OneWorkItem => {
                let sizes: Option<Vec<u64>> = (0..3).map(|d| launch.global_size(d)).collect();
                sizes?.iter().all(|size| *size == 1)
            }
            Condition::All(several) => {
                // One that does not hold decides, whatever is unknown of the others.
                let mut unknown = false;
                for condition in several {
                    match condition.holds(launch) {
                        Some(false) => return Some(false),
                        Some(true) => {}
                        None => unknown = true,
                    }
                }
                if unknown {
                    return None;
                }
                true
            }
        })
    }

    /// Returns how many things it says: that scalars are multiples of elements is one, and so are the order of strides,
    /// and that groups, or launches, have one work-item in some dimensions.
    pub fn kinds(&self) -> usize {
        let kind = |part: &Condition| match part {
            Condition::MultipleOf(_, Quantity::Constant(_)) => Some(0),
            Condition::Strides { .. } => Some(1),
            Condition::Equal(Quantity::LocalSize(_), Quantity::Constant(1)) => Some(2),
            Condition::Equal(Quantity::GlobalSize(_), Quantity::Constant(1)) => Some(3),
            _ => None,
        };
        let parts = self.parts();
        let others = parts.iter().filter(|part| kind(part).is_none()).count();
        (0..4).filter(|n| parts.iter().any(|part| kind(part) == Some(*n))).count() + others
    }

    /// Orders conditions by weakness: what excludes fewer of a host's launches, and is plainer, has the smaller number.
    /// Conditions with the same number have no order but that of their texts.
    pub fn strength(&self) -> u32 {
        let of = |a: &Quantity, b: &Quantity| (a.parts() + b.parts()) as u32;
        match self {
            // `n >= 0`, before `n >= get_global_size(0)`, before `pitch >= width`.
            Condition::AtLeast(a, b) | Condition::AtMost(a, b) => {
                let kind = match (a.is_constant() || b.is_constant(), a.is_of_range() || b.is_of_range()) {
                    (true, false) => 0,
                    (false, true) => 10,
                    (false, false) => 20,
                    (true, true) => 60,
                };
                kind + of(a, b)
            }
            Condition::Different(a, b) => 25 + of(a, b),
            Condition::Strides { outer, inner, extent } => 30 + of(outer, inner) + extent.parts() as u32,
            Condition::MultipleOf(a, b) => 40 + of(a, b),
            Condition::Rising(_) => 50,
            Condition::Within(..) => 51,
            Condition::Distinct(_) => 52,
            Condition::Apart(_) => 53,
            Condition::PowerOfTwo(a) => 54 + a.parts() as u32,
            // A work-group's size is the host's choice, the number of groups follows from the work.
            Condition::Equal(Quantity::LocalSize(_), Quantity::Constant(n)) => {
                if *n == 1 {
                    82
                } else {
                    70
                }
            }
            Condition::Equal(Quantity::Groups(_), _) => 80,
            Condition::Equal(a, b) if a.is_of_range() && b.is_of_range() => 72,
            Condition::Equal(a, b) if !a.is_of_range() && !b.is_of_range() => 74 + of(a, b),
            Condition::Equal(a, b) if !(a.is_constant() || b.is_constant()) => 74 + of(a, b),
            Condition::Equal(..) => 84,
            Condition::OneWorkItem => 99,
            Condition::All(several) => 100 + several.iter().map(Condition::strength).sum::<u32>(),
        }
    }

    /// The condition as text: `` `n >= get_global_size(0)` ``, and in CUDA's words `` `n >= gridDim.x * blockDim.x` ``.
    /// Expressions are in backquotes.
    pub fn text(&self, words: Words) -> String {
        let compare = |a: &Quantity, sign: &str, b: &Quantity| {
            format!("`{} {sign} {}`", a.expression(words), b.expression(words))
        };
        match self {
            Condition::AtLeast(a, b) => compare(a, ">=", b),
            Condition::AtMost(a, b) => compare(a, "<=", b),
            Condition::Strides { outer, inner, extent } => compare(outer, ">=", &inner.clone().times(extent.clone())),
            Condition::MultipleOf(a, b) => format!("`{} % {} == 0`", a.divisor(words), b.divisor(words)),
            Condition::PowerOfTwo(a) => format!("`{}` is a power of two", a.expression(words)),
            Condition::Within(buffer, length) => {
                format!("all of `{}` is at least 0 and less than `{}`", buffer.name, length.expression(words))
            }
            Condition::Rising(buffer) => format!("the elements of `{}` do not fall", buffer.name),
            Condition::Distinct(buffer) => format!("no two elements of `{}` are equal", buffer.name),
            Condition::Apart(buffer) => format!("the pointers in `{}` lead to places apart", buffer.name),
            Condition::Equal(a, b) => compare(a, "==", b),
            Condition::Different(a, b) => compare(a, "!=", b),
            Condition::OneWorkItem => words.say("a single work-item runs it").into_owned(),
            Condition::All(several) => listed(&texts_of_parts(several, words)),
        }
    }
}

/// Texts of several conditions, of many scalars that are multiples of the same number a single one.
fn texts_of_parts(parts: &[Condition], words: Words) -> Vec<String> {
    let multiples_of = |divisor: i64| -> Vec<&Quantity> {
        let of = |part| match part {
            &Condition::MultipleOf(ref a, Quantity::Constant(n)) if n == divisor => Some(a),
            _ => None,
        };
        parts.iter().filter_map(of).collect()
    };
    let mut texts: Vec<String> = Vec::new();
    let mut done: Vec<i64> = Vec::new();
    for part in parts {
        if let Condition::MultipleOf(_, Quantity::Constant(divisor)) = part {
            let alike = multiples_of(*divisor);
            if alike.len() > 2 {
                if !done.contains(divisor) {
                    done.push(*divisor);
                    let names: Vec<String> = alike.iter().map(|a| format!("`{}`", a.expression(words))).collect();
                    texts.push(format!("{} are multiples of {divisor}", listed(&names)));
                }
                continue;
            }
        }
        texts.push(part.text(words));
    }
    texts
}

/// `a, b and c`.
fn listed(texts: &[String]) -> String {
    match texts {
        [] => "always".to_owned(),
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        [only, ..] => only.clone(),
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Words::OpenCl))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Launch {
        global: [u64; 3],
        local: [u64; 3],
    }

    impl KnownLaunch for Launch {
        fn global_size(&self, dimension: u8) -> Option<u64> {
            self.global.get(usize::from(dimension)).copied()
        }

        fn local_size(&self, dimension: u8) -> Option<u64> {
            self.local.get(usize::from(dimension)).copied()
        }

        fn scalar(&self, scalar: &ScalarArgument) -> Option<i128> {
            [Some(64), Some(20), None, Some(0)].get(scalar.position as usize).copied().flatten()
        }

        fn elements(&self, buffer: &IndexBuffer) -> Option<Vec<i128>> {
            (buffer.position == 9).then(|| vec![0, 3, 3, 7])
        }
    }

    const LAUNCH: Launch = Launch { global: [60, 4, 1], local: [16, 4, 1] };

    fn n() -> Quantity {
        Quantity::scalar(0, "n")
    }

    fn pitch() -> Quantity {
        Quantity::scalar(1, "pitch")
    }

    fn unknown() -> Quantity {
        Quantity::scalar(2, "f")
    }

    fn offsets() -> IndexBuffer {
        IndexBuffer { position: 9, name: "offsets".to_owned() }
    }

    #[test]
    fn conditions_are_worded_in_the_kernels_language() {
        let cases = [
            (
                Condition::Equal(Quantity::LocalSize(1), Quantity::Constant(8)),
                "`get_local_size(1) == 8`",
                "`blockDim.y == 8`",
            ),
            (
                Condition::AtLeast(n(), Quantity::GlobalSize(0)),
                "`n >= get_global_size(0)`",
                "`n >= gridDim.x * blockDim.x`",
            ),
            (
                Condition::AtMost(Quantity::Groups(2), n().plus(Quantity::Constant(1))),
                "`get_num_groups(2) <= n + 1`",
                "`gridDim.z <= n + 1`",
            ),
            (
                Condition::MultipleOf(n(), Quantity::GlobalSize(0)),
                "`n % get_global_size(0) == 0`",
                "`n % (gridDim.x * blockDim.x) == 0`",
            ),
            (
                Condition::Strides { outer: n(), inner: pitch(), extent: unknown().plus(Quantity::Constant(2)) },
                "`n >= pitch * (f + 2)`",
                "`n >= pitch * (f + 2)`",
            ),
            (Condition::OneWorkItem, "a single work-item runs it", "a single thread runs it"),
            (
                Condition::all([
                    Condition::PowerOfTwo(Quantity::LocalSize(0)),
                    Condition::all([Condition::Rising(offsets()), Condition::Within(offsets(), n())]),
                ]),
                "`get_local_size(0)` is a power of two, the elements of `offsets` do not fall and all of `offsets` is at least 0 and less than `n`",
                "`blockDim.x` is a power of two, the elements of `offsets` do not fall and all of `offsets` is at least 0 and less than `n`",
            ),
        ];
        for (condition, opencl, cuda) in cases {
            assert_eq!(condition.text(Words::OpenCl), opencl);
            assert_eq!(condition.text(Words::Cuda), cuda);
            assert_eq!(condition.to_string(), opencl);
        }
    }

    #[test]
    fn many_multiples_are_said_at_once() {
        let multiple = |name: &str| Condition::MultipleOf(Quantity::scalar(0, name), Quantity::Constant(4));
        let rows = Condition::Equal(Quantity::LocalSize(1), Quantity::Constant(1));
        let three = Condition::all([multiple("a"), rows.clone(), multiple("b"), multiple("c")]);
        assert_eq!(three.to_string(), "`a`, `b` and `c` are multiples of 4 and `get_local_size(1) == 1`");
        assert_eq!(three.kinds(), 2);
        let two = Condition::all([multiple("a"), multiple("b")]);
        assert_eq!(two.to_string(), "`a % 4 == 0` and `b % 4 == 0`");
        assert_eq!((two.kinds(), rows.kinds()), (1, 1));
        assert_eq!(Condition::all([Condition::AtLeast(n(), pitch()), Condition::AtLeast(pitch(), n())]).kinds(), 2);
    }

    #[test]
    fn conditions_hold_in_some_launches() {
        let holds = |condition: Condition| condition.holds(&LAUNCH);
        assert_eq!(holds(Condition::AtLeast(n(), Quantity::GlobalSize(0))), Some(true));
        assert_eq!(holds(Condition::AtLeast(pitch(), Quantity::GlobalSize(0))), Some(false));
        assert_eq!(holds(Condition::AtLeast(unknown(), Quantity::Constant(0))), None);
        // The last work-group is smaller.
        assert_eq!(holds(Condition::Equal(Quantity::Groups(0), Quantity::Constant(4))), Some(true));
        assert_eq!(holds(Condition::MultipleOf(pitch(), Quantity::LocalSize(1))), Some(true));
        assert_eq!(holds(Condition::MultipleOf(pitch(), Quantity::LocalSize(0))), Some(false));
        assert_eq!(holds(Condition::MultipleOf(n(), Quantity::scalar(3, "zero"))), Some(false));
        assert_eq!(holds(Condition::PowerOfTwo(Quantity::GlobalSize(0))), Some(false));
        assert_eq!(holds(Condition::PowerOfTwo(Quantity::LocalSize(0))), Some(true));
        assert_eq!(holds(Condition::PowerOfTwo(Quantity::Constant(-2))), Some(false));
        let strides = |extent| Condition::Strides { outer: n(), inner: pitch(), extent: Quantity::Constant(extent) };
        assert_eq!(holds(strides(3)), Some(true));
        assert_eq!(holds(strides(4)), Some(false));
        assert_eq!(holds(Condition::Rising(offsets())), Some(true));
        assert_eq!(holds(Condition::Distinct(offsets())), Some(false));
        assert_eq!(holds(Condition::Within(offsets(), Quantity::Constant(7))), Some(false));
        assert_eq!(holds(Condition::Within(offsets(), Quantity::Constant(8))), Some(true));
        assert_eq!(holds(Condition::Rising(IndexBuffer { position: 1, name: String::new() })), None);
        assert_eq!(holds(Condition::OneWorkItem), Some(false));
        let huge = Quantity::Constant(i64::MAX);
        let product = huge.clone().times(huge.clone()).times(huge);
        assert_eq!(product.value(&LAUNCH), None);
    }

    #[test]
    fn a_condition_that_fails_decides_whatever_is_unknown() {
        let open = || Condition::AtLeast(unknown(), Quantity::Constant(0));
        let holds = |condition: Condition| condition.holds(&LAUNCH);
        assert_eq!(holds(Condition::all([open(), Condition::OneWorkItem])), Some(false));
        assert_eq!(holds(Condition::all([open(), Condition::Rising(offsets())])), None);
        assert_eq!(holds(Condition::all([])), Some(true));
    }

    #[test]
    fn weaker_and_plainer_conditions_come_first() {
        let literal = |d, n| Condition::Equal(Quantity::LocalSize(d), Quantity::Constant(n));
        let ordered = [
            Condition::AtLeast(n(), Quantity::Constant(0)),
            Condition::AtLeast(n(), Quantity::GlobalSize(0)),
            Condition::AtLeast(pitch(), n()),
            Condition::AtLeast(pitch(), n().times(unknown())),
            Condition::Strides { outer: n(), inner: pitch(), extent: unknown() },
            Condition::MultipleOf(n(), Quantity::Constant(4)),
            Condition::Rising(offsets()),
            Condition::Distinct(offsets()),
            Condition::Apart(offsets()),
            Condition::PowerOfTwo(Quantity::LocalSize(0)),
            literal(1, 8),
            Condition::Equal(Quantity::LocalSize(0), Quantity::LocalSize(1)),
            Condition::Equal(Quantity::Groups(0), Quantity::Constant(1)),
            literal(1, 1),
            Condition::Equal(Quantity::GlobalSize(0), Quantity::Constant(1)),
            Condition::OneWorkItem,
            Condition::all([literal(0, 8), literal(1, 8)]),
        ];
        for pair in ordered.windows(2) {
            assert!(pair[0].strength() < pair[1].strength(), "{} before {}", pair[0], pair[1]);
        }
    }
}
