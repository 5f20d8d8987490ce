//! Represents a promoted kernel as plain data, which the analyses and the dry run read without LLVM.

pub mod arithmetic;
pub mod control;
pub mod ids;
pub mod machine;
pub mod math;
pub mod pointer;
pub mod promoted;
pub mod reader;
pub mod value;

use std::collections::{HashMap, HashSet};

use kassay_ir::cfg::dominance::Dominance;
use kassay_ir::cfg::graph::Cfg;
use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::llvm::DebugLocation;
use kassay_ir::llvm::{IntPredicate, Opcode, RealPredicate};

/// Index into [`Program::values`].
pub type ValueId = u32;

/// The kind of a scalar, or of a vector's lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An integer; width in bits, up to 64.
    Int(u32),
    /// A floating-point number; width in bits: 16, 32 or 64.
    Float(u32),
    /// A pointer of any address space.
    Pointer,
    /// No value.
    Void,
    /// Aggregates, images, events.
    Other,
}

/// A type. `lanes` is 0 for scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Of the scalar, or of each lane.
    pub kind: Kind,
    /// How many; 0 for scalars.
    pub lanes: u32,
}

impl Shape {
    /// The size of one lane in memory, in bytes.
    pub fn lane_bytes(self) -> u64 {
        match self.kind {
            Kind::Int(bits) => u64::from(bits.div_ceil(8)),
            Kind::Float(bits) => u64::from(bits / 8),
            Kind::Pointer => 8,
            Kind::Void | Kind::Other => 0,
        }
    }

    /// The number of bytes that a load or store of this type accesses.
    pub fn bytes(self) -> u64 {
        self.lane_bytes() * u64::from(self.lanes.max(1))
    }

    /// Returns whether this is a scalar integer.
    pub fn is_int(self) -> bool {
        matches!(self.kind, Kind::Int(_)) && self.lanes == 0
    }
}

/// The definition of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Definition {
    /// The parameter at this position.
    Param(u32),
    /// The result of an instruction.
    Inst {
        /// The block that contains it.
        block: BlockIndex,
        /// Its position in the block.
        index: usize,
    },
    /// The bits of a scalar, or of each lane of a vector; undefined parts are 0.
    Constant(Vec<u64>),
    /// The address of a global variable (index into [`Program::variables`]) plus an offset in bytes.
    Variable(usize, i64),
}

/// An object in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Region {
    /// The memory that the argument at this position points to.
    Argument(u32),
    /// Index into [`Program::variables`].
    Variable(usize),
    /// A private variable, given by its `alloca`.
    Private(ValueId),
    /// It is not known which.
    Unknown,
}

/// A summand of an address: the operand at position `operand` times `scale` bytes. `extent` is the number of elements
/// of the array that it indexes, if known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Position among the instruction's operands.
    pub operand: usize,
    /// Bytes by which the address moves for each unit of the operand.
    pub scale: i64,
    /// Elements of the array that it indexes, if known.
    pub extent: Option<u64>,
}

/// The operation of an instruction.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// A binary operator.
    Binary(Opcode),
    /// `fneg`.
    FNeg,
    /// `icmp`.
    Compare(IntPredicate),
    /// `fcmp`.
    FCompare(RealPredicate),
    /// A cast.
    Cast(Opcode),
    /// Operand 0 plus the steps plus `offset` bytes.
    Address {
        /// What is added, in order.
        steps: Vec<Step>,
        /// A constant number of bytes.
        offset: i64,
    },
    /// Loads from the address in operand 0.
    Load,
    /// Stores operand 0 to the address in operand 1.
    Store,
    /// Operand 1 if operand 0 is true, else operand 2.
    Select,
    /// The predecessors; operand `i` comes from the predecessor at position `i`.
    Phi(Vec<BlockIndex>),
    /// A call of a function without a body: mangled name and base name.
    Call(String, String),
    /// A private variable of that many bytes.
    Alloca(u64),
    /// `extractelement`.
    Extract,
    /// `insertelement`.
    Insert,
    /// `shufflevector`, with its mask; negative: any value.
    Shuffle(Vec<i32>),
    /// `freeze`: operand 0, as it is.
    Copy,
    /// `atomicrmw`.
    AtomicRmw(kassay_ir::llvm::AtomicRmwOperation),
    /// `cmpxchg`.
    CompareExchange,
    /// Extracts one member of a pair.
    Member(usize),
    /// Anything else.
    Other,
}

impl Op {
    /// Returns whether this reinterprets bits.
    pub fn is_bit_cast(&self) -> bool {
        matches!(self, Op::Cast(Opcode::LLVMBitCast))
    }

    /// Returns whether this is an integer division or remainder, whose result is undefined for the divisor 0.
    pub fn is_integer_division(&self) -> bool {
        use Opcode::{LLVMSDiv, LLVMSRem, LLVMUDiv, LLVMURem};
        matches!(self, Op::Binary(LLVMSDiv | LLVMSRem | LLVMUDiv | LLVMURem))
    }
}

/// An instruction. A terminator appears as [`Op::Other`]; its meaning is in [`End`].
#[derive(Debug, Clone)]
pub struct Instruction {
    /// What it does.
    pub op: Op,
    /// For calls, without the callee.
    pub operands: Vec<ValueId>,
    /// The value that it defines.
    pub result: ValueId,
    /// Signed overflow makes the result undefined (C 6.5, paragraph 5): the code says so.
    pub no_signed_wrap: bool,
    /// Where it comes from; `None` without debug information.
    pub location: Option<DebugLocation>,
}

/// The terminator of a block.
#[derive(Debug, Clone)]
pub enum End {
    /// Goes to this block.
    Goto(BlockIndex),
    /// Goes to one of two blocks.
    Branch {
        /// One bit.
        condition: ValueId,
        /// The block if it is 1.
        then: BlockIndex,
        /// The block if it is 0.
        other: BlockIndex,
    },
    /// Goes to the block of a value.
    Switch {
        /// An integer.
        value: ValueId,
        /// The block if no case matches.
        default: BlockIndex,
        /// Values, and the block of each.
        cases: Vec<(u64, BlockIndex)>,
    },
    /// The work-item ends.
    Return,
    /// Control never comes here.
    Unreachable,
}

impl End {
    /// The successors in order: for branches, the one for a true condition first; for switches, the default first.
    pub fn successors(&self) -> Vec<BlockIndex> {
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

/// A basic block.
#[derive(Debug, Clone)]
pub struct Code {
    /// Without the terminator's operation, in order.
    pub instructions: Vec<Instruction>,
    /// What its terminator does.
    pub end: End,
    /// Where the terminator comes from; `None` without debug information.
    pub end_location: Option<DebugLocation>,
}

/// A global variable of the module.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name in the module.
    pub name: String,
    /// Whether each work-group has its own.
    pub is_local: bool,
    /// Whether nothing writes it.
    pub is_constant: bool,
    /// Its size.
    pub bytes: u64,
    /// The initial contents; zeros if there is no initialiser.
    pub initial: Vec<u8>,
}

/// A promoted kernel.
#[derive(Debug)]
pub struct Program {
    /// By [`ValueId`].
    pub values: Vec<Definition>,
    /// The type of each value.
    pub shapes: Vec<Shape>,
    /// By position.
    pub params: Vec<ValueId>,
    /// For each parameter that is a struct passed by value, its size in bytes.
    pub by_value: Vec<Option<u64>>,
    /// By [`BlockIndex`], the entry block first.
    pub blocks: Vec<Code>,
    /// By the index that [`Region::Variable`] has.
    pub variables: Vec<Variable>,
    /// For each value, the objects that it may point into; empty for values that are not pointers.
    pub roots: Vec<Vec<Region>>,
    /// Constants with parts that are undefined or whose value is not known here.
    pub undefined: HashSet<ValueId>,
    /// Loads and stores at addresses that are multiples of more than their bytes, as those of parts of a vector are.
    pub alignments: HashMap<ValueId, u32>,
    /// Results of volatile loads and of atomic ones, which must not be merged or dropped.
    pub volatile: HashSet<ValueId>,
    /// Results of atomics that are none for all work-items of the device, by their scope.
    pub narrow_atomics: HashSet<ValueId>,
    /// Whether all work-groups of a launch have the same size, as before OpenCL 2.0.
    pub uniform_groups: bool,
    /// Whether barriers wait only for work-items that have not returned, as in CUDA.
    pub skips_returned: bool,
    /// For each parameter, whether a launch may pass it the memory of another one.
    pub may_share: Vec<bool>,
    /// Its control-flow graph.
    pub cfg: Cfg,
    /// Which blocks dominate which.
    pub dominance: Dominance,
}

impl Program {
    /// The instruction that defines a value, if one does.
    pub fn instruction(&self, value: ValueId) -> Option<&Instruction> {
        match self.values[value as usize] {
            Definition::Inst { block, index } => Some(&self.blocks[block].instructions[index]),
            _ => None,
        }
    }

    /// The block of the instruction that defines a value, if one does.
    pub fn block_of(&self, value: ValueId) -> Option<BlockIndex> {
        match self.values[value as usize] {
            Definition::Inst { block, .. } => Some(block),
            _ => None,
        }
    }

    /// Returns whether every path from the entry to block `b` goes through block `a` (true for `a == b`, false if `b`
    /// is unreachable).
    pub fn dominates(&self, a: BlockIndex, b: BlockIndex) -> bool {
        self.dominance.dominates(a, b)
    }

    /// The immediate dominator of a block; `None` for the entry and for unreachable blocks.
    pub fn immediate_dominator(&self, block: BlockIndex) -> Option<BlockIndex> {
        self.dominance.immediate_dominator(block)
    }

    /// The type of a value.
    pub fn shape(&self, value: ValueId) -> Shape {
        self.shapes[value as usize]
    }

    /// Returns whether a value is a phi of a loop header, that is, a loop counter or another loop-carried value.
    pub fn is_counter(&self, value: ValueId) -> bool {
        let Some(block) = self.block_of(value) else { return false };
        match self.instruction(value).map(|i| &i.op) {
            Some(Op::Phi(from)) => from.iter().any(|b| self.dominates(block, *b)),
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

    /// The value that was inserted as a lane of a vector, if all insertions have constant positions.
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

    /// The values that an instruction reads: all its operands, except that the extraction of a lane from an assembled
    /// vector reads only that lane.
    pub fn read_by<'a>(&'a self, instruction: &'a Instruction) -> impl Iterator<Item = ValueId> + 'a {
        let extracted = match (&instruction.op, &instruction.operands[..]) {
            (Op::Extract, [vector, number]) => self.constant(*number).and_then(|n| self.lane(*vector, n)),
            _ => None,
        };
        let all = instruction.operands.iter().copied().filter(move |_| extracted.is_none());
        all.chain(extracted)
    }

    /// All instructions, each with its block.
    pub fn instructions(&self) -> impl Iterator<Item = (BlockIndex, &Instruction)> {
        BlockIndex::enumerate(&self.blocks).flat_map(|(b, code)| code.instructions.iter().map(move |i| (b, i)))
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
