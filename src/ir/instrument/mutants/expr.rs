//! Lowers the expressions of edits to IR.

use std::cell::Cell;

use kassay_base::error::{Error, Result};

use super::edit::{Binary, Conversion, Expr, PhiValue, Predicate, Unary};
use super::emitter::{Emitter, width};
use crate::llvm::{
    AttributeIndex, Block, Function, Inst, IntPredicate, Opcode, RealPredicate, SPIR_FUNC, Type, Value, View,
};

/// The treatment of operations that are undefined for some operands (division).
#[derive(Clone, Copy)]
pub(super) enum Hazard<'m> {
    /// Emit them unchanged: the code runs only if the edit is active.
    Unguarded,
    /// The code also runs for other mutants: unless this is true, operands are replaced by harmless ones.
    MaskedUnless(Value<'m>),
    /// Undefined operands are replaced by harmless ones, and this is recorded in [`ExprContext::hazard`].
    Recorded,
}

/// The place at which expressions are lowered; the builder is positioned there.
pub(super) struct ExprContext<'t, 'm> {
    pub emitter: &'t Emitter<'m>,
    pub inst: Inst<'m>,
    /// Operands of the instruction, as they are without the edit.
    pub operands: &'t [Value<'m>],
    /// The replaced value.
    pub original: Option<Value<'m>>,
    /// The type of the replaced value.
    pub ty: Type<'m>,
    /// The value of [`Expr::Current`], if it is not to be loaded.
    pub current: Option<Value<'m>>,
    pub hazards: Hazard<'m>,
    /// With [`Hazard::Recorded`]: whether an operation was undefined (a boolean).
    pub hazard: Cell<Option<Value<'m>>>,
}

fn malformed(what: &str) -> Error {
    Error::internal(format!("an edit is malformed: {what}"))
}

impl<'m> ExprContext<'_, 'm> {
    /// Lowers the expression to the type of the replaced value.
    pub fn replacement(&self, expr: &Expr) -> Result<Value<'m>> {
        let value = self.value(expr, self.ty)?;
        if value.ty() != self.ty {
            return Err(malformed(&format!("{expr:?} has another type than what it replaces")));
        }
        Ok(value)
    }

    /// Returns the type that an expression has independent of its context.
    pub fn own_type(&self, expr: &Expr) -> Option<Type<'m>> {
        match expr {
            Expr::Original => self.original.map(Value::ty),
            Expr::Operand(i) => self.operands.get(*i as usize).map(|v| v.ty()),
            Expr::Integer(_) | Expr::Float(_) | Expr::Convert(..) => None,
            Expr::Unary(_, e) | Expr::WithLane(e, ..) | Expr::Offset(e, _) => self.own_type(e),
            Expr::Binary(_, a, b) | Expr::Select(_, a, b) => self.own_type(a).or_else(|| self.own_type(b)),
            Expr::Compare(_, a, b) => {
                let compared = self.own_type(a).or_else(|| self.own_type(b));
                Some(compared.map_or(self.emitter.bool(), |ty| self.emitter.bool().shaped_like(ty)))
            }
            Expr::Current => self.current.or_else(|| self.operands.first().copied()).map(Value::ty),
            Expr::Lane(e, _) => self.own_type(e).map(Type::scalar),
            Expr::Call { .. } => Some(self.ty),
            Expr::Phi(_) => Some(self.inst.ty()),
        }
    }

    /// Lowers an expression; one without a type of its own gets the type `wanted`.
    pub fn value(&self, expr: &Expr, wanted: Type<'m>) -> Result<Value<'m>> {
        let b = &self.emitter.builder;
        Ok(match expr {
            Expr::Original => self.original.ok_or_else(|| malformed("there is no original value"))?,
            Expr::Operand(i) => self
                .operands
                .get(*i as usize)
                .copied()
                .ok_or_else(|| malformed(&format!("the instruction has no operand {i}")))?,
            Expr::Integer(n) => integer(*n, wanted)?,
            Expr::Float(x) if wanted.scalar().is_float() => wanted.float(x.0),
            Expr::Float(_) => return Err(malformed("a float where none fits")),
            Expr::Unary(op, e) => {
                let e = self.value(e, wanted)?;
                let scalar = e.ty().scalar();
                match op {
                    Unary::FNeg if scalar.is_float() => b.fneg(e, ""),
                    Unary::Neg if scalar.is_integer() => b.neg(e, ""),
                    Unary::Not if scalar.is_integer() => b.not(e, ""),
                    _ => return Err(malformed(&format!("{op:?} of another type"))),
                }
            }
            Expr::Binary(op, x, y) => {
                let ty = self.own_type(x).or_else(|| self.own_type(y)).unwrap_or(wanted);
                let (x, y) = self.same_typed(x, y, ty)?;
                self.binary(*op, x, y)?
            }
            Expr::Compare(predicate, x, y) => {
                let ty = self.own_type(x).or_else(|| self.own_type(y)).unwrap_or(wanted);
                let (x, y) = self.same_typed(x, y, ty)?;
                self.compare(*predicate, x, y)?
            }
            Expr::Select(condition, yes, no) => self.select(condition, yes, no, wanted)?,
            Expr::Current => self.current_value()?,
            Expr::Convert(conversion, e) => {
                let from = self.own_type(e).unwrap_or(wanted);
                let e = self.value(e, from)?;
                self.convert(*conversion, e, wanted)?
            }
            Expr::Offset(pointer, by) => {
                let pointer = self.value(pointer, wanted)?;
                let index = self.emitter.view.int_type(64);
                let by = self.value(by, self.own_type(by).unwrap_or(index))?;
                let step = step_type(self.inst).ok_or_else(|| malformed("an offset at no address"))?;
                if !pointer.ty().scalar().is_pointer() || !by.ty().scalar().is_integer() {
                    return Err(malformed("an offset of no pointer, or by no integer"));
                }
                b.gep(step, pointer, &[by], "")
            }
            Expr::Lane(vector, i) => {
                let vector = self.value(vector, self.own_type(vector).unwrap_or(wanted))?;
                check_lane(vector, *i)?;
                b.lane(vector, *i)
            }
            Expr::WithLane(vector, i, lane) => {
                let vector = self.value(vector, wanted)?;
                check_lane(vector, *i)?;
                let lane = self.value(lane, vector.ty().scalar())?;
                if lane.ty() != vector.ty().scalar() {
                    return Err(malformed("a lane of another type"));
                }
                b.insert_element(vector, lane, self.emitter.number(*i), "")
            }
            Expr::Call { callee, args } => self.call(callee, args, self.ty, false)?.value(),
            Expr::Phi(values) => self.phi(values)?,
        })
    }

    /// Builds another `phi` in front of the one at the place.
    fn phi(&self, values: &[PhiValue]) -> Result<Value<'m>> {
        let incoming = self.inst.incoming();
        if !self.inst.is(Opcode::LLVMPHI) || incoming.len() != values.len() {
            return Err(malformed("a `phi` at none, or at one of other blocks"));
        }
        let ty = self.inst.ty();
        let one = |(value, (_, block)): (&PhiValue, &(Value<'m>, Block<'m>))| {
            let value = match value {
                PhiValue::Incoming(i) => {
                    incoming
                        .get(*i as usize)
                        .ok_or_else(|| malformed("a `phi` from a block that does not lead to it"))?
                        .0
                }
                PhiValue::Integer(n) => integer(*n, ty)?,
                PhiValue::Float(x) if ty.scalar().is_float() => ty.float(x.0),
                PhiValue::Float(_) => return Err(malformed("a float where none fits")),
            };
            Ok((value, *block))
        };
        let taken = values.iter().zip(&incoming).map(one).collect::<Result<Vec<_>>>()?;
        let b = &self.emitter.builder;
        let back = b.position();
        b.before_records(self.inst);
        let phi = b.phi(ty, &taken, "").value();
        back.into_iter().for_each(|position| b.go_to(position));
        Ok(phi)
    }

    fn same_typed(&self, x: &Expr, y: &Expr, ty: Type<'m>) -> Result<(Value<'m>, Value<'m>)> {
        let (x, y) = (self.value(x, ty)?, self.value(y, ty)?);
        if x.ty() == y.ty() { Ok((x, y)) } else { Err(malformed("operands of different types")) }
    }

    fn binary(&self, op: Binary, x: Value<'m>, y: Value<'m>) -> Result<Value<'m>> {
        let float = matches!(op, Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv);
        let scalar = x.ty().scalar();
        if if float { !scalar.is_float() } else { !scalar.is_integer() } {
            return Err(malformed(&format!("{op:?} of another type")));
        }
        let y = match op {
            Binary::SDiv | Binary::SRem => self.divisor(x, y, true),
            Binary::UDiv | Binary::URem => self.divisor(x, y, false),
            Binary::Shl | Binary::LShr | Binary::AShr => self.shift_amount(y),
            _ => y,
        };
        let opcode = match op {
            Binary::Add => Opcode::LLVMAdd,
            Binary::Sub => Opcode::LLVMSub,
            Binary::Mul => Opcode::LLVMMul,
            Binary::SDiv => Opcode::LLVMSDiv,
            Binary::UDiv => Opcode::LLVMUDiv,
            Binary::SRem => Opcode::LLVMSRem,
            Binary::URem => Opcode::LLVMURem,
            Binary::FAdd => Opcode::LLVMFAdd,
            Binary::FSub => Opcode::LLVMFSub,
            Binary::FMul => Opcode::LLVMFMul,
            Binary::FDiv => Opcode::LLVMFDiv,
            Binary::And => Opcode::LLVMAnd,
            Binary::Or => Opcode::LLVMOr,
            Binary::Xor => Opcode::LLVMXor,
            Binary::Shl => Opcode::LLVMShl,
            Binary::LShr => Opcode::LLVMLShr,
            Binary::AShr => Opcode::LLVMAShr,
        };
        Ok(self.emitter.builder.binary(opcode, x, y, ""))
    }

    /// Returns the divisor, made harmless where the division must not trap.
    fn divisor(&self, x: Value<'m>, y: Value<'m>, signed: bool) -> Value<'m> {
        let ty = y.ty();
        let b = &self.emitter.builder;
        match self.hazards {
            Hazard::Unguarded => y,
            Hazard::MaskedUnless(active) => self.emitter.select(active, y, ty.int(1)),
            Hazard::Recorded => {
                let equal = |a, c| b.icmp(IntPredicate::LLVMIntEQ, a, c, "");
                let mut traps = equal(y, ty.int(0));
                if signed && width(ty) > 1 {
                    let least = equal(x, ty.int(1 << (width(ty) - 1)));
                    let minus_one = equal(y, ty.int(u64::MAX >> (64 - width(ty))));
                    let overflows = b.and(least, minus_one, "");
                    traps = b.or(traps, overflows, "");
                }
                self.record_hazard(traps);
                self.emitter.select(traps, ty.int(1), y)
            }
        }
    }

    /// Reduces a shift amount modulo the width (OpenCL C 6.3.j).
    fn shift_amount(&self, y: Value<'m>) -> Value<'m> {
        // Widths of OpenCL's integers are powers of two.
        let last = y.ty().int(u64::from(width(y.ty()) - 1));
        if matches!(self.hazards, Hazard::Recorded) {
            self.record_hazard(self.emitter.builder.icmp(IntPredicate::LLVMIntUGT, y, last, ""));
        }
        self.emitter.builder.and(y, last, "")
    }

    fn record_hazard(&self, condition: Value<'m>) {
        let condition = self.emitter.builder.any(condition);
        let all = match self.hazard.get() {
            None => condition,
            Some(before) => self.emitter.builder.or(before, condition, ""),
        };
        self.hazard.set(Some(all));
    }

    fn compare(&self, predicate: Predicate, x: Value<'m>, y: Value<'m>) -> Result<Value<'m>> {
        let integer = match predicate {
            Predicate::Eq => Some(IntPredicate::LLVMIntEQ),
            Predicate::Ne => Some(IntPredicate::LLVMIntNE),
            Predicate::Slt => Some(IntPredicate::LLVMIntSLT),
            Predicate::Sle => Some(IntPredicate::LLVMIntSLE),
            Predicate::Sgt => Some(IntPredicate::LLVMIntSGT),
            Predicate::Sge => Some(IntPredicate::LLVMIntSGE),
            Predicate::Ult => Some(IntPredicate::LLVMIntULT),
            Predicate::Ule => Some(IntPredicate::LLVMIntULE),
            Predicate::Ugt => Some(IntPredicate::LLVMIntUGT),
            Predicate::Uge => Some(IntPredicate::LLVMIntUGE),
            _ => None,
        };
        let float = match predicate {
            Predicate::FOeq => RealPredicate::LLVMRealOEQ,
            Predicate::FUne => RealPredicate::LLVMRealUNE,
            Predicate::FOlt => RealPredicate::LLVMRealOLT,
            Predicate::FOle => RealPredicate::LLVMRealOLE,
            Predicate::FOgt => RealPredicate::LLVMRealOGT,
            Predicate::FOne => RealPredicate::LLVMRealONE,
            Predicate::FOrd => RealPredicate::LLVMRealORD,
            Predicate::FUeq => RealPredicate::LLVMRealUEQ,
            Predicate::FUgt => RealPredicate::LLVMRealUGT,
            Predicate::FUge => RealPredicate::LLVMRealUGE,
            Predicate::FUlt => RealPredicate::LLVMRealULT,
            Predicate::FUle => RealPredicate::LLVMRealULE,
            Predicate::FUno => RealPredicate::LLVMRealUNO,
            _ => RealPredicate::LLVMRealOGE,
        };
        let b = &self.emitter.builder;
        let scalar = x.ty().scalar();
        match integer {
            Some(p) if scalar.is_integer() => Ok(b.icmp(p, x, y, "")),
            Some(p) if scalar.is_pointer() => {
                let (x, y) = (self.address(x), self.address(y));
                Ok(b.icmp(p, x, y, ""))
            }
            None if scalar.is_float() => Ok(b.fcmp(float, x, y, "")),
            _ => Err(malformed(&format!("{predicate:?} of another type"))),
        }
    }

    /// Converts a pointer to an integer: SPIR-V before 1.4 does not compare pointers.
    fn address(&self, pointer: Value<'m>) -> Value<'m> {
        let ty = self.emitter.view.int_type(64).shaped_like(pointer.ty());
        self.emitter.builder.ptr_to_int(pointer, ty, "")
    }

    fn select(&self, condition: &Expr, yes: &Expr, no: &Expr, wanted: Type<'m>) -> Result<Value<'m>> {
        let condition = self.value(condition, self.emitter.bool())?;
        if !condition.ty().scalar().is_bool() {
            return Err(malformed("a choice by no boolean"));
        }
        let ty = self.own_type(yes).or_else(|| self.own_type(no)).unwrap_or(wanted);
        let before = self.hazard.take();
        let yes = self.value(yes, ty)?;
        let of_yes = self.hazard.take();
        let no = self.value(no, ty)?;
        let of_no = self.hazard.take();
        if yes.ty() != no.ty() {
            return Err(malformed("a choice between different types"));
        }
        if condition.ty().lanes().is_some_and(|lanes| yes.ty().lanes() != Some(lanes)) {
            return Err(malformed("a choice by booleans of another shape"));
        }
        self.hazard.set(before);
        // For vectors, every lane's condition counts for all lanes.
        let b = &self.emitter.builder;
        if let Some(h) = of_yes {
            self.record_hazard(b.and(self.emitter.builder.any(condition), h, ""));
        }
        if let Some(h) = of_no {
            let other = self.emitter.builder.any(b.not(condition, ""));
            self.record_hazard(b.and(other, h, ""));
        }
        Ok(self.emitter.select(condition, yes, no))
    }

    /// Returns the contents of the address of the `store` at the place.
    fn current_value(&self) -> Result<Value<'m>> {
        if let Some(current) = self.current {
            return Ok(current);
        }
        let [value, address] = self.operands else { return Err(malformed("a current value at no store")) };
        if !self.inst.is(Opcode::LLVMStore) {
            return Err(malformed("a current value at no store"));
        }
        let load = self.emitter.builder.load(value.ty(), *address, "");
        if let Some(bytes) = self.inst.alignment() {
            load.set_alignment(bytes);
        }
        Ok(load.value())
    }

    fn convert(&self, conversion: Conversion, value: Value<'m>, wanted: Type<'m>) -> Result<Value<'m>> {
        let from = value.ty();
        if from == wanted {
            return Ok(value);
        }
        if from.lanes() != wanted.lanes() {
            return Err(malformed("a conversion between shapes"));
        }
        let b = &self.emitter.builder;
        let (is_integer, is_float) = (from.scalar().is_integer(), from.scalar().is_float());
        let (to_integer, to_float) = (wanted.scalar().is_integer(), wanted.scalar().is_float());
        Ok(match conversion {
            Conversion::Signed | Conversion::Unsigned if is_float && to_float => b.fp_cast(value, wanted, ""),
            Conversion::Signed if is_integer && to_integer => b.int_cast(value, wanted, true, ""),
            Conversion::Unsigned if is_integer && to_integer => b.int_cast(value, wanted, false, ""),
            Conversion::Signed if is_integer && to_float => b.si_to_fp(value, wanted, ""),
            Conversion::Unsigned if is_integer && to_float => b.ui_to_fp(value, wanted, ""),
            Conversion::FloatToSigned if is_float && to_integer => {
                b.fp_to_si(self.in_range(value, wanted, true), wanted, "")
            }
            Conversion::FloatToUnsigned if is_float && to_integer => {
                b.fp_to_ui(self.in_range(value, wanted, false), wanted, "")
            }
            Conversion::Truth if is_integer && to_integer => b.int_cast(value, wanted, from.is_vector(), ""),
            Conversion::Truth if is_integer && to_float => match from.is_vector() {
                false => b.ui_to_fp(value, wanted, ""),
                true => b.si_to_fp(value, wanted, ""),
            },
            _ => return Err(malformed(&format!("{conversion:?} between these types"))),
        })
    }

    /// With recorded hazards: the float, or 0 if the integer type cannot represent it.
    fn in_range(&self, value: Value<'m>, to: Type<'m>, signed: bool) -> Value<'m> {
        if !matches!(self.hazards, Hazard::Recorded) {
            return value;
        }
        let ty = value.ty();
        let bits = width(to) as i32;
        let above = if signed { 2f64.powi(bits - 1) } else { 2f64.powi(bits) };
        let b = &self.emitter.builder;
        // Truncation keeps what lies above `least - 1`; a bound that half cannot hold becomes infinite, and no finite
        // half reaches it.
        let compare = |p, x: f64| b.fcmp(p, value, ty.float(x), "");
        let low = if signed {
            compare(RealPredicate::LLVMRealOGE, -above)
        } else {
            compare(RealPredicate::LLVMRealOGT, -1.0)
        };
        let fits = b.and(low, compare(RealPredicate::LLVMRealOLT, above), "");
        self.record_hazard(b.not(fits, ""));
        self.emitter.select(fits, value, ty.float(0.0))
    }

    /// Builds a call of a builtin, which is declared if the module lacks it. `effects`: whether it may access memory or
    /// wait for other work-items.
    pub fn call(&self, callee: &str, args: &[Expr], result: Type<'m>, effects: bool) -> Result<Inst<'m>> {
        if callee.contains('\0') {
            return Err(malformed("a callee's name with a NUL"));
        }
        let known = self.emitter.view.function(callee);
        let mut wanted: Vec<Type<'m>> = Vec::new();
        if let Some(known) = known {
            if !known.is_declaration() {
                return Err(malformed(&format!("`{callee}` is no builtin")));
            }
            let signature = known.value_type().signature();
            let Some((_, params, _)) = signature.filter(|(r, params, _)| *r == result && params.len() == args.len())
            else {
                return Err(malformed(&format!("`{callee}` is of another type")));
            };
            wanted = params;
        }
        let mut values = Vec::with_capacity(args.len());
        for (i, arg) in args.iter().enumerate() {
            let ty = wanted.get(i).copied().or_else(|| self.own_type(arg)).unwrap_or(self.ty);
            let value = self.value(arg, ty)?;
            if wanted.get(i).is_some_and(|w| *w != value.ty()) {
                return Err(malformed(&format!("argument {i} of `{callee}` is of another type")));
            }
            values.push(value);
        }
        let function = known.unwrap_or_else(|| {
            let types: Vec<Type<'m>> = values.iter().map(|v| v.ty()).collect();
            declare(self.emitter.view, callee, result.function(&types, false), effects)
        });
        let call = self.emitter.builder.call(function, &values, "");
        if effects {
            call.attributes(AttributeIndex::Function).add_flag("convergent");
        }
        Ok(call)
    }
}

fn check_lane(vector: Value<'_>, i: u32) -> Result<()> {
    let found = vector.ty().lanes().is_some_and(|n| i < n);
    if found { Ok(()) } else { Err(malformed("a lane that there is not")) }
}

/// Returns the constant `n`, in every lane of a vector.
fn integer<'m>(n: i128, wanted: Type<'m>) -> Result<Value<'m>> {
    let scalar = wanted.scalar();
    if scalar.is_integer() {
        Ok(wanted.wide_int(n.cast_unsigned()))
    } else if scalar.is_float() {
        Ok(wanted.float(n as f64))
    } else if scalar.is_pointer() && n == 0 {
        Ok(wanted.null())
    } else {
        Err(malformed(&format!("the number {n} where none fits")))
    }
}

/// Declares a builtin as clang does.
pub(super) fn declare<'m>(view: View<'m>, name: &str, ty: Type<'m>, effects: bool) -> Function<'m> {
    let f = view.add_function(name, ty);
    f.set_call_conv(SPIR_FUNC);
    let attributes = f.attributes(AttributeIndex::Function);
    attributes.add_flag("nounwind");
    if effects {
        attributes.add_flag("convergent");
    } else {
        attributes.add_flag("willreturn");
        // The attribute's value 0: neither reads nor writes.
        attributes.add_number("memory", 0);
    }
    f
}

/// Returns the type by which [`Expr::Offset`] advances an address at a place: for a GEP the element type of its last
/// array index (or of the pointer), for a load or store the accessed type.
fn step_type<'m>(inst: Inst<'m>) -> Option<Type<'m>> {
    match inst.opcode() {
        Opcode::LLVMGetElementPtr => {
            let mut step = inst.value().gep_source()?;
            let mut inner = step;
            for index in inst.operands().into_iter().skip(2) {
                if inner.is_struct() {
                    inner = *inner.fields().get(index.as_u64()? as usize)?;
                } else {
                    inner = inner.elements()?.0;
                    step = inner;
                }
            }
            Some(step)
        }
        Opcode::LLVMLoad => Some(inst.ty()),
        Opcode::LLVMICmp => Some(inst.ty().types().int(8)),
        Opcode::LLVMStore => Some(inst.operand(0).ty()),
        _ => None,
    }
}
