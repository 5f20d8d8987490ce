//! Which condition is flipped next, and what comes of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::inputs;
use super::local_search::{self, Values};
use super::machine::{self, Setup};
use super::path_query::{Asked, Freedom, Question};
use super::product_graph::UNREACHABLE;
use super::proposal::{Changes, Proposal};
use super::trace::{Entry, Run, Trace};
use super::variables::Variables;
use super::{Engine, Limits, Node, hash_of};
use crate::solve::expression::{Term, Terms};
use crate::solve::query::{self, Answer, Session};
use crate::suite::launch::ArgValue;

/// Tries with rising limits of the solver, each so many doublings above the one before.
const MOST_EFFORT: u32 = 2;
const EFFORT: u32 = 2;
/// What an effort more counts, in attempts.
const HARD: u32 = 8;
/// Classes of a launch that are traced at a time.
const CLASSES: usize = 4;
/// A path is traced no more often than this where work-items see what others did.
const TRACES: u32 = 3;
/// Flips of one way out of a state, of a block, and of a block in one trace.
const FLIPS: u32 = 200;
const FLIPS_OF_BLOCK: u32 = 1000;
const FLIPS_OF_TRACE: usize = 64;
/// What a branch more on the way to a mark counts, in attempts.
const BRANCH: u32 = 4;
/// What a way out that some launch took already counts.
const KNOWN: u32 = 3;
/// Terms beyond which everything begins anew with what is not traced yet.
const MOST_TERMS: usize = 2_000_000;
/// Of all launches together.
const MOST_CANDIDATES: usize = 50_000;

/// Where a candidate leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Target {
    /// Out of a block, in this state of it, to a successor.
    Way {
        block: u32,
        state: u32,
        successor: u32,
    },
    Mark(u32),
}

/// A step of a path to be solved for another way.
pub(super) struct Candidate {
    pub node: usize,
    trace: Rc<Trace>,
    /// Whose path, and which step of it.
    item: usize,
    entry: usize,
    target: Target,
    /// Of the path and where it is to go; with the sizes of the launch.
    key: u64,
    key_of_sizes: u64,
    /// How often the solver gave up.
    effort: u32,
}

impl Candidate {
    /// What tries are counted by.
    fn at(&self) -> (u32, u32) {
        match self.target {
            Target::Way { block, successor, .. } => (block, successor),
            Target::Mark(goal) => (u32::MAX, goal),
        }
    }

    /// The same, of each state by itself.
    fn at_state(&self) -> (u32, u32) {
        match self.target {
            Target::Way { state, successor, .. } => (state, successor),
            Target::Mark(goal) => (u32::MAX, goal),
        }
    }
}

/// Bytes of an argument.
fn length(arg: &ArgValue) -> usize {
    match arg {
        ArgValue::Buffer(bytes) => bytes.len(),
        _ => 0,
    }
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

fn times(tried: &HashMap<(u32, u32), u32>, at: (u32, u32)) -> u32 {
    tried.get(&at).copied().unwrap_or(0)
}

/// Smaller is better.
type Rank = (u32, u32, u32, usize, usize);

enum Choice {
    Expand(usize),
    Try(usize),
}

/// What a model came to.
enum Come {
    /// To a wanted mark.
    Found(Proposal),
    /// Where it was solved for.
    Reached,
    /// There is no such way.
    Nowhere,
    Astray,
}

impl Engine<'_> {
    pub(super) fn search(&mut self, wanted: &BTreeSet<u32>, limits: &Limits) -> Option<Proposal> {
        self.limit(limits);
        if self.aim.0 != *wanted || self.aim.1.is_empty() {
            let there = wanted.iter().flat_map(|mark| self.states.marked(*mark)).copied();
            self.aim = (wanted.clone(), self.states.distances(there));
        }
        let mut attempts = 0;
        while !limits.is_over() && attempts < limits.attempts {
            match self.choose()? {
                Choice::Expand(node) => self.expand(node, limits),
                Choice::Try(candidate) => {
                    attempts += 1;
                    let candidate = self.candidates.swap_remove(candidate);
                    if let Some(found) = self.attempt(candidate, limits) {
                        self.statistics.proposals += 1;
                        return Some(found);
                    }
                }
            }
        }
        None
    }

    fn distance(&self, state: u32) -> Option<u32> {
        self.aim.1.get(state as usize).copied().filter(|d| *d != UNREACHABLE)
    }

    /// How far a wanted mark is from where this way leads, in choices.
    fn distance_after(&self, state: u32, successor: u32) -> Option<u32> {
        self.states.next(state, successor).iter().filter_map(|s| self.distance(*s)).min()
    }

    /// The fewest choices from a state that a launch came to, to a wanted mark.
    fn nearness(&self, states: &[u32]) -> Option<u32> {
        states.iter().filter_map(|s| self.distance(*s)).min()
    }

    /// How far the nearest comparison of a launch is from going where no launch went: branches, and bits of the difference.
    fn gap(&self, node: &Node) -> (u32, u32) {
        let of = |((state, successor), gap): (&(u32, u32), &u64)| {
            if self.ways.contains(&self.states.way(*state, *successor)) {
                return None;
            }
            Some((self.distance_after(*state, *successor)?, u64::BITS - gap.leading_zeros()))
        };
        node.run.gaps.iter().filter_map(of).min().unwrap_or((UNREACHABLE, u64::BITS))
    }

    fn choose(&self) -> Option<Choice> {
        let mut gaps: BTreeMap<usize, u32> = BTreeMap::new();
        let mut best: Option<(Rank, usize)> = None;
        for (i, candidate) in self.candidates.iter().enumerate() {
            let (distance, known, tried) = match candidate.target {
                Target::Mark(goal) if self.aim.0.contains(&goal) => (0, 0, times(&self.tried, candidate.at())),
                Target::Mark(_) => continue,
                Target::Way { state, successor, .. } => {
                    let Some(distance) = self.distance_after(state, successor) else { continue };
                    let known = if self.ways.contains(&self.states.way(state, successor)) { KNOWN } else { 0 };
                    let of_block = times(&self.tried_of_block, candidate.at());
                    if of_block >= FLIPS_OF_BLOCK {
                        continue;
                    }
                    (distance, known, times(&self.tried, candidate.at_state()).max(of_block / 4))
                }
            };
            if tried >= FLIPS {
                continue;
            }
            let gap = *gaps.entry(candidate.node).or_insert_with(|| self.gap(&self.nodes[candidate.node]).1);
            let rank = (
                distance * BRANCH + known + tried + candidate.effort * HARD,
                gap,
                tried,
                candidate.entry,
                candidate.node,
            );
            if best.is_none_or(|(b, _)| rank < b) {
                best = Some((rank, i));
            }
        }
        let nodes = self.nodes.iter().enumerate().filter(|(_, n)| !n.untraced.is_empty() && !n.refuted);
        let open = nodes.filter_map(|(i, node)| {
            let near = node.run.classes.iter().filter_map(|c| self.nearness(&c.states)).min()?;
            Some((near * BRANCH + node.rounds * BRANCH, self.gap(node), i))
        });
        match (best, open.min()) {
            (Some((rank, i)), Some((near, _, _))) if rank.0 <= near => Some(Choice::Try(i)),
            (_, Some((_, _, node))) => Some(Choice::Expand(node)),
            (Some((_, i)), None) => Some(Choice::Try(i)),
            (None, None) => None,
        }
    }

    /// Traces the nearest classes of a launch.
    fn expand(&mut self, number: usize, limits: &Limits) {
        if self.terms.len() > MOST_TERMS {
            self.terms = Terms::default();
            self.variables = Variables::default();
            self.candidates.clear();
            self.done.clear();
        }
        let node = &self.nodes[number];
        let mut order: Vec<(u32, usize)> = node
            .untraced
            .iter()
            .filter_map(|class| Some((self.nearness(&node.run.classes[*class].states)?, *class)))
            .collect();
        order.sort_unstable();
        let left = order.split_off(order.len().min(CLASSES));
        let most = if self.inputs.meets { TRACES } else { 1 };
        for (_, class) in order {
            let node = &self.nodes[number];
            let class = &node.run.classes[class];
            let traced = self.traced.entry(class.hash).or_insert(0);
            if *traced >= most || limits.is_over() {
                continue;
            }
            *traced += 1;
            self.statistics.traces += 1;
            let setup = Setup {
                program: self.program,
                states: &self.states,
                inputs: &self.inputs,
                launch: &node.launch,
                local: node.local,
                steps: limits.steps,
                end: limits.end,
                expected: None,
                whose: [class.group, class.local],
            };
            let trace = Rc::new(machine::trace(setup, &mut self.terms, class));
            self.offer(number, &trace);
        }
        let node = &mut self.nodes[number];
        node.untraced = left.into_iter().map(|(_, class)| class).collect();
        node.rounds += 1;
    }

    /// Makes candidates of the steps of a trace: of the subject's path, and of those whose stores it read.
    fn offer(&mut self, node: usize, trace: &Rc<Trace>) {
        let mut found: BTreeMap<(u32, u32), Vec<Candidate>> = BTreeMap::new();
        let Some(path) = trace.paths.get(trace.subject) else { return };
        let mut items = vec![trace.subject];
        for step in path {
            if let Entry::Depends { item, .. } = step
                && !items.contains(&(*item as usize))
            {
                items.push(*item as usize);
            }
        }
        for item in items {
            for candidate in self.steps_of(node, trace, item) {
                found.entry(candidate.at()).or_default().push(candidate);
            }
        }
        for mut candidates in found.into_values() {
            // Of long loops, the first turns and the last.
            if candidates.len() > FLIPS_OF_TRACE {
                let last = candidates.split_off(candidates.len() - FLIPS_OF_TRACE / 4);
                candidates.truncate(FLIPS_OF_TRACE - last.len());
                candidates.extend(last);
            }
            candidates.retain(|c| !self.is_done(c));
            self.candidates.extend(candidates);
        }
        self.candidates.truncate(MOST_CANDIDATES);
    }

    fn steps_of(&self, node: usize, trace: &Rc<Trace>, item: usize) -> Vec<Candidate> {
        let mut found = Vec::new();
        let launch = &self.nodes[node].launch;
        let lengths: Vec<usize> = launch.args.iter().map(length).collect();
        let sizes = hash((&launch.range.global, self.nodes[node].local, lengths));
        let mut so_far = 0u64;
        for (entry, step) in trace.paths.get(item).into_iter().flatten().enumerate() {
            let mut offer = |target| {
                let key = hash((so_far, step, target));
                let key_of_sizes = hash((key, sizes));
                let trace = trace.clone();
                found.push(Candidate { node, trace, item, entry, target, key, key_of_sizes, effort: 0 });
            };
            match step {
                Entry::Branch { block, .. } | Entry::Switch { block, .. } => {
                    for successor in step.alternatives(self.program) {
                        let state = self.states.like(trace.states[item][entry], successor);
                        offer(Target::Way { block: *block, state, successor });
                    }
                }
                Entry::Mark { goal, .. } => offer(Target::Mark(*goal)),
                _ => {}
            }
            so_far = hash((so_far, step));
        }
        found
    }

    fn is_done(&self, candidate: &Candidate) -> bool {
        self.done.contains(&candidate.key) || self.done.contains(&candidate.key_of_sizes)
    }

    /// Solves for another way, and interprets what comes of it. What takes the solver long comes back later.
    fn attempt(&mut self, mut candidate: Candidate, limits: &Limits) -> Option<Proposal> {
        if candidate.effort == 0 && self.is_done(&candidate) {
            return None;
        }
        *self.tried.entry(candidate.at_state()).or_insert(0) += 1;
        *self.tried_of_block.entry(candidate.at()).or_insert(0) += 1;
        self.statistics.attempts += 1;
        let before = self.statistics.undecided;
        let come = self.solve(&candidate, limits);
        // What did not fit into short buffers may fit into longer ones.
        let is_settled = matches!(come, Some(Come::Found(_) | Come::Reached | Come::Nowhere));
        self.done.insert(if is_settled { candidate.key } else { candidate.key_of_sizes });
        match come {
            Some(Come::Found(proposal)) => Some(proposal),
            Some(Come::Reached | Come::Nowhere) => None,
            _ => {
                if self.statistics.undecided > before && candidate.effort < MOST_EFFORT {
                    candidate.effort += 1;
                    self.candidates.push(candidate);
                }
                None
            }
        }
    }

    /// Asks with more and more freedom until a launch goes where it is to go.
    fn solve(&mut self, candidate: &Candidate, limits: &Limits) -> Option<Come> {
        let step = *candidate.trace.paths.get(candidate.item)?.get(candidate.entry)?;
        let flipped = step.flipped(&mut self.terms, self.program, candidate.at().1)?;
        let place = (candidate.item, candidate.entry);
        let stays = match candidate.target {
            Target::Way { state, .. } => candidate.trace.states[candidate.item].get(candidate.entry) == Some(&state),
            Target::Mark(_) => false,
        };
        let chosen = candidate.trace.chosen[candidate.item].get(&candidate.entry).filter(|_| stays);
        let chosen = chosen.map_or(&[][..], Vec::as_slice);
        let (mut terms, mut variables) = (std::mem::take(&mut self.terms), std::mem::take(&mut self.variables));
        let question = self.asked(candidate).question(&mut terms, &mut variables, place, flipped, chosen);
        (self.terms, self.variables) = (terms, variables);
        let question = question?;
        let effort = local_search::effort(&self.terms, &question.conditions);
        let is_hard = effort > local_search::SOLVABLE || effort > 0 && candidate.effort == 0;
        let (easy, others) = Freedom::ALL.split_at(2);
        let others = others.iter().copied().map(Some);
        for freedom in easy.iter().copied().map(Some).chain([None]).chain(others) {
            // What the largest launches do not allow is not asked of smaller ones.
            if freedom == Some(Freedom::Large(1)) && !is_hard {
                let largest = self.conditions(candidate, &question, Freedom::Large(inputs::ALL));
                if largest.is_none_or(|all| self.ask(&all, candidate.effort, limits) == Answer::Unsat) {
                    break;
                }
            }
            let conditions = match freedom {
                None => Some(question.conditions.clone()),
                Some(freedom) => self.conditions(candidate, &question, freedom),
            };
            let Some(conditions) = conditions else { continue };
            // Floats are hard for the solver, and mostly not for a search: that comes first.
            let climbs = candidate.effort == 0 && matches!(freedom, Some(Freedom::Values | Freedom::Sizes));
            let mut found = (climbs && is_hard).then(|| self.climb(candidate, &conditions)).flatten();
            if !is_hard {
                match (self.ask(&conditions, candidate.effort, limits), freedom) {
                    (Answer::Unsat, None) => return Some(Come::Nowhere),
                    (Answer::Sat(model), Some(_)) => found = Some(Values::of(&model)),
                    (Answer::Unknown(_), _) if climbs => found = self.climb(candidate, &conditions),
                    _ => {}
                }
            }
            if let Some(values) = found {
                match self.realise(candidate, &values, limits) {
                    Come::Astray => self.statistics.astray += 1,
                    come => return Some(come),
                }
            }
            if limits.is_over() {
                return None;
            }
        }
        // It comes back to the solver, if that can be asked.
        self.statistics.undecided += u64::from(is_hard && effort <= local_search::SOLVABLE);
        None
    }

    /// What has to hold with so much freedom.
    fn conditions(&mut self, candidate: &Candidate, question: &Question, freedom: Freedom) -> Option<Vec<Term>> {
        let mut terms = std::mem::take(&mut self.terms);
        let conditions = self.asked(candidate).conditions(&mut terms, question, freedom);
        self.terms = terms;
        conditions
    }

    /// Searches from what the launch has.
    fn climb(&mut self, candidate: &Candidate, conditions: &[Term]) -> Option<Values> {
        let node = &self.nodes[candidate.node];
        let trace = &candidate.trace;
        let start = |name: &str, at: Option<u64>| match at {
            None => inputs::value_of(name, &node.launch, node.local, trace.group, trace.local),
            Some(at) => inputs::cell_of(name, at, &node.launch),
        };
        let found = local_search::climb(&self.terms, conditions, &start, self.end);
        self.statistics.climbed += u64::from(found.is_some());
        found
    }

    fn asked<'a>(&'a self, candidate: &'a Candidate) -> Asked<'a> {
        let node = &self.nodes[candidate.node];
        Asked {
            program: self.program,
            inputs: &self.inputs,
            launch: &node.launch,
            local: node.local,
            trace: &candidate.trace,
            end: self.end,
        }
    }

    fn ask(&mut self, conditions: &[Term], effort: u32, limits: &Limits) -> Answer {
        let rlimit = (limits.rlimit >> (EFFORT * (MOST_EFFORT - effort))).max(1);
        let within = query::Limits { rlimit, end: limits.end };
        let mut answer = Session::in_context(&self.terms, &self.shared).ask(conditions, &within);
        let is_asked_again = effort == MOST_EFFORT && !query::is_too_large(&self.terms, conditions);
        if matches!(answer, Answer::Unknown(_)) && is_asked_again {
            // Z3 has more means for a problem that it is given as a whole.
            answer = query::solve(&self.terms, conditions, &within);
        }
        match answer {
            Answer::Sat(_) => self.statistics.satisfiable += 1,
            Answer::Unsat => self.statistics.unsatisfiable += 1,
            Answer::Unknown(_) => self.statistics.undecided += 1,
        }
        answer
    }

    /// Makes the launch that values say, and interprets it.
    fn realise(&mut self, candidate: &Candidate, values: &Values, limits: &Limits) -> Come {
        let parent = &self.nodes[candidate.node];
        let Some(mut changes) = Changes::of(values, &self.inputs, &parent.launch, parent.local) else {
            return Come::Astray;
        };
        let mut launch = changes.apply(&parent.launch);
        let known = self.launches.get(&hash_of(&launch)).copied();
        if known == Some(false) {
            return Come::Astray;
        }
        let expected = match candidate.target {
            Target::Way { block, successor, .. } => {
                let ways = candidate.trace.ways.get(candidate.item);
                ways.and_then(|w| w.get(candidate.entry)).map(|before| machine::way(*before, block, successor))
            }
            Target::Mark(_) => None,
        };
        let id = |name, d, before: [u64; 3]| {
            values.symbols.get(&inputs::range_symbol(name, d)).copied().unwrap_or(before[d])
        };
        let (group, local) = (candidate.trace.group, candidate.trace.local);
        let whose =
            [[0, 1, 2].map(|d| id(inputs::GROUP_ID, d, group)), [0, 1, 2].map(|d| id(inputs::LOCAL_ID, d, local))];
        let arrives = |run: &Run| match candidate.target {
            Target::Way { .. } => run.arrived,
            Target::Mark(goal) => run.marks.contains(&goal),
        };
        let mut run = self.interpret(&launch, expected, whose, limits.end);
        if run.faulty && !run.exhausted && known.is_none() && arrives(&run) {
            self.launches.insert(hash_of(&launch), false);
            // What lies beyond is reached for the first time, by contents that nobody chose for it.
            let parent = self.nodes[candidate.node].launch.clone();
            if let Some(repaired) = self.avoid_fault_on_path(&launch, limits)
                && let Some(others) = Changes::between(&parent, &repaired, &self.inputs)
            {
                run = self.interpret(&repaired, expected, whose, limits.end);
                (launch, changes) = (repaired, others);
            }
        }
        let ends = !run.faulty && !run.exhausted;
        self.launches.insert(hash_of(&launch), ends);
        let is_there = arrives(&run);
        if !ends || known.is_some() {
            return if ends && is_there { Come::Reached } else { Come::Astray };
        }
        for (position, bytes) in run.reached.iter().enumerate() {
            match launch.args.get(position) {
                Some(ArgValue::Buffer(buffer)) => {
                    changes.lengthen(position, self.inputs.whole(position, *bytes), buffer.len() as u64);
                }
                Some(ArgValue::Local(now)) => changes.lengthen(position, *bytes, *now),
                _ => {}
            }
        }
        if !changes.sizes.is_empty() {
            launch = changes.apply(&launch);
            self.launches.insert(hash_of(&launch), true);
        }
        let aims_at = match candidate.target {
            Target::Mark(goal) if run.marks.contains(&goal) && self.aim.0.contains(&goal) => Some(goal),
            _ => run.marks.intersection(&self.aim.0).next().copied(),
        };
        let parent = &self.nodes[candidate.node];
        let (root, changes) = (parent.root, changes.after(&parent.changes));
        let number = self.add(launch, root, changes, run);
        match aims_at {
            Some(goal) => Come::Found(self.nodes[number].changes.proposal(root, goal, number)),
            None if is_there => Come::Reached,
            None => Come::Astray,
        }
    }
}
