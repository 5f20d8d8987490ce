//! Computes a flow-insensitive points-to analysis over the kernel and its helpers in canonical form.

use std::collections::BTreeSet;

use super::dataflow::State;
use super::interprocedural::{self, Analysis, Place};
use crate::kernel::builtins::{self, Family};
use crate::kernel::implicit;
use crate::llvm::{Function, Inst, Opcode, Value};

/// An object in memory that a pointer can be derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root<'m> {
    /// A private variable: its `alloca`.
    Private(Value<'m>),
    /// A global variable of the module (`__local`, `__constant`).
    Variable(Value<'m>),
    /// The memory that a kernel argument points to, by the argument's position.
    Argument(u32),
    /// Any memory.
    Unknown,
}

/// A set of objects that a pointer may point into.
pub type Roots<'m> = BTreeSet<Root<'m>>;

/// What points somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Location<'m> {
    Pointer(Value<'m>),
    /// The pointers stored in a private variable.
    Stored(Value<'m>),
}

type PointsToState<'m> = State<Location<'m>, Roots<'m>>;

/// The points-to sets of all pointers.
#[derive(Debug, Default)]
pub struct PointsTo<'m> {
    state: PointsToState<'m>,
    /// Kernel arguments that are passed by value: each work-item has its own copy.
    by_value: Vec<u32>,
}

impl<'m> PointsTo<'m> {
    /// Analyses `functions`, the first of which is the kernel.
    pub fn find(functions: &[Function<'m>]) -> PointsTo<'m> {
        PointsTo::read(functions, &Transfer::default(), true)
    }

    /// Like [`find`](Self::find), but assumes that arguments do not share memory, which implicit ones may.
    pub fn find_without_sharing(functions: &[Function<'m>]) -> PointsTo<'m> {
        PointsTo::read(functions, &Transfer::default(), false)
    }

    /// Like [`find_without_sharing`](Self::find_without_sharing). Pointers stored in the memory of the arguments
    /// `closed` point into that same memory; those that are stored as numbers, or copied from elsewhere, point
    /// anywhere.
    pub fn find_with_numbers(functions: &[Function<'m>], closed: &[u32]) -> PointsTo<'m> {
        PointsTo::read(functions, &Transfer { closed, numbers: true }, false)
    }

    fn read(functions: &[Function<'m>], transfer: &Transfer<'_>, may_share: bool) -> PointsTo<'m> {
        let mut pointers = PointsTo::default();
        if let Some(kernel) = functions.first() {
            for (position, param) in (0..).zip(kernel.params()) {
                let mut roots = Roots::from([Root::Argument(position)]);
                if may_share && implicit::may_share(*kernel, position) {
                    roots.insert(Root::Unknown);
                }
                pointers.state.join(Location::Pointer(param), roots);
                if kernel.is_by_value(position) {
                    pointers.by_value.push(position);
                }
            }
        }
        interprocedural::solve(functions, transfer, &mut pointers.state);
        pointers
    }

    /// Returns whether only the work-item itself can access `root`.
    pub(crate) fn is_private(&self, root: &Root<'m>) -> bool {
        match root {
            Root::Private(_) => true,
            Root::Argument(position) => self.by_value.contains(position),
            Root::Variable(_) | Root::Unknown => false,
        }
    }

    /// The objects that `pointer` may point into.
    pub fn roots(&self, pointer: Value<'m>) -> Roots<'m> {
        roots(&self.state, pointer)
    }
}

fn roots<'m>(state: &PointsToState<'m>, pointer: Value<'m>) -> Roots<'m> {
    if pointer.as_global().is_some() {
        return [Root::Variable(pointer)].into();
    }
    if pointer.is_constant_expression() {
        return pointer.operand(0).map(|base| roots(state, base)).unwrap_or_default();
    }
    if pointer.is_constant() {
        return Roots::new();
    }
    state.get(Location::Pointer(pointer)).cloned().unwrap_or_default()
}

#[derive(Default)]
struct Transfer<'a> {
    /// Kernel arguments whose memory holds only pointers into that same memory.
    closed: &'a [u32],
    /// Whether numbers that are made of pointers are followed: they have [`Root::Unknown`].
    numbers: bool,
}

impl Transfer<'_> {
    /// The roots of the pointers stored in `variables`.
    fn stored_in<'m>(&self, state: &PointsToState<'m>, variables: &Roots<'m>) -> Roots<'m> {
        let mut all = Roots::new();
        for variable in variables {
            match variable {
                Root::Private(alloca) => all.extend(state.get(Location::Stored(*alloca)).into_iter().flatten()),
                Root::Argument(position) if self.closed.contains(position) => {
                    all.insert(*variable);
                }
                _ => {
                    all.insert(Root::Unknown);
                }
            }
        }
        all
    }

    /// The roots of a value that is no pointer: [`Root::Unknown`] if it may be made of one.
    fn number<'m>(inst: Inst<'m>, operands: &[Value<'m>], state: &PointsToState<'m>) -> Roots<'m> {
        use Opcode::*;
        let is_made = match inst.opcode() {
            _ if inst.ty().scalar().is_floating_point() => false,
            LLVMPtrToInt => true,
            LLVMLoad => {
                // Parts of a pointer differ from other numbers only by their size.
                let is_wide = inst.ty().bits().is_none_or(|bits| bits >= 64);
                let holds = |variable: &Root<'m>| match variable {
                    Root::Private(alloca) => state.get(Location::Stored(*alloca)).is_some_and(|all| !all.is_empty()),
                    _ => false,
                };
                is_wide && roots(state, operands[0]).iter().any(holds)
            }
            LLVMCall | LLVMICmp | LLVMFCmp | LLVMStore | LLVMAtomicRMW | LLVMAtomicCmpXchg => false,
            _ => operands.iter().any(|operand| is_made_of_pointers(state, *operand)),
        };
        if is_made { [Root::Unknown].into() } else { Roots::new() }
    }
}

/// Returns whether a value is a pointer to something, or a number that is made of one.
fn is_made_of_pointers<'m>(state: &PointsToState<'m>, value: Value<'m>) -> bool {
    let roots = roots(state, value);
    // Parameters that are numbers have roots, too.
    if value.ty().scalar().is_pointer() { !roots.is_empty() } else { roots.contains(&Root::Unknown) }
}

/// Adds `roots` to the pointers that `variables` may hold.
fn store<'m>(state: &mut PointsToState<'m>, variables: &Roots<'m>, roots: &Roots<'m>) {
    for variable in variables {
        if let Root::Private(alloca) = variable
            && !roots.is_empty()
        {
            state.join(Location::Stored(*alloca), roots.clone());
        }
    }
}

impl<'m> Analysis<'m> for Transfer<'_> {
    type Location = Location<'m>;
    type Element = Roots<'m>;

    fn value(value: Value<'m>) -> Location<'m> {
        Location::Pointer(value)
    }

    fn transfer(&self, place: Place<'m>, operands: &[Value<'m>], state: &mut PointsToState<'m>) -> Option<Roots<'m>> {
        let inst = place.inst;
        let found = match inst.opcode() {
            Opcode::LLVMAlloca => [Root::Private(inst.value())].into(),
            Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast | Opcode::LLVMFreeze => {
                roots(state, operands[0])
            }
            Opcode::LLVMPHI => operands.iter().flat_map(|o| roots(state, *o)).collect(),
            Opcode::LLVMSelect => operands[1..].iter().flat_map(|o| roots(state, *o)).collect(),
            Opcode::LLVMLoad if inst.ty().is_pointer() => self.stored_in(state, &roots(state, operands[0])),
            Opcode::LLVMStore if operands[0].ty().is_pointer() => {
                let (variables, stored) = (roots(state, operands[1]), roots(state, operands[0]));
                store(state, &variables, &stored);
                Roots::new()
            }
            Opcode::LLVMCall if casts_pointer(inst) => roots(state, operands[0]),
            Opcode::LLVMStore if self.numbers => {
                if is_made_of_pointers(state, operands[0]) {
                    let variables = roots(state, operands[1]);
                    store(state, &variables, &[Root::Unknown].into());
                }
                Roots::new()
            }
            opcode => {
                if opcode == Opcode::LLVMCall && copies_memory(inst) {
                    let is_followed = |r: &Root<'m>| self.numbers || matches!(r, Root::Private(_));
                    let source = roots(state, operands[1]).into_iter().filter(is_followed);
                    let stored = self.stored_in(state, &source.collect());
                    let variables = roots(state, operands[0]);
                    store(state, &variables, &stored);
                }
                // Pointers from builtins, integers, aggregates or exchanges.
                match inst.ty().is_pointer() {
                    true => [Root::Unknown].into(),
                    false if self.numbers => Transfer::number(inst, operands, state),
                    false => Roots::new(),
                }
            }
        };
        Some(found).filter(|roots| !roots.is_empty())
    }

    fn argument(&self, _: Place<'m>, argument: Value<'m>, state: &PointsToState<'m>) -> Option<Roots<'m>> {
        self.returned(argument, state)
    }

    fn returned(&self, value: Value<'m>, state: &PointsToState<'m>) -> Option<Roots<'m>> {
        let found = if value.ty().is_pointer() { roots(state, value) } else { Roots::new() };
        Some(found).filter(|roots| !roots.is_empty())
    }
}

/// Returns whether a call is a builtin that casts a pointer.
fn casts_pointer(call: Inst<'_>) -> bool {
    call.called_function().is_some_and(|f| !f.has_body())
        && call.callee().is_some_and(|name| builtins::family(&name) == Some(Family::PointerCast))
}

/// Returns whether a call copies memory to memory.
fn copies_memory(call: Inst<'_>) -> bool {
    call.callee().is_some_and(|name| name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove"))
}
