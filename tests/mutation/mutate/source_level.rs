//! Checks mutants of the source's text (`--level source`): each does what the mutant of the canonical form at the same
//! place with the same text does.

use serde_json::Value;

use super::bench::{Bench, TestResult, mutants, statuses, suite, text};

/// Runs both levels and compares the statuses of the mutants that both have. `alone`: how many of the canonical form's
/// the text does not have. Returns the results.
pub(super) fn levels_agree(bench: &Bench, suite: &str, operators: &str, alone: usize) -> TestResult<(Value, Value)> {
    let options = ["--device", "sim", "--operators", operators];
    let canonical = bench.mutate(suite, &options)?;
    let source = bench.mutate(suite, &[&options[..], &["--level", "source"]].concat())?;
    // At the level of the source, the solver is not asked.
    let undetected = |status: &str| matches!(status, "survived" | "equivalent" | "equivalent-for-launches");
    let (ours, theirs) = (statuses(&canonical), statuses(&source));
    let mut missing = Vec::new();
    for (id, status) in &ours {
        match theirs.get(id) {
            Some(other) => {
                assert!(status == other || undetected(status) && undetected(other), "{id}: {status}, {other}");
            }
            None => missing.push(*id),
        }
    }
    assert_eq!(missing.len(), alone, "{suite}: {missing:#?}");
    Ok((canonical, source))
}

#[test]
fn levels_agree_on_loops_indices_and_barriers() -> TestResult {
    let bench = Bench::new()?;
    // The mutants of the launch are no text.
    levels_agree(&bench, &suite("vector_add"), "all", 5)?;
    levels_agree(&bench, &suite("reduction_tree"), "SYR,BFR,GIR,GID,LBR,CSD,SDL", 0)?;
    Ok(())
}

#[test]
fn levels_agree_on_atomics_images_and_helpers() -> TestResult {
    let bench = Bench::new()?;
    levels_agree(&bench, &suite("histogram_atomic"), "AR,AOP,SYR", 0)?;
    levels_agree(&bench, &suite("palette_1d"), "ICR,ASR", 0)?;
    levels_agree(&bench, &suite("helper_thrice"), "NCR,MR,SDL,COR,LCR", 0)?;
    Ok(())
}

const PRECEDENCE: &str = "int twice(int x) { return x * 2; }
kernel void k(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    int a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n];
    int sum = a - b * c + a / 3 - -b;
    int bits = a & b << 1 ^ c;
    if (a + 1 < b == c > 3 && !(a - b) || c & 1)
        sum += a - 1 - c;
    else if (a) sum -=
        b -
        c;
    for (;;) {
        if (sum > -100 || i < 0) break;
        sum++;
    }
    out[i] = sum * 3 + twice(b - c) * bits - (a > b ? a - c : c) * 2;
}
";

const PRECEDENCE_SUITE: &str = "kernel = \"k.cl\"
[[test]]
global = [8]
args = { in = [9, -4, 1, 7, 3, 5, 8, 2], out = { fill = 0, len = 8 }, n = 8 }
[[test]]
global = [8]
args = { in = [1, 1, 0, 2, 4, 4, -1, 6], out = { fill = 0, len = 8 }, n = 8 }
";

/// A token that takes another's place leaves the operands what they are, and lines keep their numbers.
#[test]
fn operands_stay_the_same_whatever_binds_tighter() -> TestResult {
    let bench = Bench::of(PRECEDENCE, PRECEDENCE_SUITE)?;
    let operators = "ROR,AOR,BOR,ARS,ASR,AIU,AOD,COR,LCR,CSD,SDL,LBR,GII";
    let (_, source) = levels_agree(&bench, "suite.toml", operators, 0)?;
    assert!(mutants(&source).len() > 150, "{}", mutants(&source).len());
    assert_eq!(source["summary"]["compile_error"], 0, "{:#?}", source["mutants"]);
    assert_eq!(source["options"]["level"], "source");
    Ok(())
}

const TRUTH_VALUES: &str = "kernel void k(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    bool seen = in[i] > n;
    if (in[i + 1] > n) seen = true;
    const bool other = in[i + 2] & 1;
    seen = seen && other;
    if (in[i] == 5) seen = other;
    if (in[i] == 3) seen = in[i + 1] & 2;
    out[i] = seen ? 3 : 4;
}
";

/// `op=` on a `bool` computes as an `int` and converts the result.
#[test]
fn truth_values_stay_truth_values() -> TestResult {
    let test = "kernel = \"k.cl\"
        [[test]]
        global = [4]
        args = { in = [5, 7, 6, 9, 3, 1], out = { fill = 0, len = 4 }, n = 4 }
        [[test]]
        global = [4]
        args = { in = [5, 4, 3, 2, 5, 5], out = { fill = 0, len = 4 }, n = 4 }";
    let bench = Bench::of(TRUTH_VALUES, test)?;
    let (canonical, _) = levels_agree(&bench, "suite.toml", "ASR", 0)?;
    // Its right operand is a `bool` in the canonical form, and an `int` of the text.
    assert!(statuses(&canonical).keys().all(|id| !id.contains("k.cl:8:")), "{:#?}", statuses(&canonical));
    let status = |id: &str| statuses(&canonical).get(id).map(|status| (*status).to_owned());
    // 1 + 1 is 2, and as a `bool` 1.
    assert!(
        matches!(status("k.ASR@k.cl:4:29:+=").as_deref(), Some("survived" | "equivalent")),
        "{:#?}",
        statuses(&canonical)
    );
    assert_eq!(status("k.ASR@k.cl:4:29:-=").as_deref(), Some("killed"), "{:#?}", statuses(&canonical));
    Ok(())
}

/// An array that a mutant leaves without elements: LLVM's SPIR-V backend refuses to fill it, or does not come to an
/// end.
#[test]
fn arrays_without_elements_are_built_for_devices() -> TestResult {
    let source = "#define EACH 1
kernel void k(global int *out, int n) {
    int last[EACH];
    if (n < EACH) last[n] = 5;
    out[get_global_id(0)] = last[n] + n;
}
";
    let test = "kernel = \"k.cl\"
        [[test]]
        global = [2]
        args = { out = { fill = 0, len = 2, expect = [5, 5] }, n = 0 }";
    let bench = Bench::of(source, test)?;
    let result = bench.mutate("suite.toml", &["--device", "opencl", "--level", "source", "--operators", "LVR"])?;
    let status = |id: &str| statuses(&result).get(id).map(|status| (*status).to_owned());
    assert_eq!(status("k.LVR@k.cl:1:14:0").as_deref(), Some("runtime-error"), "{:#?}", result["mutants"]);
    Ok(())
}

const MACROS: &str = "#define STEP 4
#if STEP < 2
#error \"too small a step\"
#endif
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
kernel void k(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    int first = LARGER(in[i], n);
    int second = LARGER(in[i + 8], n + STEP);
    out[i] = first - second;
    out[i + 8] = second;
}
";

const MACROS_SUITE: &str = "kernel = \"k.cl\"
[[test]]
global = [8]
args = { in = { arange = { len = 16, start = -5, step = 3 } }, out = { fill = 0, len = 16 }, n = 20 }
";

/// An edit of a macro's body changes every expansion; one with which the file does not compile is a compile error.
#[test]
fn bodies_of_macros_are_edited_once() -> TestResult {
    let bench = Bench::of(MACROS, MACROS_SUITE)?;
    let options = ["--device", "sim", "--operators", "NCR,LVR"];
    let canonical = bench.mutate("suite.toml", &options)?;
    let source = bench.mutate("suite.toml", &[&options[..], &["--level", "source"]].concat())?;
    let at_line = |result: &Value, operator: &str, line: u64| -> Vec<Value> {
        let here = |m: &&Value| m["location"]["start"]["line"] == line && text(m, "operator") == operator;
        mutants(result).iter().filter(here).cloned().collect()
    };
    // Each expansion has a mutant of its own in the canonical form.
    assert_eq!((at_line(&canonical, "NCR", 8).len(), at_line(&canonical, "NCR", 9).len()), (1, 1));
    assert_eq!((at_line(&source, "NCR", 8).len(), at_line(&source, "NCR", 9).len()), (0, 0));
    let of_body = at_line(&source, "NCR", 5);
    assert_eq!(of_body.len(), 1, "{of_body:#?}");
    assert_eq!(text(&of_body[0], "id"), "k.NCR@k.cl:5:27:<=");
    assert_eq!(of_body[0]["spelling"], of_body[0]["location"]);
    assert_eq!(text(&of_body[0], "status"), "killed");
    // STEP by 0, 1, -1 does not get past the `#error`.
    let steps = at_line(&source, "LVR", 1);
    let status = |by: &str| steps.iter().find(|m| text(m, "replacement") == by).map(|m| text(m, "status"));
    for by in ["0", "1", "(-1)"] {
        assert_eq!(status(by), Some("compile-error"), "{by}: {steps:#?}");
    }
    assert!(steps.iter().any(|m| text(m, "reason").contains("k.cl:3:2: error: \"too small a step\"")), "{steps:#?}");
    assert_eq!((status("3"), status("5")), (Some("killed"), Some("killed")));
    assert_eq!(source["summary"]["compile_error"], 3);
    Ok(())
}

/// A variant that is chosen by its number among others does what it does in a module of its own.
#[test]
fn strategies_agree_at_the_level_of_the_source() -> TestResult {
    let bench = Bench::new()?;
    for (kernel, operators) in [("helper_thrice", "NCR,SDL"), ("macro_mix", "NCR,COD,AOD")] {
        let options = ["--level", "source", "--device", "sim", "--operators", operators];
        let together = bench.mutate(&suite(kernel), &options)?;
        let alone = bench.mutate(&suite(kernel), &[&options[..], &["--strategy", "rebuild"]].concat())?;
        assert_eq!(statuses(&together), statuses(&alone), "{kernel}");
        assert!(together["timing"]["builds"].as_u64() < Some(4), "{}", together["timing"]);
        let detected = ["killed", "timeout", "runtime_error"].map(|key| together["summary"][key].as_u64());
        assert!(detected.iter().flatten().sum::<u64>() >= 5, "{kernel}: {}", together["summary"]);
    }
    Ok(())
}

#[test]
fn what_is_no_text_is_excluded_or_refused() -> TestResult {
    let bench = Bench::new()?;
    let options = ["--level", "source", "--device", "sim", "--operators", "SHR,SYR"];
    let result = bench.mutate(&suite("reduction_tree"), &options)?;
    assert!(mutants(&result).iter().all(|m| text(m, "operator") == "SYR"), "{:#?}", result["mutants"]);
    let excluded = result["excluded"].as_array().ok_or("nothing is excluded")?;
    assert!(excluded.iter().any(|e| text(e, "operator") == "SHR" && text(e, "reason").contains("memory of its own")));
    for (more, said) in [
        (&["--order", "2"][..], "pairs are not made of mutants of the source's text"),
        (&["--ir-level", "O2"], "cannot be used with '--ir-level <LEVEL>'"),
    ] {
        let refused = bench.run(&[&["mutate", &suite("vector_add"), "--level", "source"], more].concat())?;
        assert_eq!(refused.code, Some(2), "{}", refused.err);
        assert!(refused.err.contains(said) && refused.err.contains("help"), "{}", refused.err);
    }
    Ok(())
}

/// A mutant that deletes the only use of a variable of the program takes what the original takes, in the same order.
#[test]
fn levels_agree_on_variables_of_the_program() -> TestResult {
    let bench = Bench::new()?;
    let (_, source) = levels_agree(&bench, &suite("program_variables"), "SDL,ASR,LVR", 0)?;
    assert_eq!(source["summary"]["compile_error"], 0, "{:#?}", source["mutants"]);
    Ok(())
}
