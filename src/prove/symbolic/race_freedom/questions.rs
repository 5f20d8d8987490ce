//! What is asked about two work-items in a segment.

use std::collections::{BTreeMap, BTreeSet};

use kassay_ir::llvm::DebugLocation;
use kassay_model::condition::{Condition, Quantity};
use z3::ast::Int;

use super::accesses::{Base, Claim, Memory, Mode, Unsupported, claims, counts};
use super::conditions;
use super::encode::{Context, Encoder, Event, Obligation, Occurrence, Value};
use super::graph::NodeId;
use super::invariant::Invariant;
use super::kernel::Kernel;
use super::launch::Launch;
use super::scope::{Item, Scope, Shape};
use super::segments::Cut;
use super::solver::{KnowingSolver, Outcome, Solving};
use crate::program::{Instruction, Region};
use crate::solve::integers::{Fact, Integers, Polynomial, Range};

/// Z3's work for one question, and for one that only names a place.
const RLIMIT: u32 = 3_000_000;
/// Most questions about single goals under single conditions.
const MAX_GOALS_TIMES_CONDITIONS: usize = 1_200;
/// Numbers that sizes and scalars of models are at most, if there is such a model. Products of scalars that are 0 or 1
/// are what they are in launches; of others the solver knows less.
const SMALL: [(i128, i128); 5] = [(4, 1), (16, 1), (4, 4), (16, 16), (256, 256)];
/// Most pairs of accesses in one segment.
const MAX_PAIRS: usize = 4_000;

/// An access or another event that takes part in what was not excluded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// What happens there: `read`, `write`, `atomic`, `barrier`, `end`.
    pub what: &'static str,
    /// What is accessed.
    pub region: Option<Region>,
    /// Where it stands.
    pub location: Option<DebugLocation>,
}

/// Something that must not happen, with what takes part in it.
struct Goal {
    fact: Fact,
    /// When both come there at all.
    both: Fact,
    first: Site,
    second: Site,
}

/// What kept a question from being decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// Where the segment began; `None` at the entry.
    pub since: Option<DebugLocation>,
    /// What the first work-item does.
    pub first: Site,
    /// What the second one does.
    pub second: Site,
    /// The sizes and scalars of a model, the smallest that was found: only a launch with them shows whether it
    /// happens. `None` if Z3 gave up.
    pub model: Option<Condition>,
}

/// Questions about one segment: whether any of the goals may happen.
pub struct Question<'k, 'p> {
    context: Context<'k, 'p>,
    integers: Integers,
    two: Fact,
    goals: Vec<Goal>,
    start: Option<NodeId>,
    /// Whether anything had to be excluded, be it by ranges alone.
    pub considered: bool,
}

/// Where a question is asked.
#[derive(Clone, Copy)]
pub struct Setting<'k, 'p> {
    pub kernel: &'k Kernel<'p>,
    pub shape: Shape,
    pub invariants: &'k [Vec<Invariant>],
    pub solving: &'k Solving,
}

impl<'k, 'p> Question<'k, 'p> {
    /// Asks whether two work-items may race from `start` on.
    pub fn of_races(
        setting: Setting<'k, 'p>,
        scope: Scope,
        start: Option<NodeId>,
        memory: Memory,
    ) -> Result<Question<'k, 'p>, Unsupported> {
        let kernel = setting.kernel;
        let cut = if scope == Scope::InterGroup { Cut::Never } else { Cut::of(memory) };
        let mut integers = Integers::default();
        let context = setting.context(scope, (start, cut), &mut integers)?;
        let first = Encoder::encode(&context, Item::First, &mut integers)?.accesses;
        let second = Encoder::encode(&context, Item::Second, &mut integers)?.accesses;
        let (mut goals, mut considered) = (Vec::new(), false);
        // Groups do not wait for each other's copies.
        let copies = (scope == Scope::IntraGroup).then(|| kernel.copies.unordered(kernel.program, &kernel.graph, cut));
        for (i, a) in first.iter().enumerate() {
            // The other order is the same with the work-items exchanged.
            for b in &second[i..] {
                let meets = copies.as_ref().is_none_or(|copies| copies.may_meet(a.instruction, b.instruction));
                if !a.mode.conflicts(b.mode, scope) || !meets {
                    continue;
                }
                considered = true;
                let meet = meet(kernel, a, b, memory, &mut integers);
                let both = a.reach.and(&b.reach);
                let fact = meet.and(&both);
                if !fact.is_false() {
                    goals.push(Goal { fact, both, first: site(a), second: site(b) });
                }
                if goals.len() > MAX_PAIRS {
                    return Err(Unsupported::new("more than 4,000 pairs of accesses", None));
                }
            }
        }
        let two = context.launch.are_two(&mut integers);
        context.launch.have_places_in_sub_groups(&mut integers);
        distinguish(kernel, scope, &first, &second, &mut integers);
        Ok(Question { context, integers, two, goals, start, considered })
    }

    /// Asks whether two work-items of a group may come to different barriers from `start` on.
    pub fn of_divergence(setting: Setting<'k, 'p>, start: Option<NodeId>) -> Result<Question<'k, 'p>, Unsupported> {
        let kernel = setting.kernel;
        let mut integers = Integers::default();
        let context = setting.context(Scope::IntraGroup, (start, Cut::Any), &mut integers)?;
        let of = |item: Item, integers: &mut Integers| {
            let mut by_event: BTreeMap<Event, Vec<Fact>> = BTreeMap::new();
            for (event, reach) in Encoder::encode(&context, item, integers)?.events {
                by_event.entry(event).or_default().push(reach);
            }
            Ok(by_event.into_iter().map(|(event, reach)| (event, Fact::any(reach))).collect::<Vec<_>>())
        };
        let (first, second) = (of(Item::First, &mut integers)?, of(Item::Second, &mut integers)?);
        let mut goals = Vec::new();
        for (i, (event, reach)) in first.iter().enumerate() {
            for (other, other_reach) in &second[i..] {
                let is_apart = match (event, other) {
                    (Event::Barrier(node, _), same) if event == same => context.is_entered_apart(*node),
                    (Event::End, same) => event != same,
                    _ => true,
                };
                let fact = reach.and(other_reach);
                if is_apart && !fact.is_false() {
                    goals.push(Goal {
                        fact,
                        both: Fact::True,
                        first: event_site(*event, kernel),
                        second: event_site(*other, kernel),
                    });
                }
            }
        }
        let two = context.launch.are_two(&mut integers);
        Ok(Question { context, integers, two, goals, start, considered: true })
    }

    /// Asks whether a work-item may access an array of known size outside of it.
    pub fn of_bounds(setting: Setting<'k, 'p>) -> Result<Question<'k, 'p>, Unsupported> {
        let kernel = setting.kernel;
        let mut integers = Integers::default();
        let context = setting.context(Scope::InterGroup, (None, Cut::Never), &mut integers)?;
        let accesses = Encoder::encode(&context, Item::First, &mut integers)?.accesses;
        let (mut goals, mut considered) = (Vec::new(), false);
        for access in &accesses {
            for place in access.places.iter().filter(|_| access.texel.is_none()) {
                let Base::Object(region) = place.base else { continue };
                considered |= region == Region::Unknown || kernel.bytes(region).is_some();
                if region == Region::Unknown && kernel.has_arrays() {
                    let fact = access.reach.and(&place.when);
                    goals.push(Goal { both: fact.clone(), fact, first: site(access), second: site(access) });
                }
                let Some(bytes) = kernel.bytes(region) else { continue };
                let last = Polynomial::constant(i128::from(bytes) - i128::from(access.bytes));
                let within = integers.at_most(&Polynomial::default(), &place.offset);
                let within = within.and(&integers.at_most(&place.offset, &last));
                let fact = Fact::all([access.reach.clone(), place.when.clone(), within.negated()]);
                if !fact.is_false() {
                    let site = Site { region: Some(region), ..site(access) };
                    goals.push(Goal { fact, both: access.reach.clone(), first: site.clone(), second: site });
                }
            }
        }
        Ok(Question { context, integers, two: Fact::True, goals, start: None, considered })
    }

    /// Whether nothing has to be asked.
    pub fn is_settled(&self) -> bool {
        self.goals.is_empty()
    }

    fn solver(&mut self, solving: &Solving) -> KnowingSolver {
        let facts = self.integers.facts();
        let mut solver = solving.solver(&facts, RLIMIT);
        solver.learn(&self.two);
        solver
    }

    fn any(&self) -> Fact {
        Fact::any(self.goals.iter().map(|goal| goal.fact.clone()))
    }

    /// Whether none of the goals may happen.
    pub fn is_excluded(&mut self, condition: Option<&Condition>, solving: &Solving) -> bool {
        if self.is_settled() {
            return true;
        }
        let kernel = self.context.kernel;
        let assumed = condition.map(|c| conditions::fact(c, kernel, &self.context.launch, &mut self.integers));
        let assumed = match assumed {
            Some(None) => return false,
            Some(Some(fact)) => fact,
            None => Fact::True,
        };
        let mut solver = self.solver(solving);
        solver.check(&[assumed, self.any()]) == Outcome::Impossible
    }

    /// For each of these conditions whether it excludes all goals without excluding all launches.
    pub fn helpful(&mut self, candidates: &[Condition], among: &[usize], solving: &Solving) -> Vec<usize> {
        let any = self.any();
        let mut all = Vec::new();
        self.try_conditions(candidates, among, solving, &mut |solver, i, fact| {
            if solver.check(&[fact.clone(), any.clone()]) == Outcome::Impossible {
                all.push(i);
            }
            true
        });
        all.sort_unstable();
        all
    }

    /// The first of these conditions that excludes all goals.
    pub fn first_helpful(&mut self, candidates: &[Condition], among: &[usize], solving: &Solving) -> Option<usize> {
        let any = self.any();
        let mut first: Option<usize> = None;
        self.try_conditions(candidates, among, solving, &mut |solver, i, fact| {
            if first.is_some_and(|first| first < i) {
                return false;
            }
            if solver.check(&[fact.clone(), any.clone()]) == Outcome::Impossible {
                first = Some(i);
            }
            first.is_none()
        });
        first
    }

    /// Adds to `needed` the first condition that excludes a goal, for each that is not excluded by one of these. `None`
    /// if there is none for a goal, or if more than `most` are needed.
    pub fn cover_goals(
        &mut self,
        candidates: &[Condition],
        needed: &mut Vec<usize>,
        most: usize,
        solving: &Solving,
    ) -> Option<()> {
        let mut solver = self.solver(solving);
        let goals = self.goals.iter().map(|goal| goal.fact.clone());
        let open: Vec<Fact> =
            goals.filter(|goal| solver.check(std::slice::from_ref(goal)) != Outcome::Impossible).collect();
        let mut left = MAX_GOALS_TIMES_CONDITIONS;
        for goal in open {
            let mut first: Option<usize> = None;
            // Those that are needed anyway come first.
            let known = needed.clone();
            let others = (0..candidates.len()).filter(|i| !known.contains(i)).collect::<Vec<usize>>();
            for among in [known, others] {
                if first.is_some() {
                    break;
                }
                self.try_conditions(candidates, &among, solving, &mut |solver, i, fact| {
                    if left == 0 || first.is_some_and(|first| first < i) {
                        return false;
                    }
                    left -= 1;
                    if solver.check(&[fact.clone(), goal.clone()]) == Outcome::Impossible {
                        first = Some(i);
                    }
                    first.is_none()
                });
            }
            let first = first?;
            if !needed.contains(&first) {
                needed.push(first);
            }
            if needed.len() > most {
                return None;
            }
        }
        Some(())
    }

    /// Calls `found` with each of these conditions under which both work-items may come to a goal, in their order,
    /// until it returns `false`; then again for those that speak of products, which cost more.
    fn try_conditions(
        &mut self,
        candidates: &[Condition],
        among: &[usize],
        solving: &Solving,
        found: &mut dyn FnMut(&mut KnowingSolver, usize, &Fact) -> bool,
    ) {
        let kernel = self.context.kernel;
        // A condition under which nobody comes there is none that a host would keep to.
        let both = Fact::any(self.goals.iter().map(|goal| goal.both.clone()));
        for with_products in [false, true] {
            let mut facts = Vec::new();
            for i in among.iter().copied() {
                if conditions::has_products(&candidates[i]) == with_products
                    && let Some(fact) =
                        conditions::fact(&candidates[i], kernel, &self.context.launch, &mut self.integers)
                {
                    facts.push((i, fact));
                }
            }
            if facts.is_empty() {
                continue;
            }
            let mut solver = self.solver(solving);
            for (i, fact) in facts {
                if solving.is_over() {
                    return;
                }
                if solver.check(&[fact.clone(), both.clone()]) != Outcome::Impossible && !found(&mut solver, i, &fact) {
                    break;
                }
            }
        }
    }

    /// The first goal that may happen.
    pub fn doubt(&mut self, solving: &Solving) -> Option<Doubt> {
        let since = self
            .start
            .and_then(|node| self.context.kernel.graph.nodes[node].barrier.as_ref().and_then(|b| b.location.clone()));
        let kernel = self.context.kernel;
        let quantities = conditions::quantities(kernel, &self.context.launch, &mut self.integers);
        let wanted: Vec<Int> = quantities.iter().map(|(_, value)| self.integers.integer(value)).collect();
        let small = SMALL.map(|(of_sizes, of_scalars)| {
            let integers = &mut self.integers;
            let within = quantities.iter().map(|(quantity, value)| {
                let limit = if matches!(quantity, Quantity::Scalar(_)) { of_scalars } else { of_sizes };
                let least = Polynomial::constant(if limit == 1 { 0 } else { -limit });
                let most = Polynomial::constant(limit);
                integers.at_most(&least, value).and(&integers.at_most(value, &most))
            });
            Fact::all(within.collect::<Vec<Fact>>())
        });
        let mut solver = self.solver(solving);
        for goal in &self.goals {
            let (outcome, model) = solver.ask(std::slice::from_ref(&goal.fact), &wanted);
            if outcome == Outcome::Impossible {
                continue;
            }
            let smaller = small.iter().map(|small| solver.ask(&[goal.fact.clone(), small.clone()], &wanted).1);
            let smallest = smaller.into_iter().find(|model| !model.is_empty()).unwrap_or(model);
            let equal = |((quantity, _), n): (&(Quantity, Polynomial), &i128)| {
                Some(Condition::Equal(quantity.clone(), Quantity::Constant(i64::try_from(*n).ok()?)))
            };
            let all: Option<Vec<Condition>> = quantities.iter().zip(&smallest).map(equal).collect();
            let model = all.filter(|all| !all.is_empty()).map(Condition::all);
            return Some(Doubt { since, first: goal.first.clone(), second: goal.second.clone(), model });
        }
        None
    }
}

impl<'k, 'p> Setting<'k, 'p> {
    fn context(
        self,
        scope: Scope,
        segment: (Option<NodeId>, Cut),
        integers: &mut Integers,
    ) -> Result<Context<'k, 'p>, Unsupported> {
        Context::new(self.kernel, self.shape, scope, segment, self.invariants, self.solving.end, integers)
    }

    /// Whether there are two work-items to compare at all.
    pub fn has_two(self, scope: Scope, condition: Option<&Condition>) -> bool {
        let mut integers = Integers::default();
        let launch = Launch::new(self.kernel, self.shape, scope, &mut integers);
        let two = launch.are_two(&mut integers);
        let assumed = condition.and_then(|c| conditions::fact(c, self.kernel, &launch, &mut integers));
        let mut solver = self.solving.solver(&integers.facts(), RLIMIT);
        solver.check(&[two, assumed.unwrap_or(Fact::True)]) != Outcome::Impossible
    }

    /// Where results of operations may not fit their types, as far as the condition does not exclude it.
    pub fn wrapping(self, condition: Option<&Condition>) -> Result<BTreeSet<Option<DebugLocation>>, Unsupported> {
        let mut integers = Integers::default();
        let context = self.context(Scope::InterGroup, (None, Cut::Never), &mut integers)?;
        let obligations = Encoder::encode(&context, Item::First, &mut integers)?.obligations;
        if obligations.is_empty() {
            return Ok(BTreeSet::new());
        }
        let mut outside = Vec::new();
        for Obligation { instruction, value, range: Range { low, high }, reach } in obligations {
            let low = low.map_or(Fact::True, |low| integers.at_most(&Polynomial::constant(low), &value));
            let high = high.map_or(Fact::True, |high| integers.at_most(&value, &Polynomial::constant(high)));
            outside.push((instruction, reach.and(&low.and(&high).negated())));
        }
        let assumed = condition.and_then(|c| conditions::fact(c, self.kernel, &context.launch, &mut integers));
        let facts = integers.facts();
        let mut solver = self.solving.solver(&facts, RLIMIT / 10);
        solver.learn(&assumed.unwrap_or(Fact::True));
        outside.retain(|(_, fact)| solver.check(std::slice::from_ref(fact)) != Outcome::Impossible);
        Ok(outside.into_iter().map(|(instruction, _)| instruction.location.clone()).collect())
    }
}

/// When two accesses are of the same bytes of this memory.
fn meet(kernel: &Kernel<'_>, a: &Occurrence<'_>, b: &Occurrence<'_>, memory: Memory, integers: &mut Integers) -> Fact {
    let texels = match (&a.texel, &b.texel) {
        (None, None) => None,
        (Some(one), Some(other)) => Some(same_texel(one, other, integers)),
        // Pointers are not to texels.
        _ => return Fact::False,
    };
    let mut all = Vec::new();
    for p in &a.places {
        for q in &b.places {
            let (Base::Object(one), Base::Object(other)) = (p.base, q.base) else { continue };
            let is_there = |region| region == Region::Unknown || kernel.memory(region) == memory;
            if !is_there(one) || !is_there(other) || !kernel.may_overlap(one, other) {
                continue;
            }
            let both = p.when.and(&q.when);
            if let Some(same) = &texels {
                all.push(both.and(same));
                continue;
            }
            if one != other || one == Region::Unknown {
                all.push(both);
                continue;
            }
            let (ab, ba) = (integers.subtract(&p.offset, &q.offset), integers.subtract(&q.offset, &p.offset));
            let before = integers.below(&ab, &Polynomial::constant(i128::from(b.bytes)));
            let after = integers.below(&ba, &Polynomial::constant(i128::from(a.bytes)));
            let pointer = conditions::same_pointer(kernel, one, [&p.offset, &q.offset], integers);
            all.push(Fact::all([both, before, after, pointer]));
        }
    }
    Fact::any(all)
}

/// When two texels of one image are the same.
fn same_texel(one: &[Value], other: &[Value], integers: &mut Integers) -> Fact {
    let same = |(a, b): (&Value, &Value)| match (a.number(), b.number()) {
        (Some(a), Some(b)) => integers.equal(a, b),
        // Coordinates of a sampler.
        _ => Fact::True,
    };
    Fact::all(one.iter().zip(other).map(same).collect::<Vec<Fact>>())
}

fn region_of(occurrence: &Occurrence<'_>) -> Option<Region> {
    occurrence.places.iter().find_map(|place| match place.base {
        Base::Object(region) => Some(region),
        Base::Null => None,
    })
}

fn site(occurrence: &Occurrence<'_>) -> Site {
    let what = match occurrence.mode {
        Mode::Read => "read",
        Mode::Write => "write",
        Mode::Atomic(_) => "atomic",
    };
    Site { what, region: region_of(occurrence), location: occurrence.instruction.location.clone() }
}

fn event_site(event: Event, kernel: &Kernel<'_>) -> Site {
    match event {
        Event::Barrier(node, _) => Site {
            what: "barrier",
            region: None,
            location: kernel.graph.nodes[node].barrier.as_ref().and_then(|b| b.location.clone()),
        },
        Event::End => Site { what: "end", region: None, location: None },
    }
}

/// Work-items get different numbers from a counter that everybody only increases, or only decreases; and of those that
/// claim a place in the same way, one gets it.
fn distinguish(
    kernel: &Kernel<'_>,
    scope: Scope,
    first: &[Occurrence<'_>],
    second: &[Occurrence<'_>],
    integers: &mut Integers,
) {
    let program = kernel.program;
    for (i, a) in first.iter().enumerate() {
        let counted = counts(program, a.instruction);
        let claim = claims(program, a.instruction);
        if counted.is_none() && claim.is_none() {
            continue;
        }
        let bytes = |instruction: &Instruction| program.shape(instruction.result).bytes();
        let is_same_kind = |other: &Instruction| {
            bytes(other) == bytes(a.instruction)
                && match counted {
                    Some(_) => counts(program, other) == counted,
                    None => claims(program, other) == claim,
                }
        };
        // Of increments those at one place of the code are compared.
        let others = if counted.is_some() { second.get(i..=i) } else { Some(second) };
        for b in others.unwrap_or_default() {
            if !is_same_kind(b.instruction) {
                continue;
            }
            let ([p], [q]) = (&a.places[..], &b.places[..]) else { continue };
            let (Some(x), Some(y)) = (&a.result, &b.result) else { continue };
            let Base::Object(region) = p.base else { continue };
            // Each group has objects of its own in local memory.
            if p.base != q.base
                || region == Region::Unknown
                || (scope == Scope::InterGroup && kernel.memory(region) == Memory::Local)
            {
                continue;
            }
            let only_these = first.iter().all(|other| {
                let meets = other.places.iter().any(|place| match place.base {
                    Base::Object(there) => kernel.may_overlap(region, there),
                    Base::Null => false,
                });
                !meets || other.mode == Mode::Read || is_same_kind(other.instruction)
            });
            // In global memory, other groups take part, too, wherever they are.
            if !only_these
                || !(kernel.memory(region) == Memory::Local || kernel.is_only_written_by(region, &is_same_kind))
            {
                continue;
            }
            let same = integers.equal(&p.offset, &q.offset);
            let differ = match claim {
                Some(Claim::Taken(n)) => {
                    let n = Polynomial::constant(i128::from(n));
                    integers.equal(x, &n).and(&integers.equal(y, &n)).negated()
                }
                Some(Claim::Left(n)) => {
                    let n = Polynomial::constant(i128::from(n));
                    integers.equal(x, &n).or(&integers.equal(y, &n))
                }
                None => integers.equal(x, y).negated(),
            };
            integers.assert(&Fact::all([a.reach.clone(), b.reach.clone(), same]).implies(&differ));
        }
    }
}
