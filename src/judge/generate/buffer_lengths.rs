//! Infers the lengths of buffers from the kernel's own checks: `if (i < n) a[i]` implies that `a` has `n` elements, and
//! `x < width && y < height` before `a[y * width + x]` that it has `width * height`.

use kassay_prove::program::{Region, ValueId};

use super::access_summary::{Access, AccessSummary};
use super::polynomial::{Atom, Poly};

/// Lengths that the checks imply for one buffer.
#[derive(Debug, Clone, Default)]
pub struct Lengths {
    /// In elements; the buffer has the largest of them.
    pub lengths: Vec<Poly>,
    /// Accesses that a check guards, and those that reach at most [`NEAR`] elements beyond a guarded length.
    pub checked: Vec<ValueId>,
}

/// Elements by which an access may exceed its checks and still count as guarded, by a check that is wrong.
const NEAR: i128 = 8;

/// An access, with the number of elements that its checks leave room for.
struct Reach {
    id: ValueId,
    length: Poly,
    /// If a check compares by `<=`, which may be a mistake: the length that `<` would have given.
    strict: Option<Poly>,
}

/// Infers the lengths of the buffer at `position`, whose elements have `element` bytes.
pub fn of(summary: &AccessSummary<'_>, position: u32, element: u64) -> Lengths {
    let mine: Vec<&Access> = summary.accesses.iter().filter(|a| a.region == Region::Argument(position)).collect();
    let reaches: Vec<Reach> = mine.iter().filter_map(|a| reach(summary, a, element)).collect();
    let mut found = Lengths::default();
    for reach in reaches.iter().filter(|r| is_clean(&r.length)) {
        if !found.lengths.contains(&reach.length) {
            found.lengths.push(reach.length.clone());
        }
    }
    if found.lengths.is_empty() {
        // A buffer of n + 1 elements is probably intended if it is accessed at n, or laid out by n + 1.
        let fixed = mine.iter().any(|a| index(a, element).is_some_and(|i| i.atoms().next().is_some() && is_given(&i)));
        let beyond = |r: &Reach, s: &Poly| r.length.sub(s).as_constant().is_none_or(|c| c > 1);
        let strict: Vec<&Poly> = reaches.iter().filter_map(|r| r.strict.as_ref()).filter(|s| is_clean(s)).collect();
        let deliberate = fixed || strict.iter().any(|s| reaches.iter().any(|r| beyond(r, s)));
        if !deliberate {
            strict.into_iter().for_each(|s| {
                if !found.lengths.contains(s) {
                    found.lengths.push(s.clone());
                }
            });
        }
    }
    let is_near = |r: &&Reach| found.lengths.iter().any(|l| r.length.sub(l).as_constant().is_some_and(|c| c <= NEAR));
    found.checked = reaches.iter().filter(is_near).map(|r| r.id).collect();
    found
}

/// Returns the index of the element at which an access begins.
fn index(access: &Access, element: u64) -> Option<Poly> {
    let rest = access.offset.constant_term().rem_euclid(i128::from(element));
    access.offset.sub(&Poly::constant(rest)).div_exact(element.into())
}

/// Returns whether the length is a single product of arguments.
fn is_clean(length: &Poly) -> bool {
    length.0.len() == 1 && is_given(length) && length.0.iter().all(|(p, n)| !p.is_empty() && *n > 0)
}

fn is_given(poly: &Poly) -> bool {
    poly.atoms().all(|a| matches!(a, Atom::Arg(..)))
}

fn reach(summary: &AccessSummary<'_>, access: &Access, element: u64) -> Option<Reach> {
    let first = index(access, element)?;
    if is_given(&first) {
        return None;
    }
    // Elements beyond the first.
    let more = i128::from(access.bytes.div_ceil(element).max(1)) - 1;
    let last = first.add(&Poly::constant(more));
    let facts = &summary.facts.blocks[access.block];
    // A check of the index itself.
    for fact in facts.iter().filter(|f| is_given(&f.rhs)) {
        if let Some(apart) = fact.lhs.sub(&last).as_constant() {
            let length = fact.rhs.sub(&Poly::constant(apart));
            let strict = fact.inclusive.then(|| length.sub(&Poly::constant(1)));
            return Some(Reach { id: access.id, length, strict });
        }
    }
    let length = substitute(summary, access, &last, false)?;
    let strict = substitute(summary, access, &last, true)?;
    // A window from -r to r: `w[i + r]` is meant to reach 2 * r.
    let is_window = last.0.keys().any(|p| !p.is_empty() && p.iter().all(|a| matches!(a, Atom::Arg(..))));
    let strict = (strict != length && !is_window).then_some(strict);
    Some(Reach { id: access.id, length, strict })
}

/// Returns one more than the greatest index, if checks bound everything in it that is no argument. `strict`: `<=`
/// counts as `<`.
fn substitute(summary: &AccessSummary<'_>, access: &Access, last: &Poly, strict: bool) -> Option<Poly> {
    let facts = &summary.facts.blocks[access.block];
    let mut poly = last.clone();
    for _ in 0..6 {
        let Some(atom) = poly.atoms().find(|a| !matches!(a, Atom::Arg(..))) else {
            return Some(poly.add(&Poly::constant(1)));
        };
        // A term that falls as the atom grows is not bounded from above by a bound of the atom.
        if poly.0.iter().any(|(p, n)| p.contains(&atom) && *n < 0) {
            return None;
        }
        let mut best: Option<Poly> = None;
        for fact in facts {
            let Some((1, rest)) = fact.lhs.linear_in(atom) else { continue };
            let raised = i128::from(strict && fact.inclusive);
            let most = fact.rhs.sub(&rest).sub(&Poly::constant(1 + raised));
            if most.has(atom) {
                continue;
            }
            let better = match &best {
                None => true,
                Some(known) => match most.sub(known).as_constant() {
                    Some(apart) => apart < 0,
                    None => !is_given(known) && is_given(&most),
                },
            };
            if better {
                best = Some(most);
            }
        }
        poly = poly.substitute(atom, &best?)?;
    }
    None
}
