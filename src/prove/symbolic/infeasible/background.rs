//! Collects the background of all proofs about a kernel: facts that hold in every launch, and the caller's assumptions
//! about arguments.

use kassay_model::interface::Interface;

use super::encode::Encoded;
use super::launch::LaunchLimits;
use super::values;
use crate::program::Program;
use crate::solve::expression::{Node, Operation, Sort, Term, Terms};

/// An assumption about a scalar argument, stated by the user or by the code that calls the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumption {
    /// Sentence for the result: `n is at least 1`.
    pub text: String,
    /// Position of the argument, offset of the scalar within it in bytes, and width of the scalar in bits.
    pub argument: u32,
    /// In bytes within the argument.
    pub offset: u64,
    /// In bits.
    pub width: u32,
    /// Whether the bounds are those of a signed integer.
    pub is_signed: bool,
    /// Inclusive bounds of the integer.
    pub least: Option<i128>,
    /// The greatest value, inclusive.
    pub most: Option<i128>,
}

/// A fact that holds in every launch.
pub struct Background {
    pub holds: Term,
    pub text: String,
    /// The fact is assumed, not implied by OpenCL.
    pub is_assumed: bool,
    /// The fact is about ids and sizes.
    pub is_of_launch: bool,
    /// Products, quotients and remainders of two unknowns in `holds`, which are hard for a solver.
    pub products: Vec<Term>,
}

/// Returns the facts of the launch and the assumptions about arguments.
pub fn background(
    encoded: &mut Encoded<'_>,
    program: &Program,
    interface: &Interface,
    assumptions: &[Assumption],
    launch_limits: Option<LaunchLimits>,
) -> Vec<Background> {
    let mut all: Vec<Background> = Vec::new();
    for assumption in assumptions {
        let sort = Sort::Bits(assumption.width);
        let value = encoded.terms.symbol(values::argument(assumption.argument, assumption.offset), sort);
        let less = if assumption.is_signed { Operation::Sle } else { Operation::Ule };
        let bounds = [assumption.least.map(|n| (n, true)), assumption.most.map(|n| (n, false))];
        for (bound, is_least) in bounds.into_iter().flatten() {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the low bits are those of the type"
            )]
            let bound = encoded.terms.constant(bound as u64, sort);
            let (left, right) = if is_least { (bound, value) } else { (value, bound) };
            let holds = encoded.terms.compare(less, left, right);
            all.push(Background {
                holds,
                text: assumption.text.clone(),
                is_assumed: true,
                is_of_launch: false,
                products: Vec::new(),
            });
        }
    }
    for fact in encoded.launch.facts(&mut encoded.terms, interface, program.uniform_groups, launch_limits) {
        let products = products(&encoded.terms, fact.holds);
        let (holds, is_assumed) = (fact.holds, fact.is_assumed);
        all.push(Background { holds, text: fact.text, is_assumed, is_of_launch: true, products });
    }
    all
}

/// Returns the products, quotients and remainders of two unknowns within `of`.
fn products(terms: &Terms, of: Term) -> Vec<Term> {
    let is_one = |term: &Term| match terms.node(*term) {
        Node::Apply(Operation::Mul | Operation::UDiv | Operation::URem, args) => {
            args.iter().all(|arg| terms.as_constant(*arg).is_none())
        }
        _ => false,
    };
    terms.parts(&[of]).into_iter().filter(is_one).collect()
}
