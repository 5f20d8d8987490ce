//! Checks that different ways of running mutants give the same verdicts: schemata and rebuild, pruned and not, one
//! worker and two.

use serde_json::Value;

use super::bench::{Bench, TestResult, lasting, mutants, reason, same, statuses, suite, text};

/// Verdicts that need not agree: of runs that leave a buffer or divide by zero, since their behaviour is undefined, and
/// of mutants that the repeats could not decide.
fn excepted(status: &str) -> bool {
    matches!(status, "runtime-error" | "undecided")
}

/// Runs both strategies on a sample of mutants: ids and statuses have to be the same, unless the status is excepted in
/// one of them.
fn strategies_agree(kernel: &str, count: &str) -> TestResult {
    let bench = Bench::new()?;
    let options = ["--sample", count, "--seed", "11", "--repeats", "3"];
    let together = bench.mutate(&suite(kernel), &options)?;
    let alone = bench.mutate(&suite(kernel), &[&options, &["--strategy", "rebuild"][..]].concat())?;
    let (together, alone) = (statuses(&together), statuses(&alone));
    assert!(together.keys().eq(alone.keys()), "{kernel}: other mutants");
    let compared = together.iter().zip(alone.values()).filter(|((_, a), b)| !excepted(a) && !excepted(b));
    let mut count = 0;
    for ((id, a), b) in compared {
        assert_eq!(a, b, "{kernel}: {id}");
        count += 1;
    }
    assert!(count >= 3, "{kernel}: only {count} compared");
    Ok(())
}

#[test]
fn strategies_agree_on_loops_and_helpers() -> TestResult {
    strategies_agree("loop_shapes", "8")?;
    strategies_agree("helper_thrice", "8")
}

#[test]
fn strategies_agree_on_barriers_and_local_memory() -> TestResult {
    strategies_agree("bitonic_sort", "9")?;
    strategies_agree("reduction_tree", "8")
}

#[test]
fn strategies_agree_on_atomics_images_structs_and_vectors() -> TestResult {
    strategies_agree("atomics_cl20", "9")?;
    strategies_agree("palette_1d", "7")?;
    strategies_agree("struct_args", "7")?;
    strategies_agree("long_vectors", "7")
}

/// Checks that the pairs which pruning leaves out change no verdict; returns their number.
fn pruning_changes_nothing(kernel: &str) -> TestResult<u64> {
    let bench = Bench::new()?;
    let options = ["--sample", "40", "--seed", "5"];
    let pruned = bench.mutate(&suite(kernel), &options)?;
    let full = bench.mutate(&suite(kernel), &[&options, &["--full-matrix", "--no-prune"][..]].concat())?;
    for (a, b) in mutants(&pruned).iter().zip(mutants(&full)) {
        let id = text(a, "id");
        for key in ["id", "status", "covered_by", "duplicate_of"] {
            assert_eq!(a[key], b[key], "{kernel}: {key} of {id}");
        }
        assert_eq!(reason(a), reason(b), "{kernel}: {id}");
        // Without a full matrix, a mutant's runs end with the first test that detects it.
        assert_eq!(a["killed_by"][0], b["killed_by"][0], "{kernel}: {id}");
    }
    assert_eq!(full["timing"]["pruned_pairs"], 0, "{kernel}");
    assert!(full["timing"]["pairs"].as_u64() >= pruned["timing"]["pairs"].as_u64(), "{kernel}");
    Ok(pruned["timing"]["pruned_pairs"].as_u64().unwrap_or_default())
}

#[test]
fn a_full_matrix_without_pruning_gives_the_same_verdicts() -> TestResult {
    let mut pruned = 0;
    for kernel in ["loop_shapes", "half_math", "rng_lcg_long"] {
        pruned += pruning_changes_nothing(kernel)?;
    }
    assert!(pruned > 0, "nothing was pruned");
    Ok(())
}

#[test]
fn runs_with_any_number_of_workers_and_batches_agree() -> TestResult {
    let bench = Bench::new()?;
    let of = suite("vector_add");
    let one = bench.mutate(&of, &["-j", "1"])?;
    for args in [["-j", "1"], ["-j", "2"], ["--batch", "off"]] {
        let other = bench.mutate(&of, &args)?;
        same(&lasting(&one, &[]), &lasting(&other, &[]), &format!("{args:?}"))?;
    }
    Ok(())
}

const UNWRITTEN: &str = "kernel void k(global const int *in, global int *out, int way) {
    size_t i = get_global_id(0);
    int number;
    if (way == 0) number = in[i] % 7; else number = in[i] / 3;
    int window[8];
    for (int j = 0; j < 8; j++) window[j] = in[(i + j) % 16];
    int sum = number;
    for (int j = 0; j < 8; j++) sum = sum * 3 + window[j];
    out[i] = sum;
}
";

const UNWRITTEN_SUITE: &str = "kernel = \"k.cl\"
[[test]]
global = [16]
args = { in = [9, 4, 1, 7, 3, 5, 8, 2, 6, 11, 12, 15, 10, 13, 14, 16], out = { fill = 0, len = 16 }, way = 0 }
[[test]]
global = [16]
args = { in = [9, 4, 1, 7, 3, 5, 8, 2, 6, 11, 12, 15, 10, 13, 14, 16], out = { fill = 0, len = 16 }, way = 1 }
";

/// A mutant that reads an uninitialised private variable reads the same value in all modules, including those that
/// report which tests infect it.
#[test]
fn uninitialised_variables_are_the_same_everywhere() -> TestResult {
    let bench = Bench::of(UNWRITTEN, UNWRITTEN_SUITE)?;
    let operators = ["--operators", "ASR"];
    let plain = bench.mutate("suite.toml", &operators)?;
    let number = |m: &&Value| text(m, "id").contains("ASR@k.cl:4:") && text(m, "replacement") == "*=";
    let multiplied: Vec<&Value> = mutants(&plain).iter().filter(number).collect();
    assert_eq!(multiplied.len(), 2);
    assert!(multiplied.iter().all(|m| m["status"] == "killed"), "{multiplied:?}");
    for args in [&["--no-prune"][..], &["--batch", "off"], &["--strategy", "rebuild"], &["--device", "sim"]] {
        let other = bench.mutate("suite.toml", &[&operators[..], args].concat())?;
        for (a, b) in mutants(&plain).iter().zip(mutants(&other)) {
            // Modules describe the place of a fault in different words.
            let reason = |m: &Value| (m["status"] == "killed").then(|| m["reason"].clone());
            let told = |m: &Value| (m["id"].clone(), m["status"].clone(), m["duplicate_of"].clone(), reason(m));
            assert_eq!(told(a), told(b), "{args:?}");
        }
    }
    Ok(())
}

/// A mutant that reads uninitialised local memory is run, whatever that memory happens to hold in the infection probes.
#[test]
fn uninitialised_local_memory_is_the_same_everywhere() -> TestResult {
    let bench = Bench::new()?;
    let operators = ["--operators", "ASR"];
    let plain = bench.mutate(&suite("prefix_filter"), &operators)?;
    let added: Vec<&Value> = mutants(&plain).iter().filter(|m| text(m, "id").ends_with("24:21:+=")).collect();
    assert!(matches!(added[..], [m] if m["status"] == "killed"), "{added:?}");
    for args in [&["--no-prune"][..], &["--device", "sim"]] {
        let other = bench.mutate(&suite("prefix_filter"), &[&operators[..], args].concat())?;
        assert_eq!(statuses(&plain), statuses(&other), "{args:?}");
    }
    Ok(())
}

/// More mutants than one module holds are run in several: each has the status that it has among few. Measured times
/// decide how many modules the few take.
#[test]
fn mutants_of_a_second_module_have_the_status_that_they_have_among_few() -> TestResult {
    let bench = Bench::new()?;
    let whole = bench.mutate(&suite("sha_like"), &[])?;
    let sizes = whole["timing"]["module_sizes"].as_array().map_or(0, Vec::len);
    assert!(sizes > 1, "all ran in {sizes} module");
    let few = bench.mutate(&suite("sha_like"), &["--operators", "SDL,COR,ROR,LVR"])?;
    assert_ne!(whole["timing"]["module_sizes"], few["timing"]["module_sizes"]);
    let (whole, few) = (statuses(&whole), statuses(&few));
    assert!(few.len() > 100, "only {} compared", few.len());
    // Among few mutants, one may be the first of several duplicates.
    let differ: Vec<&&str> =
        few.iter().filter(|(id, status)| whole.get(*id) != Some(status)).map(|(id, _)| id).collect();
    assert!(differ.is_empty(), "{differ:?}");
    Ok(())
}

/// Returns a kernel in IR that reads its id by SPIR-V's name, with the instructions `read`.
fn built_in(declared: &str, read: &str) -> String {
    format!(
        "target triple = \"spirv64-unknown-unknown\"
{declared}
define spir_kernel void @k(ptr addrspace(1) %out) !kernel_arg_addr_space !0 !kernel_arg_access_qual !1 \
!kernel_arg_type !2 !kernel_arg_base_type !2 !kernel_arg_type_qual !3 {{
{read}
  %at = getelementptr i32, ptr addrspace(1) %out, i64 %id
  %small = trunc i64 %id to i32
  %value = add i32 %small, 5
  store i32 %value, ptr addrspace(1) %at, align 4
  ret void
}}
!0 = !{{i32 1}}
!1 = !{{!\"none\"}}
!2 = !{{!\"int*\"}}
!3 = !{{!\"\"}}
"
    )
}

#[test]
fn kernels_that_read_ids_by_spirv_builtins_are_not_batched() -> TestResult {
    let suite = "kernel = \"k.ll\"\nentry = \"k\"\n\n[[test]]\nname = \"t\"\nglobal = [16]\nlocal = [4]\n[test.args]\nout = { fill = 0, len = 16 }\n";
    let variable = built_in(
        "@__spirv_BuiltInGlobalInvocationId = external addrspace(1) constant <3 x i64>",
        "  %ids = load <3 x i64>, ptr addrspace(1) @__spirv_BuiltInGlobalInvocationId, align 32
  %id = extractelement <3 x i64> %ids, i64 0",
    );
    let function = built_in(
        "declare i64 @_Z33__spirv_BuiltInGlobalInvocationIdi(i32)",
        "  %id = call i64 @_Z33__spirv_BuiltInGlobalInvocationIdi(i32 0)",
    );
    for kernel in [variable, function] {
        let bench = Bench::new()?;
        bench.put("k.ll", &kernel)?;
        bench.put("suite.toml", suite)?;
        let result = bench.mutate("suite.toml", &["--operators", "AOR,LVR"])?;
        assert_eq!(result["timing"]["batched_pairs"], 0);
        assert!(mutants(&result).iter().any(|m| text(m, "status") == "killed"), "{result}");
        let off = bench.mutate("suite.toml", &["--operators", "AOR,LVR", "--batch", "off"])?;
        same(&lasting(&off, &["options"]), &lasting(&result, &["options"]), &kernel)?;
    }
    Ok(())
}
