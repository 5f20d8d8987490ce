//! Checks loading, arguments, ids, and values that items exchange.

use std::time::{Duration, Instant};

use kassay_model::native::table::{Mode, NativeTable, PrintArg, PrintSite, Space, Storage};
use kassay_run::exec::simulator::observation::SimulationOptions;
use kassay_suite::launch::{ArgValue, Launch, NdRange};

use super::support::{LIMIT, code, ints, launch, loaded, output, simulate, table, with_access, with_barrier};

/// `out[global id] = in[global id] + n`.
const ADD: &str = "KERNEL {
    int *out = ARG(int *, 0), *in = ARG(int *, 1);
    u64 i = item->global_id[0];
    AT(int, out + i, 0) = AT(int, in + i, 1) + ARG(int, 2);
}";

fn add_table() -> NativeTable {
    let table = with_access(table(&["out", "in", "n"]), Mode::Write, Some(0), Space::Global);
    with_access(table, Mode::Read, Some(1), Space::Global)
}

#[test]
fn values_and_buffers_reach_the_kernel() {
    let code = code(ADD, add_table());
    let args = vec![ints(vec![-1; 100]), ints(0..100), ArgValue::Value(7_i32.to_le_bytes().into())];
    let simulation = simulate(&code, &launch(100, 10, args), &SimulationOptions::default());
    assert!(simulation.completed && simulation.faults.is_empty());
    assert_eq!(output(&simulation, 0), (7..107).collect::<Vec<_>>());
    assert_eq!(output(&simulation, 1), (0..100).collect::<Vec<_>>());
}

#[test]
fn ids_and_sizes_are_those_of_the_range_also_in_ragged_groups() {
    const IDS: &str = "KERNEL {
        const struct group *g = item->group;
        int *out = ARG(int *, 0);
        u64 x = item->global_id[0] - g->offset[0], y = item->global_id[1] - g->offset[1], i = y * g->global_size[0] + x;
        int *at = &AT(int, out + i, 0);
        *at = g->local_size[0] * 100000 + g->local_size[1] * 10000 + g->enqueued[0] * 1000 + item->linear * 10 + g->group_id[0];
        if (item->local_id[1] * g->local_size[0] + item->local_id[0] != item->linear || g->dimensions != 2) *at = -1;
    }";
    let code = code(IDS, with_access(table(&["out"]), Mode::Write, Some(0), Space::Global));
    let range = NdRange { dims: 2, global: [5, 3, 1], local: Some([2, 2, 1]), offset: [10, 20, 0] };
    let launch = Launch::new(range, vec![ints(vec![0; 15])]);
    let simulation = simulate(&code, &launch, &SimulationOptions::default());
    let expected = |i: i32| {
        let (x, y) = (i % 5, i / 5);
        let (w, h) = (if x < 4 { 2 } else { 1 }, if y < 2 { 2 } else { 1 });
        w * 100000 + h * 10000 + 2000 + (y % 2 * w + x % 2) * 10 + x / 2
    };
    assert_eq!(output(&simulation, 0), (0..15).map(expected).collect::<Vec<_>>());
}

/// A reduction in local memory, with a static variable, a local argument, and two barriers.
#[test]
fn local_memory_and_barriers() {
    const SUM: &str = "KERNEL {
        int *out = ARG(int *, 0), *in = ARG(int *, 1), *tmp = ARG(int *, 2);
        int *fixed = (int *)(item->group->local_base + 64);
        u64 l = item->linear, n = item->group->local_size[0];
        AT(int, tmp + l, 0) = AT(int, in + item->global_id[0], 1);
        __kassay_barrier(item, 0, 1, 1, 0);
        if (l == 0) {
            int sum = 0;
            for (u64 i = 0; i < n; i++) sum += AT(int, tmp + i, 2);
            AT(int, fixed + 1, 3) = sum;
        }
        __kassay_barrier(item, 1, 1, 1, 0);
        AT(int, out + item->global_id[0], 4) = AT(int, fixed + 1, 5);
    }";
    let mut table = table(&["out", "in", "tmp", "fixed"]);
    table.arguments = 3;
    table.objects[2].space = Space::Local;
    table.objects[3].space = Space::Local;
    table.objects[3].storage = Storage::Local { bytes: 8, offset: 64 };
    table.local_bytes = 128;
    for (mode, object) in
        [(Mode::Write, 2), (Mode::Read, 1), (Mode::Read, 2), (Mode::Write, 3), (Mode::Write, 0), (Mode::Read, 3)]
    {
        let space = if object < 2 { Space::Global } else { Space::Local };
        table = with_access(table, mode, Some(object), space);
    }
    let code = code(SUM, with_barrier(with_barrier(table, "barrier", false), "barrier", false));
    let args = vec![ints(vec![0; 128]), ints(0..128), ArgValue::Local(128)];
    let simulation = simulate(&code, &launch(128, 32, args), &SimulationOptions::default());
    assert!(simulation.completed, "{:?}", simulation.divergences);
    assert_eq!(simulation.faults, []);
    let sum = |group: i32| (32 * group..32 * group + 32).sum::<i32>();
    assert_eq!(output(&simulation, 0), (0..128).map(|i| sum(i / 32)).collect::<Vec<_>>());
}

#[test]
fn items_exchange_values_in_groups_and_sub_groups() {
    const EXCHANGE: &str = "KERNEL {
        int *out = ARG(int *, 0);
        u64 l = item->linear;
        int sum = 0;
        for (int round = 0; round < 3; round++) {
            int value = (int)l + round;
            int *all = __kassay_exchange(item, 0, round, &value, 4, 0);
            for (u64 i = 0; i < item->group->local_size[0]; i++) sum += all[i];
            int *some = __kassay_exchange(item, 1, round, &value, 4, 1);
            sum += 1000 * some[l % 16 ? 0 : l + 4 < 40 ? 4 : 0];
        }
        AT(int, out + l, 0) = sum;
    }";
    let table = with_access(table(&["out"]), Mode::Write, Some(0), Space::Global);
    let table = with_barrier(with_barrier(table, "work_group_reduce_add", false), "sub_group_broadcast", true);
    let simulation =
        simulate(&code(EXCHANGE, table), &launch(40, 40, vec![ints(vec![0; 40])]), &SimulationOptions::default());
    assert!(simulation.completed, "{:?}", simulation.divergences);
    let group: i32 = (0..3).map(|round| (0..40).map(|l| l + round).sum::<i32>()).sum();
    let expected = |l: i32| {
        let from = l / 16 * 16 + if l % 16 == 0 { 4 } else { 0 };
        group + 1000 * (3 * from + 3)
    };
    assert_eq!(output(&simulation, 0), (0..40).map(expected).collect::<Vec<_>>());
}

#[test]
fn asynchronous_copies_are_done_once_and_strided() {
    const COPY: &str = "KERNEL {
        int *out = ARG(int *, 0), *in = ARG(int *, 1), *tmp = ARG(int *, 2);
        void *event = __kassay_async_copy(item, 0, 0, 0, tmp, in, 8, 4, 1, 2, 0);
        __kassay_wait(item, 1, 0, &event, 1);
        AT(int, out + item->global_id[0], 2) = AT(int, tmp + item->linear, 3);
    }";
    let mut table = table(&["out", "in", "tmp"]);
    table.objects[2].space = Space::Local;
    for (mode, object) in [(Mode::Write, 2), (Mode::Read, 1), (Mode::Write, 0), (Mode::Read, 2)] {
        table = with_access(table, mode, Some(object), if object == 2 { Space::Local } else { Space::Global });
    }
    let table = with_barrier(with_barrier(table, "async_work_group_strided_copy", false), "wait_group_events", false);
    let args = vec![ints(vec![0; 8]), ints(0..16), ArgValue::Local(32)];
    let simulation = simulate(&code(COPY, table), &launch(8, 8, args), &SimulationOptions::default());
    assert!(simulation.completed && simulation.faults.is_empty(), "{simulation:?}");
    assert_eq!(output(&simulation, 0), (0..8).map(|i| 2 * i).collect::<Vec<_>>());
}

#[test]
fn printf_output_comes_in_the_order_of_the_items() {
    const PRINT: &str = "KERNEL {
        u64 packed[1] = { item->global_id[0] };
        __kassay_print(item, 0, 0, packed);
    }";
    let mut table = table(&[]);
    table.prints.push(PrintSite {
        path: 0,
        format: Some(b"item %d\n".to_vec()),
        args: vec![PrintArg::Integer { bytes: 4, components: 1, offset: 0 }],
    });
    let code = code(PRINT, table);
    let simulation = simulate(&code, &launch(3, 1, Vec::new()), &SimulationOptions::default());
    assert_eq!(simulation.observation.printf, "item 0\nitem 1\nitem 2\n");
}

/// Constants, jump tables and calls into the library are resolved.
#[test]
fn constants_and_library_functions() {
    const MATH: &str = "double exp2(double); float fmodf(float, float);
    static const float constants[5] = { 1, 2, 4, 8, 16 };
    static int kind(int i) {
        switch (i) { case 0: return 5; case 1: return 7; case 2: return 3; case 3: return 9; case 4: return 4; default: return 0; }
    }
    KERNEL {
        int i = (int)item->global_id[0];
        float x = fmodf(constants[i] * 3, 7) + (float)exp2(kind(i));
        AT(int, ARG(int *, 0) + i, 0) = (int)(x * 1000);
    }";
    let code = code(MATH, with_access(table(&["out"]), Mode::Write, Some(0), Space::Global));
    let simulation = simulate(&code, &launch(5, 1, vec![ints(vec![0; 5])]), &SimulationOptions::default());
    let expected = |(constant, kind): (f32, f64)| ((constant * 3.0 % 7.0 + kind.exp2() as f32) * 1000.0) as i32;
    let values = [(1.0, 5.0), (2.0, 7.0), (4.0, 3.0), (8.0, 9.0), (16.0, 4.0)];
    assert_eq!(output(&simulation, 0), values.map(expected));
}

#[test]
fn the_probe_buffer_begins_with_the_given_words() {
    const PROBE: &str = "KERNEL { int *probe = ARG(int *, 1); probe[3] = probe[0] + probe[1] + 1; }";
    let code = code(PROBE, table(&["out"]));
    let (mut simulator, program) = loaded(&code);
    let options = SimulationOptions { probe_words: Some(6), ..SimulationOptions::default() };
    let launch = launch(1, 1, vec![ints([0])]);
    for head in [[4, 5], [6, 7]] {
        let simulation = simulator.simulate(program, &launch, &options, LIMIT, &head).unwrap();
        assert_eq!(simulation.observation.probe, [head[0], head[1], 0, head[0] + head[1] + 1, 0, 0]);
    }
}

/// Runs launches of 64 work-items repeatedly; the rate is printed, not judged.
#[test]
fn speed_of_small_launches() {
    let code = code(ADD, add_table());
    let (mut simulator, program) = loaded(&code);
    let args = vec![ints(vec![-1; 64]), ints(0..64), ArgValue::Value(7_i32.to_le_bytes().into())];
    let launch = launch(64, 64, args);
    let (start, mut runs) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_millis(200) {
        for _ in 0..100 {
            let simulation = simulator.simulate(program, &launch, &SimulationOptions::default(), LIMIT, &[]).unwrap();
            assert!(simulation.completed);
        }
        runs += 100;
    }
    println!("{:.0} launches a second", f64::from(runs) / start.elapsed().as_secs_f64());
}
