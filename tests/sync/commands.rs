//! Checks that `kassay schedule` repeats its schedules. `tests/cli/check.md` has verdicts, findings and exit codes.

use super::support::TestResult;
use crate::common::bench::Bench;

const RACY: &str = "kernel void k(global const int *x, global int *out, local int *tmp) {
    int l = get_local_id(0);
    tmp[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
        if (l < s)
            tmp[l] += tmp[l + s];
    }
    if (l == 0)
        out[get_group_id(0)] = tmp[0];
}";

const RACY_SUITE: &str = "kernel = \"k.cl\"
[[test]]
name = \"sixteen\"
global = [64]
local = [16]
args = { x = { arange = { len = 64 } }, out = { fill = 0, len = 4 }, tmp = { local = 64 } }";

#[test]
fn schedules_on_the_simulator_are_exact_and_can_be_replayed() -> TestResult {
    let bench = Bench::of(RACY, RACY_SUITE)?;
    let simulated = ["schedule", "suite.toml", "--device", "sim"];
    let args = [&simulated[..], &["--schedules", "6", "--seed", "5", "-o", "schedules.json"]].concat();
    let first = bench.json(1, &args)?;
    let test = &first["tests"][0];
    assert_eq!((&test["verdict"], &first["repeats"]), (&"order-dependent".into(), &1.into()));
    assert_eq!(test["schedules"].as_array().map(Vec::len), Some(6));
    let second = bench.json(1, &args)?;
    assert_eq!(first["tests"][0]["schedules"][1]["preemptions"], second["tests"][0]["schedules"][1]["preemptions"]);
    assert_eq!(first["tests"][0]["differing_outputs"], second["tests"][0]["differing_outputs"]);
    let difference = &test["differing_outputs"][0];
    let index = difference["schedules"][1].as_u64().ok_or("no index")?;
    let replayed = |index: u64| format!("--replay=schedules.json:{index}");
    let replay = bench.json(1, &[&simulated[..], &[&replayed(index)]].concat())?;
    assert_eq!(replay["tests"][0]["differing_outputs"][0], *difference);

    let missing = bench.ends(2, &[&simulated[..], &[&replayed(99)]].concat())?;
    assert!(missing.err.contains("no schedule 99") && missing.err.contains("0 to 5"), "{}", missing.err);
    Ok(())
}
