//! Enumerates sites: the places of a kernel where something is to be covered, with stable ids.
//!
//! A site's id follows from the canonical form and the options alone (docs/coverage-metrics.md, "Positions and ids"):
//! function, kind, file name, line and column, and a number if several constructs share them (all code of a macro's
//! body has the position of the expansion).

use std::collections::HashMap;

use super::case_ranges;
use super::compound_decisions::{self, CompoundDecision};
use super::condition_graph::TestVector;
use super::decisions::{self, Condition, Decision, Event};
use super::dominance::Dominance;
use super::graph::{Cfg, InstKind, Kinds};
use super::indices::{BlockIndex, FunctionIndex};
use super::lines;
use super::loops::{self, Loop};
use super::origin::{self, Generator};
use super::short_circuits::ShortCircuits;
use super::statements;
use crate::kernel::ast::Ast;
use crate::kernel::builtins::{Builtin, Family};
use crate::kernel::constructs;
use crate::kernel::source::Sources;
use crate::llvm::{DebugLocation, Function, LAST_COLUMN, MetadataKind, View};

/// The metric that a site belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SiteKind {
    /// An outcome of a decision.
    Branch,
    /// An outcome of an operand of a short-circuit decision.
    Condition,
    /// A loop class of a loop.
    Loop,
    /// A barrier.
    Barrier,
    /// A statement of the source.
    Statement,
    /// A region of code between branch points (LIU 5.2).
    Region,
    /// A line of the source with code.
    Line,
    /// A decision of two conditions or more, whose outcomes are its test vectors (MC/DC).
    Decision,
}

impl SiteKind {
    /// All kinds, in the order of sites.
    pub const ALL: [SiteKind; 8] = [
        SiteKind::Branch,
        SiteKind::Condition,
        SiteKind::Loop,
        SiteKind::Barrier,
        SiteKind::Statement,
        SiteKind::Region,
        SiteKind::Line,
        SiteKind::Decision,
    ];

    /// Returns the kind with that spelling in results.
    pub fn of_name(name: &str) -> Option<SiteKind> {
        SiteKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The spelling in results.
    pub fn name(self) -> &'static str {
        match self {
            SiteKind::Branch => "branch",
            SiteKind::Condition => "condition",
            SiteKind::Loop => "loop",
            SiteKind::Barrier => "barrier",
            SiteKind::Statement => "statement",
            SiteKind::Region => "region",
            SiteKind::Line => "line",
            SiteKind::Decision => "decision",
        }
    }
}

/// A loop class (PENG 4.2.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoopClass {
    /// The body was not executed.
    Zero,
    /// The body was executed once.
    One,
    /// The body was executed more than once.
    Many,
    /// The condition became false.
    Boundary,
}

impl LoopClass {
    /// The spelling in results.
    pub fn name(self) -> &'static str {
        match self {
            LoopClass::Zero => "zero",
            LoopClass::One => "one",
            LoopClass::Many => "many",
            LoopClass::Boundary => "boundary",
        }
    }
}

/// An observation that shows that an outcome is covered, relative to a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fact {
    /// Control passed here, with this outcome.
    Event(Event),
    /// This block was executed.
    Block(BlockIndex),
    /// An entry of the loop (by its position in [`FunctionSites::loops`]) had this class.
    Loop(usize, LoopClass),
    /// The work-item passed the barrier (by its position in [`FunctionSites::barriers`]).
    Barrier(usize),
    /// The decision (by its position in [`FunctionSites::compound`]) was evaluated by the way with this number.
    Vector(usize, u32),
}

/// One thing to cover at a site.
#[derive(Debug, Clone)]
pub struct SiteOutcome {
    /// Name of the outcome in results.
    pub label: String,
    /// The outcome is covered if any of these holds. Each comes with its function.
    pub facts: Vec<(FunctionIndex, Fact)>,
}

/// A place in the source where something is to be covered.
#[derive(Debug, Clone)]
pub struct Site {
    /// Stable id: the same source and options give the same ids.
    pub id: String,
    /// The kind of the site.
    pub kind: SiteKind,
    /// The construct of the source, such as `if`; `branch` if it is unknown.
    pub construct: String,
    /// The function that contains it.
    pub function: FunctionIndex,
    /// `None` without debug information.
    pub location: Option<DebugLocation>,
    /// What is to be covered there.
    pub outcomes: Vec<SiteOutcome>,
}

/// One function with the analyses of it.
#[derive(Debug, Clone)]
pub struct FunctionSites {
    /// The function's control-flow graph.
    pub cfg: Cfg,
    /// Dominators of the graph.
    pub dominance: Dominance,
    /// The loops; facts refer to them by position.
    pub loops: Vec<Loop>,
    /// Decisions, in order of place.
    pub decisions: Vec<Decision>,
    /// Operands of short-circuit decisions, in order of place.
    pub conditions: Vec<Condition>,
    /// Decisions of two conditions or more, in order of place.
    pub compound: Vec<CompoundDecision>,
    /// Block, instruction and callee of each barrier.
    pub barriers: Vec<(BlockIndex, usize, String)>,
}

/// All sites of a kernel and the helpers it reaches.
#[derive(Debug, Clone, Default)]
pub struct Sites {
    /// The kernel first, then the helpers in the module's order.
    pub functions: Vec<FunctionSites>,
    /// Ordered by kind, then function, then place. Without those of kind [`SiteKind::Decision`] unless they were asked
    /// for ([`Sites::with_vectors`]), because recording them costs time.
    pub sites: Vec<Site>,
    /// The sites of [`FunctionSites::compound`], function by function.
    vector_sites: Vec<Site>,
    /// Whether statements and regions are included (they need the syntax tree).
    pub has_statements: bool,
    /// If lines are longer than debug locations have columns: the number of statements for which no code was found for
    /// that.
    left_out: Option<usize>,
    /// The tool that made the SPIR-V, if they are read from SPIR-V.
    pub generator: Option<Generator>,
}

impl Sites {
    /// Enumerates the sites of the canonical form of `entry`. `ast` is the syntax tree, if the kernel was
    /// given as source.
    pub fn read(
        module: &inkwell::module::Module<'_>,
        entry: &str,
        from_spirv: bool,
        ast: Option<&Ast>,
        sources: &Sources,
    ) -> Sites {
        let view = View::of(module);
        let kinds = Kinds::of(view);
        let mut bodies: Vec<Function<'_>> = view.functions().into_iter().filter(|f| f.has_body()).collect();
        bodies.sort_by_key(|f| f.name() != entry);
        let generator = Generator::of(module);
        let mut functions: Vec<FunctionSites> =
            bodies.iter().map(|f| read_function(*f, kinds, from_spirv, generator)).collect();
        for function in &mut functions {
            if let Some((ast, written)) = ast.and_then(|ast| Some((ast, ast.function(&function.cfg.function)?))) {
                case_ranges::join(&mut function.decisions, &constructs::of(ast, written));
            }
        }

        let mut builder = Builder { is_spirv: generator.is_some(), ids: HashMap::new(), sites: Vec::new() };
        for (f, function) in FunctionIndex::enumerate(&functions) {
            builder.decisions(f, function);
            builder.conditions(f, function);
            builder.loops(f, function, bodies[f], kinds.loops);
            builder.barriers(f, function);
        }
        let cfgs: Vec<&Cfg> = functions.iter().map(|f| &f.cfg).collect();
        let (mut are_too_wide, mut left_out) = (false, 0);
        if let Some(ast) = ast {
            for (f, cfg) in FunctionIndex::enumerate(&cfgs) {
                let found = statements::find(cfg, ast);
                (are_too_wide, left_out) = (are_too_wide || found.are_too_wide, left_out + found.left_out);
                for statement in found.statements {
                    builder.statement(f, &cfg.function, statement);
                }
            }
        }
        for ((file, line), blocks) in lines::find(&cfgs, sources) {
            let location = Some(DebugLocation { file, line, column: 1 });
            let facts = blocks.iter().map(|(f, b)| (*f, Fact::Block(*b))).collect();
            let outcomes = vec![SiteOutcome { label: "executed".into(), facts }];
            let function = blocks[0].0;
            builder.add(
                SiteKind::Line,
                "line",
                function,
                &functions[function].cfg.function,
                location,
                (BlockIndex::ENTRY, 0),
                outcomes,
            );
        }
        let mut sites = std::mem::take(&mut builder.sites);
        sites.sort_by_key(|site| (site.kind, site.function));
        FunctionIndex::enumerate(&functions).for_each(|(f, function)| builder.compound(f, function));
        let vector_sites = builder.sites;
        let left_out = are_too_wide.then_some(left_out);
        Sites { functions, sites, vector_sites, has_statements: ast.is_some(), left_out, generator }
    }

    /// Returns the sites with the test vectors of all decisions of two conditions or more, which MC/DC needs: a site
    /// for each in the order of [`FunctionSites::compound`], without outcomes if the decision is not measured.
    #[must_use]
    pub fn with_vectors(&self) -> Sites {
        let mut all = self.clone();
        if self.of_kind(SiteKind::Decision).next().is_none() {
            all.sites.extend(self.vector_sites.iter().cloned());
        }
        all
    }

    /// States what could not be read, and why.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = origin::describe(self.generator, self.functions.iter().map(|f| &f.cfg));
        if !self.has_statements {
            notes.push("statements and regions need the source's syntax tree: there are none here".to_owned());
        }
        if self.sites.iter().all(|s| s.location.is_none()) && !self.sites.is_empty() {
            notes.push("no debug information: sites say the block's number, and there are no lines".to_owned());
        }
        notes.extend(self.left_out.and_then(|left_out| self.without_columns(left_out)));
        notes
    }

    /// States what is lost of lines that are longer than debug locations have columns.
    fn without_columns(&self, left_out: usize) -> Option<String> {
        let is_without = |site: &&Site| site.location.as_ref().is_some_and(|at| at.line > 0 && at.column == 0);
        let without = self.sites.iter().filter(is_without).count();
        let count = |n: usize, what: &str| if n == 1 { format!("1 {what} is") } else { format!("{n} {what}s are") };
        (without + left_out > 0).then(|| {
            let (without, left_out) = (count(without, "site"), count(left_out, "statement"));
            format!(
                "LLVM records no columns beyond {LAST_COLUMN}: of what is further right on its line, {without} reported at column 0, and \
                 {left_out} left out; break the line to have them"
            )
        })
    }

    /// The sites of one kind.
    pub fn of_kind(&self, kind: SiteKind) -> impl Iterator<Item = &Site> {
        self.sites.iter().filter(move |s| s.kind == kind)
    }
}

fn read_function(
    function: Function<'_>,
    kinds: Kinds,
    from_spirv: bool,
    generator: Option<Generator>,
) -> FunctionSites {
    let (cfg, dominance) = origin::read_graph(function, kinds, generator);
    let circuits = ShortCircuits::find(&cfg, &dominance);
    let loops = loops::find(&cfg, &dominance, &circuits);
    let (decisions, conditions) = decisions::find(&cfg, &dominance, &circuits, &loops, from_spirv);
    let mut barriers = Vec::new();
    for (b, block) in BlockIndex::enumerate(&cfg.blocks).filter(|(b, _)| cfg.reachable[*b]) {
        for (i, inst) in block.instructions.iter().enumerate() {
            if let (InstKind::Call(name), false) = (&inst.kind, inst.is_of_library)
                && let Some(spelling) = barrier_name(name)
            {
                barriers.push((b, i, spelling.to_owned()));
            }
        }
    }
    let compound = compound_decisions::find(&cfg, &dominance, &circuits, &loops, &conditions);
    FunctionSites { cfg, dominance, loops, decisions, conditions, compound, barriers }
}

/// Returns the source spelling of a work-group barrier, from the (mangled) name of the callee.
fn barrier_name(callee: &str) -> Option<&'static str> {
    Builtin::of(callee).filter(|builtin| builtin.family() == Family::Barrier)?.barrier_or_fence()
}

struct Builder {
    /// Whether the module was SPIR-V.
    is_spirv: bool,
    /// The number of sites with each id so far.
    ids: HashMap<String, u32>,
    sites: Vec<Site>,
}

impl Builder {
    #[allow(clippy::too_many_arguments)]
    fn add(
        &mut self,
        kind: SiteKind,
        construct: &str,
        function: FunctionIndex,
        function_name: &str,
        location: Option<DebugLocation>,
        place: (BlockIndex, usize),
        outcomes: Vec<SiteOutcome>,
    ) {
        let location = location.filter(|l| l.line > 0);
        let at = match &location {
            Some(l) if kind == SiteKind::Line => format!("{}:{}", base_name(&l.file), l.line),
            Some(l) => format!("{}:{}:{}", base_name(&l.file), l.line, l.column),
            None if place.1 == usize::MAX => format!("block {}", place.0),
            None => format!("block {} instruction {}", place.0, place.1),
        };
        let mut id = match kind {
            SiteKind::Line => format!("line@{at}"),
            _ => format!("{function_name}.{}@{at}", kind.name()),
        };
        let count = self.ids.entry(id.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            id = format!("{id}#{count}");
        }
        self.sites.push(Site { id, kind, construct: construct.to_owned(), function, location, outcomes });
    }

    fn decisions(&mut self, f: FunctionIndex, function: &FunctionSites) {
        for d in &function.decisions {
            let outcomes = event_outcomes(f, &d.outcomes);
            self.add(SiteKind::Branch, d.construct, f, &function.cfg.function, d.location.clone(), d.place, outcomes);
        }
    }

    fn conditions(&mut self, f: FunctionIndex, function: &FunctionSites) {
        for c in &function.conditions {
            let outcomes = event_outcomes(f, &c.outcomes);
            self.add(SiteKind::Condition, "operand", f, &function.cfg.function, c.location.clone(), c.place, outcomes);
        }
    }

    fn compound(&mut self, f: FunctionIndex, function: &FunctionSites) {
        for (i, d) in function.compound.iter().enumerate() {
            let vectors = d.evaluation.as_ref().map(|evaluation| evaluation.graph.vectors()).unwrap_or_default();
            let outcome = |(way, vector): (u32, TestVector)| SiteOutcome {
                label: vector.text(),
                facts: vec![(f, Fact::Vector(i, way))],
            };
            let outcomes = (0..).zip(vectors).map(outcome).collect();
            self.add(SiteKind::Decision, d.construct, f, &function.cfg.function, d.location.clone(), d.place, outcomes);
        }
    }

    fn loops(&mut self, f: FunctionIndex, function: &FunctionSites, body: Function<'_>, loop_kind: MetadataKind) {
        let blocks = body.blocks();
        for (i, l) in function.loops.iter().enumerate() {
            let start = l
                .back_edges
                .iter()
                .find_map(|e| blocks[e.block].terminator().metadata_location(loop_kind))
                .or_else(|| {
                    // SPIR-V has no such metadata; the branch on the condition of a `for` or `while` is at its keyword.
                    let condition = l.condition.filter(|_| self.is_spirv && !l.body_first)?;
                    blocks[condition].terminator().location()
                })
                .or_else(|| {
                    let entry = l.entries(&function.cfg).first().copied()?;
                    function.cfg.blocks[entry.block].instructions.last()?.location.clone()
                })
                .or_else(|| function.cfg.blocks[l.header].condition_location.clone());
            let shown =
                |class: LoopClass| SiteOutcome { label: class.name().into(), facts: vec![(f, Fact::Loop(i, class))] };
            let skipped = l.guard.map(|edge| (f, Fact::Event(Event::Edge(edge))));
            let mut outcomes = vec![shown(LoopClass::One), shown(LoopClass::Many)];
            if !l.body_first {
                outcomes.insert(0, shown(LoopClass::Zero));
            } else if let Some(skipped) = skipped {
                outcomes.insert(0, SiteOutcome { label: LoopClass::Zero.name().into(), facts: vec![skipped] });
            }
            if l.condition.is_some() {
                let mut boundary = shown(LoopClass::Boundary);
                boundary.facts.extend(skipped);
                outcomes.push(boundary);
            }
            self.add(SiteKind::Loop, l.construct, f, &function.cfg.function, start, (l.header, 0), outcomes);
        }
    }

    fn barriers(&mut self, f: FunctionIndex, function: &FunctionSites) {
        for (i, (block, instruction, name)) in function.barriers.iter().enumerate() {
            let location = function.cfg.blocks[*block].instructions[*instruction].location.clone();
            let outcomes = vec![SiteOutcome { label: "all".into(), facts: vec![(f, Fact::Barrier(i))] }];
            let place = (*block, *instruction);
            self.add(SiteKind::Barrier, name, f, &function.cfg.function, location, place, outcomes);
        }
    }

    fn statement(&mut self, f: FunctionIndex, function: &str, statement: statements::Statement) {
        let location = Some(statement.location);
        let outcome = || vec![SiteOutcome { label: "executed".into(), facts: vec![(f, Fact::Block(statement.block))] }];
        let place = (statement.block, 0);
        if statement.starts_region {
            self.add(SiteKind::Region, "region", f, function, location.clone(), place, outcome());
        }
        self.add(SiteKind::Statement, statement.construct, f, function, location, place, outcome());
    }
}

fn event_outcomes(f: FunctionIndex, outcomes: &[decisions::Outcome]) -> Vec<SiteOutcome> {
    outcomes
        .iter()
        .map(|o| SiteOutcome { label: o.label.clone(), facts: o.events.iter().map(|e| (f, Fact::Event(*e))).collect() })
        .collect()
}

fn base_name(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}
