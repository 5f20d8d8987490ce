//! How large a scalar has to be for what is compared with it, or laid out by it, and how large it may be for arrays of fixed size.

use super::model::{Cap, Demand};
use super::reading::Reading;
use super::roles::is_counter;
use super::symbolic::{Atom, Id, Poly};
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
        Atom::Value(v) if is_counter(program, v) => Some(v),
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
    for (block, instruction) in program.instructions() {
        let Op::Address { steps, .. } = &instruction.op else { continue };
        for step in steps {
            let Some(extent) = step.extent else { continue };
            let index = reading.symbols.poly(instruction.operands[step.operand]);
            for fact in &reading.facts[block] {
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
    let facts = reading.facts.iter().zip(leading).filter(|(_, leads)| *leads).flat_map(|(facts, _)| facts);
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
            let is_kept = |f: &super::facts::Fact| f.than.has(scalar) && f.less.atoms().any(|a| column.has(a));
            if !reading.facts[access.block].iter().any(is_kept) {
                push(Demand { extent: column, coefficient: 1, rest: Poly::default(), is_hard: true, is_start: false });
            }
        }
    }
    all
}
