//! Checks the order in which work-items run: orders, preemptions, spinning, and launches that never end.

use std::time::{Duration, Instant};

use kassay_model::native::table::{Mode, NativeTable, Space};
use kassay_run::exec::simulator::observation::{FaultKind, SimulationOptions};
use kassay_suite::schedule::{Preemption, Schedule};

use super::support::{
    LIMIT, code, ints, launch, loaded, output, simulate, table, with_access, with_barrier, with_loop,
};

/// Every item takes a number before and after a barrier.
const NUMBERS: &str = "KERNEL {
    int *out = ARG(int *, 0), *next = ARG(int *, 1);
    u64 i = item->global_id[0], n = item->group->global_size[0];
    int *a = &AT(int, next, 0);
    AT(int, out + i, 1) = (*a)++;
    __kassay_barrier(item, 0, 2, 1, 0);
    a = &AT(int, next, 0);
    AT(int, out + n + i, 1) = (*a)++;
}";

fn numbers_table() -> NativeTable {
    let table = NativeTable { races: true, ..table(&["out", "next"]) };
    let table = with_access(table, Mode::Atomic, Some(1), Space::Global);
    with_barrier(with_access(table, Mode::Write, Some(0), Space::Global), "barrier", false)
}

fn numbers(schedule: Schedule) -> Vec<i32> {
    let code = code(NUMBERS, numbers_table());
    let launch = launch(6, 3, vec![ints(vec![0; 12]), ints([0])]);
    let simulation = simulate(&code, &launch, &SimulationOptions { schedule, ..SimulationOptions::default() });
    assert!(simulation.completed, "{:?}", simulation.divergences);
    output(&simulation, 0)
}

#[test]
fn groups_and_items_run_in_the_order_given() {
    assert_eq!(numbers(Schedule::default()), [0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11]);
    let schedule = Schedule { map: vec![1, 0], item_order: vec![2, 0, 1], ..Schedule::default() };
    assert_eq!(numbers(schedule), [7, 8, 6, 1, 2, 0, 10, 11, 9, 4, 5, 3]);
}

#[test]
fn an_order_lasts_for_one_launch() {
    let code = code(NUMBERS, numbers_table());
    let (mut simulator, program) = loaded(&code);
    let launch = launch(6, 3, vec![ints(vec![0; 12]), ints([0])]);
    let reversed = Schedule { item_order: vec![2, 1, 0], ..Schedule::default() };
    for (schedule, first) in [(Schedule::default(), [0, 1, 2]), (reversed, [2, 1, 0]), (Schedule::default(), [0, 1, 2])]
    {
        let options = SimulationOptions { schedule, ..SimulationOptions::default() };
        let simulation = simulator.simulate(program, &launch, &options, LIMIT, &[]).unwrap();
        assert_eq!(output(&simulation, 0)[..3], first);
    }
}

#[test]
fn items_are_interrupted_before_the_access_named() {
    let at = |item, access, to| Preemption { group: 0, item, access, to };
    // Item 0 stops before its first write to `out`; item 2 runs, then 0 continues, then 1.
    let schedule = Schedule { preemptions: vec![at(0, 0, Some(2))], ..Schedule::default() };
    assert_eq!(numbers(schedule)[..3], [1, 2, 0]);
    let schedule = Schedule { preemptions: vec![at(0, 0, None), at(1, 0, None)], ..Schedule::default() };
    assert_eq!(numbers(schedule)[..3], [1, 2, 0]);
    // After the barrier the access numbers continue; the counter is read before and written after the interruption
    // of `out`.
    let schedule = Schedule { preemptions: vec![at(0, 2, Some(1))], ..Schedule::default() };
    assert_eq!(numbers(schedule)[6..9], [5, 3, 4]);
}

#[test]
fn wrong_schedules_are_the_callers_mistake() {
    let code = code(NUMBERS, numbers_table());
    let (mut simulator, program) = loaded(&code);
    let launch = launch(6, 3, vec![ints(vec![0; 12]), ints([0])]);
    for schedule in [
        Schedule { map: vec![0, 0], ..Schedule::default() },
        Schedule { map: vec![0], ..Schedule::default() },
        Schedule { item_order: vec![0, 1, 3], ..Schedule::default() },
    ] {
        let options = SimulationOptions { schedule, ..SimulationOptions::default() };
        let error = simulator.simulate(program, &launch, &options, LIMIT, &[]).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{error}");
    }
}

/// The first item waits for the last item of the last group.
const SPIN: &str = "KERNEL {
    volatile int *flag = ARG(int *, 0);
    i64 fuel = item->fuel;
    if (item->global_id[0] == 0)
        while (*(volatile int *)__kassay_access(item, (void *)flag, 0) == 0) BURN(0);
    if (item->global_id[0] == item->group->global_size[0] - 1) AT(int, (void *)flag, 1) = 7;
}";

fn spin_table() -> NativeTable {
    let table = with_access(table(&["flag"]), Mode::AtomicRead, Some(0), Space::Global);
    with_loop(with_access(table, Mode::Atomic, Some(0), Space::Global))
}

#[test]
fn items_that_spin_let_others_run() {
    let code = code(SPIN, spin_table());
    for (global, local) in [(8, 8), (8, 4), (8, 1), (64, 2)] {
        for fuel in [None, Some(100_000)] {
            let options = SimulationOptions { fuel, ..SimulationOptions::default() };
            let simulation = simulate(&code, &launch(global, local, vec![ints([0])]), &options);
            assert!(simulation.completed, "{global}/{local}: {:?}", simulation.faults);
            assert_eq!(output(&simulation, 0), [7]);
        }
    }
}

#[test]
fn waiting_for_a_flag_that_is_never_set_is_non_termination() {
    const NEVER: &str = "KERNEL {
        volatile int *flag = ARG(int *, 0);
        i64 fuel = item->fuel;
        if (item->global_id[0] == 1) while (*flag == 0) BURN(0);
        AT(int, (void *)(flag + 1), 1) = 1;
    }";
    let code = code(NEVER, spin_table());
    let (mut simulator, program) = loaded(&code);
    let launch = launch(8, 2, vec![ints([0, 0])]);
    let options = SimulationOptions { fuel: Some(50_000), ..SimulationOptions::default() };
    for _ in 0..2 {
        let simulation = simulator.simulate(program, &launch, &options, LIMIT, &[]).unwrap();
        assert!(!simulation.completed);
        let faults: Vec<_> = simulation.faults.iter().map(|f| (f.kind, f.site, f.global_id[0])).collect();
        assert_eq!(faults, [(FaultKind::NonTermination, 0, 1)]);
        assert_eq!(output(&simulation, 0), [0, 1]);
    }
    let start = Instant::now();
    let limit = Duration::from_millis(100);
    let simulation = simulator.simulate(program, &launch, &SimulationOptions::default(), limit, &[]).unwrap();
    assert!(!simulation.completed && start.elapsed() < Duration::from_secs(30));
    assert_eq!(simulation.faults[0].kind, FaultKind::NonTermination);
}

/// Items that synchronise at a barrier in each iteration of an endless loop make no progress by that.
#[test]
fn an_endless_loop_with_a_barrier_is_non_termination() {
    const NEVER: &str = "KERNEL {
        volatile int *flag = ARG(int *, 0);
        i64 fuel = item->fuel;
        while (*flag == 0) {
            __kassay_barrier(item, 0, 1, 1, 0);
            BURN(0);
        }
    }";
    let code = code(NEVER, with_barrier(spin_table(), "barrier", false));
    let (mut simulator, program) = loaded(&code);
    let launch = launch(8, 4, vec![ints([0])]);
    let options = SimulationOptions { fuel: Some(1_000), races: true, ..SimulationOptions::default() };
    let start = Instant::now();
    let simulation = simulator.simulate(program, &launch, &options, Duration::from_secs(300), &[]).unwrap();
    let kinds: Vec<_> = simulation.faults.iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [FaultKind::NonTermination]);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

/// Between any two points at which the clock is checked in any case, every item executes less than a slice of fuel;
/// together the items take hours.
const LONG: &str = "KERNEL {
    volatile int *out = ARG(int *, 0);
    i64 fuel = item->fuel;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < 60000 / TURNS; i++) { *(volatile int *)__kassay_access(item, (void *)out, 0); BURN(0); }
        MEET;
    }
}";

#[test]
fn a_launch_ends_at_the_callers_deadline_without_a_fault() {
    let waits = LONG.replace("TURNS", "1000").replace("MEET", "__kassay_barrier(item, 0, 2, 1, turn)");
    let alone = LONG.replace("TURNS", "1").replace("MEET", "");
    let table = with_barrier(spin_table(), "barrier", false);
    let endless = LONG.replace("turn < TURNS", "*out == 0").replace("TURNS", "1").replace("MEET", "BURN(0)");
    for source in [alone, waits, endless] {
        for races in [false, true] {
            let table = NativeTable { races, ..table.clone() };
            let code = code(&source, table);
            let (mut simulator, program) = loaded(&code);
            let launch = launch(1 << 20, 4096, vec![ints([0])]);
            for first_conflict in [false, races] {
                let start = Instant::now();
                let deadline = Some(start + Duration::from_millis(100));
                let options = SimulationOptions { deadline, races, first_conflict, ..SimulationOptions::default() };
                let simulation = simulator.simulate(program, &launch, &options, LIMIT, &[]).unwrap();
                let took = start.elapsed();
                assert!(took < Duration::from_millis(1500), "{source}: {took:?}");
                assert!(simulation.cut_short && !simulation.completed, "{source}");
                assert_eq!((simulation.faults.len(), simulation.divergences.len()), (0, 0), "{source}");
            }
        }
    }
}

#[test]
fn a_launch_that_ends_before_the_callers_deadline_is_not_cut_short() {
    let code = code(SPIN, spin_table());
    let deadline = Some(Instant::now() + LIMIT);
    let options = SimulationOptions { deadline, ..SimulationOptions::default() };
    let simulation = simulate(&code, &launch(8, 4, vec![ints([0])]), &options);
    assert!(simulation.completed && !simulation.cut_short);
}

#[test]
fn barriers_that_not_all_reach_diverge() {
    const DIVERGE: &str = "KERNEL {
        u64 g = item->group->group_id[0], l = item->linear;
        int *out = ARG(int *, 0);
        if (g == 1 && l == 2) { AT(int, out, 0) = 1; return; }
        if (g == 2 && l < 1) __kassay_barrier(item, 1, 1, 1, 0);
        else __kassay_barrier(item, 0, 1, 1, g == 3 && l == 3);
        AT(int, out + 1 + g, 0) = 5;
    }";
    let table = with_access(table(&["out"]), Mode::Write, Some(0), Space::Global);
    let code = code(DIVERGE, with_barrier(with_barrier(table, "barrier", false), "barrier", false));
    let simulation = simulate(&code, &launch(20, 4, vec![ints([0; 6])]), &SimulationOptions::default());
    assert!(!simulation.completed);
    assert_eq!(output(&simulation, 0), [1, 5, 0, 0, 0, 5]);
    let seen: Vec<_> = simulation
        .divergences
        .iter()
        .map(|d| (d.group_id[0], d.waiting.iter().map(|w| (w.barrier, w.items)).collect::<Vec<_>>(), d.finished))
        .collect();
    assert_eq!(seen, [(1, vec![(0, 3)], 1), (2, vec![(0, 3), (1, 1)], 0), (3, vec![(0, 3), (0, 1)], 0)]);
    assert_eq!(simulation.divergences[0].finished_item, Some([6, 0, 0]));
}
