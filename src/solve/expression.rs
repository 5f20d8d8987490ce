//! Represents expressions over the unknowns of an execution: arguments, results of loads and calls, work-item ids.
//!
//! Identical expressions are one [`Term`]; any further equality is for the solver to prove (`proof`).

use std::collections::{BTreeSet, HashMap};

use super::fold::Folded;
use super::translate::{Names, reachable};

/// The type of a term. Pointers are bit vectors; floats are IEEE 754 numbers of a width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sort {
    /// A bit vector of that width, up to 64.
    Bits(u32),
    /// A float of 16, 32 or 64 bits.
    Float(u32),
    /// Anything else; a value is equal only to itself.
    Other,
}

/// A node of an expression graph, by its position in its [`Terms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u32);

impl Term {
    /// The position of the term, which is greater than those of the terms it is made of and of all terms
    /// created before it.
    pub fn rank(self) -> usize {
        self.0 as usize
    }
}

/// The direction in which a float is rounded to an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Even,
    /// To the nearest, ties away from 0.
    Away,
    Up,
    Down,
    Zero,
}

/// An operation on terms, named as in SMT-LIB or LLVM IR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    Add,
    Sub,
    Mul,
    /// Division by 0 follows SMT-LIB: the quotient is all ones (signed: 1 or -1), the remainder is the dividend.
    UDiv,
    SDiv,
    URem,
    SRem,
    And,
    Or,
    Xor,
    /// Shifting by the width or more leaves only zeros or copies of the sign.
    Shl,
    LShr,
    AShr,
    ZExt,
    SExt,
    Trunc,
    Eq,
    Ult,
    Ule,
    Slt,
    Sle,
    /// Ordered comparisons of floats: false if an operand is NaN.
    FEq,
    FLt,
    FLe,
    /// Whether a float is NaN.
    IsNan,
    FNeg,
    FAbs,
    /// Float arithmetic rounds to the nearest, ties to even.
    FAdd,
    FSub,
    FMul,
    FDiv,
    /// The remainder with the sign of the dividend, as C's `fmod`.
    FRem,
    FSqrt,
    /// The product of the first two arguments plus the third, rounded once.
    FFma,
    /// Rounds to an integral value, which stays a float.
    FRound(Rounding),
    /// Converts to a float of another width.
    FToF,
    /// Truncates towards 0; out-of-range values saturate, NaN becomes 0.
    FToSI,
    FToUI,
    SIToF,
    UIToF,
    /// The float that has these bits.
    FromBits,
    /// The bits of a float; for NaN, those of some NaN.
    ToBits,
    /// Arguments: high part, low part.
    Concat,
    /// As many bits as the result has, starting at this one.
    Extract(u32),
    /// Arguments: condition, value if true, value if false.
    Select,
}

/// The definition of a term.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    /// An unknown value; every occurrence of the name has the same one.
    Symbol(String),
    /// A constant, as bits also for floats.
    Constant(u64),
    Apply(Operation, Vec<Term>),
    /// An application of an uninterpreted function: nothing is known of it except its name.
    Unknown(String, Vec<Term>),
}

/// An expression graph with sharing (hash-consing). Operations on constants are evaluated and simple identities are
/// applied, except in [`Terms::unfolded`].
#[derive(Debug, Clone, Default)]
pub struct Terms {
    nodes: Vec<(Node, Sort)>,
    known: HashMap<(Node, Sort), Term>,
    /// Terms that are true in every launch.
    facts: Vec<Term>,
    is_unfolded: bool,
}

/// A mask of the low `width` bits.
pub(super) fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

impl Terms {
    /// An empty graph whose terms stay as they are created, without folding.
    pub fn unfolded() -> Terms {
        Terms { is_unfolded: true, ..Terms::default() }
    }

    /// The definition of a term.
    pub fn node(&self, term: Term) -> &Node {
        &self.nodes[term.0 as usize].0
    }

    /// The type of a term.
    pub fn sort(&self, term: Term) -> Sort {
        self.nodes[term.0 as usize].1
    }

    /// One-bit terms that are true in every launch.
    pub fn facts(&self) -> &[Term] {
        &self.facts
    }

    fn add(&mut self, node: Node, sort: Sort) -> Term {
        let next = Term(self.nodes.len() as u32);
        match self.known.entry((node, sort)) {
            std::collections::hash_map::Entry::Occupied(known) => *known.get(),
            std::collections::hash_map::Entry::Vacant(new) => {
                self.nodes.push(new.key().clone());
                *new.insert(next)
            }
        }
    }

    /// The unknown of that name and sort.
    pub fn symbol(&mut self, name: impl Into<String>, sort: Sort) -> Term {
        self.add(Node::Symbol(name.into()), sort)
    }

    /// A constant; excess bits are cut off.
    pub fn constant(&mut self, bits: u64, sort: Sort) -> Term {
        let bits = match sort {
            Sort::Bits(width) => bits & mask(width),
            _ => bits,
        };
        self.add(Node::Constant(bits), sort)
    }

    /// Applies an operation, folding it if possible; `sort` is that of the result.
    pub fn apply(&mut self, operation: Operation, args: Vec<Term>, sort: Sort) -> Term {
        if self.is_unfolded {
            return self.add(Node::Apply(operation, args), sort);
        }
        match self.folded(operation, args, sort) {
            Folded::Known(term) => term,
            Folded::Rest(operation, args) => self.add(Node::Apply(operation, args), sort),
        }
    }

    /// The bits of a constant; `None` for other terms.
    pub fn as_constant(&self, term: Term) -> Option<u64> {
        match self.node(term) {
            Node::Constant(bits) => Some(*bits),
            _ => None,
        }
    }

    /// Substitutes terms within `term`. `done` maps terms to their replacements, and is extended by all terms
    /// that are rewritten.
    pub fn replaced(&mut self, term: Term, done: &mut HashMap<Term, Term>) -> Term {
        let mut worklist = vec![term];
        while let Some(next) = worklist.last().copied() {
            if done.contains_key(&next) {
                worklist.pop();
                continue;
            }
            let (node, sort) = self.nodes[next.rank()].clone();
            let args = match &node {
                Node::Apply(_, args) | Node::Unknown(_, args) => args.as_slice(),
                _ => &[],
            };
            let before = worklist.len();
            worklist.extend(args.iter().filter(|a| !done.contains_key(a)));
            if worklist.len() > before {
                continue;
            }
            let new: Vec<Term> = args.iter().map(|a| done[a]).collect();
            let made = match node {
                Node::Apply(operation, _) => self.apply(operation, new, sort),
                Node::Unknown(name, _) => self.unknown(name, new, sort),
                Node::Symbol(_) | Node::Constant(_) => next,
            };
            done.insert(next, made);
            worklist.pop();
        }
        done[&term]
    }

    /// The given terms and all their subterms, including arguments of uninterpreted functions.
    pub fn parts(&self, of: &[Term]) -> BTreeSet<Term> {
        reachable(self, of, Names::Functions)
    }

    /// The terms of that rank and above.
    pub fn since(&self, rank: usize) -> impl Iterator<Item = Term> + use<> {
        (rank as u32..self.nodes.len() as u32).map(Term)
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A truth value, as one bit.
    pub fn truth(&mut self, is: bool) -> Term {
        self.constant(is.into(), Sort::Bits(1))
    }

    /// An application of the uninterpreted function of that name.
    pub fn unknown(&mut self, name: impl Into<String>, args: Vec<Term>, sort: Sort) -> Term {
        self.add(Node::Unknown(name.into(), args), sort)
    }

    /// A comparison, which yields one bit.
    pub fn compare(&mut self, operation: Operation, left: Term, right: Term) -> Term {
        self.apply(operation, vec![left, right], Sort::Bits(1))
    }

    /// Conjunction of one-bit terms.
    pub fn and(&mut self, left: Term, right: Term) -> Term {
        self.apply(Operation::And, vec![left, right], Sort::Bits(1))
    }

    /// Disjunction of one-bit terms.
    pub fn or(&mut self, left: Term, right: Term) -> Term {
        self.apply(Operation::Or, vec![left, right], Sort::Bits(1))
    }

    /// `yes` if the bit is 1, otherwise `no`, which must have the same sort.
    pub fn select(&mut self, bit: Term, yes: Term, no: Term) -> Term {
        let sort = self.sort(yes);
        self.apply(Operation::Select, vec![bit, yes, no], sort)
    }

    /// Negation of a one-bit term.
    pub fn not(&mut self, bit: Term) -> Term {
        let one = self.constant(1, Sort::Bits(1));
        self.apply(Operation::Xor, vec![bit, one], Sort::Bits(1))
    }

    /// A query of the launch (`get_local_id`, ...) in one dimension. Adds facts from OpenCL's limits: sizes are at
    /// least 1, work-groups have fewer than 2^31 work-items, ids are below their sizes.
    pub fn launch_query(&mut self, name: &str, dimension: u64, sort: Sort) -> Term {
        let term = self.launch_value(name, dimension, sort);
        if sort != Sort::Bits(64) {
            return term;
        }
        let (id, size) = match name {
            "get_local_id" | "get_local_size" => ("get_local_id", "get_local_size"),
            "get_group_id" | "get_num_groups" => ("get_group_id", "get_num_groups"),
            _ => return term,
        };
        let (id, size) = (self.launch_value(id, dimension, sort), self.launch_value(size, dimension, sort));
        let zero = self.constant(0, sort);
        let mut facts = vec![self.compare(Operation::Ult, id, size), self.compare(Operation::Ult, zero, size)];
        if name.starts_with("get_local") {
            let most = self.constant(1 << 31, sort);
            facts.push(self.compare(Operation::Ult, size, most));
        }
        for fact in facts {
            if !self.facts.contains(&fact) {
                self.facts.push(fact);
            }
        }
        term
    }

    fn launch_value(&mut self, name: &str, dimension: u64, sort: Sort) -> Term {
        self.symbol(format!("{name}({dimension})"), sort)
    }
}
