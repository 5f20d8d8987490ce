//! Bounds of scalars: lower ones from what is compared with them, laid out by them or counted down from them; upper
//! ones from arrays of fixed size.

use std::rc::Rc;

use super::access_summary::Reading;
use super::model::{Cap, Demand};
use super::path_conditions::Fact;
use super::polynomial::{Atom, Id, Poly};
use crate::program::{Op, Region};

/// Whether a polynomial grows with the launch: it contains ids or sizes, directly or through values computed from them.
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

/// By block: whether it contains an access to memory that work-items share, or can reach one.
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

/// The polynomial with its loop counter replaced by the counter's initial value; `None` without a counter.
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

/// Upper bounds of the scalar: arrays of fixed size are indexed below multiples of it.
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

/// Lower bounds of the scalar: something has to stay below multiples of it.
pub fn of(reading: &Reading<'_>, scalar: Atom) -> Vec<Demand> {
    let mut all: Vec<Demand> = Vec::new();
    let mut push = |demand: Demand| {
        if !all.contains(&demand) {
            all.push(demand);
        }
    };
    // `if (id < n)`, followed by accesses to memory
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
    // `a[y * w + x]`, where nothing keeps x below w
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
    // `a[(n - 1 - k) * w + x]`, where nothing keeps k below n
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

/// Rows or elements that an offset counts downwards from the scalar: coefficient of the scalar, and the remaining
/// summands. They lie in the buffer if their sum is not negative.
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
        // An access within a row may begin anywhere in it, so its bytes do not matter.
        counted.exactly(coefficient).unwrap_or(counted).linear_in(scalar)
    });
    found.collect()
}
