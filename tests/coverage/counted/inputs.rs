//! Checks the same kernel as source, as LLVM IR with and without names, optimised, and as SPIR-V; and that ids
//! are stable.

use std::path::{Path, PathBuf};
use std::process::Command;

use kassay::result::cover::CoverResult;
use kassay::result::inspect::{InspectResult, Kernel as Inspected};
use kassay_ir::instrument::layout::Slots;

use super::kernels::{Kernel, LU, ODDITIES, PATH, REDUCE};
use crate::common::coverage::Device;
use crate::common::program::kassay;

/// The options that kassay gives clang.
const RAW: &str = "-O1 -Xclang -disable-llvm-passes -Xclang -disable-lifetime-markers -g -fno-discard-value-names";
const NAMELESS: &str = "-O1 -Xclang -disable-llvm-passes -Xclang -disable-lifetime-markers -g0 -fdiscard-value-names";

fn run(program: &str, args: &[&str]) {
    let output = Command::new(program).args(args).output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles to LLVM IR in the file `name`, next to the source.
fn to_ir(source: &Path, name: &str, flags: &str) -> PathBuf {
    let ir = source.with_file_name(name);
    let mut args: Vec<&str> =
        "-x cl -cl-std=CL1.2 -ffp-contract=off -target spirv64-unknown-unknown -cl-kernel-arg-info \
                               -emit-llvm -S -o"
            .split_whitespace()
            .collect();
    args.push(ir.to_str().unwrap());
    args.extend(flags.split_whitespace());
    args.push(source.to_str().unwrap());
    run("clang-22", &args);
    ir
}

/// Compiles to SPIR-V without debug information or names, by LLVM's tools alone.
fn to_spirv(source: &Path) -> PathBuf {
    let ir = to_ir(source, "for_spirv.ll", NAMELESS);
    let text = std::fs::read_to_string(&ir).unwrap().replace(" noinline", " alwaysinline").replace(" optnone", "");
    std::fs::write(&ir, text).unwrap();
    let (inlined, spirv) = (ir.with_extension("inlined.ll"), source.with_extension("spv"));
    let passes = "-passes=always-inline,globaldce,function(sroa,mem2reg)";
    run("opt-22", &[passes, "-S", ir.to_str().unwrap(), "-o", inlined.to_str().unwrap()]);
    let (from, to) = (inlined.to_str().unwrap(), spirv.to_str().unwrap());
    run("llc-22", &["-mtriple=spirv64v1.2-unknown-unknown", "-O0", "--filetype=obj", from, "-o", to]);
    spirv
}

fn inspect(file: &Path, entry: &str) -> Inspected {
    inspect_in(Path::new("."), file, entry, &[])
}

fn inspect_in(folder: &Path, file: &Path, entry: &str, more: &[&str]) -> Inspected {
    let mut command = kassay();
    command.current_dir(folder).args(["inspect", "--format", "json", "--entry", entry]).args(more).arg(file);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: InspectResult = serde_json::from_slice(&output.stdout).unwrap();
    result.kernels.into_iter().next().unwrap()
}

/// Returns the numbers of branches, branch outcomes, loops and barriers.
fn figures(kernel: &Inspected) -> [u64; 4] {
    let counts = &kernel.counts;
    [counts.branches, counts.branch_outcomes, counts.loops, counts.barriers]
}

fn with_source(kernel: &Kernel, check: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    check(&kernel.write(folder.path()).0);
}

#[test]
fn raw_ir_has_the_sites_of_the_source() {
    for kernel in [&LU, &PATH, &REDUCE] {
        with_source(kernel, |source| {
            let wanted = inspect(source, kernel.name);
            let seen = inspect(&to_ir(source, "raw.ll", RAW), kernel.name);
            let places = |kernel: &Inspected| -> Vec<(String, Vec<String>)> {
                let kinds = ["branch", "condition", "loop", "barrier", "line"];
                let own = kernel.sites.iter().filter(|site| kinds.contains(&site.kind.as_str()));
                own.map(|site| (site.id.clone(), site.outcomes.clone())).collect()
            };
            assert_eq!(places(&seen), places(&wanted), "{}", kernel.name);
            assert_eq!((seen.counts.statements, wanted.counts.statements > 0), (0, true), "statements need the source");
        });
    }
}

#[test]
fn without_names_and_debug_information_the_figures_are_the_same() {
    for kernel in [&LU, &PATH, &REDUCE] {
        with_source(kernel, |source| {
            let wanted = inspect(source, kernel.name);
            let seen = inspect(&to_ir(source, "nameless.ll", NAMELESS), kernel.name);
            assert_eq!(figures(&seen), figures(&wanted), "{}", kernel.name);
            assert_eq!(seen.counts.conditions, wanted.counts.conditions, "{}", kernel.name);
            assert!(seen.sites.iter().all(|site| site.location.line == 0 && site.id.contains("@block ")));
        });
    }
}

/// Where the blocks are in clang's order, a branch in an endless loop's body differs from a loop's condition.
#[test]
fn without_names_endless_loops_are_recognised() {
    for condition in ["a > 3", "!a"] {
        let text = format!(
            "__kernel void endless(__global int *o, int a) {{ for (;;) {{ if ({condition}) break; o[a++] = 1; }} }}\n"
        );
        with_source(&Kernel { name: "endless", source: &text, tests: "" }, |source| {
            assert_eq!(figures(&inspect(source, "endless")), [1, 2, 1, 0]);
            assert_eq!(figures(&inspect(&to_ir(source, "nameless.ll", NAMELESS), "endless")), [1, 2, 1, 0]);
        });
    }
}

/// Only names can show that a loop is made by `goto`.
#[test]
fn without_names_some_constructs_cannot_be_distinguished() {
    with_source(&ODDITIES, |source| {
        // One outcome for each value of `1 ... 3`, a branch for `100 ... 1000`, a loop with its condition for `goto`,
        // one branch less.
        let (wanted, seen) = (inspect(source, "oddities"), inspect(&to_ir(source, "n.ll", NAMELESS), "oddities"));
        assert_eq!((figures(&wanted), figures(&seen)), ([5, 12, 0, 0], [5, 13, 1, 0]));
    });
}

#[test]
fn spirv_keeps_loops_barriers_and_branches() {
    for kernel in [&LU, &PATH, &REDUCE] {
        with_source(kernel, |source| {
            let wanted = inspect(source, kernel.name);
            let seen = inspect(&to_spirv(source), kernel.name);
            assert_eq!(figures(&seen), figures(&wanted), "{}", kernel.name);
            let lowered = source.with_file_name("lowered.spv");
            run(env!("CARGO_BIN_EXE_kassay"), &["lower", source.to_str().unwrap(), "-o", lowered.to_str().unwrap()]);
            assert_eq!(figures(&inspect(&lowered, kernel.name)), figures(&wanted), "{} by kassay lower", kernel.name);
        });
    }
}

#[test]
fn optimisers_leave_loops_and_barriers() {
    for kernel in [&LU, &PATH, &REDUCE] {
        with_source(kernel, |source| {
            let wanted = inspect(source, kernel.name).counts;
            let raw = to_ir(source, "raw.ll", RAW);
            let o1 = raw.with_file_name("o1.ll");
            run("opt-22", &["-passes=default<O1>", "-S", raw.to_str().unwrap(), "-o", o1.to_str().unwrap()]);
            for ir in [o1, to_ir(source, "o2.ll", "-O2 -g -fno-discard-value-names")] {
                let seen = inspect(&ir, kernel.name).counts;
                let name = ir.display();
                assert_eq!((seen.loops, seen.barriers), (wanted.loops, wanted.barriers), "{name}");
                // Optimisers may join or double decisions, or make them guard rotated loops.
                assert!(seen.branches > 0, "{name}");
            }
        });
    }
}

#[test]
fn suites_run_on_ir_and_spirv_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut device = Device::start();
    for kernel in [&PATH, &REDUCE] {
        let (source, suite) = kernel.write(folder.path());
        let [wanted] = device.cover(&suite, [Slots::Groups]);
        // Without names of arguments, tests give arguments by position.
        let ir = to_ir(&source, "named.ll", RAW);
        let suite = kernel.write_suite(folder.path(), ir.file_name().unwrap().to_str().unwrap());
        let [seen] = device.cover(&suite, [Slots::Groups]);
        let mut coverage = wanted.coverage.clone();
        (coverage.statement, coverage.least_branch) = Default::default();
        assert_eq!(seen.coverage, coverage, "{}.ll", kernel.name);
        for form in ["ll", "spv"] {
            let file = match form {
                "ll" => to_ir(&source, "nameless.ll", NAMELESS),
                _ => to_spirv(&source),
            };
            let by_position = Kernel { name: kernel.name, source: kernel.source, tests: &by_position(kernel) };
            let suite = by_position.write_suite(folder.path(), file.file_name().unwrap().to_str().unwrap());
            let [seen] = device.cover(&suite, [Slots::Groups]);
            coverage.line = Default::default();
            assert_eq!(seen.coverage, coverage, "{} as nameless {form}", kernel.name);
        }
    }
}

/// Returns the suite's arguments by position.
fn by_position(kernel: &Kernel) -> String {
    let names: &[&str] = match kernel.name {
        "path" => &["wall", "best", "row", "cols", "rows"],
        _ => &["in", "out", "s", "n"],
    };
    let rename = |line: &str| match names.iter().position(|name| line.starts_with(&format!("{name} ="))) {
        Some(i) => format!("{i}{}\n", &line[names[i].len()..]),
        None => format!("{line}\n"),
    };
    kernel.tests.lines().map(rename).collect()
}

#[test]
fn ids_depend_on_source_and_options_alone() {
    with_source(&ODDITIES, |source| {
        let folder = source.parent().unwrap();
        let name = Path::new(source.file_name().unwrap());
        let wanted = inspect(source, "oddities").sites;
        let ids = |sites: &[kassay::result::inspect::Site]| -> Vec<String> {
            sites.iter().map(|site| site.id.clone()).collect()
        };
        assert!(wanted.len() > 20);
        assert_eq!(ids(&inspect(source, "oddities").sites), ids(&wanted), "another run");
        assert_eq!(ids(&inspect_in(folder, name, "oddities", &[]).sites), ids(&wanted), "a relative path");
        let dotted = Path::new("..").join(folder.file_name().unwrap()).join(name);
        assert_eq!(ids(&inspect_in(folder, &dotted, "oddities", &[]).sites), ids(&wanted), "a path with dots");
        let more = ["-v", "--clang-arg=-O2"];
        assert_eq!(ids(&inspect_in(folder, name, "oddities", &more).sites), ids(&wanted), "other options");

        let cover = |more: &[&str]| {
            let out = folder.join("result.json");
            let suite = folder.join("oddities.cl.toml");
            let mut args = vec!["cover", suite.to_str().unwrap(), "--quiet", "-o", out.to_str().unwrap()];
            args.extend(more);
            run(env!("CARGO_BIN_EXE_kassay"), &args);
            let result: CoverResult = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
            let mut ids: Vec<String> = result.sites.into_iter().map(|site| site.id).collect();
            ids.sort();
            ids.dedup();
            ids
        };
        let mut wanted = ids(&wanted);
        wanted.sort();
        assert_eq!(cover(&[]), wanted, "cover");
        assert_eq!(
            cover(&["--counts", "--repeats", "1", "--device", "opencl", "--jobs", "2", "--seed", "9"]),
            wanted,
            "options of the device"
        );
    });
}

/// `if (n > 3) o[0] = 1; else o[1] = n;` on lines 2, 3 and 5 of `k.cl`, in the text form of llvm-spirv.
const WITH_LINES: &str = r#"119734787 65536 393230 50 0
2 Capability Addresses
2 Capability Kernel
2 Capability Int64
5 ExtInstImport 1 "OpenCL.std"
8 ExtInstImport 20 "OpenCL.DebugInfo.100"
3 MemoryModel 2 2
4 EntryPoint 6 5 "k"
4 String 21 "k.cl"
3 String 24 "k"
3 String 27 "int"
3 String 30 ""
3 Source 3 102000
3 Name 12 "o"
3 Name 6 "n"
4 TypeInt 3 32 0
4 TypeInt 35 64 0
4 Constant 3 10 3
4 Constant 3 36 1
5 Constant 35 37 1 0
4 Constant 3 29 32
2 TypeVoid 2
4 TypePointer 38 5 3
5 TypeFunction 4 2 38 3
2 TypeBool 11
7 ExtInst 2 22 20 DebugSource 21 30
9 ExtInst 2 23 20 DebugCompileUnit 65536 5 22 3
8 ExtInst 2 28 20 DebugTypeBasic 27 29 4
8 ExtInst 2 25 20 DebugTypeFunction 0 2 28
15 ExtInst 2 26 20 DebugFunction 24 25 22 1 0 23 30 8 1 5
5 Function 2 5 0 4
3 FunctionParameter 38 12
3 FunctionParameter 3 6
2 Label 7
6 ExtInst 2 31 20 DebugScope 26
4 Line 21 2 9
5 SGreaterThan 11 13 6 10
4 BranchConditional 13 8 9
2 Label 8
6 ExtInst 2 32 20 DebugScope 26
4 Line 21 3 10
5 Store 12 36 2 4
2 Branch 14
2 Label 9
6 ExtInst 2 33 20 DebugScope 26
4 Line 21 5 5
5 InBoundsPtrAccessChain 38 15 12 37
5 Store 15 6 2 4
2 Branch 14
2 Label 14
6 ExtInst 2 34 20 DebugScope 26
4 Line 21 6 1
1 Return
1 FunctionEnd
"#;

#[test]
fn spirv_with_debug_information_has_lines() {
    let folder = tempfile::tempdir().unwrap();
    let assembled = |name: &str, text: &str| {
        let (from, to) = (folder.path().join("k.txt"), folder.path().join(name));
        std::fs::write(&from, text).unwrap();
        run("llvm-spirv-15", &["-to-binary", from.to_str().unwrap(), "-o", to.to_str().unwrap()]);
        to
    };
    let with = assembled("with.spv", WITH_LINES);
    let lines: Vec<&str> = WITH_LINES.lines().filter(|line| !line.contains("Debug")).collect();
    let without = assembled("without.spv", &(lines.join("\n") + "\n"));
    let place = |kernel: &Inspected| {
        let branch = kernel.sites.iter().find(|s| s.kind == "branch").map(|s| s.location.clone());
        branch.map(|l| (l.file, l.line, l.column))
    };
    let seen = inspect(&with, "k");
    assert_eq!((seen.counts.branches, seen.counts.lines, seen.counts.statements), (1, 3, 0));
    assert_eq!(place(&seen), Some(("k.cl".to_owned(), 2, 9)));
    // Lines alone suffice; without them there are none.
    let seen = inspect(&without, "k");
    assert_eq!((seen.counts.branches, seen.counts.lines, seen.counts.statements), (1, 3, 0));
    let lines: Vec<&str> = lines.into_iter().filter(|line| !line.contains(" Line ")).collect();
    let seen = inspect(&assembled("bare.spv", &(lines.join("\n") + "\n")), "k");
    assert_eq!((seen.counts.branches, seen.counts.lines, seen.counts.statements), (1, 0, 0));

    let suite = folder.path().join("suite.toml");
    let test = "[[test]]\nname = \"small\"\nglobal = [1]\nargs = { o = { fill = 0, len = 2 }, n = 2 }\n";
    std::fs::write(&suite, format!("kernel = \"with.spv\"\n{test}")).unwrap();
    let [covered] = Device::start().cover(&suite, [Slots::Groups]);
    let of = |kind: &str| {
        let of_kind = covered.sites.iter().filter(|s| s.kind == kind);
        of_kind.map(|s| (s.location.line, s.covered)).collect::<Vec<_>>()
    };
    assert_eq!(of("line"), [(2, true), (3, false), (5, true)]);
    assert_eq!(of("branch"), [(2, false), (2, true)]);
}
