//! Reads a [`Program`] from a promoted module.

use std::collections::{HashMap, HashSet};

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use llvm_sys::target::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMOpcode, LLVMTypeKind};

use super::arithmetic::float_bits;
use super::{Code, Definition, End, Instruction, Kind, Op, Program, Region, Shape, Step, ValueId, Variable, signed};
use crate::cfg::dominance::Dominance;
use crate::cfg::graph::Cfg;
use crate::cfg::points_to::{self, Pointers, Root};
use crate::error::{Error, Result};
use crate::kernel::builtins;
use crate::kernel::implicit;
use crate::kernel::ir::{self, Inst};

/// LLVM's number for OpenCL's local memory.
const LOCAL: u32 = 3;

/// Contents of larger variables are not read, in bytes.
const MAX_CONTENT_BYTES: u64 = 1 << 24;

struct Reader {
    layout: LLVMTargetDataRef,
    values: Vec<Definition>,
    shapes: Vec<Shape>,
    ids: HashMap<LLVMValueRef, ValueId>,
    variables: Vec<Variable>,
    globals: HashMap<LLVMValueRef, usize>,
    undefined: HashSet<ValueId>,
    volatile: HashSet<ValueId>,
}

/// Reads the kernel `entry` of a promoted module.
///
/// # Errors
/// `Internal` if the module has no such function.
pub fn read(module: &Module<'_>, entry: &str) -> Result<Program> {
    let missing = || Error::internal(format!("the promoted module has no kernel `{entry}`"));
    let function = ir::function(module, entry).filter(|f| f.has_body()).ok_or_else(missing)?;
    let mut reader = Reader {
        // SAFETY: the module is alive and owns its layout.
        layout: unsafe { LLVMGetModuleDataLayout(module.as_mut_ptr()) },
        values: Vec::new(),
        shapes: Vec::new(),
        ids: HashMap::new(),
        variables: Vec::new(),
        globals: HashMap::new(),
        undefined: HashSet::new(),
        volatile: HashSet::new(),
    };
    let found = Pointers::find_without_sharing(&[function], &[]);
    let params: Vec<LLVMValueRef> = points_to::params(function);
    let by_value = (0u32..).zip(&params).map(|(i, _)| reader.by_value(function.0, i)).collect();
    let params: Vec<ValueId> = (0u32..).zip(params).map(|(i, p)| reader.add(p, Definition::Param(i))).collect();
    let blocks = function.blocks();
    for (b, block) in blocks.iter().enumerate() {
        for (i, inst) in block.instructions().into_iter().enumerate() {
            reader.add(inst.0, Definition::Inst { block: b, index: i });
        }
    }
    let position = |b: ir::Block| blocks.iter().position(|x| *x == b).unwrap_or(0);
    let mut codes = Vec::with_capacity(blocks.len());
    for block in &blocks {
        let instructions = block.instructions().into_iter().map(|inst| reader.instruction(inst, &position)).collect();
        let terminator = block.terminator();
        codes.push(Code { instructions, end: reader.end(terminator, &position), end_location: terminator.location() });
    }
    let by_id: HashMap<ValueId, LLVMValueRef> = reader.ids.iter().map(|(v, id)| (*id, *v)).collect();
    let roots = (0..reader.values.len() as u32)
        .map(|id| match by_id.get(&id) {
            Some(value) if points_to::is_pointer(*value) => {
                found.roots(*value).into_iter().map(|r| reader.region(r)).collect()
            }
            _ => Vec::new(),
        })
        .collect();
    let cfg = Cfg::read(function);
    let dominance = Dominance::of(&cfg);
    Ok(Program {
        values: reader.values,
        shapes: reader.shapes,
        params,
        by_value,
        blocks: codes,
        variables: reader.variables,
        roots,
        undefined: reader.undefined,
        volatile: reader.volatile,
        uniform_groups: has_uniform_groups(function.0),
        // SAFETY: the function belongs to the module that the caller borrows.
        may_share: unsafe { (0..LLVMCountParams(function.0)).map(|p| implicit::may_share(function, p)).collect() },
        cfg,
        dominance,
    })
}

impl Reader {
    fn add(&mut self, value: LLVMValueRef, definition: Definition) -> ValueId {
        // SAFETY: `value` belongs to the module that `read` borrows.
        let shape = shape(unsafe { LLVMTypeOf(value) });
        self.values.push(definition);
        self.shapes.push(shape);
        let id = (self.values.len() - 1) as ValueId;
        self.ids.insert(value, id);
        id
    }

    fn by_value(&self, function: LLVMValueRef, position: u32) -> Option<u64> {
        let name = "byval";
        // SAFETY: the function belongs to the module that `read` borrows; the attribute is checked for null before its
        // type is read.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute = LLVMGetEnumAttributeAtIndex(function, position + 1, kind);
            (!attribute.is_null()).then(|| LLVMABISizeOfType(self.layout, LLVMGetTypeAttributeValue(attribute)))
        }
    }

    fn region(&self, root: Root) -> Region {
        match root {
            Root::Private(alloca) => self.ids.get(&alloca).map_or(Region::Unknown, |id| Region::Private(*id)),
            Root::Variable(global) => self.globals.get(&global).map_or(Region::Unknown, |i| Region::Variable(*i)),
            Root::Argument(position) => Region::Argument(position),
            Root::Unknown => Region::Unknown,
        }
    }

    fn value(&mut self, value: LLVMValueRef) -> ValueId {
        if let Some(id) = self.ids.get(&value) {
            return *id;
        }
        let definition = self.constant(value);
        let id = self.add(value, definition);
        if matches!(self.values[id as usize], Definition::Constant(_)) && !is_known(value) {
            self.undefined.insert(id);
        }
        id
    }

    fn constant(&mut self, value: LLVMValueRef) -> Definition {
        if let Some((global, offset)) = self.address(value, 0) {
            return Definition::Variable(self.variable(global), offset);
        }
        // SAFETY: `value` is a constant of the module that `read` borrows.
        let value_shape = shape(unsafe { LLVMTypeOf(value) });
        if value_shape.lanes == 0 {
            return Definition::Constant(vec![scalar(value, value_shape)]);
        }
        // SAFETY: `value` is a constant vector of the module that `read` borrows; LLVM returns null for an element
        // of an expression.
        let lane = |i| unsafe { LLVMGetAggregateElement(value, i) };
        let element = Shape { lanes: 0, ..value_shape };
        let lanes = (0..value_shape.lanes).map(lane).map(|e| if e.is_null() { 0 } else { scalar(e, element) });
        Definition::Constant(lanes.collect())
    }

    /// Resolves a constant address to a variable and an offset in bytes.
    fn address(&self, value: LLVMValueRef, offset: i64) -> Option<(LLVMValueRef, i64)> {
        // SAFETY: `value` belongs to the module that `read` borrows; operands are read only from constant expressions,
        // and indices only from address computations.
        unsafe {
            if !LLVMIsAGlobalVariable(value).is_null() {
                return Some((value, offset));
            }
            if LLVMIsAConstantExpr(value).is_null() {
                return None;
            }
            match LLVMGetConstOpcode(value) {
                LLVMOpcode::LLVMGetElementPtr => {
                    let (steps, fixed) = self.steps(value)?;
                    steps.is_empty().then_some(())?;
                    self.address(LLVMGetOperand(value, 0), offset + fixed)
                }
                LLVMOpcode::LLVMAddrSpaceCast | LLVMOpcode::LLVMBitCast => {
                    self.address(LLVMGetOperand(value, 0), offset)
                }
                _ => None,
            }
        }
    }

    fn variable(&mut self, global: LLVMValueRef) -> usize {
        if let Some(index) = self.globals.get(&global) {
            return *index;
        }
        // SAFETY: `global` is a global variable of the module that `read` borrows.
        let (ty, initializer, is_local, is_constant) = unsafe {
            let space = LLVMGetPointerAddressSpace(LLVMTypeOf(global));
            let is_constant = LLVMIsGlobalConstant(global) != 0;
            (LLVMGlobalGetValueType(global), LLVMGetInitializer(global), space == LOCAL, is_constant)
        };
        // SAFETY: `ty` is the sized type of a variable of the module that owns the layout.
        let bytes = unsafe { LLVMABISizeOfType(self.layout, ty) };
        let mut initial = vec![0; usize::try_from(bytes.min(MAX_CONTENT_BYTES)).unwrap_or(0)];
        if !initializer.is_null() && !is_local && bytes <= MAX_CONTENT_BYTES {
            self.write_constant(initializer, ty, 0, &mut initial);
        }
        let name = Inst(global).name();
        self.variables.push(Variable { name, is_local, is_constant, bytes, initial });
        self.globals.insert(global, self.variables.len() - 1);
        self.variables.len() - 1
    }

    /// Writes a constant of type `ty` to `out` at offset `at`, as it is laid out in memory.
    fn write_constant(&self, value: LLVMValueRef, ty: LLVMTypeRef, at: u64, out: &mut [u8]) {
        // SAFETY: constant and type belong to the module that `read` borrows; element types and offsets are read only
        // from types that have them.
        unsafe {
            let count = match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMArrayTypeKind => LLVMGetArrayLength2(ty),
                LLVMTypeKind::LLVMVectorTypeKind => LLVMGetVectorSize(ty).into(),
                LLVMTypeKind::LLVMStructTypeKind => LLVMCountStructElementTypes(ty).into(),
                _ => {
                    let value_shape = shape(ty);
                    let size = value_shape.lane_bytes() as usize;
                    if let Some(to) = out.get_mut(at as usize..at as usize + size) {
                        to.copy_from_slice(&scalar(value, value_shape).to_le_bytes()[..size]);
                    }
                    return;
                }
            };
            let is_struct = LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMStructTypeKind;
            for i in 0..count as u32 {
                let element = LLVMGetAggregateElement(value, i);
                if element.is_null() {
                    continue;
                }
                let (inner, offset) = if is_struct {
                    (LLVMStructGetTypeAtIndex(ty, i), LLVMOffsetOfElement(self.layout, ty, i))
                } else {
                    let inner = LLVMGetElementType(ty);
                    (inner, u64::from(i) * LLVMABISizeOfType(self.layout, inner))
                };
                self.write_constant(element, inner, at + offset, out);
            }
        }
    }

    /// The variable summands and the constant offset of an address computation (instruction or expression).
    fn steps(&self, value: LLVMValueRef) -> Option<(Vec<Step>, i64)> {
        let (mut steps, mut offset) = (Vec::new(), 0i64);
        // SAFETY: `value` is an address computation of the module that `read` borrows, and its source type is followed
        // as the indices prescribe.
        unsafe {
            let mut ty = LLVMGetGEPSourceElementType(value);
            let count = LLVMGetNumOperands(value) as u32;
            for i in 1..count {
                let index = LLVMGetOperand(value, i);
                let is_constant = !LLVMIsAConstantInt(index).is_null();
                let (scale, extent) = if i == 1 {
                    (LLVMABISizeOfType(self.layout, ty), None)
                } else {
                    match LLVMGetTypeKind(ty) {
                        LLVMTypeKind::LLVMStructTypeKind => {
                            let field = LLVMConstIntGetZExtValue(index) as u32;
                            offset += LLVMOffsetOfElement(self.layout, ty, field).cast_signed();
                            ty = LLVMStructGetTypeAtIndex(ty, field);
                            continue;
                        }
                        LLVMTypeKind::LLVMArrayTypeKind => {
                            let length = LLVMGetArrayLength2(ty);
                            ty = LLVMGetElementType(ty);
                            (LLVMABISizeOfType(self.layout, ty), Some(length))
                        }
                        LLVMTypeKind::LLVMVectorTypeKind => {
                            ty = LLVMGetElementType(ty);
                            (LLVMABISizeOfType(self.layout, ty), None)
                        }
                        _ => return None,
                    }
                };
                if is_constant {
                    offset = offset.wrapping_add(LLVMConstIntGetSExtValue(index).wrapping_mul(scale.cast_signed()));
                } else {
                    steps.push(Step { operand: i as usize, scale: scale.cast_signed(), extent });
                }
            }
        }
        Some((steps, offset))
    }

    fn instruction(&mut self, inst: Inst, position: &dyn Fn(ir::Block) -> usize) -> Instruction {
        let opcode = inst.opcode();
        let mut raw = inst.operands();
        let op = match opcode {
            LLVMOpcode::LLVMCall => {
                raw.pop();
                let name = inst.callee().unwrap_or_default();
                let base = builtins::demangle(&name).map_or_else(|| name.clone(), |(base, _)| base.to_owned());
                Op::Call(name, base)
            }
            LLVMOpcode::LLVMBr | LLVMOpcode::LLVMSwitch => {
                raw.clear();
                Op::Other
            }
            LLVMOpcode::LLVMPHI => {
                // SAFETY: `inst` is a phi of the module that `read` borrows, and indices are below its incoming count.
                let from = |i| ir::Block(unsafe { LLVMGetIncomingBlock(inst.0, i) });
                // SAFETY: `inst` is a phi of the module that `read` borrows.
                let count = unsafe { LLVMCountIncoming(inst.0) };
                Op::Phi((0..count).map(|i| position(from(i))).collect())
            }
            LLVMOpcode::LLVMGetElementPtr => match self.steps(inst.0) {
                Some((steps, offset)) => Op::Address { steps, offset },
                None => Op::Other,
            },
            _ => self.simple_operation(inst, opcode),
        };
        // SAFETY: `inst` belongs to the module that `read` borrows and is tested to be a load first.
        if opcode == LLVMOpcode::LLVMLoad && unsafe { LLVMGetVolatile(inst.0) } != 0 {
            self.volatile.insert(self.ids[&inst.0]);
        }
        let operands = raw.into_iter().map(|o| self.value(o)).collect();
        Instruction { op, operands, result: self.ids[&inst.0], location: inst.location().filter(|l| l.line > 0) }
    }

    fn simple_operation(&self, inst: Inst, opcode: LLVMOpcode) -> Op {
        use LLVMOpcode::*;
        // SAFETY: `inst` belongs to the module that `read` borrows, and each property is read only from opcodes
        // that have it.
        unsafe {
            match opcode {
                LLVMICmp => Op::Compare(LLVMGetICmpPredicate(inst.0)),
                LLVMFCmp => Op::FCompare(LLVMGetFCmpPredicate(inst.0)),
                LLVMLoad => Op::Load,
                LLVMStore => Op::Store,
                LLVMSelect => Op::Select,
                LLVMAlloca => Op::Alloca(LLVMABISizeOfType(self.layout, LLVMGetAllocatedType(inst.0))),
                LLVMExtractElement => Op::Extract,
                LLVMInsertElement => Op::Insert,
                LLVMShuffleVector => {
                    Op::Shuffle((0..LLVMGetNumMaskElements(inst.0)).map(|i| LLVMGetMaskValue(inst.0, i)).collect())
                }
                LLVMFreeze => Op::Copy,
                LLVMAtomicRMW => Op::AtomicRmw(LLVMGetAtomicRMWBinOp(inst.0)),
                LLVMAtomicCmpXchg => Op::CompareExchange,
                LLVMExtractValue if LLVMGetNumIndices(inst.0) == 1 => Op::Member(*LLVMGetIndices(inst.0) as usize),
                LLVMFNeg => Op::FNeg,
                LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFPToUI | LLVMFPToSI | LLVMUIToFP | LLVMSIToFP | LLVMFPTrunc
                | LLVMFPExt | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast | LLVMAddrSpaceCast => Op::Cast(opcode),
                LLVMAdd | LLVMFAdd | LLVMSub | LLVMFSub | LLVMMul | LLVMFMul | LLVMUDiv | LLVMSDiv | LLVMFDiv
                | LLVMURem | LLVMSRem | LLVMFRem | LLVMShl | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor => {
                    Op::Binary(opcode)
                }
                _ => Op::Other,
            }
        }
    }

    fn end(&mut self, inst: Inst, position: &dyn Fn(ir::Block) -> usize) -> End {
        let to: Vec<usize> = inst.successors().into_iter().map(position).collect();
        match (inst.opcode(), &to[..]) {
            (LLVMOpcode::LLVMRet, _) => End::Return,
            (LLVMOpcode::LLVMBr, [only]) => End::Goto(*only),
            (LLVMOpcode::LLVMBr, [then, other]) => {
                // SAFETY: `inst` belongs to the module that `read` borrows and is a conditional branch, because it
                // has two successors.
                let condition = self.value(unsafe { LLVMGetCondition(inst.0) });
                End::Branch { condition, then: *then, other: *other }
            }
            (LLVMOpcode::LLVMSwitch, [default, rest @ ..]) => {
                let operand = inst.operands()[0];
                let value = self.value(operand);
                // SAFETY: `inst` is a switch of the module that `read` borrows; each successor but the first has
                // an integer constant.
                let case = |i: usize| unsafe { LLVMConstIntGetZExtValue(LLVMGetSwitchCaseValue(inst.0, i as u32)) };
                let cases = rest.iter().enumerate().map(|(i, to)| (case(i + 1), *to)).collect();
                End::Switch { value, default: *default, cases }
            }
            _ => End::Unreachable,
        }
    }
}

/// Returns whether clang marked the kernel as having work-groups of one size only.
fn has_uniform_groups(function: LLVMValueRef) -> bool {
    let name = "uniform-work-group-size";
    // SAFETY: the function belongs to the module that `read` borrows; the attribute is checked for null before its text
    // is read, whose length LLVM returns.
    unsafe {
        let index = LLVMAttributeFunctionIndex;
        let attribute = LLVMGetStringAttributeAtIndex(function, index, name.as_ptr().cast(), name.len() as u32);
        if attribute.is_null() {
            return false;
        }
        let mut length = 0;
        let text = LLVMGetStringAttributeValue(attribute, &mut length);
        // Newer clangs write the attribute without a value.
        length == 0 || std::slice::from_raw_parts(text.cast::<u8>(), length as usize) == b"true"
    }
}

/// Returns whether all bits of a constant are known, that is, read as they are.
fn is_known(value: LLVMValueRef) -> bool {
    // SAFETY: `value` belongs to the module that `read` borrows; elements are read from constant vectors within their
    // count, and null stands for an element of an expression.
    unsafe {
        let ty = LLVMTypeOf(value);
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMVectorTypeKind => (0..LLVMGetVectorSize(ty)).all(|i| {
                let element = LLVMGetAggregateElement(value, i);
                !element.is_null() && is_known(element)
            }),
            LLVMTypeKind::LLVMIntegerTypeKind => !LLVMIsAConstantInt(value).is_null() && LLVMGetIntTypeWidth(ty) <= 64,
            LLVMTypeKind::LLVMPointerTypeKind => !LLVMIsAConstantPointerNull(value).is_null(),
            _ => !LLVMIsAConstantFP(value).is_null(),
        }
    }
}

fn shape(ty: LLVMTypeRef) -> Shape {
    // SAFETY: `ty` belongs to the context of the module that `read` borrows; widths and elements are read only from
    // types that have them.
    unsafe {
        let kind = match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMIntegerTypeKind => Kind::Int(LLVMGetIntTypeWidth(ty)),
            LLVMTypeKind::LLVMHalfTypeKind => Kind::Float(16),
            LLVMTypeKind::LLVMFloatTypeKind => Kind::Float(32),
            LLVMTypeKind::LLVMDoubleTypeKind => Kind::Float(64),
            LLVMTypeKind::LLVMPointerTypeKind => Kind::Pointer,
            LLVMTypeKind::LLVMVoidTypeKind => Kind::Void,
            LLVMTypeKind::LLVMVectorTypeKind => {
                return Shape { kind: shape(LLVMGetElementType(ty)).kind, lanes: LLVMGetVectorSize(ty) };
            }
            _ => Kind::Other,
        };
        Shape { kind, lanes: 0 }
    }
}

fn scalar(value: LLVMValueRef, of: Shape) -> u64 {
    // SAFETY: `value` belongs to the module that `read` borrows, and only numeric constants are read as numbers.
    unsafe {
        match of.kind {
            Kind::Int(width) if !LLVMIsAConstantInt(value).is_null() && width <= 64 => LLVMConstIntGetZExtValue(value),
            Kind::Float(width) if !LLVMIsAConstantFP(value).is_null() => {
                let mut inexact = 0;
                float_bits(LLVMConstRealGetDouble(value, &mut inexact), width)
            }
            _ => 0,
        }
    }
}

/// The case value of a switch on a value of that type, as a number.
pub fn case_value(bits: u64, shape: Shape) -> i64 {
    match shape.kind {
        Kind::Int(width) => signed(bits, width),
        _ => bits.cast_signed(),
    }
}
