//! Expressions over what is not known of an execution: arguments, what loads and calls return, work-item ids.
//!
//! Equal expressions are one [`Term`]; what is equal beyond that is for the solver (`proof`).

use std::collections::{BTreeSet, HashMap};

use super::fold::Folded;
use super::translate::{Names, reachable};

/// What values a term has. Pointers are bits; floats are IEEE 754, by their width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sort {
    /// Up to 64.
    Bits(u32),
    /// 16, 32 or 64.
    Float(u32),
    /// Anything else: equal only to itself.
    Other,
}

/// A position in its [`Terms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u32);

impl Term {
    /// Greater than those of the terms it is made of, and of all that were made before it.
    pub fn rank(self) -> usize {
        self.0 as usize
    }
}

/// Where a float goes that is no integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest, of two the even one.
    Even,
    /// To the nearest, of two the one farther from 0.
    Away,
    Up,
    Down,
    Zero,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    Add,
    Sub,
    Mul,
    /// Divisions by 0 give what SMT-LIB says: all ones (signed: 1 or -1), the remainder is the dividend.
    UDiv,
    SDiv,
    URem,
    SRem,
    And,
    Or,
    Xor,
    /// Shifts by the width or more leave nothing but copies of the sign, or zeros.
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
    /// Ordered comparisons of floats.
    FEq,
    FLt,
    FLe,
    /// Whether a float is no number.
    IsNan,
    FNeg,
    FAbs,
    /// Arithmetic of floats rounds to the nearest, of two to the even one.
    FAdd,
    FSub,
    FMul,
    FDiv,
    /// With the sign of the dividend, as C's `fmod`.
    FRem,
    FSqrt,
    /// The product of two plus the third, rounded once.
    FFma,
    /// To an integer, still as a float.
    FRound(Rounding),
    /// To a float of another width.
    FToF,
    /// Towards 0; what does not fit becomes the nearest that does, NaN becomes 0.
    FToSI,
    FToUI,
    SIToF,
    UIToF,
    /// The float that has these bits.
    FromBits,
    /// The bits of a float; of a NaN, those of some NaN.
    ToBits,
    /// High part, low part.
    Concat,
    /// As many bits as the result has, from this one.
    Extract(u32),
    /// Condition, value if true, value if false.
    Select,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    /// Whatever it is, it is the same wherever this name stands.
    Symbol(String),
    /// Bits, of floats too.
    Constant(u64),
    Apply(Operation, Vec<Term>),
    /// A function of its arguments of which no more is known than its name.
    Unknown(String, Vec<Term>),
}

/// Expressions that share their parts. What is made of constants alone is a constant, and plain identities are used, except in
/// [`Terms::unfolded`].
#[derive(Debug, Clone, Default)]
pub struct Terms {
    nodes: Vec<(Node, Sort)>,
    known: HashMap<(Node, Sort), Term>,
    /// What holds in every launch.
    facts: Vec<Term>,
    is_unfolded: bool,
}

/// The bits that a width keeps.
pub(super) fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

impl Terms {
    /// Terms that stay as they are made.
    pub fn unfolded() -> Terms {
        Terms { is_unfolded: true, ..Terms::default() }
    }

    pub fn node(&self, term: Term) -> &Node {
        &self.nodes[term.0 as usize].0
    }

    pub fn sort(&self, term: Term) -> Sort {
        self.nodes[term.0 as usize].1
    }

    /// Terms of one bit that are true in every launch.
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

    pub fn symbol(&mut self, name: impl Into<String>, sort: Sort) -> Term {
        self.add(Node::Symbol(name.into()), sort)
    }

    pub fn constant(&mut self, bits: u64, sort: Sort) -> Term {
        let bits = match sort {
            Sort::Bits(width) => bits & mask(width),
            _ => bits,
        };
        self.add(Node::Constant(bits), sort)
    }

    pub fn apply(&mut self, operation: Operation, args: Vec<Term>, sort: Sort) -> Term {
        if self.is_unfolded {
            return self.add(Node::Apply(operation, args), sort);
        }
        match self.folded(operation, args, sort) {
            Folded::Known(term) => term,
            Folded::Rest(operation, args) => self.add(Node::Apply(operation, args), sort),
        }
    }

    /// The value, if it is a constant.
    pub fn as_constant(&self, term: Term) -> Option<u64> {
        match self.node(term) {
            Node::Constant(bits) => Some(*bits),
            _ => None,
        }
    }

    /// The term with others in the place of some that it is made of; `done` has these, and gets what is made of them.
    pub fn replaced(&mut self, term: Term, done: &mut HashMap<Term, Term>) -> Term {
        let mut todo = vec![term];
        while let Some(next) = todo.last().copied() {
            if done.contains_key(&next) {
                todo.pop();
                continue;
            }
            let (node, sort) = self.nodes[next.rank()].clone();
            let args = match &node {
                Node::Apply(_, args) | Node::Unknown(_, args) => args.as_slice(),
                _ => &[],
            };
            let before = todo.len();
            todo.extend(args.iter().filter(|a| !done.contains_key(a)));
            if todo.len() > before {
                continue;
            }
            let new: Vec<Term> = args.iter().map(|a| done[a]).collect();
            let made = match node {
                Node::Apply(operation, _) => self.apply(operation, new, sort),
                Node::Unknown(name, _) => self.unknown(name, new, sort),
                Node::Symbol(_) | Node::Constant(_) => next,
            };
            done.insert(next, made);
            todo.pop();
        }
        done[&term]
    }

    /// The terms that some are made of, and they themselves; through the arguments of unknown functions, too.
    pub fn parts(&self, of: &[Term]) -> BTreeSet<Term> {
        reachable(self, of, Names::Functions)
    }

    /// The terms of that rank and above.
    pub fn since(&self, rank: usize) -> impl Iterator<Item = Term> + use<> {
        (rank as u32..self.nodes.len() as u32).map(Term)
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A truth value of one bit.
    pub fn truth(&mut self, is: bool) -> Term {
        self.constant(is.into(), Sort::Bits(1))
    }

    pub fn unknown(&mut self, name: impl Into<String>, args: Vec<Term>, sort: Sort) -> Term {
        self.add(Node::Unknown(name.into(), args), sort)
    }

    /// One bit.
    pub fn compare(&mut self, operation: Operation, left: Term, right: Term) -> Term {
        self.apply(operation, vec![left, right], Sort::Bits(1))
    }

    /// Of terms of one bit.
    pub fn and(&mut self, left: Term, right: Term) -> Term {
        self.apply(Operation::And, vec![left, right], Sort::Bits(1))
    }

    /// Of terms of one bit.
    pub fn or(&mut self, left: Term, right: Term) -> Term {
        self.apply(Operation::Or, vec![left, right], Sort::Bits(1))
    }

    /// `yes` where the bit is 1, else `no`, which has the same sort.
    pub fn select(&mut self, bit: Term, yes: Term, no: Term) -> Term {
        let sort = self.sort(yes);
        self.apply(Operation::Select, vec![bit, yes, no], sort)
    }

    pub fn not(&mut self, bit: Term) -> Term {
        let one = self.constant(1, Sort::Bits(1));
        self.apply(Operation::Xor, vec![bit, one], Sort::Bits(1))
    }

    /// A query of the launch (`get_local_id`, ...) in one dimension, and what OpenCL's limits say of it: sizes are at least 1,
    /// work-groups have fewer than 2^31 work-items, ids are below their sizes.
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
