//! Inserts marks: calls at the places where outcomes are observed, for analyses that read the module instead
//! of running it.
//!
//! `__kassay_mark(goal, holds)` has no body. An execution that reaches a mark with a true `holds` covers the
//! goal, and an outcome is covered only by such executions, so that input searches and infeasibility proofs only
//! need to consider marks.

use std::collections::BTreeMap;

use inkwell::module::Module;
use llvm_sys::LLVMIntPredicate;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::coverage::drop_effect_attributes;
use super::implication::loop_edge;
use super::mutants::ir_tools::{self, Tools};
use crate::cfg::decisions::Event;
use crate::cfg::graph::Edge;
use crate::cfg::loops::Loop;
use crate::cfg::sites::{Fact, LoopClass, Sites};
use crate::error::{Error, Result};
use crate::kernel::canonical;
use crate::kernel::ir::{self, Block, Function, Inst};

/// The function that marks call, with the number of a goal and whether it is covered.
pub const MARK: &str = "__kassay_mark";

/// Weaves a mark for every fact of the `wanted` outcomes (indices of a site and of its outcome) into the canonical form
/// that `sites` were read from. Goals are numbered by their index in `wanted`.
///
/// # Errors
/// `Internal` if the place of a fact is not in the module, or the woven module does not verify.
pub fn weave(module: &Module<'_>, sites: &Sites, wanted: &[(usize, usize)]) -> Result<()> {
    let marker = Marker::new(module);
    let mut functions: Vec<FunctionMarks> = Vec::new();
    for (f, function) in sites.functions.iter().enumerate() {
        let name = &function.cfg.function;
        let found = ir::function(module, name).ok_or_else(|| missing(&format!("function {name}")))?;
        functions.push(FunctionMarks::new(found, f));
    }
    // Positions refer to the unchanged module, so all are resolved before anything is inserted.
    for (goal, (site, outcome)) in wanted.iter().enumerate() {
        let outcome = sites.sites.get(*site).and_then(|s| s.outcomes.get(*outcome));
        let outcome = outcome.ok_or_else(|| missing("an outcome"))?;
        for (f, fact) in &outcome.facts {
            functions[*f].resolve(goal as u32, *fact, sites)?;
        }
    }
    for function in functions {
        function.weave(&marker, sites);
    }
    drop_effect_attributes(module);
    canonical::verify(module, "weaving marks")
}

fn missing(what: &str) -> Error {
    Error::internal(format!("{what} is not in the module"))
}

/// An action on an edge.
enum EdgeAction {
    Mark(u32),
    /// Counts an iteration: the edge enters the loop's body.
    Iterate(usize),
    /// The edge leaves the loop: the goal is covered if the iteration count is of this class.
    Leave(usize, LoopClass, u32),
}

/// A boolean that decides whether a goal is covered.
struct ObservedBoolean {
    goal: u32,
    before: LLVMValueRef,
    value: LLVMValueRef,
    truth: bool,
    /// If present, the goal is covered only if the branch at `before` takes this successor.
    required_successor: Option<usize>,
}

/// All marks of a function.
struct FunctionMarks {
    function: Function,
    index: usize,
    blocks: Vec<Block>,
    observed: Vec<ObservedBoolean>,
    /// Unconditional marks before these instructions.
    reached: Vec<(LLVMValueRef, u32)>,
    edges: BTreeMap<Edge, Vec<EdgeAction>>,
    /// By loop: where its count is reset, and where it is incremented if not on an edge.
    counts: BTreeMap<usize, (Vec<LLVMValueRef>, Option<LLVMValueRef>)>,
}

impl FunctionMarks {
    fn new(function: Function, index: usize) -> FunctionMarks {
        FunctionMarks {
            function,
            index,
            blocks: function.blocks(),
            observed: Vec::new(),
            reached: Vec::new(),
            edges: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    fn instruction(&self, block: usize, index: usize) -> Result<Inst> {
        let found = self.blocks.get(block).and_then(|b| b.instructions().get(index).copied());
        found.ok_or_else(|| missing("an instruction"))
    }

    fn resolve(&mut self, goal: u32, fact: Fact, sites: &Sites) -> Result<()> {
        let function = &sites.functions[self.index];
        match fact {
            Fact::Event(Event::Edge(edge)) => self.edges.entry(edge).or_default().push(EdgeAction::Mark(goal)),
            Fact::Event(Event::Select { block, instruction, truth }) => {
                let select = self.instruction(block, instruction)?;
                let condition = *select.operands().first().ok_or_else(|| missing("a condition"))?;
                self.observed.push(ObservedBoolean {
                    goal,
                    before: select.0,
                    value: condition,
                    truth,
                    required_successor: None,
                });
            }
            Fact::Event(Event::PhiOperand { block, phi, truth }) => {
                let user = self.instruction(phi.0, phi.1)?;
                let value = ir_tools::incoming(user.0, self.blocks[block]).ok_or_else(|| missing("an operand"))?;
                let terminator = self.blocks[block].terminator();
                let required_successor = terminator.branch_condition().and_then(|_| {
                    terminator.successors().iter().position(|successor| *successor == self.blocks[phi.0])
                });
                self.observed.push(ObservedBoolean { goal, before: terminator.0, value, truth, required_successor });
            }
            Fact::Block(block) => {
                let block = self.blocks.get(block).ok_or_else(|| missing("a block"))?;
                self.reached.push((block.first_insertion_point().0, goal));
            }
            Fact::Barrier(barrier) => {
                let (block, instruction, _) = function.barriers.get(barrier).ok_or_else(|| missing("a barrier"))?;
                self.reached.push((self.instruction(*block, *instruction)?.0, goal));
            }
            Fact::Loop(number, class) => {
                let l = function.loops.get(number).ok_or_else(|| missing("a loop"))?;
                match loop_edge(l, class) {
                    Some(edge) => self.edges.entry(edge).or_default().push(EdgeAction::Mark(goal)),
                    None => {
                        self.count(number, l, sites);
                        for exit in l.exits(&function.cfg) {
                            self.edges.entry(exit).or_default().push(EdgeAction::Leave(number, class, goal));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives a loop an iteration counter.
    fn count(&mut self, number: usize, l: &Loop, sites: &Sites) {
        if self.counts.contains_key(&number) {
            return;
        }
        let cfg = &sites.functions[self.index].cfg;
        let entries = l.entries(cfg).into_iter().map(|e| self.blocks[e.block].terminator().0).collect();
        let iterate = match l.body_entry() {
            Some(edge) => {
                self.edges.entry(edge).or_default().push(EdgeAction::Iterate(number));
                None
            }
            None => Some(self.blocks[l.header].first_insertion_point().0),
        };
        self.counts.insert(number, (entries, iterate));
    }

    fn weave(self, marker: &Marker, sites: &Sites) {
        // Splitting an edge rebuilds phis, so values that may be phis are used first.
        for observed in &self.observed {
            marker.observed(observed);
        }
        for (before, goal) in &self.reached {
            marker.tools.before(*before);
            marker.mark(*goal, marker.truth());
        }
        let mut counters = BTreeMap::new();
        for (number, (entries, iterate)) in &self.counts {
            let counter = marker.counter(self.function);
            for terminator in entries {
                marker.tools.before(*terminator);
                marker.store(counter, marker.tools.number(0));
            }
            if let Some(at) = iterate {
                marker.tools.before(*at);
                marker.iterate(counter);
            }
            counters.insert(*number, counter);
        }
        let cfg = &sites.functions[self.index].cfg;
        for (edge, actions) in &self.edges {
            let (source, target) = (self.blocks[edge.block], self.blocks[cfg.target(*edge)]);
            let (between, end) = marker.tools.passing(target, target, c"kassay.mark");
            // SAFETY: alive; the new block takes the edge's place in the terminator, and in the target's phis.
            unsafe { LLVMSetSuccessor(source.terminator().0, edge.successor as u32, between.0) };
            marker.tools.redirect_phis(target, source, between);
            for action in actions {
                marker.tools.before(end);
                match action {
                    EdgeAction::Mark(goal) => marker.mark(*goal, marker.truth()),
                    EdgeAction::Iterate(number) => marker.iterate(counters[number]),
                    EdgeAction::Leave(number, class, goal) => marker.leave(counters[number], *class, *goal),
                }
            }
        }
    }
}

/// Inserts marks into a module.
pub(super) struct Marker {
    pub(super) tools: Tools,
    ty: LLVMTypeRef,
    function: LLVMValueRef,
}

impl Marker {
    /// Declares [`MARK`] in the module if necessary.
    pub(super) fn new(module: &Module<'_>) -> Marker {
        let tools = Tools::new(module);
        let name = std::ffi::CString::new(MARK).unwrap_or_default();
        // SAFETY: the module and its context are alive as long as the marker.
        let (ty, function) = unsafe {
            let mut params = [tools.int(), tools.bool()];
            let void = LLVMVoidTypeInContext(tools.context);
            let ty = LLVMFunctionType(void, params.as_mut_ptr(), params.len() as u32, 0);
            let known = LLVMGetNamedFunction(tools.module, name.as_ptr());
            (ty, if known.is_null() { LLVMAddFunction(tools.module, name.as_ptr(), ty) } else { known })
        };
        Marker { tools, ty, function }
    }

    /// The constant true.
    pub(super) fn truth(&self) -> LLVMValueRef {
        // SAFETY: the type is alive.
        unsafe { LLVMConstInt(self.tools.bool(), 1, 0) }
    }

    /// Builds a mark at the builder's position.
    pub(super) fn mark(&self, goal: u32, holds: LLVMValueRef) {
        let mut arguments = [self.tools.number(goal), holds];
        // SAFETY: alive; the arguments are what the function takes.
        unsafe {
            LLVMBuildCall2(self.tools.builder, self.ty, self.function, arguments.as_mut_ptr(), 2, c"".as_ptr());
        }
    }

    fn observed(&self, observed: &ObservedBoolean) {
        self.tools.before(observed.before);
        // SAFETY: alive; the value and the branch's condition dominate the builder's place.
        let holds = unsafe {
            let right = |value, truth| match truth {
                true => value,
                false => LLVMBuildNot(self.tools.builder, value, c"".as_ptr()),
            };
            let holds = right(observed.value, observed.truth);
            match observed.required_successor {
                None => holds,
                Some(successor) => {
                    let goes = right(LLVMGetCondition(observed.before), successor == 0);
                    LLVMBuildAnd(self.tools.builder, holds, goes, c"".as_ptr())
                }
            }
        };
        self.mark(observed.goal, holds);
    }

    fn counter(&self, function: Function) -> LLVMValueRef {
        // SAFETY: alive; at the entry's start, where allocations belong.
        unsafe {
            self.tools.before(LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function.0)));
            let counter = LLVMBuildAlloca(self.tools.builder, self.tools.int(), c"kassay.count".as_ptr());
            self.store(counter, self.tools.number(0));
            counter
        }
    }

    fn store(&self, counter: LLVMValueRef, value: LLVMValueRef) {
        // SAFETY: alive; the counter holds an integer.
        unsafe { LLVMBuildStore(self.tools.builder, value, counter) };
    }

    fn load(&self, counter: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: as above.
        unsafe { LLVMBuildLoad2(self.tools.builder, self.tools.int(), counter, c"".as_ptr()) }
    }

    fn iterate(&self, counter: LLVMValueRef) {
        let count = self.load(counter);
        // SAFETY: alive; both are integers.
        let more = unsafe { LLVMBuildAdd(self.tools.builder, count, self.tools.number(1), c"".as_ptr()) };
        self.store(counter, more);
    }

    fn leave(&self, counter: LLVMValueRef, class: LoopClass, goal: u32) {
        let (predicate, than) = match class {
            LoopClass::Zero => (LLVMIntPredicate::LLVMIntEQ, 0),
            LoopClass::One => (LLVMIntPredicate::LLVMIntEQ, 1),
            // A boundary is shown by an edge, so it is never decided here.
            LoopClass::Many | LoopClass::Boundary => (LLVMIntPredicate::LLVMIntUGT, 1),
        };
        let count = self.load(counter);
        // SAFETY: alive; both are integers.
        let holds =
            unsafe { LLVMBuildICmp(self.tools.builder, predicate, count, self.tools.number(than), c"".as_ptr()) };
        self.mark(goal, holds);
    }
}
