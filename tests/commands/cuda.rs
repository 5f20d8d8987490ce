//! Checks what commands say of kernels in CUDA. `tests/fixtures/pairs.rs` compares these with kernels in OpenCL C.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::kassay;
use crate::common::testdata::{repository, testdata};

/// Returns the result of a command on a suite.
fn result(command: &str, suite: &Path, more: &[&str]) -> TestResult<Value> {
    let output = suite.with_extension(format!("{command}.json"));
    let run = kassay().arg(command).arg(suite).args(["--quiet", "-o"]).arg(&output).args(more).output()?;
    if run.status.code().is_none_or(|code| code > 1) {
        return Err(format!("{command} {}: {}", suite.display(), String::from_utf8_lossy(&run.stderr)).into());
    }
    Ok(serde_json::from_str(&fs::read_to_string(output)?)?)
}

#[test]
fn a_write_to_constant_memory_is_a_finding() -> TestResult {
    let scratch = tempfile::tempdir()?;
    let kernel = "__constant__ int c[2];\n__global__ void k(int *p) { p[0] = c[0]; const_cast<int *>(c)[1] = 1; }\n";
    fs::write(scratch.path().join("k.cu"), kernel)?;
    let suite = scratch.path().join("suite.toml");
    fs::write(&suite, "kernel = \"k.cu\"\n[[test]]\nglobal = [1]\nlocal = [1]\nargs = { p = [0] }\n")?;
    let found = result("check", &suite, &["--no-amplify"])?;
    assert_eq!(found["findings"][0]["kind"], "read-only-write", "{found}");
    Ok(())
}

#[test]
fn what_kassay_lacks_is_refused_at_its_place() -> TestResult {
    let scratch = tempfile::tempdir()?;
    let refused = |body: &str, words: &[&str]| -> TestResult {
        let kernel = scratch.path().join("k.cu");
        fs::write(
            &kernel,
            format!("#include <cooperative_groups.h>\n__global__ void k(int *p, unsigned m) {{\n{body}\n}}\n"),
        )?;
        let run = kassay().arg("check").arg(&kernel).arg("--quiet").output()?;
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{said}");
        for word in words.iter().chain(&["k.cu:3:", "help: "]) {
            assert!(said.contains(word), "{word}: {said}");
        }
        Ok(())
    };
    refused("p[0] = tex1Dfetch<int>(0, 1);", &["tex1Dfetch"])?;
    refused("cooperative_groups::this_grid().sync();", &["grid_group::sync"])
}

#[test]
fn sums_of_halves_run_where_atomics_of_16_bits_are() -> TestResult {
    let scratch = tempfile::tempdir()?;
    let kernel = "#include <cuda_bf16.h>\n#include <cuda_fp16.h>
__global__ void k(half *p, __nv_bfloat16 *q) { atomicAdd(p + threadIdx.x % 2, half(1.5f)); atomicAdd(q, 2.0f); }\n";
    fs::write(scratch.path().join("k.cu"), kernel)?;
    let suite = scratch.path().join("suite.toml");
    let text = "kernel = \"k.cu\"\n[[test]]\nname = \"six\"\nglobal = [6]\nlocal = [3]\n
        [test.args]\np = { values = [1.0, 0.0], expect = { values = [7.0, 3.0] } }\nq = { values = [0], expect = { values = [0x4140] } }\n";
    fs::write(&suite, text)?;
    let ran = result("run", &suite, &["--device", "sim"])?;
    assert_eq!(ran["tests"][0]["status"], "passed", "{ran}");
    let run = kassay().args(["run", "--device", "opencl", "--quiet"]).arg(&suite).output()?;
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(3), "{said}");
    assert!(said.contains("an atomic of 16 bits") && said.contains("k.cu:3:"), "{said}");
    Ok(())
}

#[test]
fn atomics_have_mutants_of_atomics() -> TestResult {
    let kernel = testdata("cuda_histogram/cuda_histogram.cu");
    let run = kassay().args(["inspect", "--format", "json"]).arg(&kernel).output()?;
    let inspected: Value = serde_json::from_slice(&run.stdout)?;
    let operators = &inspected["kernels"][0]["mutants_by_operator"];
    assert!(operators["AR"].as_u64() > Some(0), "{operators}");
    Ok(())
}

#[test]
fn hip_files_compile_with_its_names() -> TestResult {
    let scratch = tempfile::tempdir()?;
    let kernel = scratch.path().join("k.hip");
    fs::write(
        &kernel,
        "#include <hip/hip_runtime.h>\n__global__ void k(int *p) { p[hipThreadIdx_x] = 1; }\n\
         int main() { int *p; hipMalloc(&p, 4); hipLaunchKernelGGL(k, dim3(1), dim3(1), 0, 0, p); hipFree(p); }\n",
    )?;
    let run = kassay().arg("inspect").arg(&kernel).output()?;
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(run.stderr.is_empty(), "{}", String::from_utf8_lossy(&run.stderr));
    Ok(())
}

#[test]
fn kernels_of_samples_need_no_sandbox_exception() -> TestResult {
    let suite = repository("testdata/cuda_printf/suite.toml");
    let run = kassay().args(["run", "--sandbox", "--device", "sim"]).arg(&suite).output()?;
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Ok(())
}
