//! Finds the instructions that belong to a source range, and those with effects.

use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeIndex};

use crate::cfg::sites::FunctionSites;
use crate::instrument::mutants::Place;
use crate::kernel::ast::{Function, Range};
use crate::kernel::builtins::Builtin;
use crate::kernel::ir::{self, DebugLocation, Inst};
use crate::mutation::subject::Subject;

use super::text;

/// A function of the subject with its instructions.
pub struct Body<'a> {
    /// Its position in `Sites::functions`.
    pub function: usize,
    pub sites: &'a FunctionSites,
    /// The function in the syntax tree, if there is one.
    pub written: Option<&'a Function>,
    /// Instructions by block.
    pub blocks: Vec<Vec<Inst>>,
}

/// Returns all functions of a subject.
pub fn bodies<'a>(subject: &Subject<'a>) -> Vec<Body<'a>> {
    let read = |(function, sites): (usize, &'a FunctionSites)| {
        let name = &sites.cfg.function;
        let body = ir::function(subject.module, name)?;
        let blocks = body.blocks().into_iter().map(|b| b.instructions()).collect();
        Some(Body { function, sites, written: subject.ast.and_then(|ast| ast.function(name)), blocks })
    };
    subject.sites.functions.iter().enumerate().filter_map(read).collect()
}

impl Body<'_> {
    /// Returns the function's name in the IR.
    pub fn name(&self) -> &str {
        &self.sites.cfg.function
    }

    /// Returns the reachable instructions, with their places.
    pub fn instructions(&self) -> impl Iterator<Item = (Place, Inst)> + '_ {
        let reached = self.blocks.iter().enumerate().filter(|(b, _)| self.sites.cfg.reachable[*b]);
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
    pub fn terminator(&self, block: usize) -> Place {
        Place { function: self.function, block, instruction: self.blocks[block].len() - 1 }
    }

    /// Returns the instruction at a place.
    pub fn inst(&self, place: Place) -> Inst {
        self.blocks[place.block][place.instruction]
    }

    /// Returns the instructions with effects (stores, calls) that belong to a source range.
    pub fn effects_in(&self, range: &Range) -> Vec<Place> {
        let Some(written) = self.written else { return Vec::new() };
        let inside = |place: &Place| self.location(*place).is_some_and(|at| text::contains(written, range, at));
        self.instructions()
            .filter(|(place, inst)| has_effects(*inst) && inside(place))
            .map(|(place, _)| place)
            .collect()
    }
}

/// Returns whether an instruction writes memory or does anything else but compute a value.
pub fn has_effects(inst: Inst) -> bool {
    match inst.opcode() {
        LLVMOpcode::LLVMStore | LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg | LLVMOpcode::LLVMFence => {
            true
        }
        LLVMOpcode::LLVMCall => !is_pure(inst),
        _ => false,
    }
}

/// Returns whether a call is known to write no memory.
fn is_pure(call: Inst) -> bool {
    // SAFETY: only called for calls of the subject's module, which is borrowed meanwhile; null attributes are checked.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(c"memory".as_ptr(), 6);
        let at_call = LLVMGetCallSiteEnumAttribute(call.0, LLVMAttributeFunctionIndex as LLVMAttributeIndex, kind);
        let callee = LLVMGetCalledValue(call.0);
        let at_callee = match LLVMIsAFunction(callee).is_null() {
            true => std::ptr::null_mut(),
            false => LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex as LLVMAttributeIndex, kind),
        };
        // Two bits for each kind of memory, the higher one for writing.
        let writes_nothing = |attribute: llvm_sys::prelude::LLVMAttributeRef| {
            !attribute.is_null() && LLVMGetEnumAttributeValue(attribute) & 0xaaaa_aaaa == 0
        };
        writes_nothing(at_call) || writes_nothing(at_callee)
    }
}

/// Returns the source name of the barrier or fence that a called (mangled) name denotes.
pub fn barrier_or_fence(callee: &str) -> Option<&'static str> {
    Builtin::of(callee)?.barrier_or_fence()
}
