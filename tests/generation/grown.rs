//! Checks buffers whose length is a guess: accesses beyond the guess are not findings, accesses beyond lengths that the
//! kernel checks are.

use std::time::Duration;

use kassay_base::error::Result;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::generate::launches::{Request, launches};
use kassay_judge::generate::roles;
use kassay_judge::sync::checking::{Case, Simulate, explore};
use kassay_model::code::LoweringOptions;
use kassay_run::exec::ProgramId;
use kassay_run::exec::simulator::Simulator;
use kassay_run::exec::simulator::observation::{FaultKind, Simulation, SimulationOptions};
use kassay_suite::launch::{ArgValue, Launch};

use super::support::with_source;

struct WatchedSimulator(Simulator, ProgramId);

impl Simulate for WatchedSimulator {
    fn simulate(&mut self, launch: &Launch, options: &SimulationOptions) -> Result<Simulation> {
        self.0.simulate(self.1, launch, options, Duration::from_secs(60), &[])
    }
}

/// Returns the generated launches after exploration, each with the number of its out-of-bounds faults.
fn explored(under_test: &KernelUnderTest<'_>) -> Vec<(Case, usize)> {
    let model = roles::infer(under_test).unwrap();
    let options = LoweringOptions { races: true, ..LoweringOptions::default() };
    let code = under_test.for_simulator(&options).unwrap();
    let mut simulator = Simulator::new(1).unwrap();
    let program = simulator.load_native(&code).unwrap();
    let mut watched = WatchedSimulator(simulator, program);
    let made = launches(&model, &Request::default()).unwrap();
    let explored = made.into_iter().map(|g| {
        let mut case = Case {
            name: g.name,
            origin: "generated",
            launch: g.launch,
            outputs: Vec::new(),
            fitness: None,
            preconditions: g.preconditions,
            guesses: g.guesses,
        };
        let seen = explore(&mut watched, &code.table, &mut case, None).unwrap();
        let beyond = seen.faults.iter().filter(|f| f.kind == FaultKind::OutOfBounds).count();
        (case, beyond)
    });
    explored.collect()
}

/// Returns a kernel with more iterations than a dry run follows.
fn long(line: &str) -> String {
    format!(
        "kernel void k(global int *a, int n) {{
            int i = get_global_id(0), s = i;
            for (int j = 0; j < 50000; j++) s = s * 3 + j;
            {line}
        }}"
    )
}

#[test]
fn guessed_lengths_grow_to_what_is_accessed() {
    let all = with_source(&long("for (int j = 0; j < 64; j++) a[i * 64 + j] = s;"), explored);
    for (case, beyond) in &all {
        assert_eq!(*beyond, 0, "{}", case.name);
        let ArgValue::Buffer(bytes) = &case.launch.args[0] else { panic!("no buffer") };
        let elements = bytes.len() as u64 / 4;
        assert!(elements >= case.launch.range.items() * 64, "{}", case.name);
        let notes: Vec<&String> = case.preconditions.iter().filter(|p| p.starts_with("a has ")).collect();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with(&format!("a has {elements} elements")), "{notes:?}");
    }
}

#[test]
fn real_out_of_bounds_accesses_remain_findings() {
    for line in ["if (i <= n) a[i] = s;", "a[i - 1] = s;", "a[i + (1 << 26)] = s;"] {
        let all = with_source(&long(line), explored);
        assert!(all.iter().any(|(_, beyond)| *beyond > 0), "{line}");
    }
}

#[test]
fn a_buffer_of_one_element_is_described_in_the_singular() {
    let all = with_source("kernel void k(global int *out) { if (get_global_id(0) == 0) out[0] = 1; }", explored);
    for (case, _) in all {
        assert!(
            case.preconditions.contains(&"out has 1 element, as many as its accesses reach".to_owned()),
            "{:?}",
            case.preconditions
        );
    }
}
