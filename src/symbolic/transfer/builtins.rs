//! Builtins of OpenCL C, and the LLVM intrinsics that the optimiser substitutes for them, by name.

use super::Transfer;
use crate::kernel::builtins;
use crate::program::{Kind, Shape};
use crate::solve::expression::{Operation, Sort, Term};

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
        if let Some(intrinsic) = name.strip_prefix("llvm.") {
            return self.intrinsic(intrinsic, operands, to);
        }
        let params = builtins::demangle(name).map_or("", |(_, params)| params);
        let element = params.split_once('_').filter(|(v, _)| v.starts_with("Dv")).map_or(params, |(_, of)| of);
        let is_signed = element.chars().next().is_some_and(builtins::is_signed);
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
                let base = base.trim_start_matches("native_").trim_start_matches("half_");
                t.of_floats(base, lane)
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

    fn intrinsic(&mut self, name: &str, operands: &[Vec<Term>], to: Shape) -> Option<Vec<Term>> {
        // Such as `umin.i32`, `uadd.sat.v4i32`.
        let word = |n: usize| name.split('.').nth(n).unwrap_or_default();
        let saturates = word(1) == "sat";
        let lanes = to.lanes.max(1) as usize;
        let (base, is_signed) = match word(0) {
            "smin" => ("min", true),
            "umin" => ("min", false),
            "smax" => ("max", true),
            "umax" => ("max", false),
            "sadd" if saturates => ("add_sat", true),
            "uadd" if saturates => ("add_sat", false),
            "ssub" if saturates => ("sub_sat", true),
            "usub" if saturates => ("sub_sat", false),
            "abs" => ("abs", true),
            "ctpop" => ("popcount", false),
            "ctlz" => ("clz", false),
            "cttz" => ("ctz", false),
            "minnum" => ("fmin", false),
            "maxnum" => ("fmax", false),
            word @ ("fabs" | "copysign" | "floor" | "ceil" | "trunc" | "rint" | "round" | "roundeven" | "sqrt"
            | "fma" | "fmuladd") => (word, false),
            _ => return None,
        };
        // The second argument is only a flag that makes some result poison.
        let count = if matches!(base, "abs" | "clz" | "ctz") { 1 } else { operands.len() };
        self.each(lanes, operands.get(..count)?, |t, lane| match t.terms.sort(lane[0]) {
            Sort::Float(_) => t.of_floats(base, lane),
            _ => t.integer(base, is_signed, lane),
        })
    }
}
