//! Checks mutants of the text of CUDA kernels, and of operators of CUDA's types of numbers: at each level, a change of
//! one place does the same.

use serde_json::Value;

use super::bench::{Bench, TestResult, mutants, statuses, suite, text};
use super::source_level::levels_agree;

/// Runs both levels on `k.cu` and its suite.
fn both(source: &str, suite: &str, operators: &str, alone: usize) -> TestResult<(Value, Value)> {
    let bench = Bench::new()?;
    bench.put("k.cu", source)?;
    bench.put("suite.toml", suite)?;
    levels_agree(&bench, "suite.toml", operators, alone)
}

fn of<'v>(result: &'v Value, operator: &str) -> Vec<&'v str> {
    let ids = mutants(result).iter().filter(|m| text(m, "operator") == operator).map(|m| text(m, "id"));
    ids.collect()
}

/// An edit of a template's text is one mutant, whatever its instances are.
#[test]
fn levels_agree_on_templates_and_barriers() -> TestResult {
    let bench = Bench::new()?;
    let (_, source) = levels_agree(&bench, &suite("cuda_reduce"), "AOR,ROR,NCR,SDL,CSD,LBR,SYR,GIR,GII,GID,SHR", 0)?;
    assert_eq!(source["summary"]["compile_error"], 0, "{:#?}", source["mutants"]);
    assert_eq!(of(&source, "SYR"), ["reduce<8>.SYR@cuda_reduce.cu:13:5:", "reduce<8>.SYR@cuda_reduce.cu:19:9:"]);
    let replaced: Vec<&str> = mutants(&source)
        .iter()
        .filter(|m| text(m, "operator") == "GIR" && m["location"]["start"]["line"] == 23)
        .map(|m| text(m, "replacement"))
        .collect();
    assert_eq!(replaced, ["(blockIdx.x * blockDim.x + threadIdx.x)", "threadIdx.x"]);
    Ok(())
}

#[test]
fn levels_agree_on_atomics() -> TestResult {
    let bench = Bench::new()?;
    let (_, source) = levels_agree(&bench, &suite("cuda_histogram"), "AR,AOP,SYR,GII,GID", 0)?;
    assert!(of(&source, "AOP").contains(&"histogram.AOP@cuda_histogram.cu:21:9:atomicMax(&extremes[0], v)"));
    assert_eq!((of(&source, "AR").len(), of(&source, "SYR").len()), (6, 2));
    // What deletes the only use of dynamic shared memory takes what the kernel takes.
    let (_, source) = levels_agree(&bench, &suite("cuda_reverse"), "SDL,GIR,GID", 0)?;
    assert_eq!(source["summary"]["compile_error"], 0, "{:#?}", source["mutants"]);
    Ok(())
}

/// Barriers of warps: calls, those of tiles and of coalesced threads, whose calls are of members.
#[test]
fn levels_agree_on_barriers_of_warps() -> TestResult {
    let bench = Bench::new()?;
    let (canonical, source) = levels_agree(&bench, &suite("cuda_warp_stages"), "SCR", 0)?;
    let survivors: Vec<&str> =
        mutants(&canonical).iter().filter(|m| text(m, "status") == "survived").map(|m| text(m, "original")).collect();
    assert_eq!(survivors, ["cg::sync(tile)", "__syncwarp()"]);
    assert_eq!((of(&source, "SCR").len(), of(&canonical, "SCR").len()), (8, 8), "{:#?}", of(&source, "SCR"));
    let deletion = bench.mutate(&suite("cuda_warp_stages"), &["--device", "sim", "--operators", "SDL"])?;
    assert!(mutants(&deletion).iter().all(|m| !text(m, "original").contains("sync")), "{:#?}", of(&deletion, "SDL"));
    Ok(())
}

/// clang copies an argument to where the call takes it, by a function with constants of its own.
#[test]
fn constants_of_copies_are_not_those_of_the_call() -> TestResult {
    let source = "struct four { int a, b, c, d; };
__device__ int of(four v, int unused, int times, int plus) { v.a = v.b * times; return v.a + plus; }
__global__ void k(int *out)
{
    four v = {1, 2, 3, out[0]};
    out[threadIdx.x] = of(v, 0, 16, 0);
}
";
    let suite = "kernel = \"k.cu\"\n[[test]]\ngrid = [1]\nblock = [2]\n[test.args]\nout = { fill = 1, len = 2 }\n";
    let bench = Bench::new()?;
    bench.put("k.cu", source)?;
    bench.put("suite.toml", suite)?;
    let result = bench.mutate("suite.toml", &["--device", "sim", "--operators", "LVR"])?;
    assert!(!result.to_string().contains("does not verify"), "{result:#}");
    let of = |original: &str| mutants(&result).iter().filter(|m| text(m, "original") == original).count();
    assert_eq!((of("16"), of("0") > 0), (5, true), "{:#?}", result["mutants"]);
    Ok(())
}

const OWN: &str = "#define TWICE(x) ((x) * 2)
template <typename T> __device__ T larger(T a, T b) { return a > b ? a : b; }
int of_host(int a, int b) { return a - b; }
__global__ void other(int *out) { out[0] = 1 - out[1]; }
__global__ void k(const int *in, float *sums, int *counts, int *out, int n)
{
    __shared__ int tile[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = in[i] - 1;
    __threadfence_block();
    __syncthreads();
    int next = tile[threadIdx.x ^ 1];
    atomicAdd(&sums[0], 0.5f * larger(next, 1));
    atomicAdd_block(&counts[0], TWICE(i));
    if (larger(0.5f, (float)next) < n && i != 3)
        out[i] = TWICE(next) + i;
    __threadfence();
}
";

const OWN_SUITE: &str = "kernel = \"k.cu\"
entry = \"k\"
[[test]]
grid = [2]
block = [4]
[test.args]
in = [1, 5, 2, -7, 3, 3, 8, 0]
sums = { values = [0.0] }
counts = { values = [0] }
out = { fill = 0, len = 8 }
n = 5
";

/// Helpers that the kernel reaches are edited, in both of their instances at once; other kernels and functions of the
/// host are not.
#[test]
fn what_the_kernel_reaches_is_edited_once_per_place() -> TestResult {
    let (canonical, source) = both(OWN, OWN_SUITE, "AOR,ROR,NCR,MR,ASR,SDL,CSD,AR,AOP,FR,SYR,COR,LVR,GIR,SHR", 26)?;
    assert_eq!(source["summary"]["compile_error"], 0, "{:#?}", source["mutants"]);
    let at =
        |result: &Value, line: u64| mutants(result).iter().filter(|m| m["location"]["start"]["line"] == line).count();
    // Two instances of `larger`, and two expansions of the macro.
    assert_eq!(at(&canonical, 2), 2 * at(&source, 2), "{:#?}", statuses(&source));
    assert_eq!((at(&source, 3), at(&source, 4)), (0, 0));
    assert_eq!(of(&source, "MR").iter().filter(|id| id.contains("k.cu:1:23")).count(), 1, "{:#?}", of(&source, "MR"));
    assert_eq!(of(&source, "FR"), ["k.FR@k.cu:10:5:", "k.FR@k.cu:17:5:"]);
    // Atomics of floats, and those of a block, are instructions, which have their call's words.
    assert!(of(&source, "AR").contains(&"k.AR@k.cu:13:5:plain: sums[0] += 0.5f * larger(next, 1)"));
    assert_eq!(of(&source, "AOP"), ["k.AOP@k.cu:14:5:atomicSub_block(&counts[0], TWICE(i))"]);
    Ok(())
}

const LAUNCHED: &str = "#include <not_there.h>
template <int N> __global__ void k(int *out) { out[threadIdx.x] = N + threadIdx.x; }
void run(int *out) { unknown_to_us(); k<7><<<1, 4>>>(out); }
";

/// Variants are compiled as the original is: without host functions, and with the instances that these launch.
#[test]
fn templates_that_skipped_functions_launch_are_compiled() -> TestResult {
    let test = "kernel = \"k.cu\"\n[[test]]\ngrid = [1]\nblock = [4]\nargs = { out = { fill = 0, len = 4, expect = [7, 8, 9, 10] } }";
    let (_, source) = both(LAUNCHED, test, "AOR", 0)?;
    assert_eq!(statuses(&source).get("k<7>.AOR@k.cu:2:69:-"), Some(&"killed"), "{:#?}", statuses(&source));
    Ok(())
}

/// Operators of CUDA's types of numbers have the mutants of operators, at all levels.
#[test]
fn operators_of_types_of_numbers_have_mutants() -> TestResult {
    let bench = Bench::new()?;
    let operators = "AOR,ROR,NCR,CBR,ASR,AOD,AIU,SDL,CSD";
    let (canonical, source) = levels_agree(&bench, &suite("cuda_number_types"), operators, 0)?;
    assert_eq!(source["summary"]["compile_error"], 0, "{:#?}", source["mutants"]);
    let known = statuses(&canonical);
    for (id, status) in [
        ("AOR@cuda_number_types.cu:14:28:+", "killed"),
        ("AOR@cuda_number_types.cu:14:37:*", "killed"),
        ("ROR@cuda_number_types.cu:15:14:<", "killed"),
        ("AOR@cuda_number_types.cu:17:24:-", "killed"),
        ("ASR@cuda_number_types.cu:18:11:+=", "killed"),
        ("AOD@cuda_number_types.cu:19:37:", "killed"),
        ("AOR@cuda_number_types.cu:19:45:+", "killed"),
        ("ROR@cuda_number_types.cu:20:30:!=", "killed"),
        ("ASR@cuda_number_types.cu:23:7:-=", "killed"),
        ("AOR@cuda_number_types.cu:23:30:-", "killed"),
        ("CBR@cuda_number_types.cu:24:19:<=", "survived"),
    ] {
        assert_eq!(known.get(&*format!("relax.{id}")), Some(&status), "{id}: {known:#?}");
    }
    let raw =
        bench.mutate(&suite("cuda_number_types"), &["--device", "sim", "--level", "ir:raw", "--operators", "IAO"])?;
    assert!(of(&raw, "IAO").contains(&"relax.IAO@cuda_number_types.cu:17:24:fsub"), "{:#?}", of(&raw, "IAO"));
    Ok(())
}
