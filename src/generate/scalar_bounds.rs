//! How large a scalar has to be for what is compared with it, laid out by it or counted down from it, and how large it may be for
//! arrays of fixed size.

use std::rc::Rc;

use super::access_summary::Reading;
use super::model::{Cap, Demand};
use super::path_conditions::Fact;
use super::polynomial::{Atom, Id, Poly};
use crate::program::{Op, Region};

/// Whether a polynomial grows with the launch: by ids or sizes, directly or through a loop that starts at them.
fn grows(poly: &Poly, reading: &Reading<'_>, depth: u32) -> bool {
    poly.atoms().any(|atom| match atom {
        Atom::Id(id, _) => !matches!(id, Id::Offset),
        Atom::Arg(..) => false,
        Atom::Value(value) => {
            depth > 0
                && reading.program.instruction(value).is_some_and(|i| match &i.op {
                    Op::Phi(_) | Op::Binary(_) | Op::Select => {
                        i.operands.iter().any(|o| *o != value && grows(&reading.symbols.poly(*o), reading, depth - 1))
                    }
                    _ => false,
                })
        }
    })
}

/// By block: whether an access to memory that work-items share stands there or behind it.
fn leading_to_accesses(reading: &Reading<'_>) -> Vec<bool> {
    let cfg = &reading.program.cfg;
    let mut leads = vec![false; cfg.len()];
    let shared = reading.accesses.iter().filter(|a| !matches!(a.region, Region::Private(_)));
    let mut todo: Vec<usize> = shared.map(|a| a.block).collect();
    while let Some(block) = todo.pop() {
        if !std::mem::replace(&mut leads[block], true) {
            todo.extend(cfg.incoming(block).into_iter().map(|e| e.block));
        }
    }
    leads
}

/// Where a loop's counter starts, with what is added to it.
fn start_of(poly: &Poly, reading: &Reading<'_>) -> Option<Poly> {
    let program = reading.program;
    let counter = poly.atoms().find_map(|a| match a {
        Atom::Value(v) if program.is_counter(v) => Some(v),
        _ => None,
    })?;
    let phi = program.instruction(counter)?;
    let Op::Phi(from) = &phi.op else { return None };
    let here = program.block_of(counter)?;
    let outside = phi.operands.iter().zip(from).find(|(_, b)| !program.dominance.dominates(here, **b));
    poly.replace(Atom::Value(counter), &reading.symbols.poly(*outside?.0))
}

/// What arrays of fixed size leave room for, where an index into them stays below multiples of the scalar.
pub fn caps(reading: &Reading<'_>, scalar: Atom) -> Vec<Cap> {
    let program = reading.program;
    let mut all: Vec<Cap> = Vec::new();
    if !reading.facts.all().any(|(_, fact)| fact.than.has(scalar)) {
        return all;
    }
    for (block, instruction) in program.instructions() {
        let Op::Address { steps, .. } = &instruction.op else { continue };
        for step in steps {
            let Some(extent) = step.extent else { continue };
            let index = reading.symbols.poly(instruction.operands[step.operand]);
            for fact in &reading.facts.blocks[block] {
                let Some((coefficient, rest)) = fact.than.linear_in(scalar) else { continue };
                let Some(apart) = fact.less.sub(&index).as_constant() else { continue };
                let cap = Cap { coefficient, rest, most: i128::from(extent) + apart };
                if coefficient > 0 && !all.contains(&cap) {
                    all.push(cap);
                }
            }
        }
    }
    all
}

/// What has to stay below multiples of the scalar.
pub fn of(reading: &Reading<'_>, scalar: Atom) -> Vec<Demand> {
    let mut all: Vec<Demand> = Vec::new();
    let mut push = |demand: Demand| {
        if !all.contains(&demand) {
            all.push(demand);
        }
    };
    // if (id < n), where memory is accessed behind it
    let leading = leading_to_accesses(reading);
    let facts = reading.facts.all().filter(|(block, _)| leading[*block]).map(|(_, fact)| fact);
    for fact in facts.filter(|f| !f.is_equal) {
        if let Some((coefficient, rest)) = fact.than.linear_in(scalar)
            && coefficient > 0
            && !fact.less.has(scalar)
            && grows(&fact.less, reading, 3)
        {
            let start = start_of(&fact.less, reading);
            let is_start = start.is_some();
            let extent = start.unwrap_or_else(|| fact.less.clone());
            push(Demand { extent, coefficient, rest, is_hard: false, is_start });
        }
    }
    // a[y * w + x], with nothing that keeps x below w
    for access in &reading.accesses {
        for (product, scale) in &access.offset.0 {
            let [a, b] = product[..] else { continue };
            if (a != scalar && b != scalar) || a == b || *scale <= 0 {
                continue;
            }
            let row = if a == scalar { b } else { a };
            let mut column = access.offset.clone();
            column.0.retain(|p, _| !p.contains(&scalar) && !p.contains(&row) && !p.is_empty());
            let Some(column) = column.exactly(*scale).filter(|c| !c.0.is_empty() && grows(c, reading, 3)) else {
                continue;
            };
            let is_kept = |f: &Rc<Fact>| f.than.has(scalar) && f.less.atoms().any(|a| column.has(a));
            if !reading.facts.blocks[access.block].iter().any(is_kept) {
                push(Demand { extent: column, coefficient: 1, rest: Poly::default(), is_hard: true, is_start: false });
            }
        }
    }
    // a[(n - 1 - k) * w + x], with nothing that keeps k below n
    for access in reading.accesses.iter().filter(|a| !matches!(a.region, Region::Private(_) | Region::Variable(_))) {
        for (coefficient, rest) in counted_down(&access.offset, scalar) {
            let down: Vec<Atom> = rest.0.iter().filter(|(_, n)| **n < 0).flat_map(|(p, _)| p.iter().copied()).collect();
            let is_number = |a: &Atom| !matches!(a, Atom::Value(v) if !reading.program.is_counter(*v));
            let is_kept = |f: &Rc<Fact>| f.than.has(scalar) && down.iter().any(|a| f.less.has(*a));
            if !down.is_empty() && down.iter().all(is_number) && !reading.facts.blocks[access.block].iter().any(is_kept)
            {
                let extent = Poly::constant(-1).sub(&rest);
                push(Demand { extent, coefficient, rest: Poly::default(), is_hard: true, is_start: false });
            }
        }
    }
    all
}

/// Rows, or elements, that an offset counts from the scalar downwards, as multiples of it and what is added. They lie in the buffer
/// if that is not negative.
fn counted_down(offset: &Poly, scalar: Atom) -> Vec<(i128, Poly)> {
    let without = |product: &[Atom], factor: Atom| {
        let at = product.iter().position(|a| *a == factor)?;
        Some([&product[..at], &product[at + 1..]].concat())
    };
    let mut factors: Vec<Atom> = offset.0.keys().filter(|p| p.contains(&scalar)).flatten().copied().collect();
    factors.sort_unstable();
    factors.dedup();
    let rows = factors.into_iter().map(|f| {
        let row = offset.0.iter().filter_map(|(p, n)| Some((without(p, f)?, *n)));
        Poly(row.collect())
    });
    let elements = offset.0.keys().all(|p| p.len() < 2).then(|| offset.clone());
    let found = rows.chain(elements).filter_map(|counted| {
        let (coefficient, _) = counted.linear_in(scalar).filter(|(n, _)| *n > 0)?;
        // An access within a row may begin anywhere in it: bytes are of no account.
        counted.exactly(coefficient).unwrap_or(counted).linear_in(scalar)
    });
    found.collect()
}
