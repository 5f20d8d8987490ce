//! LLVM's intrinsics on integers and vectors (LangRef, "Intrinsic Functions") as plain code.

use super::int::{Int, Ints};
use super::types::is_legal;
use super::values::{Part, Rewriting};
use crate::llvm::{Inst, Type, Value, View};

/// Those that SPIR-V has no exact form of, whatever their types: the backend of LLVM 22 ends, or makes calls of them.
const EXPANDED: [&str; 19] = [
    "bswap",
    "bitreverse",
    "ctpop",
    "ctlz",
    "cttz",
    "fshl",
    "fshr",
    "uadd.with.overflow",
    "sadd.with.overflow",
    "usub.with.overflow",
    "ssub.with.overflow",
    "umul.with.overflow",
    "smul.with.overflow",
    "ushl.sat",
    "sshl.sat",
    "ucmp",
    "scmp",
    "vector.reduce",
    "vector.reverse",
];

/// Returns the name of the intrinsic that is called, without `llvm.`.
fn intrinsic(inst: Inst<'_>) -> Option<String> {
    inst.callee().and_then(|name| name.strip_prefix("llvm.").map(str::to_owned))
}

pub fn is_intrinsic(inst: Inst<'_>) -> bool {
    intrinsic(inst).is_some()
}

/// Returns whether an intrinsic is called that is always expanded.
pub fn is_expanded(inst: Inst<'_>) -> bool {
    intrinsic(inst).is_some_and(|name| EXPANDED.iter().any(|known| is_of(&name, known)))
}

/// Returns whether a name is that of an intrinsic, followed by types.
fn is_of(name: &str, of: &str) -> bool {
    name.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl<'m> Rewriting<'_, 'm> {
    /// Expands a call of an intrinsic.
    pub fn intrinsic(&mut self, view: View<'m>, inst: Inst<'m>) {
        let Some(name) = intrinsic(inst) else { return self.refuse(inst.text()) };
        let is = |of: &str| is_of(&name, of);
        if is("assume") || is("experimental.noalias.scope.decl") {
            return self.dead.push(inst);
        }
        if is("vector.reduce") {
            return self.reduce(view, inst, &name);
        }
        if is("vector.reverse") {
            let mut parts = self.parts(inst.operand(0));
            parts.reverse();
            return self.set(inst, parts);
        }
        if is("fptosi.sat") || is("fptoui.sat") {
            let bits = inst.ty().scalar().int_width().unwrap_or(1);
            let mut parts = Vec::new();
            for part in self.parts(inst.operand(0)) {
                let Part::Other(float) = part else { return self.refuse(inst.text()) };
                parts.push(Part::Int(self.of_float_saturated(float, bits, is("fptosi.sat"))));
            }
            return self.set(inst, parts);
        }
        if is("fshl") || is("fshr") {
            return self.funnel(inst, is("fshl"));
        }
        if let Some(operation) = name.find(".with.overflow").map(|end| name[..end].to_owned()) {
            return self.overflowing(inst, &operation);
        }
        let operands: Option<Vec<Vec<Int<'m>>>> = inst.args().into_iter().map(|arg| self.all_ints(arg)).collect();
        let lanes = operands.filter(|_| inst.ty().scalar().is_integer()).and_then(|operands| {
            let bits = inst.ty().scalar().int_width().unwrap_or(1);
            let lane = |lane: usize| {
                let own: Vec<&Int<'m>> = operands.iter().filter_map(|all| all.get(lane).or(all.first())).collect();
                self.computed(&name, &own, bits)
            };
            (0..operands.first()?.len()).map(lane).collect::<Option<Vec<Int<'m>>>>()
        });
        match lanes {
            Some(lanes) => self.set(inst, lanes.into_iter().map(Part::Int).collect()),
            None => self.lane_by_lane(view, inst, &name),
        }
    }

    /// Returns what an intrinsic computes of integers; `None` for others.
    fn computed(&self, name: &str, operands: &[&Int<'m>], bits: u32) -> Option<Int<'m>> {
        let ints = self.ints();
        let is = |of: &str| is_of(name, of);
        Some(match *operands {
            [x] if is("ctpop") => ints.count(x),
            [x] if is("bswap") => ints.reversed(x, 8),
            [x] if is("bitreverse") => ints.reversed(x, 1),
            [x, _] if is("ctlz") => ints.leading_zeros(x),
            [x, _] if is("cttz") => ints.trailing_zeros(x),
            [x, _] if is("abs") => ints.select(ints.is_negative(x), &ints.neg(x), x),
            [x, y] if is("umin") => ints.select(ints.is_less(x, y), x, y),
            [x, y] if is("umax") => ints.select(ints.is_less(y, x), x, y),
            [x, y] if is("smin") => ints.select(ints.is_less_signed(x, y), x, y),
            [x, y] if is("smax") => ints.select(ints.is_less_signed(y, x), x, y),
            [x, y] if is("ucmp") => compared(ints, ints.is_less(x, y), ints.is_less(y, x), bits),
            [x, y] if is("scmp") => compared(ints, ints.is_less_signed(x, y), ints.is_less_signed(y, x), bits),
            [x, y] if is("uadd.sat") => {
                let sum = ints.add(x, y);
                ints.select(ints.is_less(&sum, x), &ints.ones(bits), &sum)
            }
            [x, y] if is("usub.sat") => ints.select(ints.is_less(x, y), &ints.constant(bits, 0), &ints.sub(x, y)),
            [x, y] if is("sadd.sat") || is("ssub.sat") => {
                let (result, overflows) = self.signed_sum(x, y, is("ssub.sat"));
                ints.select(overflows, &self.limit(x), &result)
            }
            [x, y] if is("ushl.sat") => {
                let shifted = ints.shl(x, y);
                ints.select(ints.is_equal(&ints.lshr(&shifted, y), x), &shifted, &ints.ones(bits))
            }
            [x, y] if is("sshl.sat") => {
                let shifted = ints.shl(x, y);
                ints.select(ints.is_equal(&ints.ashr(&shifted, y), x), &shifted, &self.limit(x))
            }
            _ => return None,
        })
    }

    /// Returns the greatest integer for one that is positive, and the least for one that is negative.
    fn limit(&self, x: &Int<'m>) -> Int<'m> {
        let most = self.ints().greatest_signed(x.bits);
        self.ints().select(self.ints().is_negative(x), &self.ints().not(&most), &most)
    }

    /// Returns a sum or difference of signed integers, and whether it overflows.
    fn signed_sum(&self, x: &Int<'m>, y: &Int<'m>, subtracts: bool) -> (Int<'m>, Value<'m>) {
        let ints = self.ints();
        let result = if subtracts { ints.sub(x, y) } else { ints.add(x, y) };
        let differs = ints.xor(x, &result);
        // It overflows where operands that lead away from zero lead to the other side.
        let other = if subtracts { ints.xor(x, y) } else { ints.xor(y, &result) };
        let overflows = ints.is_negative(&ints.and(&differs, &other));
        (result, overflows)
    }

    fn overflowing(&mut self, inst: Inst<'m>, operation: &str) {
        let (Some(x), Some(y)) = (self.all_ints(inst.operand(0)), self.all_ints(inst.operand(1))) else {
            return self.refuse(inst.text());
        };
        let ints = self.ints();
        let (mut values, mut flags) = (Vec::new(), Vec::new());
        for (x, y) in x.iter().zip(&y) {
            let (value, overflows) = match operation {
                "uadd" => {
                    let sum = ints.add(x, y);
                    let overflows = ints.is_less(&sum, x);
                    (sum, overflows)
                }
                "usub" => (ints.sub(x, y), ints.is_less(x, y)),
                "sadd" | "ssub" => self.signed_sum(x, y, operation == "ssub"),
                _ => {
                    let wide = |n: &Int<'m>| match operation {
                        "smul" => ints.resize_signed(n, 2 * n.bits),
                        _ => ints.resize(n, 2 * n.bits),
                    };
                    let product = ints.mul(&wide(x), &wide(y));
                    let value = ints.resize(&product, x.bits);
                    let fits = ints.is_equal(&wide(&value), &product);
                    (value, self.builder.not(fits, ""))
                }
            };
            values.push(Part::Int(value));
            flags.push(Part::Int(Int { bits: 1, words: vec![overflows] }));
        }
        values.extend(flags);
        self.set(inst, values);
    }

    /// Joins the lanes of a vector, from the first to the last.
    fn reduce(&mut self, view: View<'m>, inst: Inst<'m>, name: &str) {
        let operation = name.trim_start_matches("vector.reduce.").split('.').next().unwrap_or_default().to_owned();
        let mut args = inst.args();
        let Some(vector) = args.pop() else { return self.refuse(inst.text()) };
        let mut parts = self.parts(vector).into_iter();
        // Sums and products of floats begin with a number.
        let start = args.first().map(|start| self.part(*start));
        let Some(mut all) = start.or_else(|| parts.next()) else { return self.refuse(inst.text()) };
        for part in parts {
            all = match (all, part) {
                (Part::Int(x), Part::Int(y)) => {
                    let ints = self.ints();
                    Part::Int(match operation.as_str() {
                        "add" => ints.add(&x, &y),
                        "mul" => ints.mul(&x, &y),
                        "and" => ints.and(&x, &y),
                        "or" => ints.or(&x, &y),
                        "xor" => ints.xor(&x, &y),
                        other => match self.computed(other, &[&x, &y], x.bits) {
                            Some(joined) => joined,
                            None => return self.refuse(inst.text()),
                        },
                    })
                }
                (Part::Other(x), Part::Other(y)) => Part::Other(match operation.as_str() {
                    "fadd" => self.builder.fadd(x, y, ""),
                    "fmul" => self.builder.fmul(x, y, ""),
                    "fmax" => self.call(view, "maxnum", &[x, y], x.ty()),
                    "fmin" => self.call(view, "minnum", &[x, y], x.ty()),
                    "fmaximum" => self.call(view, "maximum", &[x, y], x.ty()),
                    "fminimum" => self.call(view, "minimum", &[x, y], x.ty()),
                    _ => return self.refuse(inst.text()),
                }),
                _ => return self.refuse(inst.text()),
            };
        }
        self.set(inst, vec![all]);
    }

    /// Calls an intrinsic on scalars.
    fn call(&self, view: View<'m>, name: &str, args: &[Value<'m>], result: Type<'m>) -> Value<'m> {
        let types: Vec<Type<'m>> = args.iter().map(|arg| arg.ty()).collect();
        let suffix = match result.bits() {
            Some(16) => "f16",
            Some(64) => "f64",
            _ => "f32",
        };
        let callee = view.function_or_declared(&format!("llvm.{name}.{suffix}"), result.function(&types, false));
        self.builder.call(callee, args, "").value()
    }

    /// Calls an intrinsic on vectors for each lane.
    fn lane_by_lane(&mut self, view: View<'m>, inst: Inst<'m>, name: &str) {
        let Some(lanes) = inst.ty().lanes().filter(|_| is_legal(inst.ty().scalar())) else {
            return self.refuse(inst.text());
        };
        // `v5f32` becomes `f32`.
        let scalar = |word: &str| {
            let digits = word.strip_prefix('v').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
            digits.filter(|rest| rest.len() + 1 < word.len() && !rest.is_empty()).unwrap_or(word).to_owned()
        };
        let name: Vec<String> = name.split('.').map(scalar).collect();
        let operands: Vec<Vec<Part<'m>>> = inst.args().into_iter().map(|arg| self.parts(arg)).collect();
        let mut parts = Vec::new();
        for lane in 0..lanes as usize {
            let own = operands.iter().filter_map(|all| all.get(lane).or(all.first()));
            let args: Vec<Value<'m>> = own.flat_map(Part::held).collect();
            if args.len() != operands.len() {
                return self.refuse(inst.text());
            }
            let types: Vec<Type<'m>> = args.iter().map(|arg| arg.ty()).collect();
            let ty = inst.ty().scalar().function(&types, false);
            let callee = view.function_or_declared(&format!("llvm.{}", name.join(".")), ty);
            if callee.value_type() != ty {
                return self.refuse(inst.text());
            }
            let value = self.builder.call(callee, &args, "").value();
            parts.push(match value.ty().int_width() {
                Some(bits) => Part::Int(Int { bits, words: vec![value] }),
                None => Part::Other(value),
            });
        }
        self.set(inst, parts);
    }

    /// Expands `fshl` and `fshr`, whose amount counts modulo the width.
    fn funnel(&mut self, inst: Inst<'m>, left: bool) {
        let operands: Option<Vec<Vec<Int<'m>>>> = inst.args().into_iter().map(|arg| self.all_ints(arg)).collect();
        let Some([x, y, by]) = operands.as_deref() else { return self.refuse(inst.text()) };
        let mut parts = Vec::new();
        for ((x, y), by) in x.iter().zip(y).zip(by) {
            let bits = x.bits;
            let by = match (bits.is_power_of_two(), bits) {
                (_, 1) => by.clone(),
                (true, _) => self.ints().and(by, &self.ints().constant(bits, u128::from(bits - 1))),
                (false, 2..=64) => self.ints().divide_word(by, &self.ints().constant(bits, bits.into()), false, true),
                (false, _) => self.divide_wide(inst, by, &self.ints().constant(bits, bits.into()), true),
            };
            parts.push(Part::Int(self.ints().funnel_shift(x, y, &by, left)));
        }
        self.set(inst, parts);
    }
}

/// Returns -1, 0 or 1.
fn compared<'m>(ints: Ints<'_, 'm>, less: Value<'m>, more: Value<'m>, bits: u32) -> Int<'m> {
    ints.select(less, &ints.ones(bits), &ints.resize_bit(more, bits))
}
