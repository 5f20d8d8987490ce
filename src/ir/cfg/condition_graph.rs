//! The order in which short-circuiting evaluates the conditions of a decision, and the paths through it. Pure data.
//!
//! Each path from the first condition to a result is a test vector: the conditions on it have values, the others are
//! not evaluated. Paths are numbered as in T. Ball, J. R. Larus, "Efficient path profiling" (MICRO 1996): every edge
//! has an increment, and the number of a path is the sum of those on it, so that a register is all that a work-item
//! needs to know which path its evaluation took.

/// What follows when a condition has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The evaluation of another condition, by its number.
    Condition(usize),
    /// The decision has this result.
    Result(bool),
}

/// One path to evaluate a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestVector {
    /// The values of the conditions, in the order of evaluation; `None`: not evaluated.
    pub values: Vec<Option<bool>>,
    /// The result of the decision.
    pub result: bool,
}

impl TestVector {
    /// Returns the values as a text with a letter for each condition: `T`, `F`, or `-` where it is not evaluated.
    pub fn text(&self) -> String {
        let letter = |value: &Option<bool>| value.map_or('-', |v| if v { 'T' } else { 'F' });
        self.values.iter().map(letter).collect()
    }

    /// Returns the vector that [`TestVector::text`] writes so; `None` if there are other letters.
    pub fn parse(text: &str, result: bool) -> Option<TestVector> {
        let value = |letter| match letter {
            'T' => Some(Some(true)),
            'F' => Some(Some(false)),
            '-' => Some(None),
            _ => None,
        };
        Some(TestVector { values: text.chars().map(value).collect::<Option<_>>()?, result })
    }

    /// The value of a condition; `None` if it is not evaluated.
    pub fn value(&self, condition: usize) -> Option<bool> {
        self.values.get(condition).copied().flatten()
    }

    /// Returns whether two vectors show the independent effect of a condition by unique-cause MC/DC (CAST-6): it alone
    /// has different values, and the results differ. A condition that one of them does not evaluate counts as
    /// unchanged.
    pub fn is_unique_cause_pair(&self, other: &TestVector, condition: usize) -> bool {
        let both = self.values.iter().zip(&other.values);
        let changed = both.filter(|(a, b)| matches!((a, b), (Some(a), Some(b)) if a != b)).count();
        self.result != other.result && changed == 1 && self.has_other_value(other, condition)
    }

    /// Returns whether a condition decides the result: with its other value, and the others as they are, the result is
    /// the other one. Conditions that are not evaluated may have any value. If not, the others mask it. `all` are all
    /// vectors of the decision, executed or not: one of them is the evaluation with the other value.
    pub fn is_decided_by(&self, condition: usize, all: &[TestVector]) -> bool {
        all.iter().any(|other| self.is_unique_cause_pair(other, condition))
    }

    fn has_other_value(&self, other: &TestVector, condition: usize) -> bool {
        matches!((self.value(condition), other.value(condition)), (Some(a), Some(b)) if a != b)
    }
}

/// The conditions of a decision, numbered so that those that are evaluated later have higher numbers; 0 is the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionGraph {
    /// By condition: what follows if it is false, and if it is true.
    next: Vec<[Next; 2]>,
    /// By condition: the number of paths from it to a result.
    paths: Vec<u64>,
}

impl ConditionGraph {
    /// Creates the graph from what follows each condition if it is false, and if it is true. Also returns the number
    /// that each condition has in it. `None` unless exactly one condition is evaluated first and none is evaluated
    /// twice.
    pub fn new(next: &[[Next; 2]]) -> Option<(ConditionGraph, Vec<usize>)> {
        let mut waiting_for = vec![0; next.len()];
        for to in next.iter().flatten() {
            if let Next::Condition(c) = to {
                *waiting_for.get_mut(*c)? += 1;
            }
        }
        let mut order: Vec<usize> = Vec::new();
        let mut ready: Vec<usize> = (0..next.len()).filter(|c| waiting_for[*c] == 0).collect();
        if ready.len() != 1 {
            return None;
        }
        // Among those that may come next, the earlier one in the source.
        while let Some(c) = ready.iter().copied().min() {
            ready.retain(|other| *other != c);
            order.push(c);
            for to in &next[c] {
                if let Next::Condition(later) = to {
                    waiting_for[*later] -= 1;
                    if waiting_for[*later] == 0 {
                        ready.push(*later);
                    }
                }
            }
        }
        if order.len() < next.len() {
            return None;
        }
        let mut numbers = vec![0; next.len()];
        order.iter().enumerate().for_each(|(number, c)| numbers[*c] = number);
        let renumbered = |to: Next| match to {
            Next::Condition(c) => Next::Condition(numbers[c]),
            result => result,
        };
        let next: Vec<[Next; 2]> = order.iter().map(|c| next[*c].map(renumbered)).collect();
        let mut paths = vec![0u64; next.len()];
        for c in (0..next.len()).rev() {
            paths[c] = next[c].iter().map(|to| paths_from(*to, &paths)).fold(0, u64::saturating_add);
        }
        Some((ConditionGraph { next, paths }, numbers))
    }

    /// The number of conditions.
    pub fn conditions(&self) -> usize {
        self.next.len()
    }

    /// The number of paths through the graph, which is that of its test vectors.
    pub fn paths(&self) -> u64 {
        self.paths[0]
    }

    /// What follows if a condition has this value.
    pub fn next(&self, condition: usize, value: bool) -> Next {
        self.next[condition][usize::from(value)]
    }

    /// What a condition with this value adds to the number of the path.
    pub fn increment(&self, condition: usize, value: bool) -> u64 {
        if value { 0 } else { paths_from(self.next(condition, true), &self.paths) }
    }

    /// The test vectors, by the number of their paths. There may be very many: see [`ConditionGraph::paths`].
    pub fn vectors(&self) -> Vec<TestVector> {
        let mut all = Vec::new();
        self.collect(Next::Condition(0), &mut vec![None; self.next.len()], &mut all);
        all
    }

    fn collect(&self, from: Next, values: &mut Vec<Option<bool>>, all: &mut Vec<TestVector>) {
        match from {
            Next::Result(result) => all.push(TestVector { values: values.clone(), result }),
            Next::Condition(c) => {
                for value in [true, false] {
                    values[c] = Some(value);
                    self.collect(self.next(c, value), values, all);
                }
                values[c] = None;
            }
        }
    }

    /// Returns the number of the path that these values of the conditions lead, and the result.
    pub fn evaluate(&self, value: impl Fn(usize) -> bool) -> (u64, bool) {
        let (mut path, mut at) = (0, 0);
        loop {
            let holds = value(at);
            path += self.increment(at, holds);
            match self.next(at, holds) {
                Next::Condition(c) => at = c,
                Next::Result(result) => return (path, result),
            }
        }
    }
}

fn paths_from(next: Next, paths: &[u64]) -> u64 {
    match next {
        Next::Condition(c) => paths[c],
        Next::Result(_) => 1,
    }
}
