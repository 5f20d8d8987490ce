//! Runs generated launches on the simulator: clean fixtures stay clean, and existing faults are found.

use std::time::Duration;

use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::generate::launches::{Request, launches};
use kassay_judge::generate::roles;
use kassay_model::code::LoweringOptions;
use kassay_run::exec::simulator::Simulator;
use kassay_run::exec::simulator::observation::{FaultKind, Simulation, SimulationOptions};

use super::support::{fixtures, with_file, with_source};

/// Fixtures with deliberate faults, or faults of their own: those of `positions` and `repair` are assertions about
/// what arguments hold. Buffers of `bytes`, `instructions` and `tiles` are too short at first, and enlarged when a run
/// shows it; `running_sums` is for blocks of eight threads.
const FAULTY: [&str; 9] =
    ["bytes", "divergent_exit", "instructions", "last_four", "opcodes", "positions", "repair", "running_sums", "tiles"];

/// Runs the generated launches of a kernel; returns the results by name.
fn simulate(under_test: &KernelUnderTest<'_>) -> Vec<(String, Simulation)> {
    let model = roles::infer(under_test).unwrap();
    let options = LoweringOptions { races: true, ..LoweringOptions::default() };
    let code = under_test.for_simulator(&options).unwrap();
    let mut simulator = Simulator::new(1).unwrap();
    let program = simulator.load_native(&code).unwrap();
    let options = SimulationOptions { races: true, fuel: Some(1 << 20), ..SimulationOptions::default() };
    let all = launches(&model, &Request::default()).unwrap();
    let run = |g: kassay_judge::generate::planned_launch::GeneratedLaunch| {
        let seen = simulator.simulate(program, &g.launch, &options, Duration::from_secs(60), &[]).unwrap();
        (g.name, seen)
    };
    all.into_iter().map(run).collect()
}

fn faults(seen: &[(String, Simulation)], kind: FaultKind) -> usize {
    seen.iter().flat_map(|(_, s)| &s.faults).filter(|f| f.kind == kind).count()
}

fn conflicts(seen: &[(String, Simulation)]) -> usize {
    seen.iter().map(|(_, s)| s.conflicts.len()).sum()
}

#[test]
fn clean_fixtures_are_clean() {
    let mut complaints = Vec::new();
    for suite in fixtures() {
        with_file(&suite.kernel, suite.entry.as_deref(), &suite.options, |under_test| {
            if FAULTY.contains(&under_test.entry.as_str()) {
                return;
            }
            for (name, seen) in simulate(under_test) {
                let faults = seen.faults.iter().filter(|f| f.kind != FaultKind::Uninitialised);
                let mut told: Vec<String> = faults.map(|f| format!("{f:?}")).collect();
                told.extend(seen.conflicts.iter().map(|c| format!("{c:?}")));
                told.extend(seen.divergences.iter().map(|d| format!("{d:?}")));
                complaints.extend(told.into_iter().map(|what| format!("{}, {name}: {what}", under_test.entry)));
            }
        });
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn off_by_one_accesses_are_out_of_bounds() {
    for line in [
        "if (i <= n) a[i] = 1;",
        "if (i < n) a[i] = a[i + 1];",
        "if (i == 0) for (int j = 0; j <= n; j++) a[j] = j;",
        "if (i < n) a[i - 1] = 1;",
    ] {
        let source = format!("kernel void k(global int *a, int n) {{ int i = get_global_id(0); {line} }}");
        let seen = with_source(&source, simulate);
        assert!(faults(&seen, FaultKind::OutOfBounds) > 0, "{line}");
    }
    let local = "kernel void k(global int *a) {
        local int t[64];
        int l = get_local_id(0);
        t[l] = l;
        barrier(CLK_LOCAL_MEM_FENCE);
        a[get_global_id(0)] = t[l + 1];
    }";
    assert!(faults(&with_source(local, simulate), FaultKind::OutOfBounds) > 0);
}

#[test]
fn indices_that_count_down_from_a_length_or_around_it_stay_in_the_buffer() {
    for line in [
        "if (i < n) a[(n - 2 - k) * n + i] -= a[(n - 3 - k) * n + i];",
        "if (i < n) a[(n - 1 - i) * n + k] = i;",
        "if (i < m) a[(n - 2 - k) * m + i] = i;",
        "if (i == 0) a[n - 1 - k] = m;",
        "if (i < n) for (int j = 0; j < n - 1; j++) a[(n - 2 - j) * n + i] = j;",
        "for (int j = 0; j <= m; j++) a[(n - j) * get_global_size(0) + i] = j;",
        "for (int j = -m; j <= m; j++) if (i == 0) a[j + m] = j;",
    ] {
        let source =
            format!("kernel void k(global int *a, int k, int n, int m) {{ int i = get_global_id(0); {line} }}");
        let seen = with_source(&source, simulate);
        assert_eq!(faults(&seen, FaultKind::OutOfBounds), 0, "{line}");
    }
    let forgotten = "kernel void k(global int *a, int n) { int i = get_global_id(0); if (i <= n) a[n - 1 - i] = i; }";
    assert!(faults(&with_source(forgotten, simulate), FaultKind::OutOfBounds) > 0);
}

#[test]
fn races_are_found_and_none_is_introduced() {
    for (racy, line) in [
        (true, "a[i / 2] = i;"),
        (true, "a[b[i] & 7]++;"),
        (true, "a[i] = a[i + 1];"),
        (true, "a[0] = i;"),
        (false, "a[y * w + i] = i;"),
        (false, "a[b[i + y * get_global_size(0)]] = i;"),
        (false, "a[(y * get_global_size(0) + i) * w] = i;"),
        (false, "if (i < w && y < n) a[y * w + i] = i;"),
        (false, "atomic_inc(&a[b[i] & 7]);"),
    ] {
        let source = format!(
            "kernel void k(global int *a, global const int *b, int w, int n) {{
                int i = get_global_id(0);
                int y = get_global_id(1);
                {line}
            }}"
        );
        let seen = with_source(&source, simulate);
        assert_eq!(conflicts(&seen) > 0, racy, "{line}");
        assert_eq!(faults(&seen, FaultKind::OutOfBounds), 0, "{line}");
    }
}
