//! Tells which scalars and buffers have to do with what was found: a condition on any others would only happen to
//! exclude the launches that were explored, and might hide what is wrong.

use std::collections::BTreeSet;

use kassay_model::condition::{Condition, IndexBuffer, Quantity};
use kassay_prove::program::{Region, ValueId};

use super::checks;
use crate::generate::access_summary::{Access, AccessSummary};
use crate::generate::model::KernelModel;
use crate::generate::pitches;
use crate::generate::polynomial::{Atom, EVERY, Poly};

/// What findings are about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Concerns {
    /// Arguments whose memory is accessed, by position.
    pub arguments: BTreeSet<u32>,
    /// Variables of the kernel are accessed.
    pub has_variables: bool,
    /// Something other than an access, or one to no known memory: all of the code may matter.
    pub has_others: bool,
}

/// What the accesses that findings are about depend on.
pub(super) struct Relevant {
    has_others: bool,
    /// Scalars in the addresses.
    in_addresses: BTreeSet<Atom>,
    /// Scalars that checks compare with what is in the addresses, and those of the lengths of the memory.
    in_checks: BTreeSet<Atom>,
    /// Scalars below which checks keep the first of several elements.
    of_wholes: BTreeSet<Atom>,
    /// Buffers out of which parts of the addresses come.
    buffers: BTreeSet<u32>,
}

impl Relevant {
    pub(super) fn of(model: &KernelModel, summary: &AccessSummary<'_>, concerns: &Concerns) -> Relevant {
        let mut found = Relevant {
            has_others: concerns.has_others,
            in_addresses: BTreeSet::new(),
            in_checks: BTreeSet::new(),
            of_wholes: BTreeSet::new(),
            buffers: BTreeSet::new(),
        };
        let is_meant = |access: &&Access| match access.region {
            Region::Argument(position) => concerns.arguments.contains(&position),
            Region::Variable(_) | Region::Private(_) => concerns.has_variables,
            Region::Unknown => true,
        };
        for access in summary.accesses.iter().filter(is_meant) {
            let mut atoms: BTreeSet<Atom> = access.offset.atoms().collect();
            for value in [Some(access.pointer), access.number].into_iter().flatten() {
                atoms.extend(found.sources(summary, value));
            }
            found.in_addresses.extend(atoms.iter().filter(|atom| is_scalar(atom)));
            let is_shared = |poly: &Poly| poly.atoms().any(|atom| !is_scalar(&atom) && atoms.contains(&atom));
            let facts = &summary.facts.blocks[access.block];
            for fact in facts.iter().filter(|fact| is_shared(&fact.lhs) || is_shared(&fact.rhs)) {
                found.check(summary, &fact.lhs);
                found.check(summary, &fact.rhs);
            }
            for bound in atoms.iter().filter_map(|atom| summary.bounds.get(atom)).flatten() {
                found.check(summary, bound);
            }
        }
        for offset in pitches::coordinates(summary) {
            let is_meant = matches!(offset.region, Region::Argument(p) if concerns.arguments.contains(&p));
            for atom in offset.poly.atoms().filter(|_| is_meant) {
                match atom {
                    Atom::Value(value) => {
                        let sources = found.sources(summary, value);
                        found.in_addresses.extend(sources.into_iter().filter(is_scalar));
                    }
                    _ => found.in_addresses.extend([atom].into_iter().filter(is_scalar)),
                }
            }
        }
        let wholes = checks::wholes(summary, &model.interface, |access| is_meant(&access));
        found.of_wholes = wholes.into_iter().map(|(scalar, _)| scalar).collect();
        for length in concerns.arguments.iter().filter_map(|p| model.args.get(*p as usize)).flat_map(|arg| &arg.lengths)
        {
            found.in_checks.extend(length.atoms().filter(is_scalar));
        }
        found
    }

    /// Notes from which buffers a value comes; returns the atoms of all from which it is computed.
    fn sources(&mut self, summary: &AccessSummary<'_>, value: ValueId) -> BTreeSet<Atom> {
        self.buffers.extend(summary.loads_among_sources(value).iter().map(|(_, position)| *position));
        let integers = summary.sources(value).into_iter().filter(|v| summary.program.shape(*v).is_int());
        integers.flat_map(|v| summary.symbols.poly(v).atoms().collect::<Vec<Atom>>()).collect()
    }

    /// Notes what one side of a check consists of.
    fn check(&mut self, summary: &AccessSummary<'_>, side: &Poly) {
        for atom in side.atoms() {
            match atom {
                Atom::Arg(..) => {
                    self.in_checks.insert(atom);
                }
                Atom::Value(value) => {
                    let sources = self.sources(summary, value);
                    self.in_checks.extend(sources.into_iter().filter(is_scalar));
                }
                Atom::Id(..) => {}
            }
        }
    }

    /// Whether a condition is on what the accesses depend on.
    pub(super) fn has(&self, condition: &Condition) -> bool {
        // What all elements of a buffer are made from is nothing that a host sets.
        let is_own = |scalar: &Atom| !matches!(scalar, Atom::Arg(_, EVERY));
        let is_address =
            |quantity: &Quantity| scalars_of(quantity).iter().all(|s| is_own(s) && self.in_addresses.contains(s));
        let is_known = |quantity: &Quantity| {
            let scalars = scalars_of(quantity);
            let is_meant = |s: &Atom| self.has_others || self.in_addresses.contains(s) || self.in_checks.contains(s);
            scalars.iter().all(|s| is_own(s) && is_meant(s))
        };
        let is_source = |buffer: &IndexBuffer| self.has_others || self.buffers.contains(&buffer.position);
        match condition {
            // A check of one scalar against another one says nothing of their order.
            Condition::AtLeast(a, b) if !scalars_of(b).is_empty() => is_address(a) && is_known(b),
            Condition::AtMost(a, b) if !scalars_of(a).is_empty() => is_known(a) && is_address(b),
            Condition::AtLeast(a, b)
            | Condition::AtMost(a, b)
            | Condition::Equal(a, b)
            | Condition::Different(a, b) => is_known(a) && is_known(b),
            Condition::MultipleOf(a, Quantity::Constant(_)) => {
                is_address(a) || scalars_of(a).iter().all(|s| self.of_wholes.contains(s))
            }
            Condition::MultipleOf(a, b) => is_known(a) && is_known(b),
            Condition::Strides { outer, inner, extent } => is_address(outer) && is_address(inner) && is_known(extent),
            Condition::Within(buffer, length) => is_source(buffer) && is_known(length),
            Condition::Rising(buffer) | Condition::Distinct(buffer) => is_source(buffer),
            Condition::PowerOfTwo(_) | Condition::OneWorkItem | Condition::Apart(_) => true,
            Condition::All(several) => several.iter().all(|one| self.has(one)),
        }
    }
}

fn is_scalar(atom: &Atom) -> bool {
    matches!(atom, Atom::Arg(..))
}

/// Returns the scalars of a quantity.
fn scalars_of(quantity: &Quantity) -> Vec<Atom> {
    match quantity {
        Quantity::Scalar(scalar) => vec![Atom::Arg(scalar.position, scalar.offset)],
        Quantity::Sum(a, b) | Quantity::Product(a, b) => [scalars_of(a), scalars_of(b)].concat(),
        Quantity::Constant(_) | Quantity::GlobalSize(_) | Quantity::LocalSize(_) | Quantity::Groups(_) => Vec::new(),
    }
}
