//! Checks that runs which the simulator ended count what they covered up to there, for both kinds of slots.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;

use serde_json::Value;

use crate::common::program::kassay;

/// What a launch covers: lines; branch outcomes by line; whether each barrier is covered; and divergent groups.
struct Covered {
    reason: String,
    lines: BTreeSet<u64>,
    taken: BTreeSet<(u64, String)>,
    barriers: Vec<(u64, bool, u64)>,
}

fn cover(kernel: &str, args: &str, more: &[&str]) -> Result<Covered, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("k.cl"), kernel)?;
    let suite = format!("kernel = \"k.cl\"\n[[test]]\nname = \"t\"\nglobal = [16]\nlocal = [8]\nargs = {args}\n");
    std::fs::write(at("suite.toml"), suite)?;
    let run = kassay()
        .args(["cover", "suite.toml", "--device", "sim", "--quiet", "-o", "r.json"])
        .args(more)
        .current_dir(folder.path())
        .output()?;
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stderr));
    read(&at("r.json"))
}

fn read(result: &Path) -> Result<Covered, Box<dyn Error>> {
    let result: Value = serde_json::from_str(&std::fs::read_to_string(result)?)?;
    assert_eq!(result["tests"][0]["status"], "faulted");
    let sites = result["sites"].as_array().ok_or("no sites")?;
    let line = |s: &Value| s["line"].as_u64().unwrap_or(0);
    let covered = |s: &&Value| s["covered"] == true;
    let of = |kind: &'static str| sites.iter().filter(move |s| s["kind"] == kind);
    let outcome = |s: &Value| s["outcome"].as_str().unwrap_or_default().to_owned();
    let barrier = |s: &Value| (line(s), s["covered"] == true, s["divergent_groups"].as_u64().unwrap_or(0));
    Ok(Covered {
        reason: result["tests"][0]["reason"].as_str().unwrap_or_default().to_owned(),
        lines: of("line").filter(covered).map(line).collect(),
        taken: of("branch").filter(covered).map(|s| (line(s), outcome(s))).collect(),
        barriers: of("barrier").map(barrier).collect(),
    })
}

#[test]
fn items_that_wait_at_a_diverging_barrier_count() -> Result<(), Box<dyn Error>> {
    let kernel = "int late(local int *t, int l) {
    if (l < 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return t[l];
}
kernel void k(global int *out, int n) {
    local int t[8];
    int l = get_local_id(0);
    t[l] = l;
    if (get_group_id(0) == 1)
        t[l] += 5;
    if (l < n) {
        t[l] += 1;
        out[get_global_id(0)] = late(t, l);
    } else {
        t[l] += 2;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (out[0] > 100)
        out[1] = 7;
}
";
    for more in [&[][..], &["--counts"]] {
        // Items 0 and 1 wait in the helper, items 2 and 3 have ended, the others wait in the kernel.
        let seen = cover(kernel, "{ n = 4, out = { fill = 0, len = 16 } }", more)?;
        assert!(seen.reason.contains("barrier-divergence"), "{}", seen.reason);
        let wanted: BTreeSet<u64> = [2, 3, 9, 10, 11, 12, 13, 14, 15, 17, 18].into();
        assert!(seen.lines.is_superset(&wanted), "{more:?}: {:?}", seen.lines);
        assert!(!seen.lines.contains(&21), "{more:?}: {:?}", seen.lines);
        let taken = |line: u64, way: &str| seen.taken.contains(&(line, way.to_owned()));
        for line in [2, 11, 13] {
            assert!(taken(line, "true") && taken(line, "false"), "{more:?}: {line}: {:?}", seen.taken);
        }
        assert_eq!(seen.barriers, [(3, false, 2), (18, false, 2)], "{more:?}");
    }
    Ok(())
}

#[test]
fn items_that_never_leave_a_loop_count() -> Result<(), Box<dyn Error>> {
    let kernel = "kernel void k(global int *out, int n) {
    int i = get_global_id(0);
    if (i == n)
        out[i] = 5;
    if (i == 3) {
        while (out[i] < 1) {
            if (i == 4)
                out[i] = 3;
        }
        out[i] = 9;
    }
}
";
    let seen = cover(kernel, "{ n = 2, out = { fill = 0, len = 16 } }", &["--timeout", "1"])?;
    assert!(seen.reason.contains("non-termination"), "{}", seen.reason);
    assert!(seen.taken.contains(&(7, "false".to_owned())), "{:?}", seen.taken);
    assert!(seen.lines.contains(&4) && !seen.lines.contains(&8), "{:?}", seen.lines);
    Ok(())
}
