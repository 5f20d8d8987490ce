//! Checks the search for races on devices, on an OpenCL device of this machine: on the kernels of `testdata/check`, and
//! where numbers and memory of the shadow words end.

use std::path::Path;
use std::time::Duration;

use kassay_ir::llvm::Context;
use kassay_judge::coverage::device_races::{Outcome, RaceSearch, Ran};
use kassay_run::exec::{Executor, OpenClExecutor, Target};
use kassay_suite::launch::{ArgValue, Launch, NdRange};
use serde_json::Value;

use crate::common::TestResult;
use crate::common::devices::{completed, once, opencl};
use crate::common::kernels::{OpenedSuite, open_suite, source_file, with_file};
use crate::common::program::kassay;
use crate::common::testdata::{folders, name, testdata};

const TIMEOUT: Duration = Duration::from_secs(20);

/// Kernels of `testdata/check` that the search hands over, each with what is reported.
const HANDED_OVER: &[(&str, &str)] = &[
    ("clean_async_copies", COPIES),
    ("clean_chained_groups", ORDERS),
    ("clean_copies_agree", COPIES),
    ("clean_copies_in_flight", COPIES),
    ("clean_event_lists", COPIES),
    ("clean_fences", ORDERS),
    ("clean_grid_phases", GRIDS),
    ("clean_image_copy", IMAGES),
    ("clean_image_in_place", IMAGES),
    ("clean_image_layers", IMAGES),
    ("clean_last_group", ORDERS),
    ("clean_locks", ORDERS),
    ("clean_prefetch", COPIES),
    ("clean_release_acquire", ORDERS),
    ("clean_spin_on_neighbour", ORDERS),
    ("clean_sub_group_totals", SUB_GROUPS),
    ("clean_warp_branches", SUB_GROUPS),
    ("clean_warp_masks", SUB_GROUPS),
    ("clean_warp_tiles", SUB_GROUPS),
    ("race_before_copy_is_done", COPIES),
    ("race_grid_block_barrier", GRIDS),
    ("race_grid_next_step", GRIDS),
    ("race_narrow_scope", ORDERS),
    ("race_other_event", COPIES),
    ("race_warp_half_barrier", SUB_GROUPS),
    ("race_warp_vote_is_no_barrier", SUB_GROUPS),
];

const COPIES: &str = "copies asynchronously";
const GRIDS: &str = "lets all work-groups wait for each other";
const IMAGES: &str = "writes images";
const SUB_GROUPS: &str = "lets sub-groups work together";
const ORDERS: &str = "orders accesses by atomics or fences";

/// What the search says of a kernel's tests.
#[derive(Debug, PartialEq)]
enum Said {
    /// The number of pairs of sites.
    Found(u32),
    HandedOver(String),
    Other(String),
}

fn said(outcome: &Outcome) -> Said {
    match outcome {
        Outcome::HandedOver(why) => Said::HandedOver(why.to_string()),
        Outcome::Ran(Ran { seen, .. }) if seen.out_of_bounds => Said::Other("an access out of bounds".to_owned()),
        Outcome::Ran(Ran { seen, .. }) => Said::Found(seen.found),
        Outcome::Ended(fault) => Said::Other(fault.to_string()),
    }
}

/// Runs the tests of a suite twice: the second time on the shadow memory that the first one left. Returns what is said
/// of them together.
fn search(executor: &mut OpenClExecutor, suite: &Path) -> TestResult<Said> {
    let context = Context::create();
    let mut opened = open_suite(&context, suite)?;
    opened.choose_local(executor.device());
    let OpenedSuite { kernel, tests, .. } = opened;
    let mut search = RaceSearch::new(&kernel.under_test);
    let mut all = Said::Found(0);
    for round in 0..2 {
        let mut found = 0;
        for test in &tests {
            match said(&search.run(executor, &test.launch, TIMEOUT, false)?) {
                Said::Found(pairs) => found += pairs,
                other => return Ok(other),
            }
        }
        if round > 0 && (Said::Found(0) == all) != (found == 0) {
            return Ok(Said::Other(format!("{all:?} at first, then {found} pairs")));
        }
        all = Said::Found(found);
    }
    Ok(all)
}

/// Searches the kernels of `testdata/check` whose names begin so. Returns each with what is said of it.
fn searched(beginning: &str) -> TestResult<Vec<(String, Said)>> {
    let mut executor = opencl()?;
    let mut all = Vec::new();
    for folder in folders(&testdata("check")).into_iter().filter(|folder| name(folder).starts_with(beginning)) {
        let said = search(&mut executor, &folder.join("suite.toml")).unwrap_or_else(|e| Said::Other(e.to_string()));
        all.push((name(&folder), said));
    }
    Ok(all)
}

/// Returns what is wrong with what is said of a kernel, if it should be `found`.
fn complaint(name: &str, said: &Said, found: bool) -> Option<String> {
    let listed = HANDED_OVER.iter().find(|(known, _)| *known == name);
    let is_right = match (listed, said) {
        (Some((_, why)), Said::HandedOver(said)) => said == why,
        (None, Said::Found(pairs)) => (*pairs > 0) == found,
        _ => false,
    };
    (!is_right).then(|| format!("{name}: {said:?}"))
}

#[test]
fn races_are_found_on_a_device() -> TestResult {
    let wrong: Vec<_> = searched("race_")?.iter().filter_map(|(name, said)| complaint(name, said, true)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn nothing_is_found_on_a_device_where_nothing_races() -> TestResult {
    let wrong: Vec<_> = searched("clean_")?.iter().filter_map(|(name, said)| complaint(name, said, false)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn a_kernel_that_tells_its_accesses_computes_the_same() -> TestResult {
    let mut executor = opencl()?;
    let mut compared = 0;
    for folder in
        ["bitonic_sort", "matmul_tiled", "stencil_2d", "scan_blelloch", "spmv_csr", "long_vectors", "reduction_tree"]
    {
        let context = Context::create();
        let mut opened = open_suite(&context, &testdata(folder).join("suite.toml"))?;
        opened.choose_local(executor.device());
        let OpenedSuite { kernel, tests, .. } = opened;
        let plain = executor.load(&kernel.under_test.plain(Target::SpirV)?)?;
        let mut search = RaceSearch::new(&kernel.under_test);
        for test in &tests {
            let expected = completed(executor.run(plain, &test.launch, &once())?)?;
            match search.run(&mut executor, &test.launch, TIMEOUT, true)? {
                Outcome::Ran(Ran { observation, .. }) => assert_eq!(observation.outputs, expected.outputs, "{folder}"),
                other => panic!("{folder}: {:?}", said(&other)),
            }
            compared += 1;
        }
    }
    assert!(compared > 10);
    Ok(())
}

/// Runs a kernel's text in one work-group, or in several, on a buffer of `words` words. Returns what is said of it.
fn said_of(source: &str, global: u64, local: u64, args: Vec<ArgValue>) -> TestResult<Said> {
    let mut executor = opencl()?;
    let (_folder, path) = source_file(source);
    let range = NdRange { dims: 1, global: [global, 1, 1], local: Some([local, 1, 1]), offset: [0; 3] };
    let launch = Launch::new(range, args);
    with_file(&path, None, &[], |kernel| {
        Ok(said(&RaceSearch::new(kernel).run(&mut executor, &launch, TIMEOUT, false)?))
    })
}

fn zeros(bytes: usize) -> ArgValue {
    ArgValue::Buffer(vec![0; bytes].into())
}

/// A kernel that writes and reads neighbours' places of local memory `n` times, with barriers between.
const TURNS: &str = "kernel void k(global int *out, int n, local int *tmp) {
    int l = get_local_id(0);
    for (int i = 0; i < n; i++) {
        tmp[(l + i) % 8] = i;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = tmp[l];
}";

#[test]
fn more_barriers_than_local_shadow_words_count_are_counted_in_global_ones_and_then_handed_over() -> TestResult {
    let turns = |n: i32| vec![zeros(32), ArgValue::Value(n.to_le_bytes().to_vec()), ArgValue::Local(32)];
    assert_eq!(said_of(TURNS, 8, 8, turns(100))?, Said::Found(0));
    assert_eq!(said_of(TURNS, 8, 8, turns(3000))?, Said::Found(0));
    let over = "passes more barriers than shadow memory has numbers for";
    assert_eq!(said_of(TURNS, 8, 8, turns(20_000))?, Said::HandedOver(over.to_owned()));
    // Without its barrier, the kernel races whatever the place of the shadow.
    let racy = TURNS.replace("barrier(CLK_LOCAL_MEM_FENCE);", "if (n > 1000) barrier(CLK_GLOBAL_MEM_FENCE);");
    for n in [100, 3000] {
        assert!(matches!(said_of(&racy, 8, 8, turns(n))?, Said::Found(1..)), "{n}");
    }
    Ok(())
}

#[test]
fn local_memory_without_room_for_its_shadow_has_it_in_global_memory() -> TestResult {
    let kernel = |order: &str| {
        format!(
            "kernel void k(global char *out) {{
                local char tmp[20000];
                int l = get_local_id(0);
                for (int i = l; i < 20000; i += 16) tmp[i] = i;
                {order}
                for (int i = l; i < 20000; i += 16) out[get_group_id(0) * 20000 + i] = tmp[19999 - i];
            }}"
        )
    };
    let args = || vec![zeros(60_000)];
    assert_eq!(said_of(&kernel("barrier(CLK_LOCAL_MEM_FENCE);"), 48, 16, args())?, Said::Found(0));
    assert!(matches!(said_of(&kernel(""), 48, 16, args())?, Said::Found(1..)));
    Ok(())
}

#[test]
fn a_write_that_comes_before_an_own_atomic_still_conflicts_with_those_of_others() -> TestResult {
    // In whatever order the work-items run, the one that clears the counter adds to it next.
    let kernel = |memory: &str, clear: &str| {
        format!(
            "kernel void k(global int *c, local int *l) {{ {clear} atomic_inc({memory}); c[2 + get_global_id(0)] = 0; }}"
        )
    };
    let args = || vec![zeros(256), ArgValue::Local(4)];
    for (memory, global) in [("c", 16), ("c", 4), ("l", 4)] {
        let racy = kernel(memory, &format!("if (get_global_id(0) == 0) *{memory} = 0;"));
        assert!(matches!(said_of(&racy, global, 4, args())?, Said::Found(1..)), "{memory} {global}");
        assert_eq!(said_of(&kernel(memory, ""), global, 4, args())?, Said::Found(0), "{memory} {global}");
    }
    Ok(())
}

#[test]
fn what_the_search_does_not_see_is_handed_over() -> TestResult {
    let told = |body: &str| {
        said_of(
            &format!("kernel void k(global int *a, local int *l) {{ {body} }}"),
            4,
            4,
            vec![zeros(256), ArgValue::Local(64)],
        )
    };
    let handed = |why: &str| Said::HandedOver(why.to_owned());
    assert_eq!(
        told("event_t e = async_work_group_copy(l, a, 4, 0); wait_group_events(1, &e);")?,
        handed("copies asynchronously")
    );
    let fence = "atomic_inc(a); mem_fence(CLK_GLOBAL_MEM_FENCE); a[1 + get_global_id(0)] = 0;";
    assert_eq!(told(fence)?, handed(ORDERS));
    // A fence alone orders nothing that others could notice.
    assert_eq!(told("mem_fence(CLK_GLOBAL_MEM_FENCE); a[get_global_id(0)] = 0;")?, Said::Found(0));
    assert!(matches!(told("vstore4((int4)0, 0, a);")?, Said::Found(1..)));
    assert_eq!(told("vstore4((int4)0, get_local_id(0), a);")?, Said::Found(0));
    Ok(())
}

/// A kernel that takes the simulator longer than it has time for, with what the work-items do at the end. `n` is their
/// number, and `c[0]` counts them. It waits at barriers: the simulator changes the work-item there, which costs it a
/// hundred times as much as a compiled loop over the work-items, so that the time is too short for the one and ample
/// for the other on any machine.
fn long_kernel(last: &str) -> String {
    format!(
        "kernel void k(global const int *in, global int *out, global int *c, int n, int rounds) {{
            int i = get_global_id(0);
            int sum = 0;
            for (int r = 0; r < rounds; r++) {{ sum += in[(i + r) & 1023]; barrier(CLK_LOCAL_MEM_FENCE); }}
            out[i] = sum;
            {last}
        }}"
    )
}

/// Checks such a kernel with a first pass on a device, in 2^20 work-items.
fn check_long(last: &str) -> TestResult<Value> {
    check_long_with(last, &[])
}

/// Does so with more options.
fn check_long_with(last: &str, more: &[&str]) -> TestResult<Value> {
    let (folder, kernel) = source_file(&long_kernel(last));
    let suite = folder.path().join("suite.toml");
    let text = format!(
        "kernel = \"{}\"\n[[test]]\nname = \"long\"\nglobal = [1048576]\nlocal = [64]\n[test.args]\n\
         in = {{ fill = 1, len = 1024 }}\nout = {{ fill = 0, len = 1048576 }}\nc = {{ fill = 0, len = 1 }}\n\
         n = 1048576\nrounds = 1024\n",
        kernel.display()
    );
    std::fs::write(&suite, text)?;
    let flags = ["--device", "opencl", "--budget", "16", "--format", "json", "--no-amplify", "--quiet"];
    let run = kassay().arg("check").arg(&suite).args(flags).args(more).output()?;
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    Ok(serde_json::from_slice(&run.stdout).map_err(|e| format!("{e}: {message}"))?)
}

#[test]
fn an_input_that_the_simulator_does_not_finish_is_clean_if_nothing_races_on_the_device() -> TestResult {
    let result = check_long("")?;
    assert_eq!(result["verdict"], "clean", "{result:#}");
    let input = &result["inputs"][0];
    assert_eq!((&input["completed"], &input["device"]["verdict"]), (&false.into(), &"clean".into()), "{result:#}");
    assert_eq!(input["device"]["holds_for"], "all-interleavings");
    // Divergence and faults were looked for in a part only.
    assert_eq!(result["holds_for"], "explored-schedules");
    let because = result["holds_for_because"].to_string();
    assert!(because.contains("only races were looked for"), "{because}");
    assert!(result["first_pass"]["name"].is_string());
    Ok(())
}

#[test]
fn an_input_that_takes_the_simulator_longer_than_a_launch_may_is_left_to_the_device() -> TestResult {
    let result = check_long_with("", &["--timeout", "3"])?;
    let input = &result["inputs"][0];
    assert!(input["reason"].to_string().contains("--timeout"), "{result:#}");
    assert_eq!((&result["verdict"], &input["device"]["verdict"]), (&"clean".into(), &"clean".into()), "{result:#}");
    Ok(())
}

#[test]
fn a_race_that_a_device_finds_is_repeated_in_a_smaller_launch() -> TestResult {
    let result = check_long("if (i == get_global_size(0) - 1) out[0] = 1;")?;
    assert_eq!(result["verdict"], "racy", "{result:#}");
    assert_eq!(result["inputs"][0]["device"]["repeated"], "long, first work-group", "{result:#}");
    let finding = &result["findings"][0];
    assert_eq!((&finding["kind"], &finding["variable"]), (&"data-race".into(), &"out".into()));
    assert!(finding["witness"].is_object() && finding["seen_on"].is_null(), "{result:#}");
    Ok(())
}

#[test]
fn a_race_between_far_groups_is_repeated_with_these_alone() -> TestResult {
    let result = check_long("if (i == n - 1) out[0] = 1;")?;
    assert_eq!(result["inputs"][0]["device"]["repeated"], "long, 2 of its work-groups", "{result:#}");
    let finding = &result["findings"][0];
    assert_eq!(
        (&finding["scope"], &finding["index"], &finding["seen_on"]),
        (&"inter-group".into(), &0.into(), &Value::Null)
    );
    Ok(())
}

#[test]
fn a_race_that_the_simulator_does_not_repeat_is_told() -> TestResult {
    // Only the last two that count write.
    let result = check_long("if (atomic_inc(c) >= n - 2) out[0] = 1;")?;
    assert_eq!(result["verdict"], "racy", "{result:#}");
    let finding = &result["findings"][0];
    assert!(finding["seen_on"].is_string(), "{result:#}");
    assert_eq!(finding["accesses"].as_array().map(Vec::len), Some(2));
    assert!(result["notes"].to_string().contains("did not repeat"), "{result:#}");
    Ok(())
}

#[test]
fn a_kernel_that_orders_accesses_by_atomics_is_left_to_the_simulator() -> TestResult {
    let result = check_long("atomic_inc(c); mem_fence(CLK_GLOBAL_MEM_FENCE);")?;
    assert_eq!(result["verdict"], "unknown", "{result:#}");
    assert_eq!(result["inputs"][0]["device"]["verdict"], "unknown", "{result:#}");
    assert!(result["notes"].to_string().contains("orders accesses by atomics or fences"), "{result:#}");
    Ok(())
}
