//! Checks what commands say of kernels in CUDA. `tests/fixtures/pairs.rs` compares these with kernels in OpenCL C.

use std::fs;
use std::path::Path;
use std::process::Command;

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
    let apart = "auto grid = cooperative_groups::this_grid(); auto token = grid.barrier_arrive(); p[0] = 1; \
        grid.barrier_wait(std::move(token));";
    refused(apart, &["grid_group::barrier_arrive", "right behind"])
}

/// A device need not have all groups of a launch active at the same time, so it gets launches of one.
#[test]
fn groups_that_wait_for_each_other_run_on_the_simulator() -> TestResult {
    let refused = |run: &mut Command| -> TestResult {
        let run = run.output()?;
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{said}");
        assert!(
            said.contains("wait for each other") && said.contains(".cu:13:10") && said.contains("help: "),
            "{said}"
        );
        Ok(())
    };
    let scratch = tempfile::tempdir()?;
    for (folder, kernel) in [("check/clean_grid_phases", "clean_grid_phases.cu"), ("cuda_grid_sum", "cuda_grid_sum.cu")]
    {
        fs::create_dir_all(scratch.path().join(folder))?;
        for file in ["suite.toml", kernel] {
            fs::copy(testdata(folder).join(file), scratch.path().join(folder).join(file))?;
        }
    }
    let several = scratch.path().join("check/clean_grid_phases/suite.toml");
    for command in ["run", "cover", "schedule"] {
        refused(kassay().args([command, "--device", "opencl", "--quiet"]).arg(&several))?;
    }
    let kernel = several.with_file_name("clean_grid_phases.cu");
    refused(kassay().arg("lower").arg(&kernel).arg("-o").arg(scratch.path().join("k.spv")))?;
    // Mutants of the launch have other numbers of groups.
    let mutated = result("mutate", &several, &["--device", "opencl"])?;
    assert!(mutated["mutants"].as_array().is_some_and(|all| all.iter().any(|m| m["status"] == "killed")), "{mutated}");
    let some = scratch.path().join("cuda_grid_sum/suite.toml");
    let ran = result("run", &some, &["--device", "opencl"])?;
    assert_eq!(ran["tests"].as_array().map(Vec::len), Some(1), "{ran}");
    assert_eq!(ran["tests"][0]["status"], "passed", "{ran}");
    let ran = result("run", &some, &["--device", "sim"])?;
    assert_eq!(ran["tests"].as_array().map(Vec::len), Some(3), "{ran}");
    Ok(())
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
