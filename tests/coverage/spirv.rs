//! Compares kernels of `testdata` with the SPIR-V that clang makes of them without optimising: same outputs, same
//! outcomes covered by each test. And checks what is recovered from blocks without names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use kassay::result::cover::SiteOutcome;
use kassay::result::inspect::InspectResult;
use kassay_ir::instrument::layout::Slots;
use kassay_ir::kernel::precision::Precision;
use kassay_ir::llvm::Context;
use kassay_run::exec::{Executor, Observation, OpenClExecutor, Target};
use kassay_suite::resolve::{Suite, Test};

use crate::common::TestResult;
use crate::common::coverage::Device;
use crate::common::devices::{completed, once, opencl};
use crate::common::kernels::open_suite;
use crate::common::outputs::{distance, expected};
use crate::common::program::kassay;
use crate::common::testdata::{entries, main_suites, name};

/// Suites whose SPIR-V lacks what the source has, and why.
const DIFFERENT: [(&str, &str); 3] = [
    ("macro_mix", "clang emits no body for a helper that is plain `inline`"),
    ("monte_carlo_pi", "`c ? 1 : 0` is the same as a widened bool"),
    ("nbody_step", "`c ? 1 : 0` is the same as a widened bool"),
];

/// Copies a suite's folder, with SPIR-V in the place of the kernel's source; `None` if clang makes none.
fn as_spirv(suite: &Path, to: &Path) -> TestResult<Option<PathBuf>> {
    for file in entries(suite.parent().ok_or("a suite in a folder")?).iter().filter(|file| file.is_file()) {
        std::fs::copy(file, to.join(name(file)))?;
    }
    let loaded = Suite::load(suite)?;
    let spirv = to.join("kernel.spv");
    let version = loaded.options.iter().any(|option| option.starts_with("-cl-std="));
    let compiled = Command::new("clang-22")
        .args([
            "-x",
            "cl",
            "-target",
            "spirv64v1.2-unknown-unknown",
            "-O0",
            "-ffp-contract=off",
            "-fno-discard-value-names",
        ])
        .args((!version).then_some("-cl-std=CL1.2"))
        .args(&loaded.options)
        .arg("-c")
        .arg(&loaded.kernel)
        .arg("-o")
        .arg(&spirv)
        .output()?;
    if !compiled.status.success() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(suite)?;
    let kernel = text.lines().find(|line| line.starts_with("kernel = ")).ok_or("a kernel")?;
    let copy = to.join(name(suite));
    std::fs::write(&copy, text.replace(kernel, "kernel = \"kernel.spv\""))?;
    Ok(Some(copy))
}

/// Runs the plain kernel of a suite.
fn observe(executor: &mut OpenClExecutor, suite: &Path) -> TestResult<(Vec<(Test, Observation)>, Precision)> {
    let context = Context::create();
    let mut opened = open_suite(&context, suite)?;
    opened.choose_local(executor.device());
    let program = executor.load(&opened.kernel.under_test.plain(Target::SpirV)?)?;
    let precision = opened.kernel.under_test.precision();
    let mut seen = Vec::new();
    for test in opened.tests {
        let observation = completed(executor.run(program, &test.launch, &once())?)?;
        seen.push((test, observation));
    }
    executor.unload(program);
    Ok((seen, precision))
}

/// The outcomes of each site of a kind and function, with how often each test reached them. Blocks of SPIR-V have
/// another order, so that sites are compared without theirs; a range of a `switch` is one outcome in the source alone.
fn outcomes(sites: &[SiteOutcome]) -> BTreeMap<(String, String), Vec<Vec<String>>> {
    let mut by_site: BTreeMap<&str, Vec<&SiteOutcome>> = BTreeMap::new();
    let kinds = ["branch", "condition", "loop", "barrier"];
    for outcome in sites.iter().filter(|outcome| kinds.contains(&outcome.kind.as_str())) {
        by_site.entry(&outcome.id).or_default().push(outcome);
    }
    let mut all: BTreeMap<(String, String), Vec<Vec<String>>> = BTreeMap::new();
    for site in by_site.values() {
        let mut shown: Vec<String> = site.iter().map(|o| format!("{} {:?}", o.outcome, o.hits_by_test)).collect();
        shown.sort();
        all.entry((site[0].function.clone(), site[0].kind.clone())).or_default().push(shown);
    }
    all.values_mut().for_each(|sites| sites.sort());
    all
}

#[test]
fn spirv_computes_and_covers_what_the_source_does() -> TestResult {
    let (mut executor, mut device) = (opencl()?, Device::start());
    let (mut wrong, mut compared, mut left_out) = (Vec::new(), 0, BTreeSet::new());
    for suite in main_suites() {
        let kernel = suite.parent().map(name).unwrap_or_default();
        let folder = tempfile::tempdir()?;
        let Some(copy) = as_spirv(&suite, folder.path())? else {
            left_out.insert(kernel);
            continue;
        };
        // Without types of elements, or with names of fields missing, some suites do not fit.
        let Ok((translated, _)) = observe(&mut executor, &copy) else {
            left_out.insert(kernel);
            continue;
        };
        let (plain, precision) = observe(&mut executor, &suite)?;
        for ((test, of_source), (_, of_spirv)) in plain.iter().zip(&translated) {
            let mut found = Vec::new();
            expected(test, of_spirv, "SPIR-V", &mut found);
            for output in &test.outputs {
                let of = |o: &Observation| {
                    o.outputs.iter().find(|(p, _)| *p == output.position).map(|(_, bytes)| bytes.clone())
                };
                let (Some(a), Some(b)) = (of(of_source), of(of_spirv)) else {
                    found.push(format!("{}: no output", output.label));
                    continue;
                };
                found.extend(distance(&output.ty, &a, &b, precision.bound()).err());
            }
            wrong.extend(found.iter().map(|how| format!("{kernel}: {}: {how}", test.name)));
        }
        let ([source], [spirv]) = (device.cover(&suite, [Slots::Groups]), device.cover(&copy, [Slots::Groups]));
        let (source, spirv) = (outcomes(&source.sites), outcomes(&spirv.sites));
        let is_known = DIFFERENT.iter().any(|(name, _)| *name == kernel);
        if (source == spirv) == is_known {
            wrong.push(format!("{kernel}: source {source:#?}\nSPIR-V {spirv:#?}"));
        }
        compared += 1;
    }
    println!("compared: {compared}; left out: {left_out:?}");
    assert!(compared >= 40, "only {compared} suites compared; left out: {left_out:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// Compiles a kernel `k` to SPIR-V without names and debug information, next to its suite.
fn nameless(folder: &Path, source: &str, level: &str) -> TestResult<PathBuf> {
    let (from, to) = (folder.join("k.cl"), folder.join("k.spv"));
    std::fs::write(&from, source)?;
    let compiled = Command::new("clang-22")
        .args(["-x", "cl", "-cl-std=CL1.2", "-target", "spirv64v1.2-unknown-unknown", level, "-c"])
        .args([&from, Path::new("-o"), &to])
        .output()?;
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Ok(to)
}

/// The numbers of branches, conditions and loops, the outcomes of the loops, and the notes.
type Figures = ([u64; 3], Vec<Vec<String>>, Vec<String>);

fn figures(file: &Path) -> TestResult<Figures> {
    let output = kassay().args(["inspect", "--format", "json"]).arg(file).output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: InspectResult = serde_json::from_slice(&output.stdout)?;
    let kernel = &result.kernels[0];
    let loops = kernel.sites.iter().filter(|site| site.kind == "loop").map(|site| site.outcomes.clone()).collect();
    Ok(([kernel.counts.branches, kernel.counts.conditions, kernel.counts.loops], loops, result.notes))
}

/// The name of a case, its source, the optimisation level; branches, conditions, loops; the classes of the loops.
type Shape = (&'static str, &'static str, &'static str, [u64; 3], &'static [&'static [&'static str]]);

const SHAPES: [Shape; 7] = [
    (
        "an endless loop that is left",
        "kernel void k(global int *o, int a) { for (;;) { if (a > 3) break; o[a++] = 1; } }",
        "-O0",
        [1, 0, 1],
        &[&["one", "many"]],
    ),
    (
        "a loop with its condition",
        "kernel void k(global int *o, int a) { while (a <= 3) o[a++] = 1; }",
        "-O0",
        [0, 0, 1],
        &[&["zero", "one", "many", "boundary"]],
    ),
    (
        "a ternary that decides an if",
        "kernel void k(global int *o, int a, int b) { if (a ? o[1] > b : b > 7) o[0] = 1; }",
        "-O0",
        [2, 0, 0],
        &[],
    ),
    (
        "a rotated loop, whose guard is no branch",
        "kernel void k(global int *o, global int *p, int a) { while (a > 1) { a = o[a]; p[a] = 3; } }",
        "-O2",
        [0, 0, 1],
        &[&["zero", "one", "many", "boundary"]],
    ),
    (
        "a loop under a check of something else",
        "kernel void k(global int *o, global int *p, int a, int b) \
         { if (b > 5) { do { a = o[a]; p[a] = b; } while (a > 1); } }",
        "-O2",
        [1, 0, 1],
        &[&["one", "many", "boundary"]],
    ),
    (
        "a short-circuit that was merged into one value",
        "kernel void k(global int *o, int a, int b, int c) { if ((a > 3 && b > 7) || c == 1) o[0] = 1; }",
        "-O2",
        [1, 3, 0],
        &[],
    ),
    (
        "a short-circuit that chooses a value",
        "kernel void k(global int *o, int a, int b) { o[0] = a > 3 && b > 7 ? a : b; }",
        "-O2",
        [1, 2, 0],
        &[],
    ),
];

#[test]
fn shapes_without_names_are_recovered() -> TestResult {
    let folder = tempfile::tempdir()?;
    for (what, source, level, wanted, classes) in SHAPES {
        let (seen, loops, notes) = figures(&nameless(folder.path(), source, level)?)?;
        assert_eq!(
            (seen, &loops),
            (wanted, &classes.iter().map(|c| c.iter().map(|c| c.to_string()).collect()).collect()),
            "{what}"
        );
        let says = |text: &str| notes.iter().any(|note| note.contains(text));
        assert!(says("made by LLVM's SPIR-V back end") && says("no names of constructs"), "{what}: {notes:?}");
        assert_eq!(says("optimised code"), level == "-O2", "{what}: {notes:?}");
    }
    Ok(())
}

/// LLVM's back end sorts blocks anew: the first one after a condition need not be the arm for true.
#[test]
fn without_names_true_is_what_the_condition_is() -> TestResult {
    let folder = tempfile::tempdir()?;
    for (source, branch, condition, class) in [
        ("if (a > 3) o[0] = 1;", Some("true"), None, None),
        ("if (a < 3) o[0] = 1; else o[1] = 2;", Some("false"), None, None),
        ("if (a > 3 && o[1] == 0) o[0] = 1;", Some("true"), Some("true"), None),
        ("while (a > 3) o[--a] = 1;", None, None, Some("many")),
        ("while (a < 3) o[a++] = 1;", None, None, Some("zero")),
    ] {
        let text = format!("kernel void k(global int *o, int a) {{ {source} }}");
        nameless(folder.path(), &text, "-O0")?;
        let suite = folder.path().join("suite.toml");
        let test = "[[test]]\nname = \"five\"\nglobal = [1]\nargs = { 0 = { fill = 0, len = 64 }, 1 = 5 }\n";
        std::fs::write(&suite, format!("kernel = \"k.spv\"\n{test}"))?;
        let [covered] = Device::start().cover(&suite, [Slots::Groups]);
        let of = |kind: &str| {
            let shown =
                covered.sites.iter().filter(|site| site.kind == kind && site.covered && site.outcome != "boundary");
            let mut shown: Vec<&str> = shown.map(|site| site.outcome.as_str()).collect();
            shown.dedup();
            shown
        };
        for (kind, wanted) in [("branch", branch), ("condition", condition), ("loop", class)] {
            assert_eq!(of(kind), wanted.into_iter().collect::<Vec<_>>(), "{kind} of {source}");
        }
    }
    Ok(())
}
