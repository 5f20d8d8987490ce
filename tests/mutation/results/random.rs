//! Makes random results of complete runs.

use kassay::result::Header;
use kassay::result::mutate::*;
use kassay::result::mutate_summary::finish;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

pub const STATUSES: [Status; 9] = [
    Status::Killed,
    Status::Survived,
    Status::Timeout,
    Status::RuntimeError,
    Status::CompileError,
    Status::NoCoverage,
    Status::Ignored,
    Status::Undecided,
    Status::Equivalent,
];

const TESTS: [&str; 3] = ["even", "odd length", "empty"];

/// Returns the class of an operator. For tests it only has to be a function.
pub fn class_of(operator: &str) -> String {
    format!("class of {}", &operator[..1])
}

pub fn mutant(id: &str, status: Status) -> Mutant {
    let at = Position { line: 3, column: 9 };
    Mutant {
        id: id.into(),
        operator: "ROR".into(),
        function: "f".into(),
        original: "<".into(),
        replacement: "<=".into(),
        location: Location { file: "k.cl".into(), start: at, end: Position { column: 10, ..at } },
        spelling: None,
        status,
        killed_by: [].into(),
        covered_by: [].into(),
        duplicate_of: None,
        reason: None,
        schedule: None,
        parts: vec![],
        decided_by: None,
        edit: None,
        taken_over: false,
    }
}

pub fn result(mutants: Vec<Mutant>, order: u32) -> MutateResult {
    let test = |name: &&str| TestOutcome {
        name: (*name).into(),
        status: TestStatus::Used,
        reason: None,
        kills: 0,
        reaches: 0,
    };
    MutateResult {
        header: Header {
            schema: MutateResult::SCHEMA.into(),
            version: "0.1.0".into(),
            kernel: "f".into(),
            source: "k.cl".into(),
            device: None,
            seed: 7,
        },
        elapsed_s: 1.0,
        configuration: "00ff".into(),
        shard: None,
        options: MutateOptions {
            operators: "ROR,AOR".into(),
            order,
            sample: None,
            changes: None,
            repeats: None,
            full_matrix: false,
            timeout_factor: 10.0,
            strategy: "schemata".into(),
            level: "canonical".into(),
            ir_level: "raw".into(),
        },
        texts: Default::default(),
        summary: Summary::default(),
        pairs: None,
        operators: Default::default(),
        classes: Default::default(),
        lines: Default::default(),
        timing: Timing::default(),
        mutants,
        tests: TESTS.iter().map(test).collect(),
        basis: None,
        baseline: None,
        complaints: Vec::new(),
        second_order: None,
        not_simulated: vec![],
        excluded: vec![],
        solver: None,
        notes: vec!["a note".into()],
    }
}

/// Generates a mutant's status, the tests that kill and reach it, the distance back to the mutant that it duplicates
/// (0: none), and its line.
fn outcome() -> impl Strategy<Value = (Status, Vec<&'static str>, Vec<&'static str>, usize, u32)> {
    let tests = || subsequence(TESTS.to_vec(), 0..=TESTS.len());
    (select(&STATUSES), tests(), tests(), prop_oneof![3 => Just(0), 1 => 1..6_usize], 0..6_u32)
}

/// Generates the result of a complete run, with pairs or without.
pub fn whole() -> impl Strategy<Value = MutateResult> {
    let pairs = prop::collection::vec((outcome(), any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..30);
    (prop::collection::vec(outcome(), 1..40), pairs, any::<bool>()).prop_map(|(first, pairs, second_order)| {
        let mut mutants: Vec<Mutant> = Vec::new();
        let add = |(status, kills, reaches, back, line): (Status, Vec<&str>, Vec<&str>, usize, u32),
                   parts: Vec<String>,
                   mutants: &mut Vec<Mutant>| {
            let n = mutants.len();
            let operator = ["ROR", "AOR", "LVR"][n % 3];
            let id = match parts.as_slice() {
                [] => format!("f.{operator}@k.cl:{line}:{n}:<="),
                parts => format!("{} #{n}", parts.join(" + ")),
            };
            let mut one = Mutant { operator: operator.into(), parts, ..mutant(&id, status) };
            one.location.start.line = line;
            one.killed_by = kills.iter().map(|t| (*t).into()).collect();
            one.covered_by = reaches.iter().map(|t| (*t).into()).collect();
            one.reason = n.is_multiple_of(4).then(|| format!("because of {n}"));
            let original = n.checked_sub(back).filter(|at| *at < n).map(|at| &mutants[at]);
            one.duplicate_of = original.filter(|o| o.duplicate_of.is_none()).map(|o| o.id.clone());
            mutants.push(one);
        };
        first.into_iter().for_each(|outcome| add(outcome, vec![], &mut mutants));
        if second_order {
            let count = mutants.len();
            for (outcome, a, b) in pairs {
                let parts = [a, b].map(|i| mutants[i.index(count)].id.clone()).to_vec();
                add(outcome, parts, &mut mutants);
            }
        }
        let mut whole = result(mutants, if second_order { 2 } else { 1 });
        finish(&mut whole, &class_of);
        whole
    })
}
