//! Trees of `&&`, `||` and `!` over numbered conditions, with the definitions of test vectors and criteria on them. Not
//! a test.

use std::collections::BTreeSet;

use kassay::result::mcdc::Criterion;
use kassay_ir::cfg::condition_graph::Next;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// An expression; conditions are numbered from left to right.
#[derive(Debug, Clone)]
pub enum Tree {
    Leaf(usize),
    Not(Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
}

/// The values of the conditions, `None` where they are not evaluated, and the result.
pub type Vector = (Vec<Option<bool>>, bool);

use Tree::{And, Leaf, Not, Or};

impl Tree {
    /// Returns a tree of this many conditions, of which the first has the number `first`.
    pub fn random(random: &mut ChaCha8Rng, first: usize, conditions: usize) -> Tree {
        let tree = match conditions {
            1 => Leaf(first),
            _ => {
                let left = random.random_range(1..conditions);
                let a = Box::new(Tree::random(random, first, left));
                let b = Box::new(Tree::random(random, first + left, conditions - left));
                if random.random() { And(a, b) } else { Or(a, b) }
            }
        };
        if random.random_range(0..5) == 0 { Not(Box::new(tree)) } else { tree }
    }

    /// Returns `(0 || 1) && (2 || 3) && …`.
    pub fn pairs(count: usize) -> Tree {
        let pair = |i: usize| Or(Box::new(Leaf(2 * i)), Box::new(Leaf(2 * i + 1)));
        (1..count).fold(pair(0), |all, i| And(Box::new(all), Box::new(pair(i))))
    }

    pub fn conditions(&self) -> usize {
        match self {
            Leaf(_) => 1,
            Not(a) => a.conditions(),
            And(a, b) | Or(a, b) => a.conditions() + b.conditions(),
        }
    }

    /// Returns the text in C.
    pub fn text(&self, leaf: &dyn Fn(usize) -> String) -> String {
        match self {
            Leaf(c) => leaf(*c),
            Not(a) => format!("!({})", a.text(leaf)),
            And(a, b) => format!("({} && {})", a.text(leaf), b.text(leaf)),
            Or(a, b) => format!("({} || {})", a.text(leaf), b.text(leaf)),
        }
    }

    /// Returns whether a larger expression than a condition is negated.
    pub fn negates_operators(&self) -> bool {
        match self {
            Leaf(_) => false,
            Not(a) => !matches!(a.plain(), Leaf(_)) || a.negates_operators(),
            And(a, b) | Or(a, b) => a.negates_operators() || b.negates_operators(),
        }
    }

    fn plain(&self) -> &Tree {
        match self {
            Not(a) => a.plain(),
            other => other,
        }
    }

    /// Evaluates as C does. A condition under `!` alone is one with the negation.
    pub fn evaluate(&self, bit: &dyn Fn(usize) -> bool) -> Vector {
        let mut values = vec![None; self.conditions()];
        let result = self.step(bit, &mut values);
        (values, result)
    }

    fn step(&self, bit: &dyn Fn(usize) -> bool, values: &mut [Option<bool>]) -> bool {
        match self {
            Leaf(c) => *values[*c].insert(bit(*c)),
            Not(a) => {
                let value = !a.step(bit, values);
                if let Leaf(c) = a.plain() {
                    values[*c] = Some(value);
                }
                value
            }
            And(a, b) => a.step(bit, values) && b.step(bit, values),
            Or(a, b) => a.step(bit, values) || b.step(bit, values),
        }
    }

    /// Returns all vectors.
    pub fn vectors(&self) -> BTreeSet<Vector> {
        (0..1u32 << self.conditions()).map(|bits| self.evaluate(&|c| bits >> c & 1 == 1)).collect()
    }

    /// Adds to the table what follows each condition, if it is false and if it is true; `on` is that for the whole.
    /// Returns the first condition.
    pub fn next(&self, on: [Next; 2], table: &mut Vec<[Next; 2]>) -> Next {
        match self {
            Leaf(c) => {
                table[*c] = on;
                Next::Condition(*c)
            }
            Not(a) if matches!(a.plain(), Leaf(_)) => a.plain().next(on, table),
            Not(a) => a.next([on[1], on[0]], table),
            And(a, b) => {
                let second = b.next(on, table);
                a.next([on[0], second], table)
            }
            Or(a, b) => {
                let second = b.next(on, table);
                a.next([second, on[1]], table)
            }
        }
    }

    /// Returns the value of the tree, if the vector tells.
    fn value(&self, vector: &[Option<bool>]) -> Option<bool> {
        match self {
            Leaf(c) => vector[*c],
            Not(a) if matches!(a.plain(), Leaf(_)) => a.plain().value(vector),
            Not(a) => a.value(vector).map(|value| !value),
            And(a, b) => {
                if a.value(vector)? {
                    b.value(vector)
                } else {
                    Some(false)
                }
            }
            Or(a, b) => {
                if a.value(vector)? {
                    Some(true)
                } else {
                    b.value(vector)
                }
            }
        }
    }

    fn has(&self, condition: usize) -> bool {
        match self {
            Leaf(c) => *c == condition,
            Not(a) => a.has(condition),
            And(a, b) | Or(a, b) => a.has(condition) || b.has(condition),
        }
    }

    /// Returns whether no operand masks a condition that the vector evaluates (Chilenski 2001): no operand beside those
    /// that contain it is false under `&&`, or true under `||`.
    pub fn is_unmasked(&self, condition: usize, vector: &[Option<bool>]) -> bool {
        match self {
            Leaf(_) => true,
            Not(a) => a.is_unmasked(condition, vector),
            And(a, b) | Or(a, b) => {
                let (own, other) = if a.has(condition) { (a, b) } else { (b, a) };
                let masks = matches!(self, Or(..));
                other.value(vector) != Some(masks) && own.is_unmasked(condition, vector)
            }
        }
    }

    /// Returns whether these vectors cover a condition.
    pub fn covers(&self, condition: usize, executed: &BTreeSet<Vector>, criterion: Criterion) -> bool {
        let shows = |(a, x): &Vector, (b, y): &Vector| {
            let changes = |c: usize| matches!((a[c], b[c]), (Some(v), Some(w)) if v != w);
            let others = || (0..a.len()).filter(|c| *c != condition);
            changes(condition)
                && x != y
                && match criterion {
                    Criterion::Unique => !others().any(changes),
                    Criterion::Masking => self.is_unmasked(condition, a) && self.is_unmasked(condition, b),
                }
        };
        executed.iter().any(|a| executed.iter().any(|b| shows(a, b)))
    }
}

/// Returns the letters of a vector.
pub fn letters(values: &[Option<bool>]) -> String {
    values.iter().map(|value| value.map_or('-', |v| if v { 'T' } else { 'F' })).collect()
}
