//! Checks that kernels in CUDA get what the same kernels in OpenCL C get, and that each command takes them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::kassay;
use crate::common::testdata::{entries, files_below, repository, testdata};

/// A copy of the folder `name`, with a second suite, for the kernel in CUDA.
fn pair(name: &str, scratch: &Path) -> TestResult<[PathBuf; 2]> {
    let folder = scratch.join(name);
    fs::create_dir_all(&folder)?;
    for file in entries(&testdata(name)).into_iter().filter(|file| file.is_file()) {
        fs::copy(&file, folder.join(file.file_name().ok_or("no name")?))?;
    }
    fs::copy(testdata("cuda_pairs").join(format!("{name}.cu")), folder.join(format!("{name}.cu")))?;
    let suite = folder.join("suite.toml");
    let cuda = folder.join("suite_cuda.toml");
    fs::write(&cuda, fs::read_to_string(&suite)?.replace(&format!("{name}.cl\""), &format!("{name}.cu\"")))?;
    Ok([suite, cuda])
}

/// Returns the result of a command on a suite.
fn result(command: &str, suite: &Path, more: &[&str]) -> TestResult<Value> {
    let output = suite.with_extension(format!("{command}.json"));
    let run = kassay().arg(command).arg(suite).args(["--quiet", "-o"]).arg(&output).args(more).output()?;
    if run.status.code().is_none_or(|code| code > 1) {
        return Err(format!("{command} {}: {}", suite.display(), String::from_utf8_lossy(&run.stderr)).into());
    }
    Ok(serde_json::from_str(&fs::read_to_string(output)?)?)
}

/// The totals of what is covered, which no launch's time is part of.
fn covered(result: &Value) -> Vec<&Value> {
    ["branch", "condition", "barrier", "loop", "statement"].map(|metric| &result["coverage"][metric]).to_vec()
}

#[test]
fn a_kernel_gets_the_same_verdicts_in_both_languages() -> TestResult {
    let scratch = tempfile::tempdir()?;
    let pairs = files_below(&testdata("cuda_pairs"), "cu");
    assert!(pairs.len() >= 6);
    for file in pairs {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let [opencl, cuda] = pair(&name, scratch.path())?;
        for suite in [&opencl, &cuda] {
            let run = result("run", suite, &["--device", "sim"])?;
            let statuses = run["tests"].as_array().ok_or("no tests")?.iter().map(|test| &test["status"]);
            assert!(statuses.into_iter().all(|status| status == "passed"), "{}: {run}", suite.display());
        }
        let of = |suite: &Path| result("check", suite, &["--no-amplify"]);
        let (of_opencl, of_cuda) = (of(&opencl)?, of(&cuda)?);
        assert_eq!(of_opencl["verdict"], of_cuda["verdict"], "{name}");
        assert_eq!(of_opencl["holds_for"], of_cuda["holds_for"], "{name}");
        let of = |suite: &Path| result("cover", suite, &["--device", "sim"]);
        let (of_opencl, of_cuda) = (of(&opencl)?, of(&cuda)?);
        assert_eq!(covered(&of_opencl), covered(&of_cuda), "{name}");
    }
    Ok(())
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
