//! Repairs launches that fault: traces the divisor that was 0 or the index that was out of bounds back to the input,
//! and solves for another value. Faults that then occur later are repaired in turn.

use kassay_suite::launch::{ArgValue, Launch};

use super::inputs;
use super::interpreter::{self, Setup};
use super::local_search::{self, Values};
use super::path_query::{Freedom, QueryContext};
use super::proposal::Changes;
use super::trace::{Class, Trace};
use super::variables::Variables;
use super::{Engine, Limits};
use crate::solve::expression::{Term, Terms};
use crate::solve::query::{self, Answer, Session};

/// Largest number of faults repaired in one launch: in a launch that the caller asks for, and in an intermediate one.
const MAX_FAULTS: usize = 48;
const MAX_INTERMEDIATE_FAULTS: usize = 8;
/// Largest number of intermediate launches that are repaired.
const MAX_INTERMEDIATE_REPAIRS: u32 = 200;
/// What may change, in the order in which it is tried. The NDRange and the buffer lengths are kept, as they are not
/// the cause.
const FREEDOMS: [Freedom; 4] = [Freedom::Repair, Freedom::Contents, Freedom::Same, Freedom::Values];

/// Stands for no particular work-item.
const NO_FOCUS: [[u64; 3]; 2] = [[0; 3]; 2];

impl Engine<'_> {
    /// Returns the launch with other scalars and contents, such that according to its interpretation no work-item
    /// faults, and with buffers as long as its accesses reach: an access past the end of a buffer is a fault for an
    /// executor, but not for the interpretation. `None` if no such launch is found, or if nothing has to change.
    pub fn avoid_fault(&mut self, launch: &Launch, limits: &Limits) -> Option<Launch> {
        self.repair(launch, MAX_FAULTS, limits)
    }

    /// Same for a launch that takes the intended path and then faults.
    pub(super) fn avoid_fault_on_path(&mut self, launch: &Launch, limits: &Limits) -> Option<Launch> {
        if self.statistics.repaired >= MAX_INTERMEDIATE_REPAIRS.into() {
            return None;
        }
        self.statistics.repaired += 1;
        self.repair(launch, MAX_INTERMEDIATE_FAULTS, limits)
    }

    fn repair(&mut self, launch: &Launch, most: usize, limits: &Limits) -> Option<Launch> {
        self.limit(limits);
        let mut launch = launch.clone();
        let mut has_changed = false;
        for _ in 0..most {
            let run = self.interpret(&launch, None, NO_FOCUS, limits.end);
            if limits.is_over() || run.exhausted && !run.faulty {
                return None;
            }
            let Some((group, local)) = run.faulting_item.filter(|_| run.faulty) else {
                let mut changes = Changes::default();
                for (position, bytes) in run.access_ends.iter().enumerate() {
                    if let Some(ArgValue::Buffer(buffer)) = launch.args.get(position) {
                        changes.lengthen(position, self.inputs.whole(position, *bytes), buffer.len() as u64);
                    }
                }
                return (!run.faulty && (has_changed || !changes.sizes.is_empty())).then(|| changes.apply(&launch));
            };
            launch = self.without_fault(&launch, &Class { hash: 0, group, local, states: Vec::new() }, limits)?;
            has_changed = true;
        }
        None
    }

    /// Returns the launch with the first fault of a work-item repaired.
    fn without_fault(&mut self, launch: &Launch, faulting_item: &Class, limits: &Limits) -> Option<Launch> {
        self.statistics.traces += 1;
        let local = self.local(launch);
        let setup = Setup {
            program: self.program,
            graph: &self.graph,
            inputs: &self.inputs,
            launch,
            local,
            steps: limits.steps,
            end: limits.end,
            expected: None,
            focus: [faulting_item.group, faulting_item.local],
        };
        let trace = interpreter::trace(setup, &mut self.terms, faulting_item);
        let place = trace.fault?;
        let condition = trace.paths.get(place.0)?.get(place.1)?.condition(&mut self.terms, self.program)?;
        let (mut terms, mut variables) = (std::mem::take(&mut self.terms), Variables::default());
        let context =
            QueryContext { program: self.program, inputs: &self.inputs, launch, local, trace: &trace, end: limits.end };
        let found = context.build(&mut terms, &mut variables, place, condition, &[]).and_then(|path_query| {
            FREEDOMS.iter().find_map(|freedom| {
                let conditions = context.conditions(&mut terms, &path_query, *freedom, false)?;
                let within = query::Limits { rlimit: limits.rlimit, end: limits.end };
                let solved = match local_search::effort(&terms, &conditions) <= local_search::SOLVABLE {
                    true => Session::in_context(&terms, &self.shared).ask(&conditions, &within),
                    false => Answer::Unknown(String::new()),
                };
                let values = match solved {
                    Answer::Sat(model) => Values::of(&model),
                    Answer::Unsat => return None,
                    Answer::Unknown(_) => self.climb_from(&terms, launch, local, &trace, &conditions, limits)?,
                };
                Changes::of(&values, &self.inputs, launch, local)
            })
        });
        self.terms = terms;
        let changes = found?;
        // Contents that make one work-item fault usually occur in the elements of the others too, so try changing all
        // elements alike.
        for among_equals in [true, false] {
            if let Some(others) = changes.everywhere(&self.inputs, launch, among_equals) {
                let run = self.interpret(&others, None, NO_FOCUS, limits.end);
                if !run.faulty && !run.exhausted {
                    return Some(others);
                }
            }
        }
        Some(changes.apply(launch))
    }

    fn climb_from(
        &self,
        terms: &Terms,
        launch: &Launch,
        local: [u64; 3],
        trace: &Trace,
        conditions: &[Term],
        limits: &Limits,
    ) -> Option<Values> {
        let start = |name: &str, at: Option<u64>| match at {
            None => inputs::value_of(name, launch, local, trace.group, trace.local),
            Some(at) => inputs::cell_of(name, at, launch),
        };
        local_search::climb(terms, conditions, &start, limits.end)
    }
}
