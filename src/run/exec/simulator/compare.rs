//! Collects the operands of comparisons ([`kassay_model::native::abi::hook::COMPARISON`]): how often each comparison
//! was true or false, and its branch distance to the outcome that it never had.

use std::any::Any;

use kassay_model::native::abi::comparison::{EQUAL, FLOAT, LESS, NOT_LESS, RELATION, SIGNED, WIDTH};

use super::observer::{AnyObserver, Observer};

/// What a launch shows of the comparisons that its code reports.
#[derive(Debug, Default)]
pub struct Comparisons {
    /// By number.
    pub stats: Vec<ComparisonStats>,
}

impl Comparisons {
    /// Observes so many comparisons.
    pub fn new(count: u32) -> Comparisons {
        Comparisons { stats: vec![ComparisonStats::default(); count as usize] }
    }
}

impl Observer for Comparisons {
    fn another(&self) -> Option<Box<AnyObserver>> {
        Some(Box::new(Comparisons::new(self.stats.len() as u32)))
    }

    fn absorb(&mut self, other: Box<dyn Any>) {
        if let Ok(other) = other.downcast::<Comparisons>() {
            self.stats.iter_mut().zip(&other.stats).for_each(|(to, from)| to.absorb(from));
        }
    }

    fn comparison(&mut self, number: u32, kind: u32, a: u64, b: u64) {
        if let Some(stats) = self.stats.get_mut(number as usize) {
            stats.note(kind, a, b);
        }
    }
}

/// What all work-items observed of one comparison. The first element of each pair is for its being false, the second
/// for its being true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparisonStats {
    /// How often the comparison was false and true.
    pub times: [u64; 2],
    /// The least distance of the operands from that outcome: 0 if it occurred. For integers, the amount by which
    /// one operand would have to change; for floats, in units of the last place. [`u64::MAX`] if the comparison was
    /// not executed.
    pub distance: [u64; 2],
    /// The operands at that distance, as zero-extended bits.
    pub operands: [(u64, u64); 2],
    /// See [`kassay_model::native::abi::comparison`]; 0 if the comparison was not executed.
    pub kind: u32,
}

impl Default for ComparisonStats {
    fn default() -> ComparisonStats {
        ComparisonStats { times: [0; 2], distance: [u64::MAX; 2], operands: [(0, 0); 2], kind: 0 }
    }
}

impl ComparisonStats {
    /// Adds one execution of the comparison, of this `kind`, on the operands `a` and `b`.
    pub fn note(&mut self, kind: u32, a: u64, b: u64) {
        self.kind = kind;
        let (no, yes) = distances(kind, a, b);
        self.times[usize::from(yes == 0)] += 1;
        for (outcome, distance) in [no, yes].into_iter().enumerate() {
            if distance < self.distance[outcome] {
                self.distance[outcome] = distance;
                self.operands[outcome] = (a, b);
            }
        }
    }

    /// Adds the observations of another thread.
    pub fn absorb(&mut self, other: &ComparisonStats) {
        self.kind |= other.kind;
        for outcome in 0..2 {
            self.times[outcome] += other.times[outcome];
            if other.distance[outcome] < self.distance[outcome] {
                self.distance[outcome] = other.distance[outcome];
                self.operands[outcome] = other.operands[outcome];
            }
        }
    }
}

/// The distances of the operands from making the comparison false and from making it true.
fn distances(kind: u32, a: u64, b: u64) -> (u64, u64) {
    let (a, b) = (rank(kind, a), rank(kind, b));
    let gap = u64::try_from(a.abs_diff(b)).unwrap_or(u64::MAX - 1);
    let beyond = gap.saturating_add(1).min(u64::MAX - 1);
    let equal = a == b;
    match kind & RELATION {
        EQUAL => (u64::from(equal), gap),
        LESS if a < b => (gap, 0),
        LESS => (0, beyond),
        NOT_LESS if a < b => (0, gap),
        NOT_LESS => (beyond, 0),
        // Unequal.
        _ => (gap, u64::from(equal)),
    }
}

/// Maps an operand to an integer such that the order of operands is the order of integers.
fn rank(kind: u32, bits: u64) -> i128 {
    let width = kind >> WIDTH;
    if kind & FLOAT != 0 {
        let sign = 1 << (width - 1);
        // Floats of the same sign are ordered like their bits.
        let magnitude = i128::from(bits & (sign - 1));
        return if bits & sign != 0 { -magnitude } else { magnitude };
    }
    if kind & SIGNED == 0 {
        return i128::from(bits);
    }
    let unused = 64 - width;
    i128::from(((bits << unused).cast_signed()) >> unused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_say_what_would_have_to_change() {
        let int = 32 << WIDTH;
        assert_eq!(distances(EQUAL | int, 7, 10), (0, 3));
        assert_eq!(distances(EQUAL | int, 7, 7), (1, 0));
        assert_eq!(distances(LESS | int, 7, 10), (3, 0));
        assert_eq!(distances(LESS | int, 10, 7), (0, 4));
        assert_eq!(distances(NOT_LESS | int, 7, 10), (0, 3));
        assert_eq!(distances(NOT_LESS | int, 10, 10), (1, 0));
        let minus_one = u64::from(u32::MAX);
        assert_eq!(distances(LESS | int, minus_one, 1), (0, u64::from(u32::MAX)));
        assert_eq!(distances(LESS | SIGNED | int, minus_one, 1), (2, 0));
        let float = |x: f32| u64::from(x.to_bits());
        let kind = EQUAL | FLOAT | int;
        assert_eq!(distances(kind, float(0.0), float(-0.0)), (1, 0));
        assert_eq!(distances(kind, float(1.0), float(1.0f32.next_up())), (0, 1));
        assert_eq!(distances(LESS | FLOAT | int, float(-1.0), float(2.0)).1, 0);
    }

    #[test]
    fn the_nearest_operands_are_kept() {
        let mut compared = ComparisonStats::default();
        for a in [100, 90, 95] {
            compared.note(EQUAL | 32 << WIDTH, a, 80);
        }
        assert_eq!((compared.times, compared.distance, compared.operands[1]), ([3, 0], [0, 10], (90, 80)));
    }
}
