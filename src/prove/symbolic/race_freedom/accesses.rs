//! The memory that instructions access, and what keeps a kernel from being proved.

use kassay_ir::kernel::builtins::{self, Builtin, Family, Operation};
use kassay_ir::llvm::DebugLocation;
use kassay_model::address_space::AddressSpace;
use kassay_model::interface::{ArgKind, Interface};

use super::scope::Scope;
use crate::program::machine::call::Call;
use crate::program::{Definition, Instruction, Kind, Op, Program, Region, ValueId};

/// Why a kernel cannot be encoded, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// A clause, such as `asynchronous copies`.
    pub what: String,
    /// Where it stands in the source.
    pub location: Option<DebugLocation>,
}

impl Unsupported {
    pub(super) fn new(what: impl Into<String>, location: Option<DebugLocation>) -> Unsupported {
        Unsupported { what: what.into(), location }
    }

    fn at(what: impl Into<String>, instruction: &Instruction) -> Unsupported {
        Unsupported::new(what, instruction.location.clone())
    }
}

/// A barrier of the work-group.
#[derive(Debug, Clone)]
pub struct Barrier {
    /// Whether it orders accesses to local memory.
    pub local: bool,
    /// Whether it orders accesses to global memory.
    pub global: bool,
    /// Whether it orders accesses to images.
    pub image: bool,
    pub location: Option<DebugLocation>,
}

/// Bits of `cl_mem_fence_flags`.
const LOCAL_FENCE: i64 = 1;
const GLOBAL_FENCE: i64 = 2;
const IMAGE_FENCE: i64 = 4;
/// `memory_scope_work_item`, which orders nothing between work-items.
const SCOPE_WORK_ITEM: i64 = 0;
/// `memory_scope_sub_group`.
const SCOPE_SUB_GROUP: i64 = 4;

/// Returns the barrier that an instruction is.
pub fn barrier_of(program: &Program, instruction: &Instruction) -> Result<Option<Barrier>, Unsupported> {
    let Op::Call(_, base) = &instruction.op else { return Ok(None) };
    match builtins::family(base) {
        Some(Family::Barrier) if Builtin::of(base).is_some_and(Builtin::is_spirv) => {
            Err(Unsupported::at("barriers of SPIR-V with a scope as operand", instruction))
        }
        Some(Family::Barrier) if Builtin::of(base).is_some_and(Builtin::is_of_grid) => {
            Err(Unsupported::at("barriers of the whole grid", instruction))
        }
        Some(Family::Barrier) => {
            let constant = |i: usize| program.constant(*instruction.operands.get(i)?);
            // Work-items that pass different flags diverge.
            let Some(flags) = constant(0) else {
                return Err(Unsupported::at("barriers whose flags are no constant", instruction));
            };
            let flags = match constant(1) {
                Some(SCOPE_WORK_ITEM | SCOPE_SUB_GROUP) => 0,
                _ => flags,
            };
            let orders = |fence: i64| flags & fence != 0;
            let (local, global, image) = (orders(LOCAL_FENCE), orders(GLOBAL_FENCE), orders(IMAGE_FENCE));
            Ok(Some(Barrier { local, global, image, location: instruction.location.clone() }))
        }
        _ => Ok(None),
    }
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    Read,
    Write,
    /// Atomic for these others.
    Atomic(AtomicFor),
}

/// The work-items for which an atomic access is one (memory scopes: OpenCL C 2.0, 6.13.11.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AtomicFor {
    /// At most those of a sub-group, which proofs do not tell apart.
    Itself,
    /// Those of its work-group.
    Group,
    All,
}

impl Mode {
    /// Whether two accesses of one place by different work-items race if nothing orders them.
    pub fn conflicts(self, other: Mode, scope: Scope) -> bool {
        let needed = if scope == Scope::IntraGroup { AtomicFor::Group } else { AtomicFor::All };
        match (self, other) {
            (Mode::Read, Mode::Read) => false,
            (Mode::Atomic(one), Mode::Atomic(two)) => one < needed || two < needed,
            _ => true,
        }
    }
}

/// An access of an instruction: `bytes` bytes at a pointer, plus `index.1` bytes for each unit of `index.0`; or a texel
/// of the image that `pointer` is.
#[derive(Debug, Clone)]
pub struct Access {
    pub mode: Mode,
    pub pointer: ValueId,
    pub index: Option<(ValueId, u64)>,
    pub bytes: u64,
    /// The coordinates of the texel.
    pub texel: Option<ValueId>,
    /// The elements of a copy, which are accessed in any order: one of them stands for all.
    pub elements: Option<Elements>,
}

/// Elements that an asynchronous copy moves, from the pointer on.
#[derive(Debug, Clone, Copy)]
pub struct Elements {
    /// How many.
    pub count: ValueId,
    /// The distance of two of them, in elements; `None`: they stand side by side.
    pub stride: Option<ValueId>,
}

/// Most bytes that a function of mathematics writes through a pointer: 16 doubles.
const MOST_RESULT_BYTES: u64 = 128;

/// Returns the accesses of an instruction.
pub fn accesses(program: &Program, instruction: &Instruction) -> Result<Vec<Access>, Unsupported> {
    let operands = &instruction.operands;
    let plain = |mode, pointer, bytes| Access { mode, pointer, index: None, bytes, texel: None, elements: None };
    let unsupported = |what: &str| Err(Unsupported::at(what, instruction));
    Ok(match &instruction.op {
        Op::Load => vec![plain(Mode::Read, operands[0], program.shape(instruction.result).bytes().max(1))],
        Op::Store => vec![plain(Mode::Write, operands[1], program.shape(operands[0]).bytes().max(1))],
        Op::AtomicRmw(_) | Op::CompareExchange => {
            let narrow = program.narrow_atomics.contains(&instruction.result);
            let within = if narrow { AtomicFor::Itself } else { AtomicFor::All };
            vec![plain(Mode::Atomic(within), operands[0], program.shape(operands[1]).bytes())]
        }
        Op::Call(name, base) => {
            if name.is_empty() {
                return unsupported("inline assembly");
            }
            let family = builtins::family(base);
            match family {
                Some(Family::EventWait) => return Ok(Vec::new()),
                Some(Family::SpirvGroup) => return unsupported("functions of groups with a scope as operand"),
                Some(family @ (Family::ImageWrite | Family::ImageRead)) => {
                    let mode = if family == Family::ImageRead { Mode::Read } else { Mode::Write };
                    // A sampler may stand between them.
                    let coordinates = operands.iter().skip(1).find(|o| program.shape(**o).kind != Kind::Other);
                    let (Some(image), Some(coordinates)) = (operands.first(), coordinates) else {
                        return unsupported("this access to an image");
                    };
                    if !matches!(program.values[*image as usize], Definition::Param(_)) {
                        return unsupported("images that are no arguments");
                    }
                    return Ok(vec![Access { texel: Some(*coordinates), ..plain(mode, *image, 1) }]);
                }
                Some(Family::PointerCast) => return unsupported("pointers without an address space"),
                Some(Family::Barrier) => return Ok(Vec::new()),
                _ => {}
            }
            let pointers = || operands.iter().filter(|o| program.shape(**o).kind == Kind::Pointer);
            match Call::of(name, base, program.shape(instruction.result)) {
                Call::Query(_) | Call::Barrier | Call::Idle | Call::Image(_) => Vec::new(),
                Call::Vector(access) if access.is_load => {
                    let value = program.shape(instruction.result);
                    let [index, pointer] = operands[..] else { return unsupported("this call") };
                    let bytes = access.in_memory(value).bytes();
                    vec![Access { index: Some((index, access.stride(value))), ..plain(Mode::Read, pointer, bytes) }]
                }
                Call::Vector(access) => {
                    let [value, index, pointer, ..] = operands[..] else { return unsupported("this call") };
                    let value = program.shape(value);
                    let bytes = access.in_memory(value).bytes();
                    vec![Access { index: Some((index, access.stride(value))), ..plain(Mode::Write, pointer, bytes) }]
                }
                Call::Atomic(atomic) => {
                    let bytes = match atomic.kind {
                        Kind::Int(bits) | Kind::Float(bits) => u64::from(bits.div_ceil(8)),
                        _ => 8,
                    };
                    let mut all = Vec::new();
                    for (i, pointer) in pointers().enumerate() {
                        // The second pointer of a compare-exchange is to the value that is expected.
                        let mode =
                            if i == 0 { Mode::Atomic(atomic_for(program, instruction, base)) } else { Mode::Write };
                        all.push(plain(mode, *pointer, bytes));
                    }
                    all
                }
                Call::Copy | Call::Fill => {
                    let bytes = operands.get(2).and_then(|n| program.constant(*n)).and_then(|n| u64::try_from(n).ok());
                    let Some(bytes) = bytes else { return unsupported("copies of a length that is no constant") };
                    match (bytes, Call::of(name, base, program.shape(instruction.result))) {
                        (0, _) => Vec::new(),
                        (_, Call::Copy) => {
                            vec![plain(Mode::Write, operands[0], bytes), plain(Mode::Read, operands[1], bytes)]
                        }
                        _ => vec![plain(Mode::Write, operands[0], bytes)],
                    }
                }
                Call::AsyncCopy(copy) => {
                    let (Some(bytes), [to, from, count, ..]) = (copy.element, &operands[..]) else {
                        return unsupported("this asynchronous copy");
                    };
                    let stride = operands.get(3).copied().filter(|_| copy.is_strided);
                    let elements =
                        |is_strided: bool| Some(Elements { count: *count, stride: stride.filter(|_| is_strided) });
                    // The stride is that of global memory.
                    let (to_global, bytes) = (copy.to_global, u64::from(bytes));
                    vec![
                        Access { elements: elements(to_global), ..plain(Mode::Write, *to, bytes) },
                        Access { elements: elements(!to_global), ..plain(Mode::Read, *from, bytes) },
                    ]
                }
                Call::Other => match (pointers().next(), family) {
                    (None, _) => Vec::new(),
                    (Some(pointer), Some(Family::MathWithPointer)) => {
                        vec![plain(Mode::Write, *pointer, MOST_RESULT_BYTES.min(result_bytes(program, instruction)))]
                    }
                    (Some(_), Some(Family::Prefetch | Family::Printf)) => Vec::new(),
                    (Some(_), _) => return unsupported(&format!("calls of `{base}`")),
                },
            }
        }
        _ => Vec::new(),
    })
}

/// The work-items for which a builtin's access is atomic: a scope that is no constant may be any.
fn atomic_for(program: &Program, instruction: &Instruction, base: &str) -> AtomicFor {
    let scope = builtins::memory_orders(base).and_then(|orders| instruction.operands.get(orders.scope));
    match scope.map(|scope| program.constant(*scope)) {
        None | Some(Some(2 | 3)) => AtomicFor::All,
        Some(Some(1)) => AtomicFor::Group,
        Some(_) => AtomicFor::Itself,
    }
}

/// What a function of mathematics writes through its pointer is no wider than its result, or than as many `int`s.
fn result_bytes(program: &Program, instruction: &Instruction) -> u64 {
    let shape = program.shape(instruction.result);
    u64::from(shape.lanes.max(1)) * shape.lane_bytes().max(4)
}

/// Whether the result of an atomic operation on one place differs for each work-item that executes it, if all
/// operations there are of this kind: increments, or decrements. (Greater steps come back to a number sooner.)
pub fn counts(program: &Program, instruction: &Instruction) -> Option<bool> {
    let constant = |i: usize| program.constant(*instruction.operands.get(i)?);
    let (operation, addend) = match &instruction.op {
        Op::AtomicRmw(operation) => {
            use kassay_ir::llvm::AtomicRmwOperation::{LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpSub};
            match operation {
                LLVMAtomicRMWBinOpAdd => (Operation::Add, constant(1)),
                LLVMAtomicRMWBinOpSub => (Operation::Sub, constant(1)),
                _ => return None,
            }
        }
        Op::Call(_, base) => (builtins::operation(base)?, constant(1)),
        _ => return None,
    };
    match (operation, addend) {
        (Operation::Inc, _) => Some(true),
        (Operation::Dec, _) => Some(false),
        (Operation::Add, Some(n @ (1 | -1))) => Some(n > 0),
        (Operation::Sub, Some(n @ (1 | -1))) => Some(n < 0),
        _ => None,
    }
}

/// What no two operations on one place return both, if all operations there are of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// This number, which each of them takes away for good: a compare-exchange expects it and puts another one there.
    Taken(i64),
    /// Anything but this number, which each of them leaves there.
    Left(i64),
}

/// The claim that an atomic operation makes.
pub fn claims(program: &Program, instruction: &Instruction) -> Option<Claim> {
    let constant = |i: usize| {
        let operand = *instruction.operands.get(i)?;
        program.constant(operand).filter(|_| !program.undefined.contains(&operand))
    };
    match &instruction.op {
        Op::AtomicRmw(kassay_ir::llvm::AtomicRmwOperation::LLVMAtomicRMWBinOpXchg) => Some(Claim::Left(constant(1)?)),
        Op::Call(_, base) => match builtins::operation(base)? {
            Operation::Exchange => Some(Claim::Left(constant(1)?)),
            Operation::CompareExchange => {
                let (expected, new) = (constant(1)?, constant(2)?);
                (expected != new).then_some(Claim::Taken(expected))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The memory that is shared, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    /// One for all work-items.
    Global,
    /// Texels, for all work-items.
    Image,
    /// One for each work-group.
    Local,
    /// One for each work-item.
    Private,
}

/// The object that a pointer points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// An object whose accesses are told apart from those of others.
    Object(Region),
    /// No object.
    Null,
}

impl Base {
    /// An object that is not known.
    pub const UNKNOWN: Base = Base::Object(Region::Unknown);
}

/// Returns the memory of an object; unknown ones are taken for global ones.
pub fn memory_of(program: &Program, interface: &Interface, region: Region) -> Memory {
    match region {
        Region::Private(_) => Memory::Private,
        Region::Variable(index) if program.variables[index].is_local => Memory::Local,
        Region::Argument(position) if program.by_value.get(position as usize).copied().flatten().is_some() => {
            Memory::Private
        }
        Region::Argument(position) => match interface.args.get(position as usize).map(|a| &a.kind) {
            Some(ArgKind::Local { .. } | ArgKind::Buffer { space: AddressSpace::Local, .. }) => Memory::Local,
            Some(ArgKind::Image(_)) => Memory::Image,
            _ => Memory::Global,
        },
        Region::Variable(_) | Region::Unknown => Memory::Global,
    }
}
