//! Proofs that no launch of a kernel races, for all arguments, contents of buffers and sizes.
//!
//! Two work-items are encoded side by side (the two-thread reduction of BETTS): if no two of them can
//! access one place in one barrier interval, one of them writing, none of any number do. Between groups that is one
//! question about the whole kernel; within a group it is one about each *segment*, from one barrier to the next
//! (`segments`). Questions are asked of mathematical integers (`crate::solve::integers`); which operations have to fit
//! their types for that is asked afterwards, and listed where it is not proved.
//!
//! Why no race is missed:
//!
//! - A race needs two work-items, two accesses, and no barrier between them. If all work-items of a group come to the
//!   same barriers (`convergence`), both accesses are in one segment.
//! - In a segment, each value is a term or a symbol that may have any value that it may have in an execution: loads of
//!   what somebody may write, results of calls, and `phi`s of loops of which no closed form is known.
//! - Values are taken to be the same for both work-items only if both compute them together, in the same iterations of
//!   the same loops, from values that are the same. Loads are taken to be so up to the first race; of all races of an
//!   execution, the first is not missed.
//!
//! How many elements buffers need is asked like bounds of arrays (`lengths`), for guesses at what values are at most
//! (`greatest`).
//!
//! What is always assumed: buffers of different arguments do not overlap, unless the program says that they may; a
//! launch has as many dimensions as the kernel reads ids of, and its groups have one size; sizes, offsets and ids are
//! below 2^31.

mod accesses;
mod conditions;
mod copies;
mod encode;
mod graph;
mod greatest;
mod invariant;
mod invariants;
mod kernel;
mod launch;
mod lengths;
mod powers;
mod questions;
mod scalars;
mod scope;
mod segments;
mod solver;
mod uniformity;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;

use kassay_ir::llvm::DebugLocation;
use kassay_model::condition::Condition;
use kassay_model::interface::Interface;

use self::accesses::Memory;
pub use self::accesses::Unsupported;
use self::graph::NodeId;
use self::invariant::Invariant;
use self::kernel::Kernel;
pub use self::lengths::{Length, lengths, reads_offset};
pub use self::questions::{Doubt, Site};
use self::questions::{Question, Setting};
pub use self::scope::{Scope, Shape};
use self::segments::Cut;
use self::solver::Solving;
use crate::program::Program;
use crate::solve::query::in_new_context;

/// A property of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    /// All work-items of a group come to the same barriers.
    Convergence,
    /// No two work-items race.
    RaceFreedom(Scope),
    /// Accesses to arrays of known size are within them.
    Bounds,
}

/// The launches of which something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldsFor {
    /// All.
    AllLaunches,
    /// Those with work-groups of this size.
    LocalSize([u64; 3]),
    /// Those with this global size, too.
    Launch {
        /// Work-items of a group.
        local: [u64; 3],
        /// Groups of the launch.
        groups: [u64; 3],
    },
}

impl HoldsFor {
    fn shape(self) -> Shape {
        match self {
            HoldsFor::AllLaunches => Shape::default(),
            HoldsFor::LocalSize(local) => Shape { local: Some(local), groups: None },
            HoldsFor::Launch { local, groups } => Shape { local: Some(local), groups: Some(groups) },
        }
    }
}

/// What is known of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It holds, under the condition if there is one.
    Proved {
        /// What the launches have to keep to.
        condition: Option<Condition>,
        /// Where results of operations have to fit their types; `None`: in code that has no lines.
        wrapping: Wrapping,
    },
    /// It could not be proved.
    Unknown(Doubt),
    /// There are no two work-items to which it could apply.
    Vacuous,
    /// It was not asked to the end.
    Late,
    /// The kernel cannot be encoded.
    Unsupported(Unsupported),
    /// Work-items may come to different barriers, so that it means nothing.
    Divergent,
}

/// A property with what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The property.
    pub property: Property,
    /// What is known.
    pub verdict: Verdict,
    /// The launches of which it is known.
    pub holds_for: HoldsFor,
    /// Questions that were asked to Z3.
    pub queries: u64,
    /// How long it took.
    pub milliseconds: u64,
}

/// What is known of the launches for which proofs have to hold.
pub struct Given<'a> {
    /// The launches that are asked about, in this order, until a property is proved.
    pub scopes: &'a [HoldsFor],
    /// Whether a condition may be taken: all of those launches keep to it.
    pub is_met: &'a dyn Fn(&Condition) -> bool,
    /// Whether there are such launches, and each has one work-group.
    pub one_group: bool,
    /// Dimensions that some of those launches have, whether or not the kernel reads ids of them: all launches that are
    /// asked about may have them.
    pub dimensions: [bool; 3],
    /// When nothing more is asked.
    pub end: Option<Instant>,
}

/// Proves what can be proved of a kernel, a promoted one in LCSSA form with simple loops.
pub fn prove(program: &Program, interface: &Interface, given: &Given<'_>) -> Vec<Proof> {
    in_new_context(|| {
        let solving = Solving::until(given.end);
        let begun = Instant::now();
        let kernel = match Kernel::of(program, interface) {
            Ok(mut kernel) => {
                kernel.dimensions.iter_mut().zip(given.dimensions).for_each(|(has, is_given)| *has |= is_given);
                kernel
            }
            Err(unsupported) => {
                let all = [
                    Property::Convergence,
                    Property::RaceFreedom(Scope::IntraGroup),
                    Property::RaceFreedom(Scope::InterGroup),
                    Property::Bounds,
                ];
                let proof = |property| Proof {
                    property,
                    verdict: Verdict::Unsupported(unsupported.clone()),
                    holds_for: HoldsFor::AllLaunches,
                    queries: 0,
                    milliseconds: elapsed(begun),
                };
                return all.map(proof).to_vec();
            }
        };
        let mut candidates = conditions::candidates(&kernel);
        candidates.retain(given.is_met);
        let one_group = given.one_group.then(|| conditions::one_group(&kernel));
        let mut prover = Prover { kernel: &kernel, solving, candidates, one_group, known: RefCell::default() };
        prover.all(given.scopes)
    })
}

fn elapsed(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Proves the properties of a kernel.
struct Prover<'k, 'p> {
    kernel: &'k Kernel<'p>,
    solving: Solving,
    candidates: Vec<Condition>,
    /// That a launch has one work-group, if that may be assumed.
    one_group: Option<Condition>,
    known: RefCell<Known>,
}

/// What holds for a work-item, whatever is asked of two, by the launches.
#[derive(Default)]
struct Known {
    invariants: Vec<(Shape, Rc<Vec<Vec<Invariant>>>)>,
    /// Where results may not fit their types, by condition, too.
    wrapping: Vec<(Shape, Option<Condition>, Wrapping)>,
}

/// Places in the source.
type Wrapping = BTreeSet<Option<DebugLocation>>;

/// Where segments begin, and the memory that is asked about.
type Segments = Vec<(Option<NodeId>, Memory)>;

impl Prover<'_, '_> {
    fn all(&mut self, scopes: &[HoldsFor]) -> Vec<Proof> {
        let mut proofs: Vec<Proof> = Vec::new();
        let mut convergence = (Verdict::Late, HoldsFor::AllLaunches);
        for property in [
            Property::Convergence,
            Property::RaceFreedom(Scope::IntraGroup),
            Property::RaceFreedom(Scope::InterGroup),
            Property::Bounds,
        ] {
            let (begun, queries) = (Instant::now(), self.solving.queries());
            let (mut verdict, holds_for) = match property {
                Property::RaceFreedom(Scope::IntraGroup) => self.converging(&convergence, scopes),
                _ => self.widest(property, scopes),
            };
            // Race freedom needs that of barriers of the group alone.
            if property == Property::Convergence {
                convergence = (verdict.clone(), holds_for);
                if let (Verdict::Proved { .. } | Verdict::Vacuous, Some(call)) = (&verdict, &self.kernel.parts_wait) {
                    verdict = Verdict::Unsupported(call.clone());
                }
            }
            // What serves one question may serve the next.
            if let Verdict::Proved { condition: Some(condition), .. } = &verdict {
                self.candidates.retain(|candidate| candidate != condition);
                self.candidates.insert(0, condition.clone());
            }
            let queries = self.solving.queries() - queries;
            proofs.push(Proof { property, verdict, holds_for, queries, milliseconds: elapsed(begun) });
        }
        proofs
    }

    /// Proves race freedom within groups where barriers converge, which it needs: under the same condition, for the
    /// same launches at most.
    fn converging(&self, convergence: &(Verdict, HoldsFor), scopes: &[HoldsFor]) -> (Verdict, HoldsFor) {
        let (convergence, for_which) = convergence;
        let needed = match convergence {
            Verdict::Proved { condition, .. } => condition,
            Verdict::Vacuous => return (Verdict::Vacuous, *for_which),
            _ => return (Verdict::Divergent, HoldsFor::AllLaunches),
        };
        let from = scopes.iter().position(|scope| scope == for_which).unwrap_or(0);
        let (mut verdict, holds_for) = self.widest(Property::RaceFreedom(Scope::IntraGroup), &scopes[from..]);
        if let (Verdict::Proved { condition, wrapping }, Verdict::Proved { wrapping: others, .. }) =
            (&mut verdict, convergence)
        {
            let mut parts: Vec<Condition> = Vec::new();
            for part in needed.iter().chain(condition.iter()).flat_map(Condition::parts) {
                if !parts.contains(part) {
                    parts.push(part.clone());
                }
            }
            *condition = (!parts.is_empty()).then(|| Condition::all(parts));
            wrapping.extend(others.iter().cloned());
        }
        (verdict, holds_for)
    }

    /// Proves a property for the first of the scopes for which it can be proved, without a condition if possible.
    fn widest(&self, property: Property, scopes: &[HoldsFor]) -> (Verdict, HoldsFor) {
        let mut first = None;
        let between = Property::RaceFreedom(Scope::InterGroup);
        for scope in scopes {
            let verdict = self.prove(property, *scope).unwrap_or_else(|unsupported| match self.solving.is_over() {
                true => Verdict::Late,
                false => Verdict::Unsupported(unsupported),
            });
            match verdict {
                Verdict::Vacuous if property == between && self.one_group.is_some() => {}
                Verdict::Proved { .. } | Verdict::Vacuous => return (verdict, *scope),
                _ => first = first.or(Some((verdict, *scope))),
            }
        }
        // Such kernels are made for one group: that is a condition, no size that happened to be asked about.
        if let (true, Some(_)) = (property == between, &self.one_group) {
            let condition = self.one_group.clone();
            return (Verdict::Proved { condition, wrapping: BTreeSet::new() }, HoldsFor::AllLaunches);
        }
        first.unwrap_or((Verdict::Late, HoldsFor::AllLaunches))
    }

    fn prove(&self, property: Property, holds_for: HoldsFor) -> Result<Verdict, Unsupported> {
        let shape = holds_for.shape();
        let nothing: Vec<Vec<Invariant>> = Vec::new();
        let free = Setting { kernel: self.kernel, shape, invariants: &nothing, solving: &self.solving };
        let is_settled = match property {
            Property::Convergence => self.is_uniform(),
            Property::Bounds => !self.kernel.has_arrays(),
            Property::RaceFreedom(_) => false,
        };
        if is_settled {
            return Ok(Verdict::Proved { condition: None, wrapping: BTreeSet::new() });
        }
        let invariants = self.invariants(shape)?;
        let setting = Setting { invariants: &invariants, ..free };
        let mut open = Vec::new();
        let mut asked = 0usize;
        for mut question in self.questions(setting, property)? {
            asked += usize::from(question.considered);
            if self.solving.is_over() {
                return Ok(Verdict::Late);
            }
            if !question.is_excluded(None, &self.solving) {
                open.push(question);
            }
        }
        let condition = match &mut open[..] {
            [] => None,
            questions => match self.condition(questions) {
                Some(condition) => Some(condition),
                None if self.solving.is_over() => return Ok(Verdict::Late),
                None => {
                    let doubt = questions.iter_mut().find_map(|q| q.doubt(&self.solving));
                    return Ok(doubt.map_or(Verdict::Late, Verdict::Unknown));
                }
            },
        };
        let scope = match property {
            Property::RaceFreedom(scope) => Some(scope),
            Property::Convergence => Some(Scope::IntraGroup),
            Property::Bounds => None,
        };
        if asked > 0 && scope.is_some_and(|scope| !setting.has_two(scope, condition.as_ref())) {
            return match (scope, self.kernel.copies.is_empty()) {
                // A work-item does not wait for its own copies either.
                (Some(Scope::IntraGroup), false) => {
                    Err(Unsupported::new("asynchronous copies of work-groups of one work-item", None))
                }
                _ => Ok(Verdict::Vacuous),
            };
        }
        let wrapping = match asked {
            0 => BTreeSet::new(),
            _ => self.wrapping(setting, condition.as_ref())?,
        };
        Ok(Verdict::Proved { condition, wrapping })
    }

    fn invariants(&self, shape: Shape) -> Result<Rc<Vec<Vec<Invariant>>>, Unsupported> {
        let known =
            self.known.borrow().invariants.iter().find(|(of, _)| *of == shape).map(|(_, known)| Rc::clone(known));
        if let Some(known) = known {
            return Ok(known);
        }
        let found = Rc::new(invariants::find(self.kernel, shape, &self.solving)?);
        self.known.borrow_mut().invariants.push((shape, Rc::clone(&found)));
        Ok(found)
    }

    fn wrapping(&self, setting: Setting<'_, '_>, condition: Option<&Condition>) -> Result<Wrapping, Unsupported> {
        let is_it = |(shape, of, _): &&(Shape, Option<Condition>, Wrapping)| {
            *shape == setting.shape && of.as_ref() == condition
        };
        let known = self.known.borrow().wrapping.iter().find(is_it).map(|(.., places)| places.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        let found = setting.wrapping(condition)?;
        self.known.borrow_mut().wrapping.push((setting.shape, condition.cloned(), found.clone()));
        Ok(found)
    }

    /// Whether no branch that may part the work-items of a group decides who comes to a barrier.
    fn is_uniform(&self) -> bool {
        let graph = &self.kernel.graph;
        graph
            .barriers()
            .all(|(node, _)| self.kernel.uniformity.divergent_deciders(graph.nodes[node].block).next().is_none())
    }

    fn questions<'k, 'p>(
        &self,
        setting: Setting<'k, 'p>,
        property: Property,
    ) -> Result<Vec<Question<'k, 'p>>, Unsupported> {
        match property {
            Property::Convergence => {
                let starts = std::iter::once(None).chain(setting.kernel.graph.barriers().map(|(n, _)| Some(n)));
                starts.map(|start| Question::of_divergence(setting, start)).collect()
            }
            Property::RaceFreedom(scope) => {
                let segments = self.segments(scope);
                segments.into_iter().map(|(start, memory)| Question::of_races(setting, scope, start, memory)).collect()
            }
            Property::Bounds => Ok(vec![Question::of_bounds(setting)?]),
        }
    }

    fn segments(&self, scope: Scope) -> Segments {
        let images = self.kernel.writes_images().then_some(Memory::Image);
        if scope == Scope::InterGroup {
            return [Memory::Global].into_iter().chain(images).map(|memory| (None, memory)).collect();
        }
        let mut all = Vec::new();
        for memory in [Memory::Local, Memory::Global].into_iter().chain(images) {
            all.push((None, memory));
            let cut = Cut::of(memory);
            all.extend(
                self.kernel.graph.barriers().filter(|(_, b)| cut.is_at(b)).map(|(node, _)| (Some(node), memory)),
            );
        }
        all
    }

    /// The weakest condition under which all these questions are excluded: one, or a few together.
    fn condition(&self, questions: &mut [Question<'_, '_>]) -> Option<Condition> {
        let candidates = &self.candidates;
        let mut helpful: Vec<usize> = (0..candidates.len()).collect();
        let (last, others) = questions.split_last_mut()?;
        for question in others {
            helpful = question.helpful(candidates, &helpful, &self.solving);
        }
        if let Some(first) = last.first_helpful(candidates, &helpful, &self.solving) {
            return Some(candidates[first].clone());
        }
        // The first that helps for each goal, as long as there are few of them.
        let mut needed: Vec<usize> = Vec::new();
        for question in questions.iter_mut() {
            question.cover_goals(candidates, &mut needed, MOST_CONDITIONS, &self.solving)?;
        }
        let together = Condition::all(needed.into_iter().map(|i| candidates[i].clone()));
        questions.iter_mut().all(|q| q.is_excluded(Some(&together), &self.solving)).then_some(together)
    }
}

/// Most parts of a condition.
const MOST_CONDITIONS: usize = 3;
