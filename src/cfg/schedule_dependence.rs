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

use super::points_to::{self, PointsTo, Root, Roots};
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
    Address,
    Branch,
    Barrier,
    /// The divisor of an integer division, which may trap.
    Divisor,
}

/// A value that can differ between interleavings and influences the kernel's behaviour.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    pub sink: Sink,
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
    let mut analysis = Analysis::new(functions, racing);
    while analysis.propagate() {}
    analysis.flows()
}

struct Analysis<'m> {
    functions: Vec<Function<'m>>,
    instructions: Vec<Inst<'m>>,
    racing: BTreeSet<DebugLocation>,
    /// Whether a racing access could not be located.
    has_unlocated_race: bool,
    pointers: PointsTo<'m>,
    written: Roots<'m>,
    /// The values that can differ, with their origins.
    values: HashMap<Value<'m>, Origin>,
    /// The memory whose contents can differ, with an origin.
    contents: HashMap<Root<'m>, Origin>,
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
    fn new(functions: Vec<Function<'m>>, racing: &[DebugLocation]) -> Analysis<'m> {
        let instructions: Vec<Inst<'_>> = functions.iter().flat_map(|f| f.instructions()).collect();
        let pointers = PointsTo::find(&functions);
        let racing: BTreeSet<DebugLocation> = racing.iter().cloned().collect();
        let accesses = instructions.iter().filter(|i| is_access(**i));
        let access_locations: BTreeSet<DebugLocation> = accesses.filter_map(|i| i.location()).collect();
        let has_unlocated_race = racing.iter().any(|place| place.line == 0 || !access_locations.contains(place));
        let mut analysis = Analysis {
            functions,
            instructions,
            racing,
            has_unlocated_race,
            pointers,
            written: Roots::new(),
            values: HashMap::new(),
            contents: HashMap::new(),
        };
        analysis.find_written();
        analysis.find_atomics();
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
    fn find_atomics(&mut self) {
        let mut kinds: HashMap<Root<'m>, (Option<Operation>, Origin)> = HashMap::new();
        for inst in self.instructions.clone() {
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
                self.contents.insert(root, origin);
            }
        }
    }

    /// The objects that a pointer or an image may refer to.
    fn roots(&self, pointer: Value<'m>) -> Roots<'m> {
        let roots = self.pointers.roots(pointer);
        if roots.is_empty() { [Root::Unknown].into() } else { roots }
    }

    fn origin_of(&self, values: &[Value<'m>]) -> Option<Origin> {
        values.iter().find_map(|v| self.values.get(v)).cloned()
    }

    /// The origin of what `roots` may contain, if that can differ.
    fn origin_in(&self, roots: &Roots<'m>) -> Option<Origin> {
        let direct = roots.iter().find_map(|root| self.contents.get(root));
        let shared = || self.contents.iter().filter(|(root, _)| !self.pointers.is_private(root)).map(|(_, o)| o).min();
        let any_shared = || if roots.contains(&Root::Unknown) { shared() } else { None };
        let private = roots.iter().all(|root| self.pointers.is_private(root));
        let unknown_write = || if private { None } else { self.contents.get(&Root::Unknown) };
        direct.or_else(unknown_write).or_else(any_shared).cloned()
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

    fn add_contents(&mut self, roots: Roots<'m>, origin: Origin) -> bool {
        let mut new = false;
        for root in roots {
            new |= !self.contents.contains_key(&root);
            self.contents.entry(root).or_insert_with(|| origin.clone());
        }
        new
    }

    /// Visits all instructions once; returns whether anything changed.
    fn propagate(&mut self) -> bool {
        let mut new = false;
        for position in 0..self.instructions.len() {
            let inst = self.instructions[position];
            let (value, wrote) = self.visit(inst);
            new |= wrote;
            if let Some(origin) = value {
                new |= !self.values.contains_key(&inst.value());
                self.values.entry(inst.value()).or_insert(origin);
            }
        }
        new
    }

    /// Returns the origin of the instruction's value if that can differ, and whether anything else changed.
    fn visit(&mut self, inst: Inst<'m>) -> (Option<Origin>, bool) {
        let operands = inst.operands();
        match inst.opcode() {
            Opcode::LLVMLoad => {
                let roots = self.roots(operands[0]);
                let origin = self.races(inst, &roots).or_else(|| self.origin_in(&roots));
                (origin.or_else(|| self.origin_of(&operands)), false)
            }
            Opcode::LLVMStore => {
                let racing = inst.location().filter(|l| self.racing.contains(l)).map(|l| Origin::Race(Some(l)));
                let Some(origin) = racing.or_else(|| self.origin_of(&operands)) else { return (None, false) };
                let roots = self.roots(operands[1]);
                (None, self.add_contents(roots, origin))
            }
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => (Some(Origin::Atomic(inst.location())), false),
            Opcode::LLVMCall => match Call::of(inst) {
                Some(call) => self.builtin(inst, &call),
                None => self.helper(inst, &operands),
            },
            _ => (self.origin_of(&operands), false),
        }
    }

    fn builtin(&mut self, inst: Inst<'m>, call: &Call<'m>) -> (Option<Origin>, bool) {
        let places: Vec<Roots<'_>> = call.memory_operands().map(|p| self.roots(p)).collect();
        let read = places.iter().find_map(|roots| self.races(inst, roots).or_else(|| self.origin_in(roots)));
        let operand_origin = self.origin_of(&call.operands);
        if call.is_atomic() {
            let value = Origin::Atomic(inst.location());
            // An operand that can differ affects what the atomic leaves in memory.
            let racing = inst.location().filter(|l| self.racing.contains(l)).map(|l| Origin::Race(Some(l)));
            let Some(origin) = operand_origin.or(racing).filter(|_| call.writes()) else { return (Some(value), false) };
            let new = places.into_iter().fold(false, |new, roots| self.add_contents(roots, origin.clone()) | new);
            return (Some(value), new);
        }
        let Some(origin) = operand_origin.or(read) else { return (None, false) };
        let mut new = false;
        if call.writes() {
            for roots in places {
                new |= self.add_contents(roots, origin.clone());
            }
        }
        (Some(origin), new)
    }

    fn helper(&mut self, inst: Inst<'m>, operands: &[Value<'m>]) -> (Option<Origin>, bool) {
        let Some(function) = inst.called_function().filter(|c| self.functions.contains(c)) else {
            return (None, false);
        };
        let mut new = false;
        for (param, argument) in function.params().into_iter().zip(operands) {
            if let Some(origin) = self.values.get(argument).cloned() {
                new |= self.values.insert(param, origin).is_none();
            }
        }
        (self.origin_of(&points_to::returns(function)), new)
    }

    fn flows(&self) -> Vec<Flow> {
        let mut found: Vec<Flow> = self.instructions.iter().filter_map(|inst| self.flow(*inst)).collect();
        found.sort_by(|a, b| (&a.location, a).cmp(&(&b.location, b)));
        found.dedup_by(|a, b| a.sink == b.sink && a.location == b.location);
        found
    }

    fn flow(&self, inst: Inst<'m>) -> Option<Flow> {
        let operands = inst.operands();
        let (sink, deciding): (Sink, Vec<Value<'m>>) = match inst.opcode() {
            Opcode::LLVMLoad | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => (Sink::Address, vec![operands[0]]),
            Opcode::LLVMStore => (Sink::Address, vec![operands[1]]),
            Opcode::LLVMBr | Opcode::LLVMSwitch | Opcode::LLVMIndirectBr => (Sink::Branch, vec![*operands.first()?]),
            Opcode::LLVMSDiv | Opcode::LLVMUDiv | Opcode::LLVMSRem | Opcode::LLVMURem => {
                (Sink::Divisor, vec![operands[1]])
            }
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
        let origin = self.origin_of(&deciding)?;
        Some(Flow { sink, location: inst.location(), origin })
    }
}

/// Returns whether an instruction may access memory that work-items share.
fn is_access(inst: Inst<'_>) -> bool {
    match inst.opcode() {
        Opcode::LLVMLoad | Opcode::LLVMStore | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
        Opcode::LLVMCall => Call::of(inst).is_some_and(|call| call.memory_operands().next().is_some()),
        _ => false,
    }
}
