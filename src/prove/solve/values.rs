//! Represents the values of a function as terms, one per lane of a vector.

use std::collections::HashMap;

use kassay_ir::kernel::builtins::{self, Family};
use kassay_ir::kernel::floats;
use kassay_ir::llvm::{DataLayout, Inst, Opcode, RealPredicate, Type, TypeKind, Value};

use super::expression::{Operation, Sort, Term, Terms};
use super::opcodes::{compare_floats, compare_integers, integer_operation};

/// The values of one function, as terms of a graph that may hold others too.
pub struct Values<'t, 'm> {
    pub terms: &'t mut Terms,
    defined: HashMap<Value<'m>, Vec<Term>>,
    layout: DataLayout<'m>,
}

/// The sort of a scalar type; `Other` for aggregates and handles.
fn sort_of(ty: Type<'_>) -> Sort {
    match ty.kind() {
        TypeKind::LLVMIntegerTypeKind => ty.int_width().filter(|bits| *bits <= 64).map_or(Sort::Other, Sort::Bits),
        TypeKind::LLVMPointerTypeKind => Sort::Bits(64),
        TypeKind::LLVMFloatTypeKind => Sort::Float(32),
        TypeKind::LLVMDoubleTypeKind => Sort::Float(64),
        _ => Sort::Other,
    }
}

/// The number of lanes (1 for types other than vectors) and their sort.
fn shape(ty: Type<'_>) -> (usize, Sort) {
    (ty.lanes().unwrap_or(1) as usize, sort_of(ty.scalar()))
}

impl<'t, 'm> Values<'t, 'm> {
    /// Creates an empty mapping for values of the module with that layout.
    pub fn new(terms: &'t mut Terms, layout: DataLayout<'m>) -> Values<'t, 'm> {
        Values { terms, defined: HashMap::new(), layout }
    }

    /// Makes a value an unknown of that name.
    pub fn name(&mut self, value: Value<'m>, name: &str) {
        let (count, sort) = shape(value.ty());
        let lanes = (0..count).map(|lane| self.terms.symbol(format!("{name}.{lane}"), sort)).collect();
        self.defined.insert(value, lanes);
    }

    /// The terms of a value's lanes. Instructions must have been named or defined before.
    pub fn of(&mut self, value: Value<'m>) -> Vec<Term> {
        if let Some(lanes) = self.defined.get(&value) {
            return lanes.clone();
        }
        let lanes = self.constant(value);
        self.defined.insert(value, lanes.clone());
        lanes
    }

    fn constant(&mut self, value: Value<'m>) -> Vec<Term> {
        let (count, sort) = shape(value.ty());
        if let Some(number) = value.as_u64()
            && sort != Sort::Other
        {
            return vec![self.terms.constant(number, sort)];
        }
        if let Some((number, _)) = value.as_f64()
            && sort != Sort::Other
            && !number.is_nan()
        {
            let bits = if sort == Sort::Float(32) { u64::from((number as f32).to_bits()) } else { number.to_bits() };
            return vec![self.terms.constant(bits, sort)];
        }
        if value.is_null_pointer() {
            return vec![self.terms.constant(0, sort)];
        }
        if value.is_constant_vector() {
            let lanes = (0..count as u32).filter_map(|i| value.element(i));
            return lanes.flat_map(|lane| self.constant(lane)).collect();
        }
        // A global is represented by its name alone, because its contents are loaded from memory.
        let text = if value.is_global() { format!("@{}", value.name()) } else { value.text() };
        (0..count).map(|lane| self.terms.symbol(format!("{text}.{lane}"), sort)).collect()
    }

    /// Computes the terms of an instruction without effects; its operands must be known.
    pub fn define(&mut self, inst: Inst<'m>) {
        let lanes = self.compute(inst).unwrap_or_else(|| self.opaque(inst));
        self.defined.insert(inst.value(), lanes);
    }

    /// Represents an instruction as an uninterpreted function of its operands. The name contains everything else that
    /// determines the result.
    fn opaque(&mut self, inst: Inst<'m>) -> Vec<Term> {
        let mut name = format!("{:?} {}", inst.opcode(), inst.callee().unwrap_or_default());
        let operands = inst.operands();
        for value in &operands {
            name.push_str(&format!(" {}", value.ty().text()));
        }
        name.push_str(&format!(" -> {}", inst.ty().text()));
        if let Some(predicate) = inst.int_predicate() {
            name.push_str(&format!(" {predicate:?}"));
        }
        if let Some(predicate) = inst.real_predicate() {
            name.push_str(&format!(" {predicate:?}"));
        }
        if let Some(indices) = inst.aggregate_indices() {
            name.push_str(&format!(" {indices:?}"));
        }
        if let Some(mask) = inst.shuffle_mask() {
            let lanes: Vec<i64> = mask.into_iter().map(|lane| lane.map_or(-1, i64::from)).collect();
            name.push_str(&format!(" {lanes:?}"));
        }
        if let Some(ty) = inst.value().gep_source() {
            name.push_str(&ty.text());
        }
        let args: Vec<Term> = operands.into_iter().flat_map(|v| self.of(v)).collect();
        let (count, sort) = shape(inst.ty());
        (0..count).map(|lane| self.terms.unknown(format!("{name} {lane}"), args.clone(), sort)).collect()
    }

    fn compute(&mut self, inst: Inst<'m>) -> Option<Vec<Term>> {
        use Opcode::*;
        let operands = inst.operands();
        let (count, sort) = shape(inst.ty());
        let binary = match inst.opcode() {
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
                // An undefined lane leaves the instruction to `opaque`.
                return inst.shuffle_mask()?.into_iter().map(|lane| from.get(lane? as usize).copied()).collect();
            }
            opcode => integer_operation(opcode)?,
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

    fn lane(&self, index: Value<'m>) -> Option<usize> {
        index.as_u64().map(|lane| lane as usize)
    }

    fn comparison(&mut self, inst: Inst<'m>) -> Option<Vec<Term>> {
        let operands = inst.operands();
        let (left, right) = (self.of(operands[0]), self.of(operands[1]));
        let pairs: Vec<(Term, Term)> = left.into_iter().zip(right).collect();
        if pairs.iter().any(|(l, _)| self.terms.sort(*l) == Sort::Other) {
            return None;
        }
        let (integers, floats) = (inst.int_predicate(), inst.real_predicate());
        let results = pairs.into_iter().map(|(l, r)| match integers {
            Some(predicate) => Some(compare_integers(self.terms, predicate, l, r)),
            None => self.floats(floats?, l, r),
        });
        results.collect()
    }

    fn floats(&mut self, predicate: RealPredicate, l: Term, r: Term) -> Option<Term> {
        use RealPredicate::*;
        // A device may flush subnormal numbers to 0 (OpenCL C 1.2, 7.5.3), so that the results of comparisons with them
        // are up to the device.
        if [l, r].iter().any(|x| self.is_subnormal(*x)) {
            return None;
        }
        // What takes more than one comparison stays opaque.
        let is_one = !matches!(
            predicate,
            LLVMRealONE | LLVMRealUEQ | LLVMRealORD | LLVMRealUNO | LLVMRealPredicateFalse | LLVMRealPredicateTrue
        );
        is_one.then(|| compare_floats(self.terms, predicate, l, r))
    }

    fn is_subnormal(&self, x: Term) -> bool {
        let (Sort::Float(width), Some(bits)) = (self.terms.sort(x), self.terms.as_constant(x)) else { return false };
        let x = floats::number(bits, width).abs();
        0.0 < x && x < if width == 32 { f32::MIN_POSITIVE.into() } else { f64::MIN_POSITIVE }
    }

    fn select(&mut self, inst: Inst<'m>) -> Option<Vec<Term>> {
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
    fn address(&mut self, gep: Inst<'m>) -> Option<Vec<Term>> {
        let operands = gep.operands();
        let sort = Sort::Bits(64);
        let [mut address] = self.of(operands[0])[..] else { return None };
        let mut ty = gep.value().gep_source()?;
        for (i, index) in operands.into_iter().skip(1).enumerate() {
            let [index_term] = self.of(index)[..] else { return None };
            let step = if i > 0 && ty.is_struct() {
                let field = u32::try_from(index.as_u64()?).ok()?;
                let offset = self.layout.field_offset(ty, field);
                ty = *ty.fields().get(field as usize)?;
                self.terms.constant(offset, sort)
            } else {
                if i > 0 {
                    ty = ty.elements()?.0;
                }
                let Sort::Bits(width) = self.terms.sort(index_term) else { return None };
                let wide = match width {
                    64 => index_term,
                    _ => self.terms.apply(Operation::SExt, vec![index_term], sort),
                };
                let size = self.terms.constant(self.layout.abi_size(ty), sort);
                self.terms.apply(Operation::Mul, vec![wide, size], sort)
            };
            address = self.terms.apply(Operation::Add, vec![address, step], sort);
        }
        Some(vec![address])
    }

    /// Computes builtins whose meaning is exact: queries of the launch, and integer `min`, `max`,
    /// `clamp` and `rotate`.
    fn call(&mut self, call: Inst<'m>) -> Option<Vec<Term>> {
        let name = call.callee()?;
        let (function, types) = builtins::demangle(&name)?;
        let (count, sort) = shape(call.ty());
        let args = call.args();
        let asks_launch = matches!(builtins::family(function), Some(Family::WorkItemId | Family::LaunchQuery));
        if types == "j" && asks_launch && args.len() == 1 {
            let dimension = self.lane(args[0]).filter(|d| *d < 3)?;
            return Some(vec![self.terms.launch_query(function, dimension as u64, sort)]);
        }
        let less = match builtins::first_scalar(types)? {
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
            // By the amount modulo the width (6.12.3).
            ("rotate", [v, amount]) => Some(values.rotation(v[i], amount[i])),
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

    fn rotation(&mut self, value: Term, amount: Term) -> Term {
        let sort = self.terms.sort(value);
        let Sort::Bits(width) = sort else { return value };
        let mask = self.terms.constant(u64::from(width - 1), sort);
        let zero = self.terms.constant(0, sort);
        let left = self.terms.apply(Operation::And, vec![amount, mask], sort);
        let right = self.terms.apply(Operation::Sub, vec![zero, amount], sort);
        let right = self.terms.apply(Operation::And, vec![right, mask], sort);
        let high = self.terms.apply(Operation::Shl, vec![value, left], sort);
        let low = self.terms.apply(Operation::LShr, vec![value, right], sort);
        self.terms.apply(Operation::Or, vec![high, low], sort)
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
