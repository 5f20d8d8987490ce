//! Defines edits: the changes of a mutant to the canonical form, as plain data.
//!
//! The enumeration of mutants describes each mutant with these types; the weavers (`schemata`, `single`, `infection`)
//! turn them into IR. Positions refer to the unchanged canonical form (`src/ir/README.md`).

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::cfg::indices::{BlockIndex, FunctionIndex};

/// An instruction of the canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The function, by its position among those of the kernel's sites.
    pub function: FunctionIndex,
    /// The block, in the function's control-flow graph.
    pub block: BlockIndex,
    /// The position in its block.
    pub instruction: usize,
}

/// A value that an edit replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// The result of the instruction, for all its users.
    Result(Place),
    /// This operand of the instruction (in LLVM's numbering: the condition of a `br` is 0, the value of a `store` is 0
    /// and its address 1, the address of a GEP is 0, the arguments of a call start at 0). Not for `phi`s.
    Operand(Place, u32),
}

impl Slot {
    /// The instruction that the slot belongs to.
    pub fn place(&self) -> Place {
        match self {
            Slot::Result(place) | Slot::Operand(place, _) => *place,
        }
    }
}

/// A floating-point constant. Constants are equal if their bits are, so that edits can be compared and hashed.
#[derive(Clone, Copy)]
pub struct Float(pub f64);

impl PartialEq for Float {
    fn eq(&self, other: &Float) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Float {}

impl Hash for Float {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// Writes only the number.
impl fmt::Debug for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A value computed at a place, in addition to or instead of the original one.
///
/// Types follow from the context: the operands of a [`Binary`] have the same type; a number has the type of what it is
/// combined with or replaces (for vectors: in every lane; for pointers 0 is null).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Expr {
    /// The replaced value.
    Original,
    /// An operand of the instruction at the place, as it is without the edit.
    Operand(u32),
    /// An integer.
    Integer(i128),
    /// A floating-point number.
    Float(Float),
    /// An operator applied to a value.
    Unary(Unary, Box<Expr>),
    /// An operator applied to two values.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// Yields an `i1` (for vectors: a vector of them).
    Compare(Predicate, Box<Expr>, Box<Expr>),
    /// Condition, value if true, value if false.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// At a `store`: the previous contents of its address, in the type stored. In [`Action::Plain`]: the loaded value.
    Current,
    /// A conversion to the type of what it is combined with or replaces.
    Convert(Conversion, Box<Expr>),
    /// The pointer advanced by a number of elements; these are the elements of the GEP at the place, or bytes
    /// at a comparison.
    Offset(Box<Expr>, Box<Expr>),
    /// A lane of a vector.
    Lane(Box<Expr>, u32),
    /// The vector with this lane replaced.
    WithLane(Box<Expr>, u32, Box<Expr>),
    /// A call of a builtin without memory effects, whose result has the type of the original. The builtin is given by
    /// its mangled name and declared if the module lacks it.
    Call {
        /// Its mangled name.
        callee: String,
        /// The values of its arguments.
        args: Vec<Expr>,
    },
    /// At a `phi`: another `phi`, which takes these values from the same blocks, in their order.
    Phi(Vec<PhiValue>),
}

/// What another `phi` takes from a block.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PhiValue {
    /// What the original takes from the block at this position.
    Incoming(u32),
    /// An integer.
    Integer(i128),
    /// A floating-point number.
    Float(Float),
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// For integers.
    Neg,
    /// For floats; changes the sign of zeros and NaNs, too.
    FNeg,
    /// Bitwise; for an `i1` the logical negation.
    Not,
}

/// Operators with two operands, each an LLVM opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of LLVM's instructions")]
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
    /// The shift amount is taken modulo the width, as OpenCL C does (6.3.j).
    Shl,
    LShr,
    AShr,
}

/// LLVM's predicates of `icmp` and `fcmp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of LLVM's predicates, with F before those of `fcmp`")]
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
    FOne,
    FOrd,
    FUeq,
    FUgt,
    FUge,
    FUlt,
    FUle,
    FUno,
}

/// Conversions between scalar types, or vectors with the same number of components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// Between integers by sign extension or truncation, from a signed integer to a float, between floats.
    Signed,
    /// As `Signed`, for unsigned integers.
    Unsigned,
    /// From a float to a signed integer.
    FloatToSigned,
    /// From a float to an unsigned integer.
    FloatToUnsigned,
    /// From an `i1` (for vectors: from OpenCL's `-1` for true) to the wanted type, as in C.
    Truth,
}

/// The replacement of an instruction that has effects.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Action {
    /// Nothing; a result that is used becomes zero.
    Nothing,
    /// Another function, given by its mangled name and declared if needed with the types of `args` and the original's
    /// result type; it is assumed to access memory and to be convergent.
    Call {
        /// Its mangled name.
        callee: String,
        /// The values of its arguments.
        args: Vec<Expr>,
    },
    /// A load from `pointer`, followed by a store of `new`, which is computed from the loaded value
    /// ([`Expr::Current`]); the result is the loaded value. The type is that of the original's result. Instead of a
    /// `cmpxchg`, the type is that of the expected value, and the result says, too, whether that was loaded.
    Plain {
        /// What is loaded from and stored to.
        pointer: Expr,
        /// What is stored.
        new: Expr,
    },
    /// C11's `atomic_compare_exchange` without atomicity: if `*pointer == *expected`, `desired` is stored and the
    /// result is true; else `*expected` becomes `*pointer` and the result is false. The type is that of `desired`.
    PlainCompareExchange {
        /// The object that would be atomic.
        pointer: Expr,
        /// A pointer to the value that it is compared with.
        expected: Expr,
        /// The value that is stored if they are equal.
        desired: Expr,
    },
    /// The same atomic access or fence, changed.
    Atomic(AtomicChange),
}

/// A change of an atomic instruction (`load`, `store`, `atomicrmw`, `cmpxchg`) or `fence`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AtomicChange {
    /// What an `atomicrmw` does.
    Operation(AtomicOperation),
    /// Other memory orders: its own (of a `cmpxchg`: where it succeeds), and that of a `cmpxchg` which fails.
    Order {
        /// Its own order.
        order: MemoryOrder,
        /// That of a `cmpxchg` which fails; `None` for others.
        failure: Option<MemoryOrder>,
    },
    /// Another scope, by its name in IR for SPIR-V.
    Scope(&'static str),
}

/// The operations of `atomicrmw` that edits put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of LLVM's `atomicrmw`")]
pub enum AtomicOperation {
    Add,
    Sub,
    And,
    Or,
    Min,
    Max,
    UMin,
    UMax,
}

/// The memory orders of OpenCL C (6.15.12.4), as LLVM knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of LLVM's orderings")]
pub enum MemoryOrder {
    Monotonic,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

/// A redirected edge of the CFG.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EdgeChange {
    /// The function, by its position among those of the kernel's sites.
    pub function: FunctionIndex,
    /// The block that the edge leaves.
    pub block: BlockIndex,
    /// The position among the terminator's successors.
    pub successor: usize,
    /// The block that it leads to instead.
    pub to: BlockIndex,
    /// The value that boolean `phi`s of `to` take on the new edge; `None` if `to` has no `phi`, or already has this
    /// predecessor and keeps its values.
    pub phi: Option<bool>,
}

/// A `__local` variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LocalVariable {
    /// A variable of the kernel: the name of the module's global.
    Global(String),
    /// An argument of the kernel, by position; each launch sets its size.
    Argument(u32),
}

/// A change of the NDRange. Dimensions count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LaunchChange {
    /// Work-group size and number of work-groups exchanged, in all dimensions.
    Swap,
    /// `by` more (if negative, fewer) work-groups in that dimension.
    Groups {
        /// The dimension, less than 3.
        dimension: usize,
        /// How many more.
        by: i64,
    },
    /// `by` more (or fewer) work-items per work-group in that dimension; the number of work-groups stays.
    GroupSize {
        /// The dimension, less than 3.
        dimension: usize,
        /// How many more.
        by: i64,
    },
}

/// The functions of a kernel that an edit of its source text changes.
///
/// Two are equal if their code is.
#[derive(Clone)]
pub struct Variant {
    /// What decides equality: the text of the changed functions and variables, without debug information.
    pub code: String,
    /// The function of the canonical form that this one's takes the place of. `None`: no function is changed.
    pub root: Option<String>,
    /// A module with the body of the root and of all functions that only it calls in this form; the functions and
    /// variables that are as in the canonical form are named as there.
    pub bitcode: Vec<u8>,
    /// The variables that the canonical form lacks, or has with other contents.
    pub variables: BTreeSet<String>,
    /// The edit of the canonical form at whose places a run reaches the change. `None`: any run may.
    pub reached: Option<Box<Edit>>,
}

impl PartialEq for Variant {
    fn eq(&self, other: &Variant) -> bool {
        self.code == other.code
    }
}

impl Eq for Variant {}

impl Hash for Variant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.code.hash(state);
    }
}

/// Writes the name of the changed function only.
impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variant({})", self.root.as_deref().unwrap_or_default())
    }
}

/// The change that a mutant makes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Edit {
    /// Replaces the value of each slot by `by`, evaluated at the slot's place (several slots: instructions of one
    /// source construct).
    Value {
        /// The values that are replaced.
        at: Vec<Slot>,
        /// What replaces them.
        by: Expr,
    },
    /// Executes `by` instead of each of these instructions (calls and stores).
    Instead {
        /// The instructions.
        at: Vec<Place>,
        /// What is executed instead.
        by: Action,
    },
    /// Redirects edges.
    Redirect {
        /// The edges, each with its new target.
        edges: Vec<EdgeChange>,
    },
    /// Several of the above together: a single change of the source.
    All(Vec<Edit>),
    /// Gives each work-item a copy of its own. Needs a module of its own.
    Privatise {
        /// The local variable that becomes private.
        variable: LocalVariable,
    },
    /// Changes the NDRange and nothing in the code.
    Launch(LaunchChange),
    /// Takes the code that clang makes of an edited source text.
    Variant(Arc<Variant>),
    /// A change of the source text with which clang does not compile it, for this reason.
    Uncompilable {
        /// What is changed, in words.
        change: String,
        /// clang's message.
        reason: String,
    },
}

impl Expr {
    /// Returns whether the expression reads memory that the original does not read there ([`Expr::Current`]).
    pub fn reads_current(&self) -> bool {
        match self {
            Expr::Current => true,
            Expr::Original | Expr::Operand(_) | Expr::Integer(_) | Expr::Float(_) | Expr::Phi(_) => false,
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
    /// The instructions whose execution means that the mutant was reached: for an edge, the terminator of its block.
    /// Empty for launches and local variables, whose mutants every run reaches.
    pub fn places(&self, terminator: &dyn Fn(FunctionIndex, BlockIndex) -> usize) -> Vec<Place> {
        match self {
            Edit::Value { at, .. } => at.iter().map(Slot::place).collect(),
            Edit::Instead { at, .. } => at.clone(),
            Edit::Redirect { edges } => edges
                .iter()
                .map(|e| Place { function: e.function, block: e.block, instruction: terminator(e.function, e.block) })
                .collect(),
            Edit::All(edits) => edits.iter().flat_map(|e| e.places(terminator)).collect(),
            Edit::Variant(variant) => variant.reached.iter().flat_map(|e| e.places(terminator)).collect(),
            Edit::Privatise { .. } | Edit::Launch(_) | Edit::Uncompilable { .. } => Vec::new(),
        }
    }

    /// Returns the edit of the canonical form by whose places it is known whether a run reaches the mutant; `None` if
    /// every run counts as reaching it.
    pub fn observed(&self) -> Option<&Edit> {
        match self {
            Edit::Variant(variant) => variant.reached.as_deref(),
            _ => Some(self).filter(|edit| edit.is_woven()),
        }
    }

    /// Returns whether it can share a module with others, selected by its number.
    pub fn is_woven(&self) -> bool {
        match self {
            Edit::Value { .. } | Edit::Instead { .. } | Edit::Redirect { .. } | Edit::Variant(_) => true,
            Edit::All(edits) => edits.iter().all(Edit::is_woven),
            Edit::Privatise { .. } | Edit::Launch(_) | Edit::Uncompilable { .. } => false,
        }
    }
}
