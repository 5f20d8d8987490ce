//! Checks that each kind of misbehaviour is reported as a fault, and that kassay goes on.

use std::sync::Arc;
use std::time::Duration;

use kassay_model::native::table::{Mode, NativeTable, PlainSite, Space};
use kassay_run::exec::simulator::observation::{FaultKind, SimulationOptions};
use kassay_run::exec::{
    Executor, Fault, ProgramId, Reference, Run, RunOptions, Simulator, Sweep, Variation, VariationOutcome,
};
use kassay_suite::compare::Tolerance;
use kassay_suite::launch::ArgValue;

use super::support::{
    LIMIT, code, ints, launch, loaded, output, simulate, table, with_access, with_barrier, with_loop,
};

/// Writes `out[index] = 1` for one index; a second access reads it back and stores the value in `seen`.
const INDEX: &str = "KERNEL {
    int *out = ARG(int *, 0), *seen = ARG(int *, 1);
    i64 index = ARG(i64, 2);
    AT(int, (char *)out + index, 0) = 1;
    AT(int, seen, 1) = AT(int, (char *)out + index, 2);
}";

fn index_table() -> NativeTable {
    let table = with_access(table(&["out", "seen", "index"]), Mode::Write, Some(0), Space::Global);
    let table = with_access(table, Mode::Write, Some(1), Space::Global);
    with_access(table, Mode::Read, Some(0), Space::Global)
}

#[test]
fn accesses_out_of_bounds_are_skipped_and_reported() {
    let code = code(INDEX, index_table());
    let kinds = |index: i64| {
        let args = vec![ints([5; 4]), ints([9]), ArgValue::Value(index.to_le_bytes().into())];
        let simulation = simulate(&code, &launch(1, 1, args), &SimulationOptions::default());
        assert!(simulation.completed);
        let faults: Vec<_> = simulation.faults.iter().map(|f| (f.kind, f.site, f.object, f.offset)).collect();
        (faults, output(&simulation, 0), output(&simulation, 1)[0])
    };
    assert_eq!(kinds(4), (Vec::new(), vec![5, 1, 5, 5], 1));
    for index in [-4, 14, 16, 4096, 65_536, 70_000, 1 << 40, i64::MIN] {
        let out = FaultKind::OutOfBounds;
        let kind = if index == 14 { FaultKind::OutOfBounds } else { out };
        let told = vec![(kind, 0, Some(0), index), (kind, 2, Some(0), index)];
        assert_eq!(kinds(index), (told, vec![5; 4], 0), "at {index}");
    }
    let misaligned = vec![(FaultKind::Misaligned, 0, Some(0), 2), (FaultKind::Misaligned, 2, Some(0), 2)];
    assert_eq!(kinds(2), (misaligned, vec![5; 4], 0));
}

/// Pointers of any origin: read from a buffer of addresses.
#[test]
fn wild_pointers_are_judged_by_their_targets() {
    const WILD: &str = "KERNEL {
        int mine[4]; volatile int *p = mine; p[1] = 3;
        u64 which = ARG(u64, 1);
        char *out = ARG(char *, 0);
        char *to = which == 0 ? 0 : which == 1 ? (char *)100 : which == 2 ? out + 4 : which == 3 ? (char *)mine + 4
            : which == 4 ? out + 20 : which == 5 ? (char *)item : (char *)0x7fff12345678;
        int *at = __kassay_check(item, to, 0);
        *at += 1;
        AT(int, out, 1) = p[1];
    }";
    let table = with_access(table(&["out", "which"]), Mode::Write, None, Space::Generic);
    let code = code(WILD, with_access(table, Mode::Write, Some(0), Space::Global));
    let run = |which: u64| {
        let args = vec![ints([5; 4]), ArgValue::Value(which.to_le_bytes().into())];
        let simulation = simulate(&code, &launch(1, 1, args), &SimulationOptions::default());
        let faults: Vec<_> = simulation.faults.iter().map(|f| (f.kind, f.object, f.offset)).collect();
        (faults, output(&simulation, 0))
    };
    assert_eq!(run(0), (vec![(FaultKind::Null, None, 0)], vec![3, 5, 5, 5]));
    assert_eq!(run(1), (vec![(FaultKind::Null, None, 100)], vec![3, 5, 5, 5]));
    assert_eq!(run(2), (vec![], vec![3, 6, 5, 5]));
    // The stack belongs to no object: variables whose addresses spread are elsewhere.
    assert_eq!(run(3), (vec![(FaultKind::OutOfBounds, None, 0)], vec![3, 5, 5, 5]));
    assert_eq!(run(4), (vec![(FaultKind::OutOfBounds, Some(0), 20)], vec![3, 5, 5, 5]));
    assert_eq!(run(5), (vec![(FaultKind::OutOfBounds, None, 0)], vec![3, 5, 5, 5]));
    assert_eq!(run(6), (vec![(FaultKind::OutOfBounds, None, 0)], vec![3, 5, 5, 5]));
}

#[test]
fn the_space_of_a_pointer_must_be_that_of_the_memory() {
    const SPACE: &str = "KERNEL { AT(int, ARG(int *, 0), 0) = 1; }";
    for (space, kind) in [(Space::Global, None), (Space::Generic, None), (Space::Local, Some(FaultKind::OutOfBounds))] {
        let code = code(SPACE, with_access(table(&["out"]), Mode::Write, None, space));
        let simulation = simulate(&code, &launch(1, 1, vec![ints([0])]), &SimulationOptions::default());
        assert_eq!(simulation.faults.first().map(|f| f.kind), kind, "{space:?}");
    }
    let mut table = with_access(table(&["out"]), Mode::Write, Some(0), Space::Global);
    table.objects[0].space = Space::Constant;
    let simulation = simulate(&code(SPACE, table), &launch(1, 1, vec![ints([0])]), &SimulationOptions::default());
    assert_eq!(simulation.faults.first().map(|f| f.kind), Some(FaultKind::ReadOnlyWrite));
    assert!(simulation.observation.outputs.is_empty());
}

#[test]
fn faults_are_counted_by_site() {
    let code = code(INDEX, index_table());
    let args = vec![ints([5; 4]), ints([9]), ArgValue::Value(16_i64.to_le_bytes().into())];
    let simulation = simulate(&code, &launch(12, 4, args), &SimulationOptions::default());
    let counts: Vec<_> = simulation.faults.iter().map(|f| (f.site, f.count, f.global_id[0])).collect();
    assert_eq!(counts, [(0, 12, 0), (2, 12, 0)]);
}

#[test]
fn large_private_arrays_fit_on_the_stack() {
    const LARGE: &str = "KERNEL {
        volatile char mine[100000];
        for (int i = 0; i < 100000; i++) mine[i] = (char)(i + item->linear);
        __kassay_barrier(item, 0, 1, 1, 0);
        int sum = 0;
        for (int i = 0; i < 100000; i++) sum += mine[i];
        AT(int, ARG(int *, 0) + item->global_id[0], 0) = sum;
    }";
    let mut table = with_access(table(&["out"]), Mode::Write, Some(0), Space::Global);
    table.stack_bytes = 100_000;
    let code = code(LARGE, with_barrier(table, "barrier", false));
    let simulation = simulate(&code, &launch(64, 64, vec![ints([0; 64])]), &SimulationOptions::default());
    assert!(simulation.completed);
    let sum = |item: i32| (0..100_000).map(|i| i32::from((i + item) as i8)).sum::<i32>();
    assert_eq!(output(&simulation, 0), (0..64).map(sum).collect::<Vec<_>>());
}

/// A kernel whose behaviour word 0 of its probe buffer selects.
const MANY: &str = "KERNEL {
    int *out = ARG(int *, 0), *probe = ARG(int *, 1);
    i64 fuel = item->fuel;
    probe[1] = 77;
    AT(int, out, 0) = 1 + (probe[0] == 4);
    if (probe[0] == 1) for (;;) BURN(0);
    if (probe[0] == 2) AT(int, out + 100, 0) = 1;
    if (probe[0] == 3) __kassay_division(item, 0);
    if (probe[0] == 5 && item->linear == 0) __kassay_barrier(item, 0, 1, 1, 0);
}";

fn many() -> (Simulator, ProgramId) {
    let mut table = with_access(table(&["out"]), Mode::Write, Some(0), Space::Global);
    table.divisions.push(PlainSite { path: 0 });
    loaded(&code(MANY, with_barrier(with_loop(table), "barrier", false)))
}

#[test]
fn sweeps_report_each_variation_separately() {
    let (mut simulator, program) = many();
    let launch = launch(4, 2, vec![ints([0; 4])]);
    let bytes: Vec<u8> = [1_i32, 0, 0, 0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let reference = Reference {
        position: 0,
        label: "`out`".into(),
        bytes: Arc::new(bytes),
        ty: None,
        tolerance: Tolerance::default(),
    };
    let variations: Vec<Variation> = (0..6).map(|n| Variation { words: vec![(0, n)] }).collect();
    let sweep = Sweep {
        launch: &launch,
        probe: &[],
        probe_words: 2,
        variations: &variations,
        references: &[reference],
        repeats: 2,
        timeout: Duration::from_secs(1),
        words: 1..2,
        decisive: None,
        batch: None,
    };
    let outcome = simulator.sweep(program, &sweep).unwrap();
    let told: Vec<String> = outcome
        .runs
        .iter()
        .map(|run| match run {
            VariationOutcome::Ran(runs) => {
                // Launches on one thread are not repeated.
                assert!(runs.len() == 1 && runs.iter().all(|r| r.words == [77]));
                runs[0].difference.clone().unwrap_or("agrees".into())
            }
            VariationOutcome::Fault(Fault::Timeout { .. }) => "timeout".into(),
            VariationOutcome::Fault(Fault::Checked { what, observation }) => {
                assert_eq!(observation.probe[1], 77);
                what.clone()
            }
            VariationOutcome::Fault(other) => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        told,
        [
            "agrees",
            "timeout",
            "out-of-bounds: `out[100]` is written, but `out` has 4 elements of 4 bytes at k.cl:3:9, by work-item \
             (0, 0, 0) of group (0, 0, 0), 4 times in all",
            "division: an integer is divided by zero, or the least one by -1 at k.cl:3:9, by work-item (0, 0, 0) of \
             group (0, 0, 0), 4 times in all",
            "`out` differs at 0: 2 instead of 1",
            "barrier-divergence: in group (0, 0, 0), 1 work-item waits at `barrier` at k.cl:3:9 (such as (0, 0, 0)), \
             1 work-item has ended without it ((1, 0, 0))",
        ]
    );
}

/// A kernel that counts its work-items in word 2 of its probe buffer; the first one sets word 1 if word 0 says so.
const COUNTED: &str = "KERNEL {
    int *probe = ARG(int *, 0);
    probe[2]++;
    if (probe[0] && !probe[1]) probe[1] = 9;
}";

#[test]
fn a_decisive_word_ends_the_run_in_which_it_is_set() {
    let (mut simulator, program) = loaded(&code(COUNTED, table(&[])));
    let launch = launch(8, 2, Vec::new());
    let variations: Vec<Variation> = [0, 1].iter().map(|n| Variation { words: vec![(0, *n)] }).collect();
    for (decisive, expected) in [(None, [[0, 8], [9, 8]]), (Some(1), [[0, 8], [9, 1]])] {
        let sweep = Sweep {
            launch: &launch,
            probe: &[],
            probe_words: 3,
            variations: &variations,
            references: &[],
            repeats: 1,
            timeout: Duration::from_secs(1),
            words: 1..3,
            decisive,
            batch: None,
        };
        let outcome = simulator.sweep(program, &sweep).unwrap();
        let ran = expected.map(|words| VariationOutcome::Ran(vec![Run { difference: None, words: words.to_vec() }]));
        assert_eq!(outcome.runs, ran);
    }
}

#[test]
fn runs_report_what_was_stopped_and_keep_their_outputs() {
    let (mut simulator, program) = many();
    let launch = launch(4, 2, vec![ints([0; 4])]);
    let options = RunOptions { timeout: LIMIT, repeats: 3, probe_words: Some(2), outputs: true };
    let run =
        |simulator: &mut Simulator, head: u32| simulator.run_with_probe(program, &launch, &options, &[head]).unwrap();
    let observation = run(&mut simulator, 0).unwrap();
    assert_eq!((observation.kernel_times.len(), &observation.probe[..]), (3, &[0, 77][..]));
    match run(&mut simulator, 2) {
        Err(Fault::Checked { observation, .. }) => {
            assert_eq!(observation.outputs[0].1[0], 1);
            assert_eq!(observation.probe, [2, 77]);
        }
        other => panic!("{other:?}"),
    }
    let options = RunOptions { timeout: Duration::from_secs(1), ..options };
    match simulator.run_with_probe(program, &launch, &options, &[1]).unwrap() {
        Err(Fault::Checked { what, observation }) => {
            assert!(what.starts_with("non-termination: "), "{what}");
            assert_eq!(observation.probe, [1, 77]);
        }
        other => panic!("{other:?}"),
    }
    assert!(simulator.run_with_probe(ProgramId(99), &launch, &options, &[]).is_err());
}

#[test]
fn several_simulators_run_at_once() {
    let code = code(INDEX, index_table());
    std::thread::scope(|scope| {
        for n in 0..4 {
            let code = &code;
            scope.spawn(move || {
                let (mut simulator, program) = loaded(code);
                for round in 0..50_i64 {
                    let index = (round + n) % 5 * 4;
                    let args = vec![ints([5; 4]), ints([9]), ArgValue::Value(index.to_le_bytes().into())];
                    let launch = launch(16, 4, args);
                    let simulation =
                        simulator.simulate(program, &launch, &SimulationOptions::default(), LIMIT, &[]).unwrap();
                    assert_eq!(simulation.faults.is_empty(), index < 16);
                }
            });
        }
    });
}

#[test]
fn large_launches_are_shared_among_threads() {
    const SQUARE: &str = "KERNEL {
        u64 i = item->global_id[0];
        AT(int, ARG(int *, 0) + i, 0) = (int)(i * i % 1000);
        __kassay_barrier(item, 0, 1, 1, 0);
    }";
    let table = with_access(table(&["out"]), Mode::Write, Some(0), Space::Global);
    let code = code(SQUARE, with_barrier(table, "barrier", false));
    let mut simulator = Simulator::new(2).unwrap();
    let program = simulator.load_native(&code).unwrap();
    let n = 1 << 16;
    let launch = launch(n, 64, vec![ints(vec![0; n as usize - 1])]);
    for _ in 0..3 {
        let simulation = simulator.simulate(program, &launch, &SimulationOptions::default(), LIMIT, &[]).unwrap();
        assert_eq!(output(&simulation, 0), (0..n - 1).map(|i| (i * i % 1000) as i32).collect::<Vec<_>>());
        assert_eq!(simulation.faults.iter().map(|f| (f.count, f.global_id[0])).collect::<Vec<_>>(), [(1, n - 1)]);
    }
}

/// Code that is not an object, or not one of kassay's, is kassay's fault.
#[test]
fn objects_that_cannot_be_loaded_are_refused() {
    let broken =
        kassay_run::exec::NativeCode { object: vec![1, 2, 3], entry: "k".into(), table: NativeTable::default() };
    let mut simulator = Simulator::new(1).unwrap();
    assert_eq!(simulator.load_native(&Arc::new(broken)).unwrap_err().exit_code(), 4);
    let unknown = code("void nobody_has_this(void); KERNEL { nobody_has_this(); }", NativeTable::default());
    let error = simulator.load_native(&unknown).unwrap_err();
    assert!(error.to_string().contains("nobody_has_this"), "{error}");
}
