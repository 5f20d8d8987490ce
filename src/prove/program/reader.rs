//! Reads a [`Program`] from a promoted module.

use std::collections::{HashMap, HashSet};

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_ir::cfg::dominance::Dominance;
use kassay_ir::cfg::graph::{Cfg, Kinds};
use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::cfg::points_to::{PointsTo, Root};
use kassay_ir::kernel::implicit;
use kassay_ir::kernel::{builtins, cpp_names};
use kassay_ir::llvm::{
    AddressSpace, AttributeIndex, Block, DataLayout, Function, Global, Inst, Opcode, Type, TypeKind, Value, View,
};

use super::arithmetic::float_bits;
use super::{Code, Definition, End, Instruction, Kind, Op, Program, Region, Shape, Step, ValueId, Variable, signed};

/// Contents of larger variables are not read, in bytes.
const MAX_CONTENT_BYTES: u64 = 1 << 24;

/// LLVM's names of the scopes that contain all work-items of a device.
const WIDE_SCOPES: [&str; 5] = ["", "device", "agent", "all_svm_devices", "system"];

struct Reader<'m> {
    layout: DataLayout<'m>,
    values: Vec<Definition>,
    shapes: Vec<Shape>,
    ids: HashMap<Value<'m>, ValueId>,
    variables: Vec<Variable>,
    globals: HashMap<Global<'m>, usize>,
    undefined: HashSet<ValueId>,
    alignments: HashMap<ValueId, u32>,
    volatile: HashSet<ValueId>,
    narrow_atomics: HashSet<ValueId>,
}

/// Reads the kernel `entry` of a promoted module.
///
/// # Errors
/// `Internal` if the module has no such function.
pub fn read(module: &Module<'_>, entry: &str) -> Result<Program> {
    let missing = || Error::internal(format!("the promoted module has no kernel `{entry}`"));
    let view = View::of(module);
    let function = view.function(entry).filter(|f| f.has_body()).ok_or_else(missing)?;
    let mut reader = Reader {
        layout: view.layout(),
        values: Vec::new(),
        shapes: Vec::new(),
        ids: HashMap::new(),
        variables: Vec::new(),
        globals: HashMap::new(),
        undefined: HashSet::new(),
        alignments: HashMap::new(),
        volatile: HashSet::new(),
        narrow_atomics: HashSet::new(),
    };
    let found = PointsTo::find_without_sharing(&[function]);
    let by_value = (0..function.param_count()).map(|i| reader.by_value(function, i)).collect();
    let params: Vec<ValueId> =
        (0u32..).zip(function.params()).map(|(i, p)| reader.add(p, Definition::Param(i))).collect();
    let blocks = function.blocks();
    for (b, block) in BlockIndex::enumerate(&blocks) {
        for (i, inst) in block.instructions().into_iter().enumerate() {
            reader.add(inst.value(), Definition::Inst { block: b, index: i });
        }
    }
    let positions: HashMap<Block<'_>, BlockIndex> =
        BlockIndex::enumerate(&blocks).map(|(b, block)| (*block, b)).collect();
    let position = |b: Block<'_>| positions.get(&b).copied().unwrap_or(BlockIndex(0));
    let mut codes = Vec::with_capacity(blocks.len());
    for block in &blocks {
        let instructions = block.instructions().into_iter().map(|inst| reader.instruction(inst, &position)).collect();
        let terminator = block.terminator();
        codes.push(Code { instructions, end: reader.end(terminator, &position), end_location: terminator.location() });
    }
    let by_id: HashMap<ValueId, Value<'_>> = reader.ids.iter().map(|(v, id)| (*id, *v)).collect();
    let roots = (0..reader.values.len() as u32)
        .map(|id| match by_id.get(&id) {
            Some(value) if value.ty().is_pointer() => {
                found.roots(*value).into_iter().map(|r| reader.region(r)).collect()
            }
            _ => Vec::new(),
        })
        .collect();
    let cfg = Cfg::read(function, Kinds::of(view));
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
        alignments: reader.alignments,
        volatile: reader.volatile,
        narrow_atomics: reader.narrow_atomics,
        uniform_groups: has_uniform_groups(function),
        skips_returned: cpp_names::is_of_cuda(module),
        may_share: (0..function.param_count()).map(|p| implicit::may_share(function, p)).collect(),
        cfg,
        dominance,
    })
}

impl<'m> Reader<'m> {
    fn add(&mut self, value: Value<'m>, definition: Definition) -> ValueId {
        let shape = shape(value.ty());
        self.values.push(definition);
        self.shapes.push(shape);
        let id = (self.values.len() - 1) as ValueId;
        self.ids.insert(value, id);
        id
    }

    fn by_value(&self, function: Function<'m>, position: u32) -> Option<u64> {
        Some(self.layout.abi_size(function.by_value_type(position)?))
    }

    fn region(&self, root: Root<'m>) -> Region {
        match root {
            Root::Private(alloca) => self.ids.get(&alloca).map_or(Region::Unknown, |id| Region::Private(*id)),
            Root::Variable(global) => {
                let index = global.as_global().and_then(|global| self.globals.get(&global));
                index.map_or(Region::Unknown, |i| Region::Variable(*i))
            }
            Root::Argument(position) => Region::Argument(position),
            Root::Unknown => Region::Unknown,
        }
    }

    fn value(&mut self, value: Value<'m>) -> ValueId {
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

    fn constant(&mut self, value: Value<'m>) -> Definition {
        if let Some((global, offset)) = self.address(value, 0) {
            return Definition::Variable(self.variable(global), offset);
        }
        let of = shape(value.ty());
        if of.lanes == 0 {
            return Definition::Constant(vec![scalar(value, of)]);
        }
        let element = Shape { lanes: 0, ..of };
        // An element of an expression is none.
        let lane = |i| value.element(i).map_or(0, |e| scalar(e, element));
        Definition::Constant((0..of.lanes).map(lane).collect())
    }

    /// Resolves a constant address to a variable and an offset in bytes.
    fn address(&self, value: Value<'m>, offset: i64) -> Option<(Global<'m>, i64)> {
        if let Some(global) = value.as_global() {
            return Some((global, offset));
        }
        if !value.is_constant_expression() {
            return None;
        }
        match value.opcode()? {
            Opcode::LLVMGetElementPtr => {
                let (steps, fixed) = self.steps(value)?;
                steps.is_empty().then_some(())?;
                self.address(value.operand(0)?, offset + fixed)
            }
            Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast => self.address(value.operand(0)?, offset),
            _ => None,
        }
    }

    fn variable(&mut self, global: Global<'m>) -> usize {
        if let Some(index) = self.globals.get(&global) {
            return *index;
        }
        let is_local = global.ty().space() == Some(AddressSpace::Local);
        let ty = global.value_type();
        let bytes = self.layout.abi_size(ty);
        let mut initial = vec![0; usize::try_from(bytes.min(MAX_CONTENT_BYTES)).unwrap_or(0)];
        if let Some(initializer) = global.initializer().filter(|_| !is_local && bytes <= MAX_CONTENT_BYTES) {
            self.write_constant(initializer, ty, 0, &mut initial);
        }
        self.variables.push(Variable {
            name: global.name(),
            is_local,
            is_constant: global.is_constant(),
            bytes,
            initial,
        });
        self.globals.insert(global, self.variables.len() - 1);
        self.variables.len() - 1
    }

    fn write_constant(&self, value: Value<'m>, ty: Type<'m>, at: u64, out: &mut [u8]) {
        let parts: Vec<(Type<'m>, u64)> = if ty.is_struct() {
            (0..).zip(ty.fields()).map(|(i, field)| (field, self.layout.field_offset(ty, i))).collect()
        } else if let Some((inner, count)) = ty.elements() {
            (0..count).map(|i| (inner, i * self.layout.abi_size(inner))).collect()
        } else {
            let of = shape(ty);
            let size = of.lane_bytes() as usize;
            if let Some(to) = out.get_mut(at as usize..at as usize + size) {
                to.copy_from_slice(&scalar(value, of).to_le_bytes()[..size]);
            }
            return;
        };
        for (i, (inner, offset)) in (0..).zip(parts) {
            if let Some(element) = value.element(i) {
                self.write_constant(element, inner, at + offset, out);
            }
        }
    }

    /// The variable summands and the constant offset of an address computation (instruction or expression).
    fn steps(&self, value: Value<'m>) -> Option<(Vec<Step>, i64)> {
        let (mut steps, mut offset) = (Vec::new(), 0i64);
        let mut ty = value.gep_source()?;
        for (i, index) in value.operands().into_iter().enumerate().skip(1) {
            let mut extent = None;
            if i > 1 {
                if ty.is_struct() {
                    let field = index.as_u64()? as u32;
                    offset += self.layout.field_offset(ty, field).cast_signed();
                    ty = ty.fields()[field as usize];
                    continue;
                }
                let (element, length) = ty.elements()?;
                extent = ty.is_array().then_some(length);
                ty = element;
            }
            let scale = self.layout.abi_size(ty).cast_signed();
            match index.as_i64() {
                Some(index) => offset = offset.wrapping_add(index.wrapping_mul(scale)),
                None => steps.push(Step { operand: i, scale, extent }),
            }
        }
        Some((steps, offset))
    }

    fn instruction(&mut self, inst: Inst<'m>, position: &dyn Fn(Block<'m>) -> BlockIndex) -> Instruction {
        let opcode = inst.opcode();
        let mut raw = inst.operands();
        let op = match opcode {
            Opcode::LLVMCall => {
                raw.pop();
                let name = inst.callee().unwrap_or_default();
                let base = builtins::demangle(&name).map_or_else(|| name.clone(), |(base, _)| base.to_owned());
                Op::Call(name, base)
            }
            Opcode::LLVMBr | Opcode::LLVMSwitch => {
                raw.clear();
                Op::Other
            }
            Opcode::LLVMPHI => Op::Phi(inst.incoming().into_iter().map(|(_, from)| position(from)).collect()),
            Opcode::LLVMGetElementPtr => match self.steps(inst.value()) {
                Some((steps, offset)) => Op::Address { steps, offset },
                None => Op::Other,
            },
            _ => self.plain(inst, opcode).unwrap_or(Op::Other),
        };
        let result = self.ids[&inst.value()];
        if opcode == Opcode::LLVMLoad && (inst.is_volatile() || inst.is_atomic()) {
            self.volatile.insert(result);
        }
        let accessed = match opcode {
            Opcode::LLVMLoad => Some(inst.value()),
            Opcode::LLVMStore => raw.first().copied(),
            _ => None,
        };
        if let Some(value) = accessed
            && let Some(align) = inst.alignment().filter(|align| u64::from(*align) > shape(value.ty()).bytes())
        {
            self.alignments.insert(result, align);
        }
        if inst.is_atomic() && !WIDE_SCOPES.iter().any(|scope| inst.is_in_scope(scope)) {
            self.narrow_atomics.insert(result);
        }
        let operands = raw.into_iter().map(|o| self.value(o)).collect();
        Instruction {
            op,
            operands,
            result,
            no_signed_wrap: inst.has_no_signed_wrap(),
            location: inst.location().filter(|l| l.line > 0),
        }
    }

    fn plain(&self, inst: Inst<'m>, opcode: Opcode) -> Option<Op> {
        use Opcode::*;
        Some(match opcode {
            LLVMICmp => Op::Compare(inst.int_predicate()?),
            LLVMFCmp => Op::FCompare(inst.real_predicate()?),
            LLVMLoad => Op::Load,
            LLVMStore => Op::Store,
            LLVMSelect => Op::Select,
            LLVMAlloca => Op::Alloca(self.layout.abi_size(inst.allocated_type()?)),
            LLVMExtractElement => Op::Extract,
            LLVMInsertElement => Op::Insert,
            LLVMShuffleVector => {
                let mask = inst.shuffle_mask()?.into_iter();
                Op::Shuffle(mask.map(|lane| lane.map_or(-1, u32::cast_signed)).collect())
            }
            LLVMFreeze => Op::Copy,
            LLVMAtomicRMW => Op::AtomicRmw(inst.rmw_operation()?),
            LLVMAtomicCmpXchg => Op::CompareExchange,
            LLVMExtractValue => match inst.aggregate_indices()?[..] {
                [only] => Op::Member(only as usize),
                _ => Op::Other,
            },
            LLVMFNeg => Op::FNeg,
            LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFPToUI | LLVMFPToSI | LLVMUIToFP | LLVMSIToFP | LLVMFPTrunc
            | LLVMFPExt | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast | LLVMAddrSpaceCast => Op::Cast(opcode),
            LLVMAdd | LLVMFAdd | LLVMSub | LLVMFSub | LLVMMul | LLVMFMul | LLVMUDiv | LLVMSDiv | LLVMFDiv
            | LLVMURem | LLVMSRem | LLVMFRem | LLVMShl | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor => {
                Op::Binary(opcode)
            }
            _ => Op::Other,
        })
    }

    fn end(&mut self, inst: Inst<'m>, position: &dyn Fn(Block<'m>) -> BlockIndex) -> End {
        let to: Vec<BlockIndex> = inst.successors().into_iter().map(position).collect();
        match (inst.opcode(), &to[..]) {
            (Opcode::LLVMRet, _) => End::Return,
            (Opcode::LLVMBr, [only]) => End::Goto(*only),
            (Opcode::LLVMBr, [then, other]) => {
                let condition = self.value(inst.operand(0));
                End::Branch { condition, then: *then, other: *other }
            }
            (Opcode::LLVMSwitch, [default, ..]) => {
                let value = self.value(inst.operand(0));
                let case = |(case, to): (Value<'m>, Block<'m>)| (case.as_u64().unwrap_or(0), position(to));
                End::Switch { value, default: *default, cases: inst.switch_cases().into_iter().map(case).collect() }
            }
            _ => End::Unreachable,
        }
    }
}

/// Returns whether clang says that all work-groups of the kernel have one size.
fn has_uniform_groups(function: Function<'_>) -> bool {
    let text = function.attributes(AttributeIndex::Function).text("uniform-work-group-size");
    // Newer clangs write the attribute without a value.
    text.is_some_and(|text| text.is_empty() || text == "true")
}

/// Returns whether all bits of a constant are defined.
fn is_known(value: Value<'_>) -> bool {
    let ty = value.ty();
    match ty.kind() {
        TypeKind::LLVMVectorTypeKind => {
            (0..ty.lanes().unwrap_or(0)).all(|i| value.element(i).is_some_and(|element| is_known(element)))
        }
        TypeKind::LLVMIntegerTypeKind => value.as_u64().is_some(),
        // Null of another address space is cast.
        TypeKind::LLVMPointerTypeKind if value.opcode() == Some(Opcode::LLVMAddrSpaceCast) => {
            value.operand(0).is_some_and(is_known)
        }
        TypeKind::LLVMPointerTypeKind => value.is_null_pointer(),
        _ => value.is_constant_float(),
    }
}

fn shape(ty: Type<'_>) -> Shape {
    if let Some(lanes) = ty.lanes() {
        return Shape { kind: shape(ty.scalar()).kind, lanes };
    }
    let kind = match ty.kind() {
        TypeKind::LLVMIntegerTypeKind => ty.int_width().map_or(Kind::Other, Kind::Int),
        TypeKind::LLVMHalfTypeKind => Kind::Float(16),
        TypeKind::LLVMFloatTypeKind => Kind::Float(32),
        TypeKind::LLVMDoubleTypeKind => Kind::Float(64),
        TypeKind::LLVMPointerTypeKind => Kind::Pointer,
        TypeKind::LLVMVoidTypeKind => Kind::Void,
        _ => Kind::Other,
    };
    Shape { kind, lanes: 0 }
}

fn scalar(value: Value<'_>, of: Shape) -> u64 {
    match of.kind {
        Kind::Int(_) => value.as_u64().unwrap_or(0),
        Kind::Float(width) => value.as_f64().map_or(0, |(n, _)| float_bits(n, width)),
        _ => 0,
    }
}

/// Returns the case value of a switch on a value of that type, as a number.
pub fn case_value(bits: u64, shape: Shape) -> i64 {
    match shape.kind {
        Kind::Int(width) => signed(bits, width),
        _ => bits.cast_signed(),
    }
}
