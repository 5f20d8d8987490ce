//! Bounds of scalars: lower ones from what is compared with them, laid out by them or counted down from them; upper
//! ones from arrays of fixed size.

use std::collections::BTreeMap;
use std::rc::Rc;

use kassay_ir::cfg::indices::BlockIndex;
use kassay_prove::program::{Op, Region, ValueId};

use super::access_summary::AccessSummary;
use super::model::{LowerBound, UpperBound};
use super::path_conditions::Fact;
use super::pitches::{self, Offset};
use super::polynomial::{Atom, Poly};

/// Scalars of which powers are bounded are not looked for beyond this.
const LARGEST_POWER: i128 = 4096;

/// Returns, by block, whether it contains an access to memory that work-items share, or can reach one.
fn leading_to_accesses(summary: &AccessSummary<'_>) -> Vec<bool> {
    let cfg = &summary.program.cfg;
    let mut leads = vec![false; cfg.len()];
    let shared = summary.accesses.iter().filter(|a| !matches!(a.region, Region::Private(_)));
    let mut todo: Vec<BlockIndex> = shared.map(|a| a.block).collect();
    while let Some(block) = todo.pop() {
        if !std::mem::replace(&mut leads[block], true) {
            todo.extend(cfg.incoming(block).into_iter().map(|e| e.block));
        }
    }
    leads
}

/// Returns the polynomial with its loop counter replaced by the counter's initial value; `None` without a counter.
fn start_of(poly: &Poly, summary: &AccessSummary<'_>) -> Option<Poly> {
    let program = summary.program;
    let counter = poly.atoms().find_map(|a| match a {
        Atom::Value(v) if program.is_counter(v) => Some(v),
        _ => None,
    })?;
    let phi = program.instruction(counter)?;
    let Op::Phi(from) = &phi.op else { return None };
    let here = program.block_of(counter)?;
    let outside = phi.operands.iter().zip(from).find(|(_, b)| !program.dominates(here, **b));
    poly.substitute(Atom::Value(counter), &summary.symbols.poly(*outside?.0))
}

/// Returns upper bounds of the scalar: arrays of fixed size are indexed below multiples of it, or downwards from them.
pub fn upper_bounds(summary: &AccessSummary<'_>, scalar: Atom) -> Vec<UpperBound> {
    let program = summary.program;
    let mut all: Vec<UpperBound> = Vec::new();
    let is_start = |value: ValueId| {
        let starts = program.is_counter(value).then(|| start_of(&Poly::atom(Atom::Value(value)), summary)).flatten();
        starts.is_some_and(|start| start.has(scalar))
    };
    let is_compared = |fact: &Fact| alternatives(summary, &fact.rhs).iter().any(|rhs| rhs.has(scalar));
    if !summary.facts.all().any(|(_, fact)| is_compared(fact))
        && !program.instructions().any(|(_, i)| is_start(i.result))
    {
        return all;
    }
    for (block, instruction) in program.instructions() {
        let Op::Address { steps, .. } = &instruction.op else { continue };
        for step in steps {
            let Some(extent) = step.extent else { continue };
            let index = summary.symbols.poly(instruction.operands[step.operand]);
            let mut push = |less: &Poly, most: i128| {
                let bound = match less.linear_in(scalar) {
                    Some((coefficient, rest)) => UpperBound { coefficient, rest, most },
                    None => match greatest(less, scalar, most) {
                        Some(most) => UpperBound { coefficient: 1, rest: Poly::default(), most },
                        None => return,
                    },
                };
                if bound.coefficient > 0 && !all.contains(&bound) {
                    all.push(bound);
                }
            };
            for fact in &summary.facts.blocks[block] {
                let Some(apart) = fact.lhs.sub(&index).as_constant() else { continue };
                alternatives(summary, &fact.rhs).iter().for_each(|rhs| push(rhs, i128::from(extent) + apart));
            }
            if let Some(first) = start_of(&index, summary) {
                push(&first, i128::from(extent) - 1);
            }
        }
    }
    all
}

/// Returns the values that something may have, if it is one of several, such as a width or a height; or else itself.
fn alternatives(summary: &AccessSummary<'_>, poly: &Poly) -> Vec<Poly> {
    let program = summary.program;
    let single = match poly.0.first_key_value() {
        Some((product, 1)) if poly.0.len() == 1 => product.as_slice(),
        _ => &[],
    };
    let [Atom::Value(value)] = *single else { return vec![poly.clone()] };
    let Some(instruction) = program.instruction(value).filter(|_| !program.is_counter(value)) else {
        return vec![poly.clone()];
    };
    let of = |operands: &[ValueId]| operands.iter().map(|operand| summary.symbols.poly(*operand)).collect();
    match instruction.op {
        Op::Phi(_) => of(&instruction.operands),
        Op::Select => of(&instruction.operands[1..]),
        _ => vec![poly.clone()],
    }
}

/// Returns the greatest value of the scalar for which a polynomial of it alone, such as `(n + 1) * (n + 1) - 1`, is at
/// most `most`; `None` if it need not rise with the scalar, or is greater for 0 already.
fn greatest(poly: &Poly, scalar: Atom, most: i128) -> Option<i128> {
    let rises = poly.0.iter().all(|(product, n)| product.is_empty() || *n > 0);
    if !rises || poly.atoms().any(|atom| atom != scalar) || poly.atoms().next().is_none() {
        return None;
    }
    let value = |at: i128| {
        poly.0.iter().fold(0i128, |sum, (product, n)| {
            sum.saturating_add(product.iter().fold(*n, |term, _| term.saturating_mul(at)))
        })
    };
    (0..=LARGEST_POWER).take_while(|at| value(*at) <= most).last()
}

/// Returns lower bounds of the scalar: something has to stay below multiples of it. `offsets`: those of [`pitches`].
pub fn lower_bounds(summary: &AccessSummary<'_>, offsets: &[Offset], scalar: Atom) -> Vec<LowerBound> {
    let mut all: Vec<LowerBound> = Vec::new();
    let mut push = |bound: LowerBound| {
        if !all.contains(&bound) {
            all.push(bound);
        }
    };
    // `if (id < n)`, followed by accesses to memory
    let leading = leading_to_accesses(summary);
    let facts = summary.facts.all().filter(|(block, _)| leading[*block]).map(|(_, fact)| fact);
    for fact in facts.filter(|f| !f.is_equal) {
        if let Some((coefficient, rest)) = fact.rhs.linear_in(scalar)
            && coefficient > 0
            && !fact.lhs.has(scalar)
            && pitches::grows(&fact.lhs, summary, 3)
        {
            let start = start_of(&fact.lhs, summary);
            let is_start = start.is_some();
            let extent = start.unwrap_or_else(|| fact.lhs.clone());
            push(LowerBound { extent, coefficient, rest, is_hard: false, is_start });
        }
    }
    pitches::lower_bounds(summary, offsets, scalar).into_iter().for_each(&mut push);
    // `a[(n - 1 - k) * w + x]`, where nothing keeps k below n
    for access in summary.accesses.iter().filter(|a| !matches!(a.region, Region::Private(_) | Region::Variable(_))) {
        // `for (x = w - r; x < w; x++) … a[x - r - 1]`: the loop's first turn counts down from w.
        let first = start_of(&access.offset, summary).map(|offset| within_row(&offset)).filter(|o| *o != access.offset);
        let counted = counted_down(&access.offset, scalar);
        for (coefficient, rest) in counted.into_iter().chain(first.iter().flat_map(|o| counted_down(o, scalar))) {
            let down: Vec<Atom> = rest.0.iter().filter(|(_, n)| **n < 0).flat_map(|(p, _)| p.iter().copied()).collect();
            let is_number = |a: &Atom| !matches!(a, Atom::Value(v) if !summary.program.is_counter(*v));
            let is_kept = |f: &Rc<Fact>| f.rhs.has(scalar) && down.iter().any(|a| f.lhs.has(*a));
            if !down.is_empty() && down.iter().all(is_number) && !summary.facts.blocks[access.block].iter().any(is_kept)
            {
                let extent = Poly::constant(-1).sub(&rest);
                push(LowerBound { extent, coefficient, rest: Poly::default(), is_hard: true, is_start: false });
            }
        }
    }
    all
}

/// Returns the offset without the rows that it skips; all of it, if it counts rows down.
fn within_row(offset: &Poly) -> Poly {
    let (rows, along): (BTreeMap<_, _>, BTreeMap<_, _>) =
        offset.0.iter().map(|(product, n)| (product.clone(), *n)).partition(|(product, _)| product.len() > 1);
    if rows.values().all(|n| *n > 0) { Poly(along) } else { offset.clone() }
}

/// Returns rows or elements that an offset counts downwards from the scalar: coefficient of the scalar, and the
/// remaining summands. They lie in the buffer if their sum is not negative.
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
        counted.div_exact(coefficient).unwrap_or(counted).linear_in(scalar)
    });
    found.collect()
}
