//! Lowers the expressions of edits to IR.

use std::cell::Cell;
use std::ffi::CString;

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};

use super::edit::{Binary, Conversion, Expr, Predicate, Unary};
use super::ir_tools::{Tools, element, is_float, is_integer, is_pointer, lanes, shaped, type_of, width};
use crate::error::{Error, Result};
use crate::kernel::canonical;
use crate::kernel::ir::{Function, Inst};

/// clang's calling convention of OpenCL functions.
const SPIR_FUNC: u32 = 75;

/// The treatment of operations that are undefined for some operands (division).
#[derive(Clone, Copy)]
pub(super) enum Hazard {
    /// Emit them unchanged: the code runs only if the edit is active.
    Unguarded,
    /// The code also runs for other mutants: unless this is true, operands are replaced by harmless ones.
    MaskedUnless(LLVMValueRef),
    /// Undefined operands are replaced by harmless ones, and this is recorded in [`ExprContext::hazard`].
    Recorded,
}

/// The place at which expressions are lowered; the builder is positioned there.
pub(super) struct ExprContext<'t> {
    pub tools: &'t Tools,
    pub inst: LLVMValueRef,
    /// Operands of the instruction, as they are without the edit.
    pub operands: &'t [LLVMValueRef],
    /// The replaced value.
    pub original: Option<LLVMValueRef>,
    /// The type of the replaced value.
    pub ty: LLVMTypeRef,
    /// The value of [`Expr::Current`], if it is not to be loaded.
    pub current: Option<LLVMValueRef>,
    pub hazards: Hazard,
    /// With [`Hazard::Recorded`]: whether an operation was undefined (a boolean).
    pub hazard: Cell<Option<LLVMValueRef>>,
}

fn malformed(what: &str) -> Error {
    Error::internal(format!("an edit is malformed: {what}"))
}

impl ExprContext<'_> {
    /// Lowers the expression to the type of the replaced value.
    pub fn replacement(&self, expr: &Expr) -> Result<LLVMValueRef> {
        let value = self.value(expr, self.ty)?;
        if type_of(value) != self.ty {
            return Err(malformed(&format!("{expr:?} has another type than what it replaces")));
        }
        Ok(value)
    }

    /// Returns the type that an expression has independent of its context.
    pub fn own_type(&self, expr: &Expr) -> Option<LLVMTypeRef> {
        match expr {
            Expr::Original => self.original.map(type_of),
            Expr::Operand(i) => self.operands.get(*i as usize).map(|v| type_of(*v)),
            Expr::Integer(_) | Expr::Float(_) | Expr::Convert(..) => None,
            Expr::Unary(_, e) | Expr::WithLane(e, ..) | Expr::Offset(e, _) => self.own_type(e),
            Expr::Binary(_, a, b) | Expr::Select(_, a, b) => self.own_type(a).or_else(|| self.own_type(b)),
            Expr::Compare(_, a, b) => {
                let compared = self.own_type(a).or_else(|| self.own_type(b));
                Some(compared.map_or(self.tools.bool(), |ty| shaped(self.tools.bool(), ty)))
            }
            Expr::Current => self.current.or_else(|| self.operands.first().copied()).map(type_of),
            Expr::Lane(e, _) => self.own_type(e).map(element),
            Expr::Call { .. } => Some(self.ty),
        }
    }

    /// Lowers an expression; one without a type of its own gets the type `wanted`.
    pub fn value(&self, expr: &Expr, wanted: LLVMTypeRef) -> Result<LLVMValueRef> {
        let b = self.tools.builder;
        // SAFETY: all values are alive; each operation's operands have the types it needs, which is checked where
        // the edit could have it otherwise.
        unsafe {
            Ok(match expr {
                Expr::Original => self.original.ok_or_else(|| malformed("there is no original value"))?,
                Expr::Operand(i) => self
                    .operands
                    .get(*i as usize)
                    .copied()
                    .ok_or_else(|| malformed(&format!("the instruction has no operand {i}")))?,
                Expr::Integer(n) => self.integer(*n, wanted)?,
                Expr::Float(x) if is_float(wanted) => self.tools.splat(LLVMConstReal(element(wanted), x.0), wanted),
                Expr::Float(_) => return Err(malformed("a float where none fits")),
                Expr::Unary(op, e) => {
                    let e = self.value(e, wanted)?;
                    match op {
                        Unary::FNeg if is_float(type_of(e)) => LLVMBuildFNeg(b, e, c"".as_ptr()),
                        Unary::Neg if is_integer(type_of(e)) => LLVMBuildNeg(b, e, c"".as_ptr()),
                        Unary::Not if is_integer(type_of(e)) => LLVMBuildNot(b, e, c"".as_ptr()),
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
                    let index = LLVMInt64TypeInContext(self.tools.context);
                    let mut by = self.value(by, self.own_type(by).unwrap_or(index))?;
                    let step = step_type(self.inst).ok_or_else(|| malformed("an offset at no address"))?;
                    if !is_pointer(type_of(pointer)) || !is_integer(type_of(by)) {
                        return Err(malformed("an offset of no pointer, or by no integer"));
                    }
                    LLVMBuildGEP2(b, step, pointer, &mut by, 1, c"".as_ptr())
                }
                Expr::Lane(vector, i) => {
                    let vector = self.value(vector, self.own_type(vector).unwrap_or(wanted))?;
                    self.check_lane(vector, *i)?;
                    LLVMBuildExtractElement(b, vector, self.tools.number(*i), c"".as_ptr())
                }
                Expr::WithLane(vector, i, lane) => {
                    let vector = self.value(vector, wanted)?;
                    self.check_lane(vector, *i)?;
                    let lane = self.value(lane, element(type_of(vector)))?;
                    if type_of(lane) != element(type_of(vector)) {
                        return Err(malformed("a lane of another type"));
                    }
                    LLVMBuildInsertElement(b, vector, lane, self.tools.number(*i), c"".as_ptr())
                }
                Expr::Call { callee, args } => self.call(callee, args, self.ty, false)?,
            })
        }
    }

    fn check_lane(&self, vector: LLVMValueRef, i: u32) -> Result<()> {
        let found = lanes(type_of(vector)).is_some_and(|n| i < n);
        if found { Ok(()) } else { Err(malformed("a lane that there is not")) }
    }

    fn same_typed(&self, x: &Expr, y: &Expr, ty: LLVMTypeRef) -> Result<(LLVMValueRef, LLVMValueRef)> {
        let (x, y) = (self.value(x, ty)?, self.value(y, ty)?);
        if type_of(x) == type_of(y) { Ok((x, y)) } else { Err(malformed("operands of different types")) }
    }

    fn integer(&self, n: i128, wanted: LLVMTypeRef) -> Result<LLVMValueRef> {
        // SAFETY: the type is alive and of the kind asked for.
        let scalar = unsafe {
            if is_integer(wanted) {
                let words = [n as u64, (n >> 64) as u64];
                LLVMConstIntOfArbitraryPrecision(element(wanted), 2, words.as_ptr())
            } else if is_float(wanted) {
                LLVMConstReal(element(wanted), n as f64)
            } else if is_pointer(wanted) && n == 0 {
                LLVMConstNull(element(wanted))
            } else {
                return Err(malformed(&format!("the number {n} where none fits")));
            }
        };
        Ok(self.tools.splat(scalar, wanted))
    }

    fn binary(&self, op: Binary, x: LLVMValueRef, y: LLVMValueRef) -> Result<LLVMValueRef> {
        let float = matches!(op, Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv);
        if if float { !is_float(type_of(x)) } else { !is_integer(type_of(x)) } {
            return Err(malformed(&format!("{op:?} of another type")));
        }
        let y = match op {
            Binary::SDiv | Binary::SRem => self.divisor(x, y, true),
            Binary::UDiv | Binary::URem => self.divisor(x, y, false),
            Binary::Shl | Binary::LShr | Binary::AShr => self.shift_amount(y),
            _ => y,
        };
        let opcode = match op {
            Binary::Add => LLVMOpcode::LLVMAdd,
            Binary::Sub => LLVMOpcode::LLVMSub,
            Binary::Mul => LLVMOpcode::LLVMMul,
            Binary::SDiv => LLVMOpcode::LLVMSDiv,
            Binary::UDiv => LLVMOpcode::LLVMUDiv,
            Binary::SRem => LLVMOpcode::LLVMSRem,
            Binary::URem => LLVMOpcode::LLVMURem,
            Binary::FAdd => LLVMOpcode::LLVMFAdd,
            Binary::FSub => LLVMOpcode::LLVMFSub,
            Binary::FMul => LLVMOpcode::LLVMFMul,
            Binary::FDiv => LLVMOpcode::LLVMFDiv,
            Binary::And => LLVMOpcode::LLVMAnd,
            Binary::Or => LLVMOpcode::LLVMOr,
            Binary::Xor => LLVMOpcode::LLVMXor,
            Binary::Shl => LLVMOpcode::LLVMShl,
            Binary::LShr => LLVMOpcode::LLVMLShr,
            Binary::AShr => LLVMOpcode::LLVMAShr,
        };
        // SAFETY: alive; both operands have the same type, which the operation takes.
        Ok(unsafe { LLVMBuildBinOp(self.tools.builder, opcode, x, y, c"".as_ptr()) })
    }

    /// Returns the divisor, made harmless where the division must not trap.
    fn divisor(&self, x: LLVMValueRef, y: LLVMValueRef, signed: bool) -> LLVMValueRef {
        let ty = type_of(y);
        let b = self.tools.builder;
        // SAFETY: alive; all have the type of the divisor.
        unsafe {
            let constant = |n: u64| self.tools.splat(LLVMConstInt(element(ty), n, 0), ty);
            match self.hazards {
                Hazard::Unguarded => y,
                Hazard::MaskedUnless(active) => self.tools.select(active, y, constant(1)),
                Hazard::Recorded => {
                    let equal = |a, c| LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntEQ, a, c, c"".as_ptr());
                    let mut traps = equal(y, constant(0));
                    if signed && width(ty) > 1 {
                        let least = equal(x, constant(1 << (width(ty) - 1)));
                        let minus_one = equal(y, constant(u64::MAX >> (64 - width(ty))));
                        let overflows = LLVMBuildAnd(b, least, minus_one, c"".as_ptr());
                        traps = LLVMBuildOr(b, traps, overflows, c"".as_ptr());
                    }
                    self.record_hazard(traps);
                    self.tools.select(traps, constant(1), y)
                }
            }
        }
    }

    /// Reduces a shift amount modulo the width (OpenCL C 6.3.j).
    fn shift_amount(&self, y: LLVMValueRef) -> LLVMValueRef {
        let ty = type_of(y);
        // SAFETY: alive; widths of OpenCL's integers are powers of two.
        unsafe {
            let last = self.tools.splat(LLVMConstInt(element(ty), u64::from(width(ty) - 1), 0), ty);
            if matches!(self.hazards, Hazard::Recorded) {
                let wide = LLVMBuildICmp(self.tools.builder, LLVMIntPredicate::LLVMIntUGT, y, last, c"".as_ptr());
                self.record_hazard(wide);
            }
            LLVMBuildAnd(self.tools.builder, y, last, c"".as_ptr())
        }
    }

    fn record_hazard(&self, condition: LLVMValueRef) {
        let condition = self.tools.any(condition);
        let all = match self.hazard.get() {
            None => condition,
            // SAFETY: alive; both are booleans.
            Some(before) => unsafe { LLVMBuildOr(self.tools.builder, before, condition, c"".as_ptr()) },
        };
        self.hazard.set(Some(all));
    }

    fn compare(&self, predicate: Predicate, x: LLVMValueRef, y: LLVMValueRef) -> Result<LLVMValueRef> {
        let integer = match predicate {
            Predicate::Eq => Some(LLVMIntPredicate::LLVMIntEQ),
            Predicate::Ne => Some(LLVMIntPredicate::LLVMIntNE),
            Predicate::Slt => Some(LLVMIntPredicate::LLVMIntSLT),
            Predicate::Sle => Some(LLVMIntPredicate::LLVMIntSLE),
            Predicate::Sgt => Some(LLVMIntPredicate::LLVMIntSGT),
            Predicate::Sge => Some(LLVMIntPredicate::LLVMIntSGE),
            Predicate::Ult => Some(LLVMIntPredicate::LLVMIntULT),
            Predicate::Ule => Some(LLVMIntPredicate::LLVMIntULE),
            Predicate::Ugt => Some(LLVMIntPredicate::LLVMIntUGT),
            Predicate::Uge => Some(LLVMIntPredicate::LLVMIntUGE),
            _ => None,
        };
        let float = match predicate {
            Predicate::FOeq => LLVMRealPredicate::LLVMRealOEQ,
            Predicate::FUne => LLVMRealPredicate::LLVMRealUNE,
            Predicate::FOlt => LLVMRealPredicate::LLVMRealOLT,
            Predicate::FOle => LLVMRealPredicate::LLVMRealOLE,
            Predicate::FOgt => LLVMRealPredicate::LLVMRealOGT,
            _ => LLVMRealPredicate::LLVMRealOGE,
        };
        let ty = type_of(x);
        // SAFETY: alive; both operands have the same type, which the comparison takes.
        unsafe {
            match integer {
                Some(p) if is_integer(ty) => Ok(LLVMBuildICmp(self.tools.builder, p, x, y, c"".as_ptr())),
                Some(p) if is_pointer(ty) => {
                    let (x, y) = (self.address(x), self.address(y));
                    Ok(LLVMBuildICmp(self.tools.builder, p, x, y, c"".as_ptr()))
                }
                None if is_float(ty) => Ok(LLVMBuildFCmp(self.tools.builder, float, x, y, c"".as_ptr())),
                _ => Err(malformed(&format!("{predicate:?} of another type"))),
            }
        }
    }

    /// Converts a pointer to an integer: SPIR-V before 1.4 does not compare pointers.
    fn address(&self, pointer: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive; a pointer or a vector of them.
        unsafe {
            let ty = shaped(LLVMInt64TypeInContext(self.tools.context), type_of(pointer));
            LLVMBuildPtrToInt(self.tools.builder, pointer, ty, c"".as_ptr())
        }
    }

    fn select(&self, condition: &Expr, yes: &Expr, no: &Expr, wanted: LLVMTypeRef) -> Result<LLVMValueRef> {
        let condition = self.value(condition, self.tools.bool())?;
        if width(type_of(condition)) != 1 || !is_integer(type_of(condition)) {
            return Err(malformed("a choice by no boolean"));
        }
        let ty = self.own_type(yes).or_else(|| self.own_type(no)).unwrap_or(wanted);
        let before = self.hazard.take();
        let yes = self.value(yes, ty)?;
        let of_yes = self.hazard.take();
        let no = self.value(no, ty)?;
        let of_no = self.hazard.take();
        if type_of(yes) != type_of(no) {
            return Err(malformed("a choice between different types"));
        }
        self.hazard.set(before);
        // SAFETY: alive; booleans. Of vectors every lane's condition counts for all lanes.
        unsafe {
            let b = self.tools.builder;
            if let Some(h) = of_yes {
                self.record_hazard(LLVMBuildAnd(b, self.tools.any(condition), h, c"".as_ptr()));
            }
            if let Some(h) = of_no {
                let other = self.tools.any(LLVMBuildNot(b, condition, c"".as_ptr()));
                self.record_hazard(LLVMBuildAnd(b, other, h, c"".as_ptr()));
            }
        }
        Ok(self.tools.select(condition, yes, no))
    }

    /// Returns the contents of the address of the `store` at the place.
    fn current_value(&self) -> Result<LLVMValueRef> {
        if let Some(current) = self.current {
            return Ok(current);
        }
        let [value, address] = self.operands else { return Err(malformed("a current value at no store")) };
        if Inst(self.inst).opcode() != LLVMOpcode::LLVMStore {
            return Err(malformed("a current value at no store"));
        }
        // SAFETY: alive; operands of a store.
        unsafe {
            let load = LLVMBuildLoad2(self.tools.builder, LLVMTypeOf(*value), *address, c"".as_ptr());
            LLVMSetAlignment(load, LLVMGetAlignment(self.inst));
            Ok(load)
        }
    }

    fn convert(&self, conversion: Conversion, value: LLVMValueRef, wanted: LLVMTypeRef) -> Result<LLVMValueRef> {
        let from = type_of(value);
        if from == wanted {
            return Ok(value);
        }
        if lanes(from) != lanes(wanted) {
            return Err(malformed("a conversion between shapes"));
        }
        let (b, name) = (self.tools.builder, c"".as_ptr());
        // SAFETY: alive; each conversion is built for the kinds of types it takes.
        unsafe {
            Ok(match conversion {
                Conversion::Signed | Conversion::Unsigned if is_float(from) && is_float(wanted) => {
                    LLVMBuildFPCast(b, value, wanted, name)
                }
                Conversion::Signed if is_integer(from) && is_integer(wanted) => {
                    LLVMBuildIntCast2(b, value, wanted, 1, name)
                }
                Conversion::Unsigned if is_integer(from) && is_integer(wanted) => {
                    LLVMBuildIntCast2(b, value, wanted, 0, name)
                }
                Conversion::Signed if is_integer(from) && is_float(wanted) => LLVMBuildSIToFP(b, value, wanted, name),
                Conversion::Unsigned if is_integer(from) && is_float(wanted) => LLVMBuildUIToFP(b, value, wanted, name),
                Conversion::FloatToSigned if is_float(from) && is_integer(wanted) => {
                    LLVMBuildFPToSI(b, self.in_range(value, wanted, true), wanted, name)
                }
                Conversion::FloatToUnsigned if is_float(from) && is_integer(wanted) => {
                    LLVMBuildFPToUI(b, self.in_range(value, wanted, false), wanted, name)
                }
                Conversion::Truth if is_integer(from) && is_integer(wanted) => {
                    let signed = lanes(from).is_some();
                    LLVMBuildIntCast2(b, value, wanted, signed.into(), name)
                }
                Conversion::Truth if is_integer(from) && is_float(wanted) => match lanes(from) {
                    None => LLVMBuildUIToFP(b, value, wanted, name),
                    Some(_) => LLVMBuildSIToFP(b, value, wanted, name),
                },
                _ => return Err(malformed(&format!("{conversion:?} between these types"))),
            })
        }
    }

    /// With recorded hazards: the float, or 0 if the integer type cannot represent it.
    fn in_range(&self, value: LLVMValueRef, to: LLVMTypeRef, signed: bool) -> LLVMValueRef {
        if !matches!(self.hazards, Hazard::Recorded) {
            return value;
        }
        let ty = type_of(value);
        let bits = width(to) as i32;
        let above = if signed { 2f64.powi(bits - 1) } else { 2f64.powi(bits) };
        let b = self.tools.builder;
        // SAFETY: alive; floats of one type. Truncation keeps what lies above `least - 1`; a bound that half cannot hold
        // becomes infinite, and no finite half reaches it.
        unsafe {
            let constant = |x: f64| self.tools.splat(LLVMConstReal(element(ty), x), ty);
            let compare = |p, x: f64| LLVMBuildFCmp(b, p, value, constant(x), c"".as_ptr());
            let low = if signed {
                compare(LLVMRealPredicate::LLVMRealOGE, -above)
            } else {
                compare(LLVMRealPredicate::LLVMRealOGT, -1.0)
            };
            let fits = LLVMBuildAnd(b, low, compare(LLVMRealPredicate::LLVMRealOLT, above), c"".as_ptr());
            self.record_hazard(LLVMBuildNot(b, fits, c"".as_ptr()));
            self.tools.select(fits, value, constant(0.0))
        }
    }

    /// Builds a call of a builtin, which is declared if the module lacks it. `effects`: whether it may access memory or
    /// wait for other work-items.
    pub fn call(&self, callee: &str, args: &[Expr], result: LLVMTypeRef, effects: bool) -> Result<LLVMValueRef> {
        let name = CString::new(callee).map_err(|_| malformed("a callee's name with a NUL"))?;
        // SAFETY: alive; the arguments' types are checked against the function's.
        unsafe {
            let known = LLVMGetNamedFunction(self.tools.module, name.as_ptr());
            let mut wanted: Vec<LLVMTypeRef> = Vec::new();
            if !known.is_null() {
                if LLVMIsDeclaration(known) == 0 {
                    return Err(malformed(&format!("`{callee}` is no builtin")));
                }
                let ty = LLVMGlobalGetValueType(known);
                wanted = vec![std::ptr::null_mut(); LLVMCountParamTypes(ty) as usize];
                LLVMGetParamTypes(ty, wanted.as_mut_ptr());
                if wanted.len() != args.len() || LLVMGetReturnType(ty) != result {
                    return Err(malformed(&format!("`{callee}` is of another type")));
                }
            }
            let mut values = Vec::with_capacity(args.len());
            for (i, arg) in args.iter().enumerate() {
                let ty = wanted.get(i).copied().or_else(|| self.own_type(arg)).unwrap_or(self.ty);
                let value = self.value(arg, ty)?;
                if wanted.get(i).is_some_and(|w| *w != type_of(value)) {
                    return Err(malformed(&format!("argument {i} of `{callee}` is of another type")));
                }
                values.push(value);
            }
            let function = if known.is_null() {
                let mut types: Vec<LLVMTypeRef> = values.iter().map(|v| type_of(*v)).collect();
                let ty = LLVMFunctionType(result, types.as_mut_ptr(), types.len() as u32, 0);
                declare(self.tools, &name, ty, effects)
            } else {
                known
            };
            let ty = LLVMGlobalGetValueType(function);
            let call = LLVMBuildCall2(
                self.tools.builder,
                ty,
                function,
                values.as_mut_ptr(),
                values.len() as u32,
                c"".as_ptr(),
            );
            LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(function));
            if effects {
                let kind = LLVMGetEnumAttributeKindForName(c"convergent".as_ptr(), "convergent".len());
                let convergent = LLVMCreateEnumAttribute(self.tools.context, kind, 0);
                LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, convergent);
            }
            Ok(call)
        }
    }
}

/// Declares a builtin as clang does.
pub(super) fn declare(tools: &Tools, name: &std::ffi::CStr, ty: LLVMTypeRef, effects: bool) -> LLVMValueRef {
    // SAFETY: alive; the name is NUL-terminated.
    unsafe {
        let f = LLVMAddFunction(tools.module, name.as_ptr(), ty);
        LLVMSetFunctionCallConv(f, SPIR_FUNC);
        canonical::add_attribute(Function(f), "nounwind");
        if effects {
            canonical::add_attribute(Function(f), "convergent");
        } else {
            canonical::add_attribute(Function(f), "willreturn");
            // The attribute's value 0: neither reads nor writes.
            canonical::add_attribute(Function(f), "memory");
        }
        f
    }
}

/// Returns the type by which [`Expr::Offset`] advances an address at a place: for a GEP the element type of its last
/// array index (or of the pointer), for a load or store the accessed type.
fn step_type(inst: LLVMValueRef) -> Option<LLVMTypeRef> {
    use llvm_sys::LLVMTypeKind::{LLVMArrayTypeKind, LLVMStructTypeKind, LLVMVectorTypeKind};
    // SAFETY: alive; indices into structs are constants below the number of fields, as verified.
    unsafe {
        match Inst(inst).opcode() {
            LLVMOpcode::LLVMGetElementPtr => {
                let mut step = LLVMGetGEPSourceElementType(inst);
                let mut inner = step;
                for index in Inst(inst).operands().into_iter().skip(2) {
                    match LLVMGetTypeKind(inner) {
                        LLVMArrayTypeKind | LLVMVectorTypeKind => {
                            inner = LLVMGetElementType(inner);
                            step = inner;
                        }
                        LLVMStructTypeKind => {
                            inner = LLVMStructGetTypeAtIndex(inner, LLVMConstIntGetZExtValue(index) as u32);
                        }
                        _ => return None,
                    }
                }
                Some(step)
            }
            LLVMOpcode::LLVMLoad => Some(LLVMTypeOf(inst)),
            LLVMOpcode::LLVMICmp => Some(LLVMInt8TypeInContext(LLVMGetTypeContext(LLVMTypeOf(inst)))),
            LLVMOpcode::LLVMStore => Some(LLVMTypeOf(LLVMGetOperand(inst, 0))),
            _ => None,
        }
    }
}
