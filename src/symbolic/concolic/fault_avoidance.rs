//! Launches that do what no kernel may, changed so that they do not: the divisor that was 0, the index that lay outside is traced back to
//! the input that it comes from, and solved for. What goes wrong after it comes next.

use super::inputs;
use super::local_search::{self, Values};
use super::machine::{self, Setup};
use super::path_query::{Asked, Freedom};
use super::proposal::Changes;
use super::trace::{Class, Trace};
use super::variables::Variables;
use super::{Engine, Limits};
use crate::solve::expression::{Term, Terms};
use crate::solve::query::{self, Answer, Session};
use crate::suite::launch::{ArgValue, Launch};

/// So many things that go wrong are put right in one launch that the caller asks for, and in one on the way to somewhere else.
const MOST_FAULTS: usize = 48;
const FAULTS_ON_THE_WAY: usize = 8;
/// Launches on the way that are repaired.
const MOST_ON_THE_WAY: u32 = 200;
/// What may change, in the order in which it is tried. The NDRange and the lengths of buffers stay: they are not to blame.
const FREEDOMS: [Freedom; 4] = [Freedom::Mending, Freedom::Contents, Freedom::Same, Freedom::Values];

/// Ids of no work-item in particular.
const NOBODY: [[u64; 3]; 2] = [[0; 3]; 2];

impl Engine<'_> {
    /// The launch with other scalars and contents, such that no work-item does what no kernel may as far as its interpretation tells.
    /// `None` if that is not found, or it does nothing of that kind as it is.
    pub fn avoid_fault(&mut self, launch: &Launch, limits: &Limits) -> Option<Launch> {
        self.repaired(launch, MOST_FAULTS, limits)
    }

    /// The same of a launch that goes where it should, and then does what no kernel may.
    pub(super) fn avoid_fault_on_path(&mut self, launch: &Launch, limits: &Limits) -> Option<Launch> {
        if self.statistics.repaired >= MOST_ON_THE_WAY.into() {
            return None;
        }
        self.statistics.repaired += 1;
        self.repaired(launch, FAULTS_ON_THE_WAY, limits)
    }

    fn repaired(&mut self, launch: &Launch, most: usize, limits: &Limits) -> Option<Launch> {
        self.limit(limits);
        let mut launch = launch.clone();
        let mut has_changed = false;
        for _ in 0..most {
            let run = self.interpret(&launch, None, NOBODY, limits.end);
            if limits.is_over() || run.exhausted && !run.faulty {
                return None;
            }
            let Some((group, local)) = run.culprit.filter(|_| run.faulty) else {
                let mut changes = Changes::default();
                for (position, bytes) in run.reached.iter().enumerate() {
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

    /// The launch with the first thing put right that goes wrong in a work-item.
    fn without_fault(&mut self, launch: &Launch, culprit: &Class, limits: &Limits) -> Option<Launch> {
        self.statistics.traces += 1;
        let local = self.local(launch);
        let setup = Setup {
            program: self.program,
            states: &self.states,
            inputs: &self.inputs,
            launch,
            local,
            steps: limits.steps,
            end: limits.end,
            expected: None,
            whose: [culprit.group, culprit.local],
        };
        let trace = machine::trace(setup, &mut self.terms, culprit);
        let place = trace.fault?;
        let condition = trace.paths.get(place.0)?.get(place.1)?.condition(&mut self.terms, self.program)?;
        let (mut terms, mut variables) = (std::mem::take(&mut self.terms), Variables::default());
        let asked =
            Asked { program: self.program, inputs: &self.inputs, launch, local, trace: &trace, end: limits.end };
        let found = asked.question(&mut terms, &mut variables, place, condition, &[]).and_then(|question| {
            FREEDOMS.iter().find_map(|freedom| {
                let conditions = asked.conditions(&mut terms, &question, *freedom)?;
                let within = query::Limits { rlimit: limits.rlimit, end: limits.end };
                let solved = match local_search::effort(&terms, &conditions) <= local_search::SOLVABLE {
                    true => Session::in_context(&terms, &self.shared).ask(&conditions, &within),
                    false => Answer::Unknown(String::new()),
                };
                let values = match solved {
                    Answer::Sat(model) => Values::of(&model),
                    Answer::Unsat => return None,
                    Answer::Unknown(_) => self.climbed(&terms, launch, local, &trace, &conditions, limits)?,
                };
                Changes::of(&values, &self.inputs, launch, local)
            })
        });
        self.terms = terms;
        let changes = found?;
        // What one work-item finds in its element, the others mostly find in theirs.
        for among_equals in [true, false] {
            if let Some(others) = changes.everywhere(&self.inputs, launch, among_equals) {
                let run = self.interpret(&others, None, NOBODY, limits.end);
                if !run.faulty && !run.exhausted {
                    return Some(others);
                }
            }
        }
        Some(changes.apply(launch))
    }

    fn climbed(
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
