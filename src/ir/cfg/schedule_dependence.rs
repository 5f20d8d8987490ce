//! Decides whether the behaviour of the work-items can depend on their interleaving: follows the flow of values from
//! atomics and racing accesses to addresses, branches and barriers.
//!
//! If nothing flows there, every interleaving of an input makes the same accesses and reaches the same barriers, so
//! that what was found in one of them holds for all (`holds_for` in results). Only explicit flows are followed:
//! reaching a branch already defeats the argument. Memory is one location per variable and argument; different
//! arguments are assumed to be different buffers, except implicit ones that may share memory.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use inkwell::module::Module;

use super::dataflow::{Lattice, State};
use super::interprocedural::{self, Place};
use super::points_to::{PointsTo, Root, Roots};
use crate::kernel::builtins::{self, Builtin, Effect, Family, Operation};
use crate::llvm::{DebugLocation, Function, Inst, Opcode, Value, View};

/// The origin of a value that can differ between interleavings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The result of an atomic, or the value that it leaves in memory.
    Atomic(Option<DebugLocation>),
    /// The value that a racing access reads or writes; `None` for a race whose location is unknown.
    Race(Option<DebugLocation>),
}

/// The use that such a value reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sink {
    /// The address of an access.
    Address,
    /// The condition of a branch or `switch`.
    Branch,
    /// An argument of a barrier.
    Barrier,
    /// The divisor of an integer division, which may trap.
    Divisor,
}

/// A value that can differ between interleavings and influences the kernel's behaviour.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// What it influences.
    pub sink: Sink,
    /// Where that is in the source; `None` without debug information.
    pub location: Option<DebugLocation>,
    /// One of the origins of the value.
    pub origin: Origin,
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |location: &Option<DebugLocation>| match location {
            Some(place) if place.line > 0 => format!(" in line {}", place.line),
            _ => String::new(),
        };
        let origin = match &self.origin {
            Origin::Atomic(place) => format!("an atomic{}", line(place)),
            Origin::Race(place) => format!("a racing access{}", line(place)),
        };
        let sink = match self.sink {
            Sink::Address => "an address",
            Sink::Branch => "a branch",
            Sink::Barrier => "a barrier",
            Sink::Divisor => "a divisor",
        };
        write!(f, "a value of {origin} decides {sink}{}", line(&self.location))
    }
}

/// All such flows in source order, one per location that is reached. `racing` holds the locations of racing accesses,
/// as in the module's debug locations. If one of them is not found in the module (line 0, for example), every read of
/// shared memory that is also written counts as racing. The module is best read after promoting its private scalars.
pub fn flows(module: &Module<'_>, entry: &str, racing: &[DebugLocation]) -> Vec<Flow> {
    let (kernel, helpers): (Vec<_>, Vec<_>) =
        View::of(module).functions().into_iter().filter(|f| f.has_body()).partition(|f| f.name() == entry);
    let functions: Vec<Function<'_>> = kernel.into_iter().chain(helpers).collect();
    let analysis = Analysis::new(&functions, racing);
    let mut state = State::default();
    analysis.find_atomics(&mut state);
    interprocedural::solve(&functions, &analysis, &mut state);
    analysis.flows(&state)
}

/// What can differ between interleavings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Location<'m> {
    Value(Value<'m>),
    /// The contents of memory.
    Contents(Root<'m>),
    /// The contents of some memory that is not private.
    AnyShared,
}

/// The origin of what can differ at a location, and which of several it is.
#[derive(Debug)]
enum Kept {
    First(Origin),
    /// That of the last call of the function, for its parameters. Such a change is of no consequence: what a parameter
    /// flows to keeps its first origin.
    Last(Origin),
    Least(Origin),
}

impl Kept {
    fn origin(&self) -> &Origin {
        let (Kept::First(origin) | Kept::Last(origin) | Kept::Least(origin)) = self;
        origin
    }
}

impl Lattice for Kept {
    fn join(&mut self, other: Kept) -> bool {
        match (&mut *self, other) {
            (Kept::Least(known), Kept::Least(new)) if new < *known => {
                *known = new;
                true
            }
            (Kept::Last(known), Kept::Last(new)) => {
                *known = new;
                false
            }
            _ => false,
        }
    }

    fn is_greatest(&self) -> bool {
        !matches!(self, Kept::Least(_))
    }
}

type OriginState<'m> = State<Location<'m>, Kept>;

struct Analysis<'m> {
    instructions: Vec<Inst<'m>>,
    racing: BTreeSet<DebugLocation>,
    /// Whether a racing access could not be located.
    has_unlocated_race: bool,
    pointers: PointsTo<'m>,
    written: Roots<'m>,
}

/// A call of a builtin.
struct Call<'m> {
    /// The base name.
    name: String,
    /// The mangled types of the parameters.
    params: String,
    operands: Vec<Value<'m>>,
}

impl<'m> Call<'m> {
    /// `None` if the instruction is not a call, or is one of a function with a body.
    fn of(inst: Inst<'m>) -> Option<Call<'m>> {
        if !inst.is_call() {
            return None;
        }
        let callee = inst.called_function();
        if callee.is_some_and(Function::has_body) {
            return None;
        }
        let full = callee.map(Function::name).unwrap_or_default();
        let (name, params) = builtins::demangle(&full).unwrap_or((&full, ""));
        // The last operand of a call is the callee.
        let mut operands = inst.operands();
        operands.pop();
        Some(Call { name: name.to_owned(), params: params.to_owned(), operands })
    }

    fn family(&self) -> Option<Family> {
        builtins::family(&self.name)
    }

    fn is_atomic(&self) -> bool {
        self.family() == Some(Family::Atomic)
    }

    fn is_barrier(&self) -> bool {
        Builtin::of(&self.name).is_some_and(Builtin::is_barrier)
    }

    fn is_image(&self) -> bool {
        matches!(self.family(), Some(Family::ImageRead | Family::ImageWrite))
    }

    /// Returns whether it may write to the memory that it is given.
    fn writes(&self) -> bool {
        let only_reads =
            builtins::has(&self.name, Effect::OnlyReads) || builtins::operation(&self.name) == Some(Operation::Load);
        !only_reads && !["llvm.dbg", "llvm.lifetime"].iter().any(|start| self.name.starts_with(start))
    }

    /// The operands that determine the memory it accesses.
    fn address_operands(&self) -> &[Value<'m>] {
        let all = &self.operands;
        let n = all.len();
        match self.family() {
            Some(Family::VectorStore) => all.get(1..).unwrap_or_default(),
            Some(Family::ImageWrite) => all.get(..n.saturating_sub(1)).unwrap_or_default(),
            Some(Family::VectorLoad | Family::ImageRead | Family::Prefetch | Family::AsyncCopy) => all,
            None if self.name.starts_with("llvm.mem") => all,
            _ => &[],
        }
    }

    /// The operands that designate memory: pointers and images.
    fn memory_operands(&self) -> impl Iterator<Item = Value<'m>> {
        let images = self.is_image();
        self.operands
            .iter()
            .copied()
            .enumerate()
            .filter(move |(n, o)| o.ty().is_pointer() || (images && *n == 0))
            .map(|(_, o)| o)
    }
}

/// The class of an atomic whose order does not matter if its result is unused: integer atomics commute with others of
/// the same class on the same location.
fn commutative(call: &Call<'_>, inst: Inst<'_>) -> Option<Operation> {
    let unused = !inst.is_used();
    let float = builtins::pointee(&call.params).is_none_or(builtins::is_float);
    let kind = match builtins::operation(&call.name)? {
        Operation::Add | Operation::Sub | Operation::Inc | Operation::Dec => Operation::Add,
        kind @ (Operation::Min | Operation::Max | Operation::And | Operation::Or | Operation::Xor) => kind,
        _ => return None,
    };
    (unused && !float).then_some(kind)
}

impl<'m> Analysis<'m> {
    fn new(functions: &[Function<'m>], racing: &[DebugLocation]) -> Analysis<'m> {
        let instructions: Vec<Inst<'_>> = functions.iter().flat_map(|f| f.instructions()).collect();
        let pointers = PointsTo::find(functions);
        let racing: BTreeSet<DebugLocation> = racing.iter().cloned().collect();
        let accesses = instructions.iter().filter(|i| is_access(**i));
        let access_locations: BTreeSet<DebugLocation> = accesses.filter_map(|i| i.location()).collect();
        let has_unlocated_race = racing.iter().any(|place| place.line == 0 || !access_locations.contains(place));
        let mut analysis = Analysis { instructions, racing, has_unlocated_race, pointers, written: Roots::new() };
        analysis.find_written();
        analysis
    }

    fn find_written(&mut self) {
        for inst in self.instructions.clone() {
            let operands = inst.operands();
            match inst.opcode() {
                Opcode::LLVMStore => self.written.extend(self.roots(operands[1])),
                Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
                    self.written.extend(self.roots(operands[0]));
                }
                _ => {
                    let Some(call) = Call::of(inst).filter(Call::writes) else { continue };
                    let roots: Vec<Root<'_>> = call.memory_operands().flat_map(|p| self.roots(p)).collect();
                    self.written.extend(roots);
                }
            }
        }
    }

    /// Finds memory whose contents depend on the order of atomics.
    fn find_atomics(&self, state: &mut OriginState<'m>) {
        let mut kinds: HashMap<Root<'m>, (Option<Operation>, Origin)> = HashMap::new();
        for inst in self.instructions.iter().copied() {
            let (roots, kind) = match (inst.opcode(), Call::of(inst)) {
                (Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg, _) => (self.roots(inst.operands()[0]), None),
                (_, Some(call)) if call.is_atomic() && call.writes() => {
                    let roots = call.memory_operands().flat_map(|p| self.roots(p)).collect();
                    (roots, commutative(&call, inst))
                }
                _ => continue,
            };
            for root in roots {
                let entry = kinds.entry(root).or_insert((kind, Origin::Atomic(inst.location())));
                if entry.0 != kind {
                    *entry = (None, Origin::Atomic(inst.location()));
                }
            }
        }
        for (root, (kind, origin)) in kinds {
            if kind.is_none() {
                self.add_contents([root].into(), &origin, state);
            }
        }
    }

    /// The objects that a pointer or an image may refer to.
    fn roots(&self, pointer: Value<'m>) -> Roots<'m> {
        let roots = self.pointers.roots(pointer);
        if roots.is_empty() { [Root::Unknown].into() } else { roots }
    }

    /// The origin of what `roots` may contain, if that can differ.
    fn origin_in(&self, roots: &Roots<'m>, state: &OriginState<'m>) -> Option<Origin> {
        let contents = |root: &Root<'m>| state.get(Location::Contents(*root));
        let direct = roots.iter().find_map(contents);
        let any_shared = || if roots.contains(&Root::Unknown) { state.get(Location::AnyShared) } else { None };
        let private = roots.iter().all(|root| self.pointers.is_private(root));
        let unknown_write = || if private { None } else { contents(&Root::Unknown) };
        direct.or_else(unknown_write).or_else(any_shared).map(|kept| kept.origin().clone())
    }

    /// The origin of a value read there if the read races.
    fn races(&self, inst: Inst<'m>, roots: &Roots<'m>) -> Option<Origin> {
        let location = inst.location();
        if location.as_ref().is_some_and(|l| self.racing.contains(l)) {
            return Some(Origin::Race(location));
        }
        let shared = |root: &Root<'m>| !self.pointers.is_private(root);
        let is_written = |root: &Root<'m>| {
            *root == Root::Unknown || self.written.contains(root) || self.written.contains(&Root::Unknown)
        };
        (self.has_unlocated_race && roots.iter().any(|root| shared(root) && is_written(root)))
            .then_some(Origin::Race(None))
    }

    fn add_contents(&self, roots: Roots<'m>, origin: &Origin, state: &mut OriginState<'m>) {
        for root in roots {
            let is_new = state.join(Location::Contents(root), Kept::First(origin.clone()));
            if is_new && !self.pointers.is_private(&root) {
                state.join(Location::AnyShared, Kept::Least(origin.clone()));
            }
        }
    }

    /// The race that an access is part of.
    fn race(&self, inst: Inst<'m>) -> Option<Origin> {
        inst.location().filter(|l| self.racing.contains(l)).map(|l| Origin::Race(Some(l)))
    }

    /// Returns the origin of a builtin's result, and adds that of what it writes.
    fn builtin(&self, inst: Inst<'m>, call: &Call<'m>, state: &mut OriginState<'m>) -> Option<Origin> {
        let places: Vec<Roots<'_>> = call.memory_operands().map(|p| self.roots(p)).collect();
        let read = places.iter().find_map(|roots| self.races(inst, roots).or_else(|| self.origin_in(roots, state)));
        let operand_origin = origin_of(&call.operands, state);
        // An operand that can differ affects what an atomic leaves in memory.
        let (value, written) = match call.is_atomic() {
            true => (Some(Origin::Atomic(inst.location())), operand_origin.or_else(|| self.race(inst))),
            false => {
                let origin = operand_origin.or(read);
                (origin.clone(), origin)
            }
        };
        if let Some(origin) = written.filter(|_| call.writes()) {
            places.into_iter().for_each(|roots| self.add_contents(roots, &origin, state));
        }
        value
    }

    fn flows(&self, state: &OriginState<'m>) -> Vec<Flow> {
        let mut found: Vec<Flow> = self.instructions.iter().filter_map(|inst| flow(*inst, state)).collect();
        found.sort_by(|a, b| (&a.location, a).cmp(&(&b.location, b)));
        found.dedup_by(|a, b| a.sink == b.sink && a.location == b.location);
        found
    }
}

impl<'m> interprocedural::Analysis<'m> for Analysis<'m> {
    type Location = Location<'m>;
    type Element = Kept;

    fn value(value: Value<'m>) -> Location<'m> {
        Location::Value(value)
    }

    fn transfer(&self, place: Place<'m>, operands: &[Value<'m>], state: &mut OriginState<'m>) -> Option<Kept> {
        let inst = place.inst;
        let origin = match inst.opcode() {
            Opcode::LLVMLoad => {
                let roots = self.roots(operands[0]);
                let origin = self.races(inst, &roots).or_else(|| self.origin_in(&roots, state));
                origin.or_else(|| origin_of(operands, state))
            }
            Opcode::LLVMStore => {
                if let Some(origin) = self.race(inst).or_else(|| origin_of(operands, state)) {
                    self.add_contents(self.roots(operands[1]), &origin, state);
                }
                None
            }
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => Some(Origin::Atomic(inst.location())),
            Opcode::LLVMCall => Call::of(inst).and_then(|call| self.builtin(inst, &call, state)),
            _ => origin_of(operands, state),
        };
        origin.map(Kept::First)
    }

    fn argument(&self, _: Place<'m>, argument: Value<'m>, state: &OriginState<'m>) -> Option<Kept> {
        origin_of(&[argument], state).map(Kept::Last)
    }

    fn returned(&self, value: Value<'m>, state: &OriginState<'m>) -> Option<Kept> {
        origin_of(&[value], state).map(Kept::First)
    }

    /// Has the call visited in every round, so that the last call decides on the origins of the parameters.
    fn call(&self, _: Place<'m>, _: Function<'m>, state: &mut OriginState<'m>) -> Option<Kept> {
        state.revisit();
        None
    }
}

/// The origin of one of the values that can differ.
fn origin_of<'m>(values: &[Value<'m>], state: &OriginState<'m>) -> Option<Origin> {
    values.iter().find_map(|v| state.get(Location::Value(*v))).map(|kept| kept.origin().clone())
}

fn flow<'m>(inst: Inst<'m>, state: &OriginState<'m>) -> Option<Flow> {
    let operands = inst.operands();
    let (sink, deciding): (Sink, Vec<Value<'m>>) = match inst.opcode() {
        Opcode::LLVMLoad | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => (Sink::Address, vec![operands[0]]),
        Opcode::LLVMStore => (Sink::Address, vec![operands[1]]),
        Opcode::LLVMBr | Opcode::LLVMSwitch | Opcode::LLVMIndirectBr => (Sink::Branch, vec![*operands.first()?]),
        Opcode::LLVMSDiv | Opcode::LLVMUDiv | Opcode::LLVMSRem | Opcode::LLVMURem => (Sink::Divisor, vec![operands[1]]),
        Opcode::LLVMCall => {
            let call = Call::of(inst)?;
            if call.is_barrier() {
                (Sink::Barrier, call.operands)
            } else {
                (Sink::Address, call.address_operands().iter().copied().chain(call.memory_operands()).collect())
            }
        }
        _ => return None,
    };
    let origin = origin_of(&deciding, state)?;
    Some(Flow { sink, location: inst.location(), origin })
}

/// Returns whether an instruction may access memory that work-items share.
fn is_access(inst: Inst<'_>) -> bool {
    match inst.opcode() {
        Opcode::LLVMLoad | Opcode::LLVMStore | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
        Opcode::LLVMCall => Call::of(inst).is_some_and(|call| call.memory_operands().next().is_some()),
        _ => false,
    }
}
