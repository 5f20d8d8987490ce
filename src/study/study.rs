//! Compares the levels of one kernel.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kassay_base::hash::fnv1a;
use kassay_results::result::compare::{
    CodeSize, ComparedMutant, Cost, CrossRow, FaultRow, Interval, KernelComparison, LevelRow, PoolTest, TestOrigin,
    Twins,
};
use kassay_results::result::merge::join_devices;
use kassay_results::result::mutate::{Mutant, MutateResult, Status, TestStatus};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::adequacy::cross_adequacy;
use super::correlation::Estimate;
use super::goals::{Metric, set};
use super::kill_matrix::KillMatrix;
use super::mutant_sets::{disjoint, distinguished, hard, minimal, share_subsumed};

/// The name of the row for all concepts.
pub const ALL: &str = "all";

/// The mutants of a level, run on all tests of the pool.
#[derive(Debug, Clone)]
pub struct LevelRun {
    /// The level's name.
    pub level: String,
    /// The result with `--full-matrix`.
    pub result: MutateResult,
    /// By id: what mutants become when they are optimised. Those of different levels with the same form are twins.
    pub forms: HashMap<String, String>,
    /// The size of what was mutated.
    pub code: CodeSize,
    /// Wall-clock seconds, compilation included.
    pub elapsed_s: f64,
}

/// A variant of the kernel that has a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its name.
    pub name: String,
    /// Names of the tests that find it.
    pub found_by: Vec<String>,
}

/// How a kernel's levels are compared.
pub struct Study<'a> {
    /// The suite's path, as given.
    pub suite: &'a str,
    /// How many of the pool's tests are the suite's; the others were generated.
    pub given_tests: usize,
    /// Returns the concept of an operator.
    pub concept_of: &'a dyn Fn(&str) -> String,
    /// Random suites that each estimate rests on.
    pub samples: usize,
    /// The seed of all random suites.
    pub seed: u64,
    /// Faulty variants; with them, scores and coverage are held against finding these.
    pub faults: &'a [Fault],
    /// Coverage of the same tests.
    pub metrics: &'a [Metric],
}

/// A mutant that tests can be judged by: neither equivalent nor a duplicate, and it was run.
pub fn counts(mutant: &Mutant) -> bool {
    let is_left_out = mutant.status.is_equivalent()
        || matches!(mutant.status, Status::Ignored | Status::CompileError | Status::Pending);
    mutant.duplicate_of.is_none() && !is_left_out
}

/// What is known of a level.
pub(super) struct Judged<'a> {
    pub(super) run: &'a LevelRun,
    /// The mutants that count, by their positions in the result.
    mutants: Vec<usize>,
    /// Which of the used tests kill them.
    pub(super) matrix: KillMatrix,
    /// Positions in the result.
    minimal: BTreeSet<usize>,
    hard: BTreeSet<usize>,
}

impl Study<'_> {
    /// Compares levels whose mutants were run on the same tests.
    pub fn compare(&self, runs: &[LevelRun]) -> KernelComparison {
        let tests = self.pool(runs);
        let used: HashMap<&str, usize> = (tests.iter().filter(|test| test.status == TestStatus::Used))
            .enumerate()
            .map(|(at, test)| (test.name.as_str(), at))
            .collect();
        let levels: Vec<Judged<'_>> = runs.iter().map(|run| judge(run, &used)).collect();
        let header = runs.first().map(|run| &run.result.header);
        let (correlation, correlation_within_sizes) = self.correlation(&levels, used.len());
        let (against_faults, against_faults_within_sizes) = self.against_faults(&levels, &used);
        KernelComparison {
            kernel: header.map(|header| header.kernel.clone()).unwrap_or_default(),
            source: header.map(|header| header.source.clone()).unwrap_or_default(),
            suite: self.suite.to_owned(),
            device: join_devices(runs.iter().filter_map(|run| run.result.header.device.as_ref())),
            levels: levels.iter().flat_map(|level| self.rows(level)).collect(),
            left_out: Vec::new(),
            twins: twins(runs),
            cross: self.cross(&levels),
            correlation,
            correlation_within_sizes,
            faults: self.faults.iter().map(|fault| fault_row(fault, &tests)).collect(),
            against_faults,
            against_faults_within_sizes,
            metrics_left_out: Vec::new(),
            mutants: levels.iter().flat_map(|level| self.mutants(level, &tests)).collect(),
            tests,
        }
    }

    /// A test is used if it is at every level: there the original has to be as stable.
    fn pool(&self, runs: &[LevelRun]) -> Vec<PoolTest> {
        let Some(first) = runs.first() else { return Vec::new() };
        let pool_test = |(at, test): (usize, &kassay_results::result::mutate::TestOutcome)| {
            let at_level = |run: &LevelRun| run.result.tests.get(at).cloned().filter(|other| other.name == test.name);
            let dropped = runs.iter().find_map(|run| match at_level(run) {
                Some(other) if other.status == TestStatus::Used => None,
                Some(other) => Some(format!("{}: {}", run.level, other.reason.unwrap_or_default())),
                None => Some(format!("{}: it was not run", run.level)),
            });
            PoolTest {
                name: test.name.clone(),
                origin: if at < self.given_tests { TestOrigin::Suite } else { TestOrigin::Generated },
                status: if dropped.is_some() { TestStatus::Dropped } else { TestStatus::Used },
                reason: dropped,
            }
        };
        first.result.tests.iter().enumerate().map(pool_test).collect()
    }

    /// The rows of a level: one for all concepts, and one for each that has mutants.
    fn rows(&self, level: &Judged<'_>) -> Vec<LevelRow> {
        let mut by_concept: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, mutant) in level.run.result.mutants.iter().enumerate() {
            by_concept.entry((self.concept_of)(&mutant.operator)).or_default().push(at);
        }
        let all: Vec<usize> = (0..level.run.result.mutants.len()).collect();
        let mut rows =
            vec![LevelRow { code: Some(level.run.code), cost: Some(cost(level.run)), ..row(level, ALL, &all) }];
        rows.extend(by_concept.iter().map(|(concept, mutants)| row(level, concept, mutants)));
        rows
    }

    fn cross(&self, levels: &[Judged<'_>]) -> Vec<CrossRow> {
        let mut rows = Vec::new();
        for (of, on) in ordered_pairs(levels) {
            let (adequate_on, scored_on) = (of.run.level.clone(), on.run.level.clone());
            let mut random = self.random(&["cross", &adequate_on, &scored_on]);
            let Some(found) = cross_adequacy(&of.matrix, &on.matrix, self.samples, &mut random) else { continue };
            let score = found.score.map(percent);
            rows.push(CrossRow {
                adequate_on,
                scored_on,
                mean: score.map(|score| score.mean),
                low: score.and_then(|score| score.low),
                high: score.and_then(|score| score.high),
                suite_size: interval(found.tests),
                minimal_subsumed: share_subsumed(&on.matrix, &of.matrix).map(|share| 100.0 * share),
            });
        }
        rows
    }

    fn mutants(&self, level: &Judged<'_>, tests: &[PoolTest]) -> Vec<ComparedMutant> {
        let positions: HashMap<&str, u32> = (0..).zip(tests).map(|(at, test)| (test.name.as_str(), at)).collect();
        let compared = |(at, mutant): (usize, &Mutant)| ComparedMutant {
            level: level.run.level.clone(),
            id: mutant.id.clone(),
            operator: mutant.operator.clone(),
            concept: (self.concept_of)(&mutant.operator),
            file: mutant.location.file.clone(),
            line: mutant.location.start.line,
            status: mutant.status,
            duplicate_of: mutant.duplicate_of.clone(),
            killed_by: mutant.killed_by.iter().filter_map(|test| positions.get(&**test).copied()).collect(),
            is_minimal: level.minimal.contains(&at),
            is_hard: level.hard.contains(&at),
        };
        level.run.result.mutants.iter().enumerate().map(compared).collect()
    }

    /// Returns the random numbers for a purpose. Each has its own, so that one more level changes no other number.
    pub(super) fn random(&self, purpose: &[&str]) -> ChaCha8Rng {
        let text = format!("{} {} {}", self.seed, self.suite, purpose.join(" "));
        ChaCha8Rng::seed_from_u64(fnv1a(text.as_bytes()))
    }
}

/// Returns which of the used tests do what these names are listed for.
pub(super) fn matrix_of<'n, S: AsRef<str> + 'n>(
    used: &HashMap<&str, usize>,
    names: impl Iterator<Item = &'n [S]>,
) -> KillMatrix {
    KillMatrix::new(used.len(), names.map(|names| set(used, names)).collect())
}

fn fault_row(fault: &Fault, tests: &[PoolTest]) -> FaultRow {
    let positions = (0..).zip(tests).filter(|(_, test)| fault.found_by.contains(&test.name)).map(|(at, _)| at);
    FaultRow { fault: fault.name.clone(), found_by: positions.collect() }
}

fn judge<'a>(run: &'a LevelRun, used: &HashMap<&str, usize>) -> Judged<'a> {
    let all = &run.result.mutants;
    let mutants: Vec<usize> = (0..all.len()).filter(|at| counts(&all[*at])).collect();
    let matrix = matrix_of(used, mutants.iter().map(|at| &all[*at].killed_by[..]));
    let positions = |of: Vec<usize>| of.into_iter().map(|at| mutants[at]).collect();
    let (minimal, hard) = (positions(minimal(&matrix)), positions(hard(&matrix)));
    Judged { run, mutants, matrix, minimal, hard }
}

fn row(level: &Judged<'_>, concept: &str, mutants: &[usize]) -> LevelRow {
    let all = &level.run.result.mutants;
    let of_status = |status: Status| {
        mutants.iter().filter(|at| all[**at].duplicate_of.is_none() && all[**at].status == status).count() as u64
    };
    let wanted: BTreeSet<usize> = mutants.iter().copied().collect();
    let in_matrix: Vec<usize> = (0..level.mutants.len()).filter(|at| wanted.contains(&level.mutants[*at])).collect();
    let matrix = level.matrix.of(&in_matrix);
    let [killed, timeout, runtime_error] = [Status::Killed, Status::Timeout, Status::RuntimeError].map(of_status);
    let minimal = minimal(&matrix).len() as u64;
    let counted = in_matrix.len() as f64;
    LevelRow {
        level: level.run.level.clone(),
        concept: concept.to_owned(),
        generated: mutants.len() as u64,
        compile_error: of_status(Status::CompileError),
        ignored: of_status(Status::Ignored),
        equivalent: of_status(Status::Equivalent),
        equivalent_for_launches: of_status(Status::EquivalentForLaunches),
        duplicate: mutants.iter().filter(|at| all[**at].duplicate_of.is_some()).count() as u64,
        killed,
        timeout,
        runtime_error,
        survived: of_status(Status::Survived),
        undecided: of_status(Status::Undecided),
        no_coverage: of_status(Status::NoCoverage),
        score: (counted > 0.0).then(|| 100.0 * (killed + timeout + runtime_error) as f64 / counted),
        distinguished: distinguished(&matrix).len() as u64,
        minimal,
        disjoint: disjoint(&matrix).len() as u64,
        surface: minimal,
        hard: hard(&matrix).len() as u64,
        code: None,
        cost: None,
    }
}

fn cost(run: &LevelRun) -> Cost {
    let timing = &run.result.timing;
    Cost {
        build_s: timing.build_s,
        run_s: timing.run_s + timing.simulator_s,
        equivalence_s: timing.equivalence_s,
        elapsed_s: run.elapsed_s,
        builds: timing.builds,
        executions: timing.executions,
    }
}

/// Returns the pairs of mutants of different levels that have the same form. Of the mutants of a level with one form,
/// the first stands for all: the others are its duplicates.
fn twins(runs: &[LevelRun]) -> Vec<Twins> {
    let first_by_form = |run: &LevelRun| {
        let mut first: HashMap<String, String> = HashMap::new();
        for mutant in run.result.mutants.iter().filter(|mutant| counts(mutant)) {
            if let Some(form) = run.forms.get(&mutant.id) {
                first.entry(form.clone()).or_insert_with(|| mutant.id.clone());
            }
        }
        first
    };
    let by_form: Vec<HashMap<String, String>> = runs.iter().map(first_by_form).collect();
    let mut twins = Vec::new();
    for (one, run) in runs.iter().enumerate() {
        for (other, other_run) in runs.iter().enumerate().skip(one + 1) {
            for mutant in &run.result.mutants {
                let form = run.forms.get(&mutant.id);
                let stands = form.filter(|form| by_form[one].get(*form) == Some(&mutant.id));
                let Some(twin) = stands.and_then(|form| by_form[other].get(form)) else { continue };
                twins.push(Twins {
                    level: run.level.clone(),
                    mutant: mutant.id.clone(),
                    other_level: other_run.level.clone(),
                    other_mutant: twin.clone(),
                });
            }
        }
    }
    twins
}

fn ordered_pairs<'a, 'b>(levels: &'b [Judged<'a>]) -> impl Iterator<Item = (&'b Judged<'a>, &'b Judged<'a>)> {
    let pairs = levels.iter().flat_map(move |of| levels.iter().map(move |on| (of, on)));
    pairs.filter(|(of, on)| of.run.level != on.run.level)
}

/// Returns an estimate as results have it.
pub(super) fn interval(estimate: Estimate) -> Interval {
    let (low, high) = estimate.interval.unzip();
    Interval { mean: estimate.value, low, high }
}

fn percent(estimate: Estimate) -> Interval {
    let Interval { mean, low, high } = interval(estimate);
    Interval { mean: 100.0 * mean, low: low.map(|low| 100.0 * low), high: high.map(|high| 100.0 * high) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::goals::Goal;
    use super::*;

    /// A level with these mutants: id, operator, status, the tests that detect it, the id of the one that it equals.
    type Row<'a> = (&'a str, &'a str, &'a str, &'a [&'a str], Option<&'a str>);

    fn run(level: &str, tests: &[(&str, bool)], rows: &[Row<'_>], forms: &[(&str, &str)]) -> LevelRun {
        let location =
            json!({ "file": "k.cl", "start": { "line": 3, "column": 1 }, "end": { "line": 3, "column": 2 } });
        let mutants: Vec<_> = rows
            .iter()
            .map(|(id, operator, status, killed_by, duplicate_of)| {
                json!({
                    "id": id, "operator": operator, "function": "k", "original": "a", "replacement": "b",
                    "location": location, "status": status, "killed_by": killed_by, "covered_by": [],
                    "duplicate_of": duplicate_of,
                })
            })
            .collect();
        let tests: Vec<_> = tests
            .iter()
            .map(|(name, used)| {
                let status = if *used { "used" } else { "dropped" };
                json!({ "name": name, "status": status, "reason": (!used).then_some("not stable"), "kills": 0, "reaches": 0 })
            })
            .collect();
        let summary = serde_json::to_value(kassay_results::result::mutate::Summary::default()).unwrap();
        let timing = serde_json::to_value(kassay_results::result::mutate::Timing::default()).unwrap();
        let result = json!({
            "schema": "kassay.mutate/1", "version": "0", "kernel": "k", "source": "k.cl", "device": null, "seed": 0,
            "elapsed_s": 0.5, "configuration": "", "summary": summary, "operators": {}, "classes": {}, "lines": {},
            "options": {
                "operators": "all", "order": 1, "sample": null, "repeats": null, "full_matrix": true,
                "timeout_factor": 10.0, "strategy": "schemata", "ir_level": "O0", "level": level,
            },
            "timing": timing, "mutants": mutants, "tests": tests, "notes": [],
        });
        LevelRun {
            code: CodeSize::default(),
            level: level.into(),
            result: serde_json::from_value(result).unwrap(),
            forms: forms.iter().map(|(id, form)| ((*id).to_owned(), (*form).to_owned())).collect(),
            elapsed_s: 1.0,
        }
    }

    fn compared(runs: &[LevelRun]) -> KernelComparison {
        let concept_of = |operator: &str| operator.to_lowercase();
        study(&concept_of, &[], &[]).compare(runs)
    }

    fn study<'a>(concept_of: &'a dyn Fn(&str) -> String, faults: &'a [Fault], metrics: &'a [Metric]) -> Study<'a> {
        Study { suite: "s.toml", given_tests: 2, concept_of, samples: 50, seed: 1, faults, metrics }
    }

    const TESTS: [(&str, bool); 3] = [("t0", true), ("t1", true), ("t2", true)];

    #[test]
    fn rows_of_a_level_that_was_worked_out_by_hand() {
        let rows: [Row<'_>; 7] = [
            ("a", "ADD", "killed", &["t0"], None),
            ("b", "ADD", "killed", &["t0", "t1"], None),
            ("c", "REL", "runtime-error", &["t2"], None),
            ("d", "REL", "survived", &[], None),
            ("e", "REL", "equivalent", &[], None),
            ("f", "REL", "killed", &["t2"], Some("c")),
            ("g", "REL", "compile-error", &[], None),
        ];
        let found = compared(&[run("one", &TESTS, &rows, &[])]);
        let [all, add, rel] = &found.levels[..] else { panic!("{:?}", found.levels) };
        assert_eq!((all.concept.as_str(), add.concept.as_str(), rel.concept.as_str()), ("all", "add", "rel"));
        // Four count: a, b, c and d; three are detected. b is subsumed by a.
        assert_eq!((all.generated, all.killed, all.runtime_error, all.survived), (7, 2, 1, 1));
        assert_eq!((all.equivalent, all.duplicate, all.compile_error), (1, 1, 1));
        assert_eq!((all.score, all.distinguished, all.minimal, all.disjoint, all.surface), (Some(75.0), 3, 2, 2, 2));
        // One of three tests is few.
        assert_eq!(all.hard, 2);
        assert_eq!((add.generated, add.score, add.minimal), (2, Some(100.0), 1));
        assert_eq!((rel.generated, rel.score, rel.minimal), (5, Some(50.0), 1));
        let minimal: Vec<&str> = found.mutants.iter().filter(|m| m.is_minimal).map(|m| m.id.as_str()).collect();
        assert_eq!(minimal, ["a", "c"]);
        assert_eq!(found.mutants[1].killed_by, [0, 1]);
        assert_eq!(found.tests.iter().filter(|test| test.origin == TestOrigin::Generated).count(), 1);
        assert!(found.cross.is_empty() && found.twins.is_empty());
    }

    #[test]
    fn a_test_that_one_level_drops_judges_none() {
        let one = run("one", &TESTS, &[("a", "ADD", "killed", &["t0", "t2"], None)], &[]);
        let dropped = [("t0", true), ("t1", true), ("t2", false)];
        let other = run("other", &dropped, &[("b", "ADD", "killed", &["t0"], None)], &[]);
        let found = compared(&[one, other]);
        assert_eq!(found.tests[2].status, TestStatus::Dropped);
        assert_eq!(found.tests[2].reason.as_deref(), Some("other: not stable"));
        // Without t2 the same tests kill both.
        assert_eq!(found.cross[0].minimal_subsumed, Some(100.0));
        assert_eq!(found.cross[1].minimal_subsumed, Some(100.0));
    }

    #[test]
    fn levels_against_each_other() {
        // Tests for the fine level need t0, t1 and t2; one of t0 and t1 suffices for the coarse one.
        let fine = run(
            "fine",
            &TESTS,
            &[
                ("a", "X", "killed", &["t0"], None),
                ("b", "X", "killed", &["t1"], None),
                ("c", "X", "killed", &["t2"], None),
            ],
            &[("a", "1"), ("b", "2"), ("c", "3")],
        );
        let coarse = run(
            "coarse",
            &TESTS,
            &[
                ("p", "Y", "killed", &["t0", "t1"], None),
                ("q", "Y", "survived", &[], None),
                ("r", "Y", "killed", &["t0", "t1"], Some("p")),
                ("s", "Y", "killed", &["t2", "t1", "t0"], None),
            ],
            &[("p", "9"), ("q", "2"), ("r", "1"), ("s", "3")],
        );
        let found = compared(&[fine, coarse]);
        let row = |of: &str| found.cross.iter().find(|row| row.adequate_on == of).unwrap();
        assert_eq!((row("fine").mean, row("fine").suite_size.mean), (Some(100.0), 3.0));
        assert_eq!((row("coarse").suite_size.mean, row("coarse").mean.map(f64::round)), (1.0, Some(33.0)));
        // p, minimal there, is subsumed by a and b; nothing there subsumes a, b or c.
        assert_eq!((row("fine").minimal_subsumed, row("coarse").minimal_subsumed), (Some(100.0), Some(0.0)));
        // b and q, c and s; r is a duplicate, for which p stands.
        let twins: Vec<(&str, &str)> =
            found.twins.iter().map(|twins| (twins.mutant.as_str(), twins.other_mutant.as_str())).collect();
        assert_eq!(twins, [("b", "q"), ("c", "s")]);
        // Sub-suites of one and of two tests.
        assert_eq!(found.correlation.iter().map(|row| row.tests).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn scores_and_coverage_are_held_against_faults() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        // The mutants that tests detect are the faults that they find; the metric is the other way round.
        let runs = [run(
            "one",
            &TESTS,
            &[("a", "X", "killed", &["t0"], None), ("b", "X", "killed", &["t0", "t1"], None)],
            &[],
        )];
        let faults = [
            Fault { name: "f".into(), found_by: names(&["t0"]) },
            Fault { name: "g".into(), found_by: names(&["t1", "t0"]) },
        ];
        let metric = |name: &str, goals: Vec<Goal>| Metric { name: name.into(), goals };
        let of = |tests: &[&str]| Goal::of(names(tests));
        // Covered by the fault's test together with another one.
        let both = Goal { ways: vec![vec![names(&["t0"]), names(&["t1", "t2"])]] };
        let metrics = [
            metric("same", vec![of(&["t0"]), of(&["t0", "t1"])]),
            metric("none", vec![of(&["t0", "t1", "t2"])]),
            metric("both", vec![both]),
        ];
        let concept_of = |operator: &str| operator.to_owned();
        let found = study(&concept_of, &faults, &metrics).compare(&runs);
        assert_eq!(found.faults[1], FaultRow { fault: "g".into(), found_by: vec![0, 1] });
        let row =
            |measure: &str| found.against_faults.iter().find(|row| row.measure == measure && row.tests == 1).unwrap();
        for measure in ["one", "same"] {
            let pearson = row(measure).pearson.unwrap();
            assert!((pearson.mean - 1.0).abs() < 1e-12, "{measure}: {pearson:?}");
        }
        assert_eq!((row("none").pearson, row("both").pearson), (None, None));
        let within = |measure: &str| {
            let found = found.against_faults_within_sizes.iter().find(|row| row.measure == measure).unwrap();
            (found.sizes, found.defined, found.suites, found.pearson.map(|pearson| (pearson.mean * 1e9).round() / 1e9))
        };
        assert_eq!(within("same"), (2, 2, 100, Some(1.0)));
        assert_eq!(within("none"), (2, 0, 100, None));
        // Of two tests, those with t0 find all and cover it, and t1 with t2 finds half and does not.
        let (sizes, defined, suites, pearson) = within("both");
        assert_eq!((sizes, defined, suites), (2, 1, 100));
        assert!((0.1..0.9).contains(&pearson.unwrap()), "{pearson:?}");
        // Of one test: both, one or none of two faults, each as likely.
        assert!((35.0..65.0).contains(&row("one").found), "{}", row("one").found);
    }
}
