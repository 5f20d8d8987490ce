//! Inserts marks: calls at the places where outcomes are observed, for analyses that read the module instead
//! of running it.
//!
//! `__kassay_mark(goal, holds)` has no body. An execution that reaches a mark with a true `holds` covers the
//! goal, and an outcome is covered only by such executions, so that input searches and infeasibility proofs only
//! need to consider marks.

use std::collections::BTreeMap;

use inkwell::module::Module;
use kassay_base::error::{Error, Result};

use super::decision_paths::DecisionPaths;
use super::implication::loop_edge;
use crate::cfg::decisions::Event;
use crate::cfg::graph::Edge;
use crate::cfg::indices::{BlockIndex, FunctionIndex};
use crate::cfg::loops::Loop;
use crate::cfg::sites::{Fact, LoopClass, Sites};
use crate::kernel::canonical;
use crate::llvm::assumptions::drop_woven_effects;
use crate::llvm::{Block, Builder, Function, Inst, IntPredicate, Type, Value, View};

/// The function that marks call, with the number of a goal and whether it is covered.
pub const MARK: &str = "__kassay_mark";

/// Weaves a mark for every fact of the `wanted` outcomes (indices of a site and of its outcome) into the canonical form
/// that `sites` were read from. Goals are numbered by their index in `wanted`.
///
/// # Errors
/// `Internal` if the place of a fact is not in the module, or the woven module does not verify.
pub fn weave(module: &Module<'_>, sites: &Sites, wanted: &[(usize, usize)]) -> Result<()> {
    let view = View::of(module);
    let weaver = MarkWeaver::new(view);
    let mut functions: Vec<FunctionMarks> = Vec::new();
    for (f, function) in FunctionIndex::enumerate(&sites.functions) {
        let name = &function.cfg.function;
        let found = view.function(name).ok_or_else(|| missing(&format!("function {name}")))?;
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
        function.weave(&weaver, sites);
    }
    drop_woven_effects(View::of(module));
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
struct ObservedBoolean<'m> {
    goal: u32,
    before: Inst<'m>,
    value: Value<'m>,
    truth: bool,
    /// If present, the goal is covered only if the branch at `before` takes this successor.
    required_successor: Option<usize>,
}

/// All marks of a function.
struct FunctionMarks<'s, 'm> {
    function: Function<'m>,
    index: FunctionIndex,
    blocks: Vec<Block<'m>>,
    /// Those of the unchanged function, by block.
    insts: Vec<Vec<Inst<'m>>>,
    observed: Vec<ObservedBoolean<'m>>,
    /// Unconditional marks before these instructions.
    reached: Vec<(Inst<'m>, u32)>,
    edges: BTreeMap<Edge, Vec<EdgeAction>>,
    /// By loop: where its count is reset, and where it is incremented if not on an edge.
    counts: BTreeMap<usize, (Vec<Inst<'m>>, Option<Inst<'m>>)>,
    /// By decision: the goals that are test vectors of it, with the numbers of their paths.
    vectors: BTreeMap<usize, (DecisionPaths<'s, 'm>, Vec<(u32, u32)>)>,
}

impl<'s, 'm> FunctionMarks<'s, 'm> {
    fn new(function: Function<'m>, index: FunctionIndex) -> FunctionMarks<'s, 'm> {
        FunctionMarks {
            function,
            index,
            blocks: function.blocks(),
            insts: function.instructions_by_block(),
            observed: Vec::new(),
            reached: Vec::new(),
            edges: BTreeMap::new(),
            counts: BTreeMap::new(),
            vectors: BTreeMap::new(),
        }
    }

    fn instruction(&self, block: BlockIndex, index: usize) -> Result<Inst<'m>> {
        let found = self.insts.get(block.0).and_then(|insts| insts.get(index)).copied();
        found.ok_or_else(|| missing("an instruction"))
    }

    fn resolve(&mut self, goal: u32, fact: Fact, sites: &'s Sites) -> Result<()> {
        let function = &sites.functions[self.index];
        match fact {
            Fact::Event(Event::Edge(edge)) => self.edges.entry(edge).or_default().push(EdgeAction::Mark(goal)),
            Fact::Event(Event::Select { block, instruction, truth }) => {
                let select = self.instruction(block, instruction)?;
                let condition = *select.operands().first().ok_or_else(|| missing("a condition"))?;
                self.observed.push(ObservedBoolean {
                    goal,
                    before: select,
                    value: condition,
                    truth,
                    required_successor: None,
                });
            }
            Fact::Event(Event::PhiOperand { block, phi, truth }) => {
                let user = self.instruction(phi.0, phi.1)?;
                let value = user.incoming_from(self.blocks[block]).ok_or_else(|| missing("an operand"))?;
                let terminator = self.blocks[block].terminator();
                let required_successor = terminator.branch_condition().and_then(|_| {
                    terminator.successors().iter().position(|successor| *successor == self.blocks[phi.0])
                });
                self.observed.push(ObservedBoolean { goal, before: terminator, value, truth, required_successor });
            }
            Fact::Block(block) => {
                let block = self.blocks.get(block.0).ok_or_else(|| missing("a block"))?;
                self.reached.push((block.first_insertion_point(), goal));
            }
            Fact::Barrier(barrier) => {
                let (block, instruction, _) = function.barriers.get(barrier).ok_or_else(|| missing("a barrier"))?;
                self.reached.push((self.instruction(*block, *instruction)?, goal));
            }
            Fact::Vector(decision, path) => {
                if let Some((_, goals)) = self.vectors.get_mut(&decision) {
                    goals.push((goal, path));
                } else {
                    let evaluation = function.compound.get(decision).and_then(|d| d.evaluation.as_ref().ok());
                    let paths = evaluation.and_then(|evaluation| DecisionPaths::resolve(evaluation, &self.insts));
                    let paths = paths.ok_or_else(|| missing("a condition"))?;
                    self.vectors.insert(decision, (paths, vec![(goal, path)]));
                }
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
        let entries = l.entries(cfg).into_iter().map(|e| self.blocks[e.block].terminator()).collect();
        let iterate = match l.body_entry() {
            Some(edge) => {
                self.edges.entry(edge).or_default().push(EdgeAction::Iterate(number));
                None
            }
            None => Some(self.blocks[l.header].first_insertion_point()),
        };
        self.counts.insert(number, (entries, iterate));
    }

    fn weave(self, weaver: &MarkWeaver<'m>, sites: &Sites) {
        let builder = &weaver.builder;
        // Splitting an edge rebuilds phis, so values that may be phis are used first.
        for (paths, goals) in self.vectors.values() {
            let variable = weaver.counter(self.function);
            paths.weave(builder, variable, 0, &mut |builder, ended| {
                for (goal, path) in goals {
                    let is_it = builder.icmp(IntPredicate::LLVMIntEQ, ended.path, weaver.number(*path), "");
                    weaver.mark(*goal, ended.holds.map_or(is_it, |holds| builder.and(holds, is_it, "")));
                }
            });
        }
        for observed in self.observed {
            weaver.observed(&observed);
        }
        for (before, goal) in self.reached {
            builder.before(before);
            weaver.mark(goal, weaver.truth());
        }
        let mut counters = BTreeMap::new();
        for (number, (entries, iterate)) in self.counts {
            let counter = weaver.counter(self.function);
            for terminator in entries {
                builder.before(terminator);
                weaver.store(counter, weaver.number(0));
            }
            if let Some(at) = iterate {
                builder.before(at);
                weaver.iterate(counter);
            }
            counters.insert(number, counter);
        }
        let cfg = &sites.functions[self.index].cfg;
        for (edge, actions) in &self.edges {
            let (source, target) = (self.blocks[edge.block], self.blocks[cfg.target(*edge)]);
            let between = target.insert_before("kassay.mark");
            builder.at_end(between);
            builder.set_location(None);
            let end = builder.br(target);
            source.terminator().set_successor(edge.successor as u32, between);
            target.redirect_phis(source, between);
            for action in actions {
                builder.before(end);
                match action {
                    EdgeAction::Mark(goal) => weaver.mark(*goal, weaver.truth()),
                    EdgeAction::Iterate(number) => weaver.iterate(counters[number]),
                    EdgeAction::Leave(number, class, goal) => weaver.leave(counters[number], *class, *goal),
                }
            }
        }
    }
}

/// Returns the function [`MARK`], which is declared in the module if necessary.
pub(super) fn mark_function(view: View<'_>) -> Function<'_> {
    let types = view.types();
    view.function_or_declared(MARK, types.void().function(&[types.int(32), types.bool()], false))
}

/// Inserts the marks of outcomes into a module.
struct MarkWeaver<'m> {
    builder: Builder<'m>,
    int: Type<'m>,
    function: Function<'m>,
}

impl<'m> MarkWeaver<'m> {
    /// Declares [`MARK`] in the module if necessary.
    fn new(view: View<'m>) -> MarkWeaver<'m> {
        MarkWeaver { builder: view.builder(), int: view.int_type(32), function: mark_function(view) }
    }

    /// Returns the constant true.
    fn truth(&self) -> Value<'m> {
        self.builder.types().bool().int(1)
    }

    fn number(&self, n: u32) -> Value<'m> {
        self.int.int(u64::from(n))
    }

    /// Builds a mark at the builder's position.
    fn mark(&self, goal: u32, holds: Value<'m>) {
        self.builder.call(self.function, &[self.number(goal), holds], "");
    }

    fn observed(&self, observed: &ObservedBoolean<'m>) {
        self.builder.before(observed.before);
        let right = |value: Value<'m>, truth| if truth { value } else { self.builder.not(value, "") };
        let holds = right(observed.value, observed.truth);
        let holds = match observed.required_successor {
            None => holds,
            Some(successor) => {
                let condition = observed.before.condition().expect("a successor is required of a conditional branch");
                self.builder.and(holds, right(condition, successor == 0), "")
            }
        };
        self.mark(observed.goal, holds);
    }

    /// Adds a variable, zero at first, at the entry's start, where allocations belong.
    fn counter(&self, function: Function<'m>) -> Value<'m> {
        self.builder.before(function.entry().walk().next().expect("the entry has a terminator"));
        let counter = self.builder.alloca(self.int, "kassay.count").value();
        self.store(counter, self.number(0));
        counter
    }

    fn store(&self, counter: Value<'m>, value: Value<'m>) {
        self.builder.store(value, counter);
    }

    fn load(&self, counter: Value<'m>) -> Value<'m> {
        self.builder.load(self.int, counter, "").value()
    }

    fn iterate(&self, counter: Value<'m>) {
        let more = self.builder.add(self.load(counter), self.number(1), "");
        self.store(counter, more);
    }

    fn leave(&self, counter: Value<'m>, class: LoopClass, goal: u32) {
        let (predicate, than) = match class {
            LoopClass::Zero => (IntPredicate::LLVMIntEQ, 0),
            LoopClass::One => (IntPredicate::LLVMIntEQ, 1),
            // A boundary is shown by an edge, so it is never decided here.
            LoopClass::Many | LoopClass::Boundary => (IntPredicate::LLVMIntUGT, 1),
        };
        let holds = self.builder.icmp(predicate, self.load(counter), self.number(than), "");
        self.mark(goal, holds);
    }
}
