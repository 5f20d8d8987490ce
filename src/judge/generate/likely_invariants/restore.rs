//! Makes launches keep likely invariants.

use std::sync::Arc;

use kassay_model::interface::Scalar;
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::scalar_layout;

use super::{Formula, LikelyInvariants, Quantity, Rule};

impl LikelyInvariants {
    /// Changes a launch until it keeps all likely invariants: what an equation defines is computed anew from the rest,
    /// sizes of work-groups are made to fit, contents are brought into their ranges. Returns `false` if that does not
    /// succeed, or the launch has too many work-items; what is left of it is of no use then.
    pub fn restore(&self, launch: &mut Launch) -> bool {
        for invariant in &self.all {
            match &invariant.rule {
                Rule::Fixed { arg, offset, bytes, .. } => {
                    let Some(ArgValue::Value(value)) = launch.args.get_mut(*arg as usize) else { continue };
                    let at = value.get_mut(*offset as usize..).and_then(|rest| rest.get_mut(..bytes.len()));
                    at.into_iter().for_each(|at| at.copy_from_slice(bytes));
                }
                Rule::OneOf { of, values } => {
                    let Some(now) = of.get(launch) else { continue };
                    // The nearest, so that a mutated number leads to another of them.
                    if let Some(nearest) = values.iter().min_by_key(|v| v.abs_diff(now)) {
                        of.set(launch, *nearest);
                    }
                }
                _ => {}
            }
        }
        self.solve(launch);
        if self.needs_whole_groups || self.all.iter().any(|c| c.rule == Rule::WholeGroups) {
            self.make_groups_whole(launch);
            self.solve(launch);
        }
        if launch.range.global.iter().try_fold(1u64, |n, size| n.checked_mul(*size)).is_none_or(|n| n > self.max_items)
        {
            return false;
        }
        for invariant in &self.all {
            restore_contents(&invariant.rule, launch);
        }
        self.hold(launch)
    }

    /// Computes what equations define. Stops at the first that has no solution.
    fn solve(&self, launch: &mut Launch) {
        for invariant in &self.all {
            if let Rule::Equation { target, formula } = &invariant.rule
                && target.get(launch).is_some()
                && let Some(value) = formula.value(launch)
                && !target.set(launch, value)
            {
                return;
            }
        }
    }

    /// Returns the formula of a quantity, if an equation defines it.
    fn formula(&self, of: Quantity) -> Option<&Formula> {
        self.all.iter().find_map(|c| match &c.rule {
            Rule::Equation { target, formula } if *target == of => Some(formula),
            _ => None,
        })
    }

    /// Changes in each dimension what is free: the size of work-groups, the global size, or the number that it is.
    fn make_groups_whole(&self, launch: &mut Launch) {
        for d in 0..launch.range.dims as usize {
            let Some(local) = launch.range.local.map(|local| local[d].max(1)) else { return };
            let global = launch.range.global[d];
            if global.is_multiple_of(local) {
                continue;
            }
            match (self.formula(Quantity::Local(d)), self.formula(Quantity::Global(d))) {
                (_, None) => {
                    Quantity::Global(d).set(launch, global.next_multiple_of(local).into());
                }
                (Some(_), Some(Formula::Plus { of, plus: 0 })) => {
                    of.set(launch, global.next_multiple_of(local).into());
                }
                (None, Some(_)) => {
                    let divides = |n: &u64| global.is_multiple_of(*n);
                    let fitting = (1..=local.min(global)).rev().find(divides).unwrap_or(1);
                    Quantity::Local(d).set(launch, fitting.into());
                }
                (Some(_), Some(_)) => {}
            }
        }
    }
}

/// Brings the contents of a buffer into line with a rule about them.
fn restore_contents(rule: &Rule, launch: &mut Launch) {
    if rule.holds(launch) {
        return;
    }
    match rule {
        Rule::Within { arg, scalar, below, inclusive } => {
            let Some(count) = below.get(launch).map(|below| below + i128::from(*inclusive)).filter(|n| *n > 0) else {
                return;
            };
            edit(launch, *arg, *scalar, |n| *n = n.rem_euclid(count));
        }
        Rule::Rising { arg, scalar } => {
            let mut most = i128::MIN;
            edit(launch, *arg, *scalar, |n| {
                most = most.max(*n);
                *n = most;
            });
        }
        Rule::FromZero { arg, scalar } => {
            let mut is_first = true;
            edit(launch, *arg, *scalar, |n| {
                if std::mem::take(&mut is_first) {
                    *n = 0;
                }
            });
        }
        Rule::UpTo { arg, scalar, last } => {
            let Some(last) = last.get(launch) else { return };
            let mut left = super::integers(launch, *arg, *scalar).count();
            edit(launch, *arg, *scalar, |n| {
                left -= 1;
                *n = if left == 0 { last } else { (*n).min(last) };
            });
        }
        Rule::Equation { .. } | Rule::Fixed { .. } | Rule::OneOf { .. } | Rule::WholeGroups => {}
    }
}

/// Changes the integers of a buffer of the argument's own; those that the type does not hold stay as they are.
fn edit(launch: &mut Launch, arg: u32, scalar: Scalar, mut with: impl FnMut(&mut i128)) {
    if !launch.view(arg).is_whole() {
        return;
    }
    let Some(ArgValue::Buffer(bytes)) = launch.args.get_mut(arg as usize) else { return };
    let Some((least, most)) = scalar_layout::range(scalar) else { return };
    let mut out = Vec::with_capacity(8);
    for at in Arc::make_mut(bytes).chunks_exact_mut(scalar.size().max(1) as usize) {
        let scalar_layout::Number::Integer(before) = scalar_layout::decode(scalar, at) else { return };
        let mut number = before;
        with(&mut number);
        if number != before && (least..=most).contains(&number) {
            out.clear();
            scalar_layout::push_integer(scalar, number, &mut out);
            at.copy_from_slice(&out);
        }
    }
}
