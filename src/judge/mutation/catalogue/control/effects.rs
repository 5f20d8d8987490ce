//! Finds the instructions that belong to a source range, and those with effects.

use std::cell::OnceCell;

use kassay_ir::cfg::indices::{BlockIndex, FunctionIndex};
use kassay_ir::cfg::sites::FunctionSites;
use kassay_ir::instrument::mutants::Place;
use kassay_ir::kernel::ast::{Function, Range};
use kassay_ir::kernel::builtins::{self, Builtin, Family};
use kassay_ir::llvm::{Attribute, AttributeIndex, DebugLocation, Inst, Opcode};

use super::super::subject::Subject;
use super::text;

/// A function of the subject with its instructions.
pub struct Body<'a> {
    /// Its position in `Sites::functions`.
    pub function: FunctionIndex,
    /// Its sites and its control-flow graph.
    pub sites: &'a FunctionSites,
    /// The function in the syntax tree, if there is one.
    pub written: Option<&'a Function>,
    /// Instructions by block.
    pub blocks: Vec<Vec<Inst<'a>>>,
    /// The reachable instructions with effects, and whether they are barriers or fences; see [`Body::effects_in`].
    effects: OnceCell<Vec<(Place, bool)>>,
}

/// Returns all functions of a subject.
pub fn bodies<'a>(subject: &Subject<'a>) -> Vec<Body<'a>> {
    let read = |(function, sites): (FunctionIndex, &'a FunctionSites)| {
        let name = &sites.cfg.function;
        let body = subject.module.function(name)?;
        let blocks = body.blocks().into_iter().map(|b| b.instructions()).collect();
        Some(Body {
            function,
            sites,
            written: subject.ast.and_then(|ast| ast.function(name)),
            blocks,
            effects: OnceCell::new(),
        })
    };
    FunctionIndex::enumerate(&subject.sites.functions).filter_map(read).collect()
}

impl<'a> Body<'a> {
    /// Returns the function's name in the IR.
    pub fn name(&self) -> &str {
        &self.sites.cfg.function
    }

    /// Returns the reachable instructions, with their places.
    pub fn instructions(&self) -> impl Iterator<Item = (Place, Inst<'a>)> + '_ {
        let reached = BlockIndex::enumerate(&self.blocks).filter(|(b, _)| self.sites.cfg.reachable[*b]);
        reached.flat_map(move |(block, instructions)| {
            let place = move |instruction| Place { function: self.function, block, instruction };
            instructions.iter().enumerate().map(move |(i, inst)| (place(i), *inst))
        })
    }

    /// Returns the debug location of an instruction.
    pub fn location(&self, place: Place) -> Option<&DebugLocation> {
        self.sites.cfg.blocks[place.block].instructions[place.instruction].location.as_ref()
    }

    /// Returns the place of a block's terminator.
    pub fn terminator(&self, block: BlockIndex) -> Place {
        Place { function: self.function, block, instruction: self.blocks[block].len() - 1 }
    }

    /// Returns the instruction at a place.
    pub fn inst(&self, place: Place) -> Inst<'a> {
        self.blocks[place.block][place.instruction]
    }

    /// Returns the instructions with effects (stores, calls) that belong to a source range.
    pub fn effects_in(&self, range: &Range) -> Vec<Place> {
        self.within(range).map(|(place, _)| place).collect()
    }

    /// Returns whether a barrier or fence belongs to a source range.
    pub fn synchronises_in(&self, range: &Range) -> bool {
        self.within(range).any(|(_, synchronises)| synchronises)
    }

    fn within<'s>(&'s self, range: &'s Range) -> impl Iterator<Item = (Place, bool)> + 's {
        let inside = |written, place: Place| self.location(place).is_some_and(|at| text::contains(written, range, at));
        let synchronises = |inst: Inst<'_>| inst.callee().is_some_and(|callee| synchronises(&callee));
        let with_effects = || self.instructions().filter(|(_, inst)| has_effects(*inst));
        let find = || with_effects().map(|(place, inst)| (place, synchronises(inst))).collect();
        let all = self.written.map(|written| (written, self.effects.get_or_init(find).iter()));
        all.into_iter().flat_map(move |(written, all)| all.copied().filter(move |(place, _)| inside(written, *place)))
    }
}

/// Returns whether an instruction writes memory or does anything else but compute a value.
pub fn has_effects(inst: Inst<'_>) -> bool {
    match inst.opcode() {
        Opcode::LLVMStore | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg | Opcode::LLVMFence => true,
        Opcode::LLVMCall => !is_pure(inst),
        _ => false,
    }
}

/// Returns whether a call is known to write no memory.
fn is_pure(call: Inst<'_>) -> bool {
    let at_call = call.attributes(AttributeIndex::Function).get("memory");
    let at_callee = call.called_function().and_then(|f| f.attributes(AttributeIndex::Function).get("memory"));
    // Two bits for each kind of memory, the higher one for writing.
    let writes_nothing = |attribute: Attribute<'_>| attribute.number().is_some_and(|n| n & 0xaaaa_aaaa == 0);
    at_call.is_some_and(writes_nothing) || at_callee.is_some_and(writes_nothing) || asks_only(call)
}

/// Returns whether a call only asks for an id or a size. CUDA's headers do not say so of what they declare.
fn asks_only(call: Inst<'_>) -> bool {
    let family = call.callee().and_then(|callee| builtins::family(&callee));
    matches!(family, Some(Family::WorkItemId | Family::LaunchQuery | Family::SubGroupQuery))
}

/// Returns whether a callee is a barrier, of a work-group or of a sub-group, or a fence.
pub fn synchronises(callee: &str) -> bool {
    Builtin::of(callee).is_some_and(|builtin| builtin.is_barrier() || builtin.family() == Family::Fence)
}

/// Returns the source name of the barrier or fence that a called (mangled) name denotes.
pub fn barrier_or_fence(callee: &str) -> Option<&'static str> {
    Builtin::of(callee)?.barrier_or_fence()
}
