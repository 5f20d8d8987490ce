//! Checks the repairs of `kassay check --fix`: which text comes of them, and that what they mend is mended.
//! `testdata/check` has more, in `tests/fixtures/repairs.rs`, and `tests/cli/repairs.md` files and exit codes.

use serde_json::Value;

use super::support::TestResult;
use crate::common::bench::Bench;

/// Checks and repairs a kernel alone. Returns the result, and the text with the repairs made.
fn repaired(file: &str, text: &str) -> TestResult<(Value, String)> {
    let bench = Bench::new()?;
    bench.put(file, text)?;
    let args = ["check", file, "--no-amplify", "--write", "--budget", "60", "--format", "json"];
    let run = bench.run(&args)?;
    let result: Value = serde_json::from_str(&run.out).map_err(|e| format!("{e}: {}{}", run.out, run.err))?;
    Ok((result, bench.text(file)?))
}

/// The lines that a text has and another one has not, without what is around them.
fn only(of: &str, other: &str) -> Vec<String> {
    let mut rest: Vec<&str> = other.lines().map(str::trim).collect();
    let mut lines = Vec::new();
    for line in of.lines().map(str::trim) {
        match rest.iter().position(|known| *known == line) {
            Some(at) => drop(rest.remove(at)),
            None => lines.push(line.to_owned()),
        }
    }
    lines
}

/// Asserts that the repair of a kernel takes these lines away and adds those, and that nothing is found then.
fn assert_repaired(file: &str, text: &str, away: &[&str], more: &[&str]) -> TestResult {
    let (result, new) = repaired(file, text)?;
    assert_eq!(only(text, &new), away, "{new}\n{result:#}");
    assert_eq!(only(&new, text), more, "{new}\n{result:#}");
    let bench = Bench::new()?;
    bench.put(file, &new)?;
    let again = bench.run(&["check", file, "--no-amplify", "--no-redundant", "--budget", "60"])?;
    assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
    Ok(())
}

#[test]
fn a_body_without_braces_gets_some() -> TestResult {
    let text = "kernel void sum(global const int *in, global int *out, local int *part) {
    int l = get_local_id(0);
    part[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s /= 2)
        if (l < s) part[l] += part[l + s]; // halves
    if (l == 0)
        out[get_group_id(0)] = part[0];
}
";
    let away = ["for (int s = get_local_size(0) / 2; s > 0; s /= 2)"];
    let more = ["for (int s = get_local_size(0) / 2; s > 0; s /= 2) {", "barrier(CLK_LOCAL_MEM_FENCE);", "}"];
    assert_repaired("sum.cl", text, &away, &more)
}

#[test]
fn a_tile_that_is_filled_in_each_round_gets_two_barriers() -> TestResult {
    let text = "kernel void rounds(global const int *in, global int *out, int count) {
    local int tile[16];
    int l = get_local_id(0), n = get_local_size(0), sum = 0;
    for (int r = 0; r < count; r++) {
        tile[l] = in[r * n + l];
        sum += tile[n - 1 - l];
    }
    out[get_global_id(0)] = sum;
}
";
    let (result, new) = repaired("rounds.cl", text)?;
    let barrier = "        barrier(CLK_LOCAL_MEM_FENCE);\n";
    assert_eq!(new.matches(barrier).count(), 2, "{new}\n{:#}", result["repairs"]);
    assert!(new.contains(&format!("{barrier}        sum +=")) && new.contains(&format!("{barrier}    }}")), "{new}");
    Ok(())
}

#[test]
fn plain_updates_become_atomics() -> TestResult {
    let text = "kernel void updates(global const int *in, global int *low, global int *high, global uint *bits, global int *sum,
                    global int *count) {
    int v = in[get_global_id(0)];
    low[0] = min(low[0], v);
    if (v > high[0])
        high[0] = v;
    *bits |= 1u << (v & 31);
    sum[0] = sum[0] + v * 2;
    --count[v & 3];
}
";
    let away = [
        "low[0] = min(low[0], v);",
        "if (v > high[0])",
        "high[0] = v;",
        "*bits |= 1u << (v & 31);",
        "sum[0] = sum[0] + v * 2;",
        "--count[v & 3];",
    ];
    let more = [
        "atomic_min(&low[0], v);",
        "atomic_max(&high[0], v);",
        "atomic_or(bits, 1u << (v & 31));",
        "atomic_add(&sum[0], v * 2);",
        "atomic_dec(&count[v & 3]);",
    ];
    assert_repaired("updates.cl", text, &away, &more)
}

#[test]
fn an_update_is_none_if_its_operator_is_not_the_last_one() -> TestResult {
    let text = "kernel void shifted(global const int *in, global int *sum) {
    sum[0] = sum[0] + in[get_global_id(0)] << 1;
}
";
    let (result, new) = repaired("shifted.cl", text)?;
    assert_eq!(new, text);
    let repairs = result["repairs"].as_array().ok_or("no repairs")?;
    assert!(!repairs.is_empty() && repairs.iter().all(|repair| repair["why_not"].is_string()), "{repairs:#?}");
    Ok(())
}

#[test]
fn cuda_has_its_own_barriers_and_atomics() -> TestResult {
    let text = "__global__ void total(const float *in, float *out, int n)
{
    __shared__ float part[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? in[i] : 0.0f;
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        __syncthreads();
        if (t < s)
            part[t] += part[t + s];
    }
    if (t == 0)
        out[0] += part[0];
}
";
    assert_repaired("total.cu", text, &["out[0] += part[0];"], &["atomicAdd(&out[0], part[0]);"])
}

#[test]
fn line_ends_and_tabs_stay_as_they_are() -> TestResult {
    let text = "kernel void turn(global const int *in, global int *out, local int *tile) {\r
\tint l = get_local_id(0);\r
\ttile[l] = in[get_global_id(0)];\r
\tout[get_global_id(0)] = tile[get_local_size(0) - 1 - l];\r
}\r
";
    let (_, new) = repaired("turn.cl", text)?;
    assert!(new.contains("\r\n\tbarrier(CLK_LOCAL_MEM_FENCE);\r\n"), "{new:?}");
    assert_eq!(new.matches('\n').count(), new.matches("\r\n").count());
    Ok(())
}

#[test]
fn what_macros_make_and_headers_have_is_not_edited() -> TestResult {
    let text = "#define WAIT() barrier(CLK_LOCAL_MEM_FENCE)
kernel void guarded(global int *out, local int *t, int n) {
    int l = get_local_id(0), i = get_global_id(0);
    if (i < n) {
        t[l] = i;
        WAIT();
        out[i] = t[l];
    }
}
";
    let (result, new) = repaired("guarded.cl", text)?;
    assert_eq!(new, text);
    let why = result["repairs"][0]["why_not"].as_str().unwrap_or_default();
    assert!(why.contains("line 6 is made by a macro"), "{result:#}");

    let bench = Bench::new()?;
    bench
        .put("turn.h", "int turn(local int *t, int l, int n, int v) {\n    t[l] = v;\n    return t[n - 1 - l];\n}\n")?;
    bench.put(
        "k.cl",
        "#include \"turn.h\"\nkernel void k(global int *a, local int *t) {\n    int i = get_global_id(0);\n    \
         a[i] = turn(t, get_local_id(0), get_local_size(0), i);\n}\n",
    )?;
    let run = bench.run(&["check", "k.cl", "--fix", "--no-amplify", "--format", "json"])?;
    let result: Value = serde_json::from_str(&run.out)?;
    let why = result["repairs"][0]["why_not"].as_str().unwrap_or_default();
    assert!(why.contains("turn.h is not the kernel's file"), "{result:#}");
    Ok(())
}

#[test]
fn a_redundant_barrier_goes_only_with_a_proof() -> TestResult {
    let text = "kernel void own(global const int *in, global int *out, local int *tile) {
    int l = get_local_id(0);
    tile[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[l] + 1;
}
";
    assert_repaired("own.cl", text, &["barrier(CLK_LOCAL_MEM_FENCE);"], &[])?;
    let bench = Bench::new()?;
    bench.put("own.cl", text)?;
    let run = bench.run(&["check", "own.cl", "--fix", "--no-prove", "--no-amplify", "--format", "json"])?;
    let result: Value = serde_json::from_str(&run.out)?;
    let why = result["repairs"][0]["why_not"].as_str().unwrap_or_default();
    assert!(run.code == Some(0) && why.contains("not proved"), "{result:#}");
    Ok(())
}

#[test]
fn a_repair_keeps_outputs_where_nothing_was_found() -> TestResult {
    // Without the barrier the kernel is clean for one element a work-item, and a barrier changes nothing there.
    let bench = Bench::new()?;
    bench.put(
        "k.cl",
        "kernel void k(global int *a, int step) {\n    int l = get_local_id(0), n = get_local_size(0);\n    \
         int v = a[(l + step) % n];\n    a[l] = v + 1;\n}\n",
    )?;
    let test = |name: &str, step: u32| {
        format!(
            "[[test]]\nname = \"{name}\"\nglobal = [8]\nlocal = [8]\nargs = {{ a = {{ arange = {{ len = 8 }} }}, step = {step} }}\n"
        )
    };
    bench.put("suite.toml", format!("kernel = \"k.cl\"\n{}{}", test("own", 0), test("next", 1)))?;
    let run = bench.run(&["check", "suite.toml", "--fix", "--no-amplify", "--format", "json"])?;
    let result: Value = serde_json::from_str(&run.out)?;
    let verified: Vec<&str> =
        result["repairs"][0]["verified"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert!(verified.contains(&"clean-in-explored-inputs") && verified.contains(&"same-outputs"), "{result:#}");
    assert!(verified.contains(&"schedule-independent"), "{verified:?}");
    assert_eq!(run.code, Some(1), "what was found stays found");
    Ok(())
}
