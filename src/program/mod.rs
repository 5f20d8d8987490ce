//! A promoted kernel as plain data: what the analyses and the dry run read, without LLVM.

pub mod arithmetic;
pub mod math;
pub mod promoted;
pub mod reader;

use std::collections::HashSet;

use llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};

use crate::cfg::dominance::Dominance;
use crate::cfg::graph::Cfg;
use crate::kernel::ir::DebugLocation;

/// Index into [`Program::values`].
pub type ValueId = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// By width in bits, up to 64.
    Int(u32),
    /// By width in bits: 16, 32 or 64.
    Float(u32),
    Pointer,
    Void,
    /// Aggregates, images, events.
    Other,
}

/// A type: `lanes` is 0 for scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub kind: Kind,
    pub lanes: u32,
}

impl Shape {
    /// Bytes of one lane in memory.
    pub fn lane_bytes(self) -> u64 {
        match self.kind {
            Kind::Int(bits) => u64::from(bits.div_ceil(8)),
            Kind::Float(bits) => u64::from(bits / 8),
            Kind::Pointer => 8,
            Kind::Void | Kind::Other => 0,
        }
    }

    /// Bytes that a load or store of the type touches.
    pub fn bytes(self) -> u64 {
        self.lane_bytes() * u64::from(self.lanes.max(1))
    }

    pub fn is_int(self) -> bool {
        matches!(self.kind, Kind::Int(_)) && self.lanes == 0
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Definition {
    Param(u32),
    Inst {
        block: usize,
        index: usize,
    },
    /// The bits of a scalar, or of each lane; undefined parts are 0.
    Constant(Vec<u64>),
    /// The address of a variable of the module, and an offset in bytes.
    Variable(usize, i64),
}

/// A thing in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Region {
    /// What the argument at this position points to.
    Argument(u32),
    /// Of [`Program::variables`].
    Variable(usize),
    /// A private variable, by its `alloca`.
    Private(ValueId),
    Unknown,
}

/// A summand of an address: an operand by its position times bytes; how many elements the array has that it picks from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub operand: usize,
    pub scale: i64,
    pub extent: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    Binary(LLVMOpcode),
    FNeg,
    Compare(LLVMIntPredicate),
    FCompare(LLVMRealPredicate),
    Cast(LLVMOpcode),
    /// Operand 0 plus the steps plus so many bytes.
    Address {
        steps: Vec<Step>,
        offset: i64,
    },
    Load,
    /// Operand 0 goes to operand 1.
    Store,
    Select,
    /// By predecessor, the operand of the same position.
    Phi(Vec<usize>),
    /// A function without body: mangled name, base name.
    Call(String, String),
    Alloca(u64),
    Extract,
    Insert,
    Shuffle(Vec<i32>),
    Copy,
    AtomicRmw(llvm_sys::LLVMAtomicRMWBinOp),
    CompareExchange,
    /// One member of a pair.
    Member(usize),
    Other,
}

#[derive(Debug, Clone)]
pub struct Instruction {
    pub op: Op,
    /// Of calls without the callee.
    pub operands: Vec<ValueId>,
    pub result: ValueId,
    pub location: Option<DebugLocation>,
}

#[derive(Debug, Clone)]
pub enum End {
    Goto(usize),
    Branch { condition: ValueId, then: usize, other: usize },
    Switch { value: ValueId, default: usize, cases: Vec<(u64, usize)> },
    Return,
    Unreachable,
}

impl End {
    /// Where it may lead to, in its order: of branches first where the condition is true, of switches first the default.
    pub fn successors(&self) -> Vec<usize> {
        match self {
            End::Goto(to) => vec![*to],
            End::Branch { then, other, .. } => vec![*then, *other],
            End::Switch { default, cases, .. } => {
                std::iter::once(*default).chain(cases.iter().map(|(_, to)| *to)).collect()
            }
            End::Return | End::Unreachable => Vec::new(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Code {
    pub instructions: Vec<Instruction>,
    pub end: End,
    pub end_location: Option<DebugLocation>,
}

/// A variable of the module.
#[derive(Debug, Clone)]
pub struct Variable {
    pub name: String,
    pub is_local: bool,
    /// Nothing writes it.
    pub is_constant: bool,
    pub bytes: u64,
    /// Its initial contents; zeros where it has none.
    pub initial: Vec<u8>,
}

#[derive(Debug)]
pub struct Program {
    pub values: Vec<Definition>,
    /// By value.
    pub shapes: Vec<Shape>,
    pub params: Vec<ValueId>,
    /// Bytes of arguments that are structs by value.
    pub by_value: Vec<Option<u64>>,
    pub blocks: Vec<Code>,
    pub variables: Vec<Variable>,
    /// What pointers may point to, by value; empty for what is no pointer.
    pub roots: Vec<Vec<Region>>,
    /// Constants with parts that have no value, or none that is known here.
    pub undefined: HashSet<ValueId>,
    /// Results of loads that must be made as they stand.
    pub volatile: HashSet<ValueId>,
    /// All work-groups of a launch have the same size, as before OpenCL 2.0.
    pub uniform_groups: bool,
    /// By position: whether a launch may give the parameter the memory of another one.
    pub may_share: Vec<bool>,
    pub cfg: Cfg,
    pub dominance: Dominance,
}

impl Program {
    pub fn instruction(&self, value: ValueId) -> Option<&Instruction> {
        match self.values[value as usize] {
            Definition::Inst { block, index } => Some(&self.blocks[block].instructions[index]),
            _ => None,
        }
    }

    pub fn block_of(&self, value: ValueId) -> Option<usize> {
        match self.values[value as usize] {
            Definition::Inst { block, .. } => Some(block),
            _ => None,
        }
    }

    pub fn shape(&self, value: ValueId) -> Shape {
        self.shapes[value as usize]
    }

    /// Whether a value counts the turns of a loop, or changes with them in another way.
    pub fn is_counter(&self, value: ValueId) -> bool {
        let Some(block) = self.block_of(value) else { return false };
        match self.instruction(value).map(|i| &i.op) {
            Some(Op::Phi(from)) => from.iter().any(|b| self.dominance.dominates(block, *b)),
            _ => false,
        }
    }

    /// The value of a scalar constant, sign-extended.
    pub fn constant(&self, value: ValueId) -> Option<i64> {
        match (&self.values[value as usize], self.shape(value)) {
            (Definition::Constant(bits), Shape { kind: Kind::Int(width), lanes: 0 }) => Some(signed(bits[0], width)),
            _ => None,
        }
    }

    /// What a lane of a vector was put together from, where its number is a constant.
    pub fn lane(&self, vector: ValueId, lane: i64) -> Option<ValueId> {
        let mut at = vector;
        loop {
            let instruction = self.instruction(at)?;
            match (&instruction.op, &instruction.operands[..]) {
                (Op::Insert, [before, value, number]) => match self.constant(*number)? {
                    n if n == lane => return Some(*value),
                    _ => at = *before,
                },
                (Op::Copy, [before]) => at = *before,
                _ => return None,
            }
        }
    }

    /// What an instruction reads: all its operands, but of vectors that are put together only the lane it takes.
    pub fn read_by<'a>(&'a self, instruction: &'a Instruction) -> impl Iterator<Item = ValueId> + 'a {
        let taken = match (&instruction.op, &instruction.operands[..]) {
            (Op::Extract, [vector, number]) => self.constant(*number).and_then(|n| self.lane(*vector, n)),
            _ => None,
        };
        let all = instruction.operands.iter().copied().filter(move |_| taken.is_none());
        all.chain(taken)
    }

    /// All instructions with their blocks.
    pub fn instructions(&self) -> impl Iterator<Item = (usize, &Instruction)> {
        self.blocks.iter().enumerate().flat_map(|(b, code)| code.instructions.iter().map(move |i| (b, i)))
    }
}

/// The low `width` bits of a number, sign-extended.
pub fn signed(bits: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    (bits << unused).cast_signed() >> unused
}

/// The low `width` bits.
pub fn masked(bits: u64, width: u32) -> u64 {
    if width >= 64 { bits } else { bits & ((1 << width) - 1) }
}
