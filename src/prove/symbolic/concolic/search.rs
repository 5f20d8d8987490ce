//! Chooses the next condition to flip, and evaluates the result.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use kassay_base::hash;
use kassay_suite::launch::ArgValue;

use super::candidate::{Candidate, Target};
use super::inputs;
use super::interpreter::{self, Setup};
use super::local_search::{self, Values};
use super::path_query::{Freedom, PathQuery, QueryContext};
use super::product_graph::UNREACHABLE;
use super::proposal::{Changes, Proposal};
use super::trace::{PathStep, Run, Trace};
use super::variables::Variables;
use super::{Engine, Limits, Node, hash_of};
use crate::solve::expression::{Term, Terms};
use crate::solve::query::{self, Answer, Session};

/// Highest effort of a candidate, and the doublings of the solver's limit from one effort to the next.
const MAX_EFFORT: u32 = 2;
const EFFORT_SHIFT: u32 = 2;
/// Rank penalty of each effort, in attempts.
const EFFORT_PENALTY: u32 = 8;
/// Number of classes of a launch that are traced at a time.
const CLASSES_PER_ROUND: usize = 4;
/// Largest number of traces of one path if work-items may see what others did.
const TRACES_OF_PATH: u32 = 3;
/// Largest number of flips of one edge of the product graph, of one edge of the control-flow graph, and of the latter
/// in one trace.
const FLIPS_OF_STATE: u32 = 200;
const FLIPS_OF_BLOCK: u32 = 1000;
const FLIPS_OF_TRACE: usize = 64;
/// Rank penalty of each choice on the way to a mark, in attempts.
const CHOICE_PENALTY: u32 = 4;
/// Rank penalty of an edge that some launch already took.
const TAKEN_PENALTY: u32 = 3;
/// Number of terms beyond which terms and candidates are discarded; the search goes on with launches not yet traced.
const MAX_TERMS: usize = 2_000_000;
/// Largest number of candidates of all launches.
const MAX_CANDIDATES: usize = 50_000;

/// Bytes of a buffer; 0 for other arguments.
fn length(arg: &ArgValue) -> usize {
    match arg {
        ArgValue::Buffer(bytes) => bytes.len(),
        _ => 0,
    }
}

fn times(tried: &HashMap<(u32, u32), u32>, at: (u32, u32)) -> u32 {
    tried.get(&at).copied().unwrap_or(0)
}

/// Priority; smaller is better.
type Rank = (u32, u32, u32, usize, usize);

enum Choice {
    Expand(usize),
    Try(usize),
}

/// Result of solving a candidate.
enum SolveOutcome {
    /// The launch covers a wanted mark.
    Found(Proposal),
    /// The launch takes the intended path.
    Reached,
    /// The path is infeasible.
    Infeasible,
    /// The launch takes another path.
    Diverged,
    /// Signed arithmetic overflows in the launch, and does not in the one that it is made of.
    Overflowed,
}

impl Engine<'_> {
    /// Searches for a launch that covers one of the wanted marks.
    pub(super) fn search(&mut self, wanted: &BTreeSet<u32>, limits: &Limits) -> Option<Proposal> {
        self.limit(limits);
        if self.wanted.0 != *wanted || self.wanted.1.is_empty() {
            let there = wanted.iter().flat_map(|mark| self.graph.marked(*mark)).copied();
            self.wanted = (wanted.clone(), self.graph.distances(there));
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
        self.wanted.1.get(state as usize).copied().filter(|d| *d != UNREACHABLE)
    }

    /// Returns the least number of choices to a wanted mark after this edge.
    fn distance_after(&self, state: u32, successor: u32) -> Option<u32> {
        self.graph.next(state, successor).iter().filter_map(|s| self.distance(*s)).min()
    }

    /// Returns the least number of choices to a wanted mark from any of these states.
    fn nearness(&self, states: &[u32]) -> Option<u32> {
        states.iter().filter_map(|s| self.distance(*s)).min()
    }

    /// Returns how far a launch is from taking an edge that no launch took: choices from there to a wanted mark, and
    /// bits of the difference of the compared integers.
    fn gap(&self, node: &Node) -> (u32, u32) {
        let of = |((state, successor), gap): (&(u32, u32), &u64)| {
            if self.taken_edges.contains(&self.graph.edge(*state, *successor)) {
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
                Target::Mark(goal) if self.wanted.0.contains(&goal) => (0, 0, times(&self.tried, candidate.at())),
                Target::Mark(_) => continue,
                Target::Edge { state, successor, .. } => {
                    let Some(distance) = self.distance_after(state, successor) else { continue };
                    let known =
                        if self.taken_edges.contains(&self.graph.edge(state, successor)) { TAKEN_PENALTY } else { 0 };
                    let of_block = times(&self.tried_of_block, candidate.at());
                    if of_block >= FLIPS_OF_BLOCK {
                        continue;
                    }
                    (distance, known, times(&self.tried, candidate.at_state()).max(of_block / 4))
                }
            };
            if tried >= FLIPS_OF_STATE {
                continue;
            }
            let gap = *gaps.entry(candidate.node).or_insert_with(|| self.gap(&self.nodes[candidate.node]).1);
            let rank = (
                distance * CHOICE_PENALTY + known + tried + candidate.effort * EFFORT_PENALTY,
                gap,
                tried,
                candidate.position,
                candidate.node,
            );
            if best.is_none_or(|(b, _)| rank < b) {
                best = Some((rank, i));
            }
        }
        let nodes = self.nodes.iter().enumerate().filter(|(_, n)| !n.untraced.is_empty() && !n.refuted);
        let open = nodes.filter_map(|(i, node)| {
            let near = node.run.classes.iter().filter_map(|c| self.nearness(&c.states)).min()?;
            Some((near * CHOICE_PENALTY + node.rounds * CHOICE_PENALTY, self.gap(node), i))
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
        if self.terms.len() > MAX_TERMS {
            self.terms = Terms::default();
            self.variables = Variables::default();
            self.candidates.clear();
            self.solved.clear();
        }
        let node = &self.nodes[number];
        let mut order: Vec<(u32, usize)> = node
            .untraced
            .iter()
            .filter_map(|class| Some((self.nearness(&node.run.classes[*class].states)?, *class)))
            .collect();
        order.sort_unstable();
        let left = order.split_off(order.len().min(CLASSES_PER_ROUND));
        let most = if self.inputs.synchronises { TRACES_OF_PATH } else { 1 };
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
                graph: &self.graph,
                inputs: &self.inputs,
                launch: &node.launch,
                local: node.local,
                steps: limits.steps,
                end: limits.end,
                expected: None,
                focus: [class.group, class.local],
            };
            let trace = Rc::new(interpreter::trace(setup, &mut self.terms, class));
            self.add_candidates(number, &trace);
        }
        let node = &mut self.nodes[number];
        node.untraced = left.into_iter().map(|(_, class)| class).collect();
        node.rounds += 1;
    }

    /// Makes candidates of the steps of a trace: those of the subject's path, and of the work-items whose stores
    /// it read.
    fn add_candidates(&mut self, node: usize, trace: &Rc<Trace>) {
        let mut found: BTreeMap<(u32, u32), Vec<Candidate>> = BTreeMap::new();
        let Some(path) = trace.paths.get(trace.subject) else { return };
        let mut items = vec![trace.subject];
        for step in path {
            if let PathStep::Depends { item, .. } = step
                && !items.contains(&(*item as usize))
            {
                items.push(*item as usize);
            }
        }
        for item in items {
            for candidate in self.candidates_of(node, trace, item) {
                found.entry(candidate.at()).or_default().push(candidate);
            }
        }
        for mut candidates in found.into_values() {
            // For long loops, keep the first and the last iterations.
            if candidates.len() > FLIPS_OF_TRACE {
                let last = candidates.split_off(candidates.len() - FLIPS_OF_TRACE / 4);
                candidates.truncate(FLIPS_OF_TRACE - last.len());
                candidates.extend(last);
            }
            candidates.retain(|c| !self.is_solved(c));
            self.candidates.extend(candidates);
        }
        self.candidates.truncate(MAX_CANDIDATES);
    }

    fn candidates_of(&self, node: usize, trace: &Rc<Trace>, item: usize) -> Vec<Candidate> {
        let mut found = Vec::new();
        let launch = &self.nodes[node].launch;
        let lengths: Vec<usize> = launch.args.iter().map(length).collect();
        let sizes = hash::of((&launch.range.global, self.nodes[node].local, lengths));
        let mut so_far = 0u64;
        for (position, step) in trace.paths.get(item).into_iter().flatten().enumerate() {
            let mut push = |target| {
                let key = hash::of((so_far, step, target));
                let key_of_sizes = hash::of((key, sizes));
                let trace = trace.clone();
                found.push(Candidate { node, trace, item, position, target, key, key_of_sizes, effort: 0 });
            };
            match step {
                PathStep::Branch { block, .. } | PathStep::Switch { block, .. } => {
                    for successor in step.alternatives(self.program) {
                        let state = self.graph.similar_state(trace.states[item][position], successor);
                        push(Target::Edge { block: *block, state, successor });
                    }
                }
                PathStep::Mark { goal, .. } => push(Target::Mark(*goal)),
                _ => {}
            }
            so_far = hash::of((so_far, step));
        }
        found
    }

    fn is_solved(&self, candidate: &Candidate) -> bool {
        self.solved.contains(&candidate.key) || self.solved.contains(&candidate.key_of_sizes)
    }

    /// Solves a candidate for another path, and interprets the resulting launch. A candidate on which the solver gave
    /// up is queued again with more effort.
    fn attempt(&mut self, mut candidate: Candidate, limits: &Limits) -> Option<Proposal> {
        if candidate.effort == 0 && self.is_solved(&candidate) {
            return None;
        }
        *self.tried.entry(candidate.at_state()).or_insert(0) += 1;
        *self.tried_of_block.entry(candidate.at()).or_insert(0) += 1;
        self.statistics.attempts += 1;
        let before = self.statistics.undecided;
        let outcome = self.solve(&candidate, limits);
        // A condition that fails for short buffers may hold for longer ones.
        let is_settled =
            matches!(outcome, Some(SolveOutcome::Found(_) | SolveOutcome::Reached | SolveOutcome::Infeasible));
        self.solved.insert(if is_settled { candidate.key } else { candidate.key_of_sizes });
        match outcome {
            Some(SolveOutcome::Found(proposal)) => Some(proposal),
            Some(SolveOutcome::Reached | SolveOutcome::Infeasible) => None,
            _ => {
                if self.statistics.undecided > before && candidate.effort < MAX_EFFORT {
                    candidate.effort += 1;
                    self.candidates.push(candidate);
                }
                None
            }
        }
    }

    /// Solves with increasing freedom until a launch takes the intended path.
    fn solve(&mut self, candidate: &Candidate, limits: &Limits) -> Option<SolveOutcome> {
        let step = *candidate.trace.paths.get(candidate.item)?.get(candidate.position)?;
        let flipped = step.flipped(&mut self.terms, self.program, candidate.at().1)?;
        let place = (candidate.item, candidate.position);
        let stays = match candidate.target {
            Target::Edge { state, .. } => {
                candidate.trace.states[candidate.item].get(candidate.position) == Some(&state)
            }
            Target::Mark(_) => false,
        };
        let chosen = candidate.trace.chosen[candidate.item].get(&candidate.position).filter(|_| stays);
        let chosen = chosen.map_or(&[][..], Vec::as_slice);
        let (mut terms, mut variables) = (std::mem::take(&mut self.terms), std::mem::take(&mut self.variables));
        let path_query = self.query_context(candidate).build(&mut terms, &mut variables, place, flipped, chosen);
        (self.terms, self.variables) = (terms, variables);
        let path_query = path_query?;
        let effort = local_search::effort(&self.terms, &path_query.conditions);
        let is_hard = effort > local_search::SOLVABLE || effort > 0 && candidate.effort == 0;
        let (easy, others) = Freedom::ALL.split_at(2);
        let others = others.iter().copied().map(Some);
        for freedom in easy.iter().copied().map(Some).chain([None]).chain(others) {
            // If even the largest launches do not allow it, do not ask about smaller ones.
            if freedom == Some(Freedom::Large(1)) && !is_hard {
                let largest = self.conditions(candidate, &path_query, Freedom::Large(inputs::ALL), false);
                if largest.is_none_or(|all| self.ask(&all, candidate.effort, limits) == Answer::Unsat) {
                    break;
                }
            }
            let conditions = match freedom {
                None => Some(path_query.conditions.clone()),
                Some(freedom) => self.conditions(candidate, &path_query, freedom, false),
            };
            let Some(conditions) = conditions else { continue };
            // Floats are hard for the solver, but usually not for local search, which is tried first.
            let climbs = candidate.effort == 0 && matches!(freedom, Some(Freedom::Values | Freedom::Sizes));
            let mut found = (climbs && is_hard).then(|| self.climb(candidate, &conditions)).flatten();
            if !is_hard {
                match (self.ask(&conditions, candidate.effort, limits), freedom) {
                    (Answer::Unsat, None) => return Some(SolveOutcome::Infeasible),
                    (Answer::Sat(model), Some(_)) => found = Some(Values::of(&model)),
                    (Answer::Unknown(_), _) if climbs => found = self.climb(candidate, &conditions),
                    _ => {}
                }
            }
            if let Some(values) = found {
                let mut outcome = self.realise(candidate, &values, limits);
                if let (SolveOutcome::Overflowed, Some(freedom)) = (&outcome, freedom)
                    && let Some(narrow) = self.conditions(candidate, &path_query, freedom, true)
                {
                    let values = match is_hard {
                        true => self.climb(candidate, &narrow),
                        false => match self.ask(&narrow, candidate.effort, limits) {
                            Answer::Sat(model) => Some(Values::of(&model)),
                            _ => None,
                        },
                    };
                    outcome = values.map_or(outcome, |values| self.realise(candidate, &values, limits));
                }
                match outcome {
                    SolveOutcome::Diverged | SolveOutcome::Overflowed => self.statistics.diverged += 1,
                    outcome => return Some(outcome),
                }
            }
            if limits.is_over() {
                return None;
            }
        }
        // Counts as undecided if a further attempt may ask the solver.
        self.statistics.undecided += u64::from(is_hard && effort <= local_search::SOLVABLE);
        None
    }

    /// Returns the conditions of a query with this freedom.
    fn conditions(
        &mut self,
        candidate: &Candidate,
        path_query: &PathQuery,
        freedom: Freedom,
        is_narrow: bool,
    ) -> Option<Vec<Term>> {
        let mut terms = std::mem::take(&mut self.terms);
        let conditions = self.query_context(candidate).conditions(&mut terms, path_query, freedom, is_narrow);
        self.terms = terms;
        conditions
    }

    /// Searches locally, starting from the values of the launch.
    fn climb(&mut self, candidate: &Candidate, conditions: &[Term]) -> Option<Values> {
        let node = &self.nodes[candidate.node];
        let trace = &candidate.trace;
        let start = |name: &str, at: Option<u64>| match at {
            None => inputs::value_of(name, &node.launch, node.local, trace.group, trace.local),
            Some(at) => inputs::cell_of(name, at, &node.launch),
        };
        let found = local_search::climb(&self.terms, conditions, &start, self.end);
        self.statistics.found_locally += u64::from(found.is_some());
        found
    }

    fn query_context<'a>(&'a self, candidate: &'a Candidate) -> QueryContext<'a> {
        let node = &self.nodes[candidate.node];
        QueryContext {
            program: self.program,
            inputs: &self.inputs,
            launch: &node.launch,
            local: node.local,
            trace: &candidate.trace,
            end: self.end,
        }
    }

    fn ask(&mut self, conditions: &[Term], effort: u32, limits: &Limits) -> Answer {
        let rlimit = (limits.rlimit >> (EFFORT_SHIFT * (MAX_EFFORT - effort))).max(1);
        let within = query::Limits { rlimit, end: limits.end };
        let mut answer = Session::in_context(&self.terms, &self.shared).ask(conditions, &within);
        let is_asked_again = effort == MAX_EFFORT && !query::is_too_large(&self.terms, conditions);
        if matches!(answer, Answer::Unknown(_)) && is_asked_again {
            // Given the whole problem at once, Z3 can use more tactics.
            answer = query::solve(&self.terms, conditions, &within);
        }
        match answer {
            Answer::Sat(_) => self.statistics.satisfiable += 1,
            Answer::Unsat => self.statistics.unsatisfiable += 1,
            Answer::Unknown(_) => self.statistics.undecided += 1,
        }
        answer
    }

    /// Builds the launch with these values, and interprets it.
    fn realise(&mut self, candidate: &Candidate, values: &Values, limits: &Limits) -> SolveOutcome {
        let parent = &self.nodes[candidate.node];
        let Some(mut changes) = Changes::of(values, &self.inputs, &parent.launch, parent.local) else {
            return SolveOutcome::Diverged;
        };
        let mut launch = changes.apply(&parent.launch);
        let known = self.launches.get(&hash_of(&launch)).copied();
        if known == Some(false) {
            return SolveOutcome::Diverged;
        }
        let expected = match candidate.target {
            Target::Edge { block, successor, .. } => {
                let hashes = candidate.trace.prefix_hashes.get(candidate.item);
                hashes
                    .and_then(|h| h.get(candidate.position))
                    .map(|before| interpreter::extended_hash(*before, block, successor))
            }
            Target::Mark(_) => None,
        };
        let id = |name, d, before: [u64; 3]| {
            values.symbols.get(&inputs::range_symbol(name, d)).copied().unwrap_or(before[d])
        };
        let (group, local) = (candidate.trace.group, candidate.trace.local);
        let focus =
            [[0, 1, 2].map(|d| id(inputs::GROUP_ID, d, group)), [0, 1, 2].map(|d| id(inputs::LOCAL_ID, d, local))];
        let arrives = |run: &Run| match candidate.target {
            Target::Edge { .. } => run.arrived,
            Target::Mark(goal) => run.marks.contains(&goal),
        };
        let mut run = self.interpret(&launch, expected, focus, limits.end);
        if run.faulty && !run.exhausted && known.is_none() && arrives(&run) {
            self.launches.insert(hash_of(&launch), false);
            // Code beyond the branch runs for the first time, on contents that were not chosen for it.
            let parent = self.nodes[candidate.node].launch.clone();
            if let Some(repaired) = self.avoid_fault_on_path(&launch, limits)
                && let Some(others) = Changes::between(&parent, &repaired, &self.inputs)
            {
                run = self.interpret(&repaired, expected, focus, limits.end);
                (launch, changes) = (repaired, others);
            }
        }
        // Where the launch that it is made of already overflows, the code means to.
        let newly_overflows = run.overflowed && !self.nodes[candidate.node].run.overflowed;
        let ends = !run.faulty && !run.exhausted && !newly_overflows;
        self.launches.insert(hash_of(&launch), ends);
        if newly_overflows && !run.faulty && !run.exhausted {
            return SolveOutcome::Overflowed;
        }
        let has_arrived = arrives(&run);
        if !ends || known.is_some() {
            return if ends && has_arrived { SolveOutcome::Reached } else { SolveOutcome::Diverged };
        }
        for (position, bytes) in run.access_ends.iter().enumerate() {
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
            Target::Mark(goal) if run.marks.contains(&goal) && self.wanted.0.contains(&goal) => Some(goal),
            _ => run.marks.intersection(&self.wanted.0).next().copied(),
        };
        let parent = &self.nodes[candidate.node];
        let (root, changes) = (parent.root, changes.after(&parent.changes));
        let number = self.add(launch, root, changes, run);
        match aims_at {
            Some(goal) => SolveOutcome::Found(self.nodes[number].changes.proposal(root, goal, number)),
            None if has_arrived => SolveOutcome::Reached,
            None => SolveOutcome::Diverged,
        }
    }
}
