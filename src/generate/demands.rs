//! How large a scalar has to be for what is compared with it, or laid out by it.

use super::model::Demand;
use super::reading::Reading;
use super::symbolic::{Atom, Id, Poly};

/// Whether a polynomial grows with the launch: by ids or sizes, directly or through a loop that starts at them.
fn grows(poly: &Poly, reading: &Reading<'_>, depth: u32) -> bool {
    poly.atoms().any(|atom| match atom {
        Atom::Id(id, _) => !matches!(id, Id::Offset),
        Atom::Arg(..) => false,
        Atom::Value(value) => {
            depth > 0
                && reading.program.instruction(value).is_some_and(|i| match &i.op {
                    super::program::Op::Phi(_) | super::program::Op::Binary(_) | super::program::Op::Select => {
                        i.operands.iter().any(|o| *o != value && grows(&reading.symbols.poly(*o), reading, depth - 1))
                    }
                    _ => false,
                })
        }
    })
}

/// What has to stay below multiples of the scalar.
pub fn of(reading: &Reading<'_>, scalar: Atom) -> Vec<Demand> {
    let mut all: Vec<Demand> = Vec::new();
    let mut push = |demand: Demand| {
        if !all.contains(&demand) {
            all.push(demand);
        }
    };
    // if (id < n)
    for fact in reading.facts.iter().flatten() {
        if let Some((coefficient, rest)) = fact.than.linear_in(scalar)
            && coefficient > 0
            && !fact.less.has(scalar)
            && grows(&fact.less, reading, 3)
        {
            push(Demand { extent: fact.less.clone(), coefficient, rest, is_hard: false });
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
                push(Demand { extent: column, coefficient: 1, rest: Poly::default(), is_hard: true });
            }
        }
    }
    all
}
