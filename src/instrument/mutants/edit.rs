//! Edits: what a mutant changes in the canonical form, as plain data.
//!
//! Whoever enumerates mutants says with these types what each one does; the weavers (`schemata`, `alone`, `infection`)
//! turn them into IR. Positions are those of the unchanged canonical form (ARCHITECTURE.md, invariant 3).

use crate::cfg::graph::BlockIndex;

/// An instruction of the canonical form; `function` is its position in `Sites::functions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub function: usize,
    pub block: BlockIndex,
    pub instruction: usize,
}

/// A value that an edit replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// What the instruction computes, for all who use it.
    Result(Place),
    /// What the instruction takes as this operand (as LLVM counts them: the condition of a `br` is 0, the value of a
    /// `store` is 0 and its address 1, the address of a GEP is 0, arguments of a call are from 0 on). Not of `phi`s.
    Operand(Place, u32),
}

impl Slot {
    pub fn place(&self) -> Place {
        match self {
            Slot::Result(place) | Slot::Operand(place, _) => *place,
        }
    }
}

/// A value computed at a place, beside or instead of the original one.
///
/// Types follow from the context: operands of a [`Binary`] have one type; a number has the type of what it is combined
/// with or replaces (on vectors: in every lane; on pointers 0 is null).
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// The value that is replaced.
    Original,
    /// An operand of the instruction at the place, as it is without the edit.
    Operand(u32),
    Integer(i128),
    Float(f64),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// An `i1` (of vectors: a vector of them).
    Compare(Predicate, Box<Expr>, Box<Expr>),
    /// Condition, value if true, value if false.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// At a `store`: what its address holds before, in the type stored. In [`Action::Plain`]: the value loaded.
    Current,
    /// A conversion to the type of what it is combined with or replaces.
    Convert(Conversion, Box<Expr>),
    /// The pointer so many elements on; elements are those of the GEP at the place, bytes at a comparison.
    Offset(Box<Expr>, Box<Expr>),
    /// A lane of a vector.
    Lane(Box<Expr>, u32),
    /// The vector with this lane replaced.
    WithLane(Box<Expr>, u32, Box<Expr>),
    /// A call of a builtin (by its mangled name, declared if the module does not know it) without memory effects, whose
    /// result has the type of the original.
    Call {
        callee: String,
        args: Vec<Expr>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Of integers.
    Neg,
    FNeg,
    /// Of every bit; of an `i1` its negation.
    Not,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    SDiv,
    UDiv,
    SRem,
    URem,
    FAdd,
    FSub,
    FMul,
    FDiv,
    And,
    Or,
    Xor,
    /// Of shifts the amount is taken modulo the width, as OpenCL C does (6.3.j).
    Shl,
    LShr,
    AShr,
}

/// LLVM's predicates of `icmp` and `fcmp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Predicate {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    Ule,
    Ugt,
    Uge,
    FOeq,
    /// Unordered or unequal: C's `!=`.
    FUne,
    FOlt,
    FOle,
    FOgt,
    FOge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// Between integers by sign extension or truncation, from an integer (signed) to a float, between floats.
    Signed,
    /// The same for unsigned integers.
    Unsigned,
    /// From a float to a signed integer.
    FloatToSigned,
    FloatToUnsigned,
    /// From an `i1` (of vectors: of OpenCL's `-1` for true) to the type wanted, as C does.
    Truth,
}

/// What is executed instead of an instruction that has effects.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Nothing; a result, if there is one that is used, is zero.
    Nothing,
    /// Another function (by its mangled name, declared if needed with the types of `args` and the result of the
    /// original; memory effects and convergence are assumed).
    Call { callee: String, args: Vec<Expr> },
    /// A load from `pointer`, `new` computed from it ([`Expr::Current`]), a store of it; the result is what was loaded.
    /// The type is that of the original's result.
    Plain { pointer: Expr, new: Expr },
    /// C11's `atomic_compare_exchange`, not atomically: where `*pointer == *expected`, `desired` is stored and the result is
    /// true; else `*expected` becomes `*pointer` and it is false. The type is that of `desired`.
    PlainCompareExchange { pointer: Expr, expected: Expr, desired: Expr },
}

/// An edge of the CFG that leads elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeChange {
    pub function: usize,
    pub block: BlockIndex,
    /// The position among the terminator's successors.
    pub successor: usize,
    pub to: BlockIndex,
    /// What boolean `phi`s of `to` take from the new way; `None` if it has no `phi`, or already has this predecessor and
    /// keeps what comes from it.
    pub phi: Option<bool>,
}

/// A `__local` variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LocalVariable {
    /// A variable of the kernel: the name of the module's global.
    Global(String),
    /// An argument of the kernel, by position; its size comes with each launch.
    Argument(u32),
}

/// A change of the NDRange. Dimensions are from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LaunchChange {
    /// Work-group size and number of work-groups exchanged, in all dimensions.
    Swap,
    /// This many more (or, negative, fewer) work-groups in that dimension.
    Groups { dimension: usize, by: i64 },
    /// This many more (or fewer) work-items per work-group in that dimension, with the number of work-groups as it is.
    GroupSize { dimension: usize, by: i64 },
}

/// What a mutant changes.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Each slot's value is `by`, evaluated at its place (several slots: instructions of one source construct).
    Value { at: Vec<Slot>, by: Expr },
    /// `by` is executed instead of each of these instructions (calls and stores).
    Instead { at: Vec<Place>, by: Action },
    /// Edges lead elsewhere.
    Redirect { edges: Vec<EdgeChange> },
    /// Several of the above at once: they are one change of the source.
    All(Vec<Edit>),
    /// Each work-item has a copy of its own. Needs a module of its own.
    Privatise { variable: LocalVariable },
    /// Nothing in the code.
    Launch(LaunchChange),
}

impl Expr {
    /// Whether it reads memory that the original does not read there ([`Expr::Current`]).
    pub fn reads_current(&self) -> bool {
        match self {
            Expr::Current => true,
            Expr::Original | Expr::Operand(_) | Expr::Integer(_) | Expr::Float(_) => false,
            Expr::Unary(_, e) | Expr::Convert(_, e) | Expr::Lane(e, _) => e.reads_current(),
            Expr::Binary(_, a, b) | Expr::Compare(_, a, b) | Expr::Offset(a, b) | Expr::WithLane(a, _, b) => {
                a.reads_current() || b.reads_current()
            }
            Expr::Select(condition, a, b) => [condition, a, b].iter().any(|e| e.reads_current()),
            Expr::Call { args, .. } => args.iter().any(Expr::reads_current),
        }
    }
}

impl Edit {
    /// The instructions whose execution means that the mutant was reached: a block's terminator for an edge. Empty for
    /// launches and local variables, which every run reaches.
    pub fn places(&self, terminator: &dyn Fn(usize, BlockIndex) -> usize) -> Vec<Place> {
        match self {
            Edit::Value { at, .. } => at.iter().map(Slot::place).collect(),
            Edit::Instead { at, .. } => at.clone(),
            Edit::Redirect { edges } => edges
                .iter()
                .map(|e| Place { function: e.function, block: e.block, instruction: terminator(e.function, e.block) })
                .collect(),
            Edit::All(edits) => edits.iter().flat_map(|e| e.places(terminator)).collect(),
            Edit::Privatise { .. } | Edit::Launch(_) => Vec::new(),
        }
    }

    /// Whether it can sit with others in one module, behind a number.
    pub fn is_woven(&self) -> bool {
        match self {
            Edit::Value { .. } | Edit::Instead { .. } | Edit::Redirect { .. } => true,
            Edit::All(edits) => edits.iter().all(Edit::is_woven),
            Edit::Privatise { .. } | Edit::Launch(_) => false,
        }
    }
}
