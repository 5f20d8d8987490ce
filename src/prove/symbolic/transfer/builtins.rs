//! Builtins of OpenCL C, and the LLVM intrinsics that the optimiser substitutes for them, by name.

use super::Transfer;
use crate::program::math::names::{Function, without_precision_prefix};
use crate::program::{Kind, Shape};
use crate::solve::expression::{Operation, Term};

impl Transfer<'_> {
    /// Evaluates a call. `None` if the builtin is not known; `base` is its demangled name.
    pub(super) fn call(
        &mut self,
        name: &str,
        base: &str,
        operands: &[Vec<Term>],
        shapes: &[Shape],
        to: Shape,
    ) -> Option<Vec<Term>> {
        let Function { base, is_signed, is_flagged } = Function::of(name, base)?;
        let operands = if is_flagged { operands.get(..1)? } else { operands };
        let (first, lanes) = (*shapes.first()?, to.lanes.max(1) as usize);
        if base.starts_with("convert_") {
            return self.each(lanes, operands, |t, lane| t.converted(base, is_signed, lane[0], first, to));
        }
        match (base, operands) {
            ("any", [x]) => return self.any_sign(x, to, Operation::Or),
            ("all", [x]) => return self.any_sign(x, to, Operation::And),
            ("dot", [x, y]) => return self.dot(x, y).map(|sum| vec![sum]),
            ("select", [_, _, _]) => return self.each(lanes, operands, |t, lane| Some(t.selected(lane, to))),
            _ => {}
        }
        match first.kind {
            Kind::Int(_) => self.each(lanes, operands, |t, lane| {
                let same = |t: &Self| lane.iter().all(|x| t.terms.sort(*x) == t.terms.sort(lane[0]));
                if same(t) { t.integer(base, is_signed, lane) } else { None }
            }),
            Kind::Float(_) => self.each(lanes, operands, |t, lane| {
                if lane.iter().any(|x| t.terms.sort(*x) != t.terms.sort(lane[0])) {
                    return None;
                }
                if let Some(holds) = t.relation(base, lane) {
                    return Some(t.answered(holds, to));
                }
                t.of_floats(without_precision_prefix(base), lane)
            }),
            Kind::Pointer | Kind::Void | Kind::Other => None,
        }
    }

    /// Returns whether any lane, or every lane, has its sign bit set.
    fn any_sign(&mut self, lanes: &[Term], to: Shape, operation: Operation) -> Option<Vec<Term>> {
        let mut all = None;
        for lane in lanes {
            let zero = self.number(0, *lane);
            let is = self.terms.compare(Operation::Slt, *lane, zero);
            all = Some(match all {
                Some(before) => self.make(operation, &[before, is]),
                None => is,
            });
        }
        Some(vec![self.answered(all?, to)])
    }

    /// `select`: scalars select by a nonzero condition, vectors by the condition's sign bit.
    fn selected(&mut self, lane: &[Term], to: Shape) -> Term {
        let zero = self.number(0, lane[2]);
        let second = if to.lanes == 0 {
            let is_zero = self.terms.compare(Operation::Eq, lane[2], zero);
            self.terms.not(is_zero)
        } else {
            self.terms.compare(Operation::Slt, lane[2], zero)
        };
        self.terms.select(second, lane[1], lane[0])
    }
}
