//! Represents the values of a function as terms, one per lane of a vector.

use std::collections::HashMap;

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate, LLVMTypeKind};

use super::expression::{Operation, Sort, Term, Terms};
use crate::kernel::floats;
use crate::kernel::ir::{self, Inst};

/// The values of one function, as terms of a graph that may hold others too.
pub struct Values<'t> {
    pub terms: &'t mut Terms,
    defined: HashMap<LLVMValueRef, Vec<Term>>,
    data: LLVMTargetDataRef,
}

/// The sort of a scalar type; `Other` for aggregates and handles.
fn sort_of(ty: LLVMTypeRef) -> Sort {
    // SAFETY: `ty` belongs to the context of a living module, and only integer types are asked for their width.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMIntegerTypeKind if LLVMGetIntTypeWidth(ty) <= 64 => Sort::Bits(LLVMGetIntTypeWidth(ty)),
            LLVMTypeKind::LLVMPointerTypeKind => Sort::Bits(64),
            LLVMTypeKind::LLVMFloatTypeKind => Sort::Float(32),
            LLVMTypeKind::LLVMDoubleTypeKind => Sort::Float(64),
            _ => Sort::Other,
        }
    }
}

/// The number of lanes (1 for types other than vectors) and their sort.
fn shape(ty: LLVMTypeRef) -> (usize, Sort) {
    // SAFETY: `ty` belongs to the context of a living module, and only vectors are asked for size and element type.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMVectorTypeKind => (LLVMGetVectorSize(ty) as usize, sort_of(LLVMGetElementType(ty))),
            _ => (1, sort_of(ty)),
        }
    }
}

fn printed(value: LLVMValueRef) -> String {
    // SAFETY: `value` belongs to a living module, and `take_message` frees the printed text.
    unsafe { ir::take_message(LLVMPrintValueToString(value)) }
}

fn type_of(value: LLVMValueRef) -> LLVMTypeRef {
    // SAFETY: `value` belongs to a living module.
    unsafe { LLVMTypeOf(value) }
}

fn type_text(value: LLVMValueRef) -> String {
    // SAFETY: `value` belongs to a living module, and `take_message` frees the printed text.
    unsafe { ir::take_message(LLVMPrintTypeToString(LLVMTypeOf(value))) }
}

impl<'t> Values<'t> {
    /// Creates an empty mapping.
    ///
    /// # Safety
    /// `data` must belong to the module whose values are looked up, and the module must outlive the result.
    pub unsafe fn new(terms: &'t mut Terms, data: LLVMTargetDataRef) -> Values<'t> {
        Values { terms, defined: HashMap::new(), data }
    }

    /// Makes a value an unknown of that name.
    pub fn name(&mut self, value: LLVMValueRef, name: &str) {
        let (count, sort) = shape(type_of(value));
        let lanes = (0..count).map(|lane| self.terms.symbol(format!("{name}.{lane}"), sort)).collect();
        self.defined.insert(value, lanes);
    }

    /// The terms of a value's lanes. Instructions must have been named or defined before.
    pub fn of(&mut self, value: LLVMValueRef) -> Vec<Term> {
        if let Some(lanes) = self.defined.get(&value) {
            return lanes.clone();
        }
        let lanes = self.constant(value);
        self.defined.insert(value, lanes.clone());
        lanes
    }

    fn constant(&mut self, value: LLVMValueRef) -> Vec<Term> {
        let (count, sort) = shape(type_of(value));
        // SAFETY: `value` is a constant of a living module, elements are read within their count, and each kind of
        // constant is read only after a test for it.
        unsafe {
            if !LLVMIsAConstantInt(value).is_null() && count == 1 && sort != Sort::Other {
                return vec![self.terms.constant(LLVMConstIntGetZExtValue(value), sort)];
            }
            if !LLVMIsAConstantFP(value).is_null() && count == 1 && sort != Sort::Other {
                let number = LLVMConstRealGetDouble(value, &mut 0);
                if !number.is_nan() {
                    let bits =
                        if sort == Sort::Float(32) { u64::from((number as f32).to_bits()) } else { number.to_bits() };
                    return vec![self.terms.constant(bits, sort)];
                }
            }
            if !LLVMIsAConstantPointerNull(value).is_null() {
                return vec![self.terms.constant(0, sort)];
            }
            let elements = !LLVMIsAConstantVector(value).is_null()
                || !LLVMIsAConstantDataVector(value).is_null()
                || !LLVMIsAConstantAggregateZero(value).is_null();
            let is_vector = LLVMGetTypeKind(type_of(value)) == LLVMTypeKind::LLVMVectorTypeKind;
            if is_vector && elements {
                let lane = |i| LLVMGetAggregateElement(value, i as u32);
                return (0..count).flat_map(|i| self.constant(lane(i))).collect();
            }
            // A global is represented by its name alone, because its contents are loaded from memory.
            let text = match LLVMIsAGlobalValue(value).is_null() {
                true => printed(value),
                false => {
                    let mut len = 0;
                    let name = LLVMGetValueName2(value, &mut len);
                    let bytes = std::slice::from_raw_parts(name.cast::<u8>(), len);
                    format!("@{}", String::from_utf8_lossy(bytes))
                }
            };
            (0..count).map(|lane| self.terms.symbol(format!("{text}.{lane}"), sort)).collect()
        }
    }

    /// Computes the terms of an instruction without effects; its operands must be known.
    pub fn define(&mut self, inst: Inst) {
        let lanes = self.compute(inst).unwrap_or_else(|| self.opaque(inst));
        self.defined.insert(inst.0, lanes);
    }

    /// Represents an instruction as an uninterpreted function of its operands. The name contains everything else that
    /// determines the result.
    fn opaque(&mut self, inst: Inst) -> Vec<Term> {
        let mut name = format!("{:?} {}", inst.opcode(), inst.callee().unwrap_or_default());
        let operands = inst.operands();
        for value in &operands {
            name.push_str(&format!(" {}", type_text(*value)));
        }
        name.push_str(&format!(" -> {}", type_text(inst.0)));
        // SAFETY: `inst` belongs to a living module, and each property is read only from opcodes that have it.
        unsafe {
            match inst.opcode() {
                LLVMOpcode::LLVMICmp => name.push_str(&format!(" {:?}", LLVMGetICmpPredicate(inst.0))),
                LLVMOpcode::LLVMFCmp => name.push_str(&format!(" {:?}", LLVMGetFCmpPredicate(inst.0))),
                LLVMOpcode::LLVMExtractValue | LLVMOpcode::LLVMInsertValue => {
                    let indices =
                        std::slice::from_raw_parts(LLVMGetIndices(inst.0), LLVMGetNumIndices(inst.0) as usize);
                    name.push_str(&format!(" {indices:?}"));
                }
                LLVMOpcode::LLVMShuffleVector => {
                    let count = shape(type_of(inst.0)).0 as u32;
                    let mask: Vec<i32> = (0..count).map(|i| LLVMGetMaskValue(inst.0, i)).collect();
                    name.push_str(&format!(" {mask:?}"));
                }
                LLVMOpcode::LLVMGetElementPtr => {
                    let ty = LLVMGetGEPSourceElementType(inst.0);
                    name.push_str(&ir::take_message(LLVMPrintTypeToString(ty)));
                }
                _ => {}
            }
        }
        let args: Vec<Term> = operands.into_iter().flat_map(|v| self.of(v)).collect();
        let (count, sort) = shape(type_of(inst.0));
        (0..count).map(|lane| self.terms.unknown(format!("{name} {lane}"), args.clone(), sort)).collect()
    }

    fn compute(&mut self, inst: Inst) -> Option<Vec<Term>> {
        use LLVMOpcode::*;
        let operands = inst.operands();
        let (count, sort) = shape(type_of(inst.0));
        let binary = match inst.opcode() {
            LLVMAdd => Operation::Add,
            LLVMSub => Operation::Sub,
            LLVMMul => Operation::Mul,
            LLVMUDiv => Operation::UDiv,
            LLVMSDiv => Operation::SDiv,
            LLVMURem => Operation::URem,
            LLVMSRem => Operation::SRem,
            LLVMAnd => Operation::And,
            LLVMOr => Operation::Or,
            LLVMXor => Operation::Xor,
            LLVMShl => Operation::Shl,
            LLVMLShr => Operation::LShr,
            LLVMAShr => Operation::AShr,
            LLVMZExt => Operation::ZExt,
            LLVMSExt => Operation::SExt,
            LLVMTrunc => Operation::Trunc,
            LLVMFNeg => Operation::FNeg,
            LLVMICmp | LLVMFCmp => return self.comparison(inst),
            LLVMSelect => return self.select(inst),
            LLVMGetElementPtr => return self.address(inst),
            LLVMCall => return self.call(inst),
            LLVMExtractElement => {
                let lane = self.lane(operands[1])?;
                return Some(vec![*self.of(operands[0]).get(lane)?]);
            }
            LLVMInsertElement => {
                let lane = self.lane(operands[2])?;
                let mut lanes = self.of(operands[0]);
                *lanes.get_mut(lane)? = *self.of(operands[1]).first()?;
                return Some(lanes);
            }
            LLVMShuffleVector => {
                let mut from = self.of(operands[0]);
                from.extend(self.of(operands[1]));
                // SAFETY: `inst` is a shuffle of a living module, and lanes are below their count; an undefined lane
                // (-1) leaves the instruction to `opaque`.
                let mask = (0..count as u32).map(|i| unsafe { LLVMGetMaskValue(inst.0, i) });
                return mask.map(|lane| from.get(usize::try_from(lane).ok()?).copied()).collect();
            }
            _ => return None,
        };
        if sort == Sort::Other || matches!((binary, sort), (Operation::FNeg, Sort::Bits(_))) {
            return None;
        }
        let args: Vec<Vec<Term>> = operands.iter().map(|v| self.of(*v)).collect();
        if args.iter().flatten().any(|t| self.terms.sort(*t) == Sort::Other) {
            return None;
        }
        Some((0..count).map(|lane| self.terms.apply(binary, args.iter().map(|a| a[lane]).collect(), sort)).collect())
    }

    fn lane(&self, index: LLVMValueRef) -> Option<usize> {
        // SAFETY: `index` belongs to a living module, and only integer constants are read as numbers.
        unsafe { (!LLVMIsAConstantInt(index).is_null()).then(|| LLVMConstIntGetZExtValue(index) as usize) }
    }

    fn comparison(&mut self, inst: Inst) -> Option<Vec<Term>> {
        let operands = inst.operands();
        let (left, right) = (self.of(operands[0]), self.of(operands[1]));
        let pairs: Vec<(Term, Term)> = left.into_iter().zip(right).collect();
        if pairs.iter().any(|(l, _)| self.terms.sort(*l) == Sort::Other) {
            return None;
        }
        // SAFETY: `inst` is a comparison of a living module, and each predicate is read from the opcode that has it.
        let results = pairs.into_iter().map(|(l, r)| unsafe {
            match inst.opcode() {
                LLVMOpcode::LLVMICmp => Some(self.integers(LLVMGetICmpPredicate(inst.0), l, r)),
                _ => self.floats(LLVMGetFCmpPredicate(inst.0), l, r),
            }
        });
        results.collect()
    }

    fn integers(&mut self, predicate: LLVMIntPredicate, l: Term, r: Term) -> Term {
        use LLVMIntPredicate::*;
        let (operation, l, r) = match predicate {
            LLVMIntEQ | LLVMIntNE => (Operation::Eq, l, r),
            LLVMIntULT => (Operation::Ult, l, r),
            LLVMIntULE => (Operation::Ule, l, r),
            LLVMIntUGT => (Operation::Ult, r, l),
            LLVMIntUGE => (Operation::Ule, r, l),
            LLVMIntSLT => (Operation::Slt, l, r),
            LLVMIntSLE => (Operation::Sle, l, r),
            LLVMIntSGT => (Operation::Slt, r, l),
            LLVMIntSGE => (Operation::Sle, r, l),
        };
        let holds = self.terms.compare(operation, l, r);
        if predicate == LLVMIntNE { self.terms.not(holds) } else { holds }
    }

    fn floats(&mut self, predicate: LLVMRealPredicate, l: Term, r: Term) -> Option<Term> {
        use LLVMRealPredicate::*;
        // An unordered predicate is the negation of the opposite ordered one.
        let (operation, l, r, negated) = match predicate {
            LLVMRealOEQ => (Operation::FEq, l, r, false),
            LLVMRealOLT => (Operation::FLt, l, r, false),
            LLVMRealOLE => (Operation::FLe, l, r, false),
            LLVMRealOGT => (Operation::FLt, r, l, false),
            LLVMRealOGE => (Operation::FLe, r, l, false),
            LLVMRealUNE => (Operation::FEq, l, r, true),
            LLVMRealUGE => (Operation::FLt, l, r, true),
            LLVMRealUGT => (Operation::FLe, l, r, true),
            LLVMRealULE => (Operation::FLt, r, l, true),
            LLVMRealULT => (Operation::FLe, r, l, true),
            _ => return None,
        };
        // A device may flush subnormal numbers to 0 (OpenCL C 1.2, 7.5.3), so that the results of comparisons with them
        // are up to the device.
        if [l, r].iter().any(|x| self.is_subnormal(*x)) {
            return None;
        }
        let holds = self.terms.compare(operation, l, r);
        Some(if negated { self.terms.not(holds) } else { holds })
    }

    fn is_subnormal(&self, x: Term) -> bool {
        let (Sort::Float(width), Some(bits)) = (self.terms.sort(x), self.terms.as_constant(x)) else { return false };
        let x = floats::number(bits, width).abs();
        0.0 < x && x < if width == 32 { f32::MIN_POSITIVE.into() } else { f64::MIN_POSITIVE }
    }

    fn select(&mut self, inst: Inst) -> Option<Vec<Term>> {
        let operands = inst.operands();
        let (condition, yes, no) = (self.of(operands[0]), self.of(operands[1]), self.of(operands[2]));
        let lanes = yes.into_iter().zip(no).enumerate().map(|(i, (yes, no))| {
            let condition = if condition.len() == 1 { condition[0] } else { condition[i] };
            let sort = self.terms.sort(yes);
            if yes == no { yes } else { self.terms.apply(Operation::Select, vec![condition, yes, no], sort) }
        });
        Some(lanes.collect())
    }

    /// Represents an address as a sum modulo 2^64.
    fn address(&mut self, gep: Inst) -> Option<Vec<Term>> {
        let operands = gep.operands();
        let sort = Sort::Bits(64);
        let [mut address] = self.of(operands[0])[..] else { return None };
        // SAFETY: `gep` is an address computation of a living module, whose source element type LLVM stores with it.
        let mut ty = unsafe { LLVMGetGEPSourceElementType(gep.0) };
        for (i, index) in operands.into_iter().skip(1).enumerate() {
            let [index_term] = self.of(index)[..] else { return None };
            // SAFETY: each index selects within the type before it, and struct fields have constant indices.
            let step = unsafe {
                if i > 0 && LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMStructTypeKind {
                    let field = LLVMConstIntGetZExtValue(index) as u32;
                    let offset = LLVMOffsetOfElement(self.data, ty, field);
                    ty = LLVMStructGetTypeAtIndex(ty, field);
                    self.terms.constant(offset, sort)
                } else {
                    if i > 0 {
                        ty = LLVMGetElementType(ty);
                    }
                    let Sort::Bits(width) = self.terms.sort(index_term) else { return None };
                    let wide = match width {
                        64 => index_term,
                        _ => self.terms.apply(Operation::SExt, vec![index_term], sort),
                    };
                    let size = self.terms.constant(LLVMABISizeOfType(self.data, ty), sort);
                    self.terms.apply(Operation::Mul, vec![wide, size], sort)
                }
            };
            address = self.terms.apply(Operation::Add, vec![address, step], sort);
        }
        Some(vec![address])
    }

    /// Computes builtins whose meaning is exact: queries of the launch, and integer `min`, `max` and `clamp`.
    fn call(&mut self, call: Inst) -> Option<Vec<Term>> {
        let name = call.callee()?;
        let (function, types) = demangled(&name)?;
        let (count, sort) = shape(type_of(call.0));
        // SAFETY: `call` is a call of a living module; its arguments are the first operands.
        let operands = call.operands().into_iter().take(unsafe { LLVMGetNumArgOperands(call.0) } as usize);
        let args: Vec<LLVMValueRef> = operands.collect();
        if types == "j" && function.starts_with("get_") && args.len() == 1 {
            let dimension = self.lane(args[0]).filter(|d| *d < 3)?;
            return Some(vec![self.terms.launch_query(function, dimension as u64, sort)]);
        }
        let element = types.strip_prefix("Dv").and_then(|vector| vector.split_once('_')).map_or(types, |(_, t)| t);
        let less = match element.chars().next()? {
            'i' | 's' | 'c' | 'l' => Operation::Slt,
            'j' | 't' | 'h' | 'm' => Operation::Ult,
            _ => return None,
        };
        let args: Vec<Vec<Term>> = args.into_iter().map(|v| self.of(v)).collect();
        if !matches!(sort, Sort::Bits(_)) || args.iter().any(|lanes| lanes.len() != count) {
            return None;
        }
        let lane = |values: &mut Self, i: usize| match (function, &args[..]) {
            ("min", [l, r]) => Some(values.minimum(less, l[i], r[i])),
            ("max", [l, r]) => Some(values.maximum(less, l[i], r[i])),
            // Undefined if the bounds are in the wrong order (OpenCL C 1.2, 6.12.3).
            ("clamp", [v, low, high]) => {
                let raised = values.maximum(less, v[i], low[i]);
                let exact = values.minimum(less, raised, high[i]);
                let wrong = values.terms.compare(less, high[i], low[i]);
                let any = values.terms.unknown(name.clone(), vec![v[i], low[i], high[i]], sort);
                Some(values.terms.apply(Operation::Select, vec![wrong, any, exact], sort))
            }
            _ => None,
        };
        (0..count).map(|i| lane(self, i)).collect()
    }

    fn minimum(&mut self, less: Operation, l: Term, r: Term) -> Term {
        let (sort, second) = (self.terms.sort(l), self.terms.compare(less, r, l));
        self.terms.apply(Operation::Select, vec![second, r, l], sort)
    }

    fn maximum(&mut self, less: Operation, l: Term, r: Term) -> Term {
        let (sort, second) = (self.terms.sort(l), self.terms.compare(less, l, r));
        self.terms.apply(Operation::Select, vec![second, r, l], sort)
    }
}

/// The plain name and the mangled parameter types of an Itanium-mangled builtin.
fn demangled(name: &str) -> Option<(&str, &str)> {
    let rest = name.strip_prefix("_Z")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = rest[..digits].parse().ok()?;
    Some((rest.get(digits..digits + length)?, rest.get(digits + length..)?))
}
