//! Checks other forms of the kernel: optimised IR, LLVM IR and SPIR-V in place of source.

use std::process::Command;

use super::bench::{Bench, TestResult, lasting, mutants, same, suite, text};
use crate::common::program::at;
use crate::common::testdata;

#[test]
fn mutants_are_made_in_optimised_ir_too() -> TestResult {
    let bench = Bench::new()?;
    for (kernel, level) in [("switch_machine", "O1"), ("spmv_csr", "O1"), ("half_math", "O2")] {
        let of = suite(kernel);
        let result = bench.mutate(&of, &["--level", &format!("canonical:{level}"), "--sample", "24"])?;
        assert_eq!(text(&result["options"], "level"), "canonical");
        assert_eq!(text(&result["options"], "ir_level"), level);
        let killed = mutants(&result).iter().filter(|m| text(m, "status") == "killed").count();
        assert!(killed >= 5, "{kernel}: {killed} killed");
        let refused: Vec<&str> =
            mutants(&result).iter().filter(|m| text(m, "status") == "compile-error").map(|m| text(m, "id")).collect();
        assert!(refused.is_empty(), "{kernel}: {refused:?}");
    }
    Ok(())
}

#[test]
fn the_former_spelling_of_a_level_means_the_same() -> TestResult {
    let bench = Bench::new()?;
    let of = suite("vector_add");
    let with = |level: &[&str]| bench.mutate(&of, &[level, &["--device", "sim"]].concat());
    let (new, former) = (with(&["--level", "canonical:O1"])?, with(&["--ir-level", "O1"])?);
    assert_eq!(new["configuration"], former["configuration"]);
    assert_eq!(mutants(&new), mutants(&former));
    Ok(())
}

/// Returns the suite of `kernel`, for another file.
fn suite_of(kernel: &str, file: &str) -> TestResult<String> {
    let original = std::fs::read_to_string(suite(kernel))?;
    let name = format!("kernel = \"{kernel}.cl\"");
    assert!(original.contains(&name) && !original.contains("npy"));
    Ok(original.replace(&name, &format!("kernel = \"{file}\"")))
}

fn tool(program: &str, args: &[&str]) -> TestResult {
    let done = Command::new(program).args(args).output()?;
    let err = String::from_utf8_lossy(&done.stderr);
    if done.status.success() { Ok(()) } else { Err(format!("{program} {args:?}: {err}").into()) }
}

/// Kernels without source have the same mutants, by opcodes, in every run.
#[test]
fn kernels_may_be_llvm_ir_or_spirv() -> TestResult {
    let bench = Bench::new()?;
    let kernel = "vector_add";
    let source = testdata::kernel(kernel);
    let path = |name: &str| bench.path(name).to_string_lossy().into_owned();
    let (ll, spv) = (path("k.ll"), path("k.spv"));
    let clang = "-x cl -cl-std=CL1.2 -ffp-contract=off -target spirv64-unknown-unknown -g -fno-discard-value-names -O1 -Xclang \
                 -disable-llvm-passes -Xclang -disable-lifetime-markers -emit-llvm -S";
    tool("clang-22", &[clang.split_whitespace().collect::<Vec<_>>().as_slice(), &[at(&source), "-o", &ll]].concat())?;
    tool("llc-22", &["-mtriple=spirv64v1.2-unknown-unknown", "-O0", "-filetype=obj", &ll, "-o", &spv])?;
    for file in ["k.ll", "k.spv"] {
        bench.put("suite.toml", &suite_of(kernel, file)?)?;
        let args = ["--sample", "16"];
        let one = bench.mutate("suite.toml", &args)?;
        let killed = mutants(&one).iter().filter(|m| text(m, "status") == "killed").count();
        assert!(killed >= 3, "{file}: {killed} killed of {}", mutants(&one).len());
        let again = bench.mutate("suite.toml", &[&args[..], &["-j", "2"]].concat())?;
        same(&lasting(&one, &[]), &lasting(&again, &[]), file)?;
    }
    Ok(())
}
