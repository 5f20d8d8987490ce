//! Checks everything that a caller, an environment or a kernel can get wrong, through the program itself: the exit code
//! of the contract, and a message that says what, where and what helps. Nothing panics.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::TestResult;
use crate::common::program::kassay;

const KERNEL: &str = "kernel void k(global const int *in, global int *out, int n) {
    size_t i = get_global_id(0);
    if (i < n) out[i] = in[i] + 1;
}
";

/// A valid suite of `KERNEL`.
const SUITE: &str = "kernel = \"k.cl\"

[[test]]
global = [4]
[test.args]
in = { fill = 1, len = 4 }
out = { fill = 0, len = 4 }
n = 4
";

/// A folder with `k.cl` and `suite.toml`.
struct Bench {
    folder: tempfile::TempDir,
}

/// The output of a run of kassay.
struct FinishedRun {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Bench {
    fn new() -> TestResult<Bench> {
        let bench = Bench { folder: tempfile::tempdir()? };
        bench.put("k.cl", KERNEL)?;
        bench.put("suite.toml", SUITE)?;
        Ok(bench)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) -> TestResult {
        Ok(std::fs::write(self.path(name), text)?)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = kassay();
        command.args(args).current_dir(self.folder.path());
        command
    }

    fn run(&self, args: &[&str]) -> TestResult<FinishedRun> {
        finish(self.command(args).output()?)
    }

    /// Runs kassay and expects this exit code and these parts of standard error, in order.
    fn refuses(&self, code: i32, args: &[&str], parts: &[&str]) -> TestResult {
        self.run(args)?.refused(code, parts).map_err(|e| format!("{args:?}: {e}").into())
    }
}

fn finish(output: Output) -> TestResult<FinishedRun> {
    let finished = FinishedRun {
        code: output.status.code(),
        out: String::from_utf8(output.stdout)?,
        err: String::from_utf8(output.stderr)?,
    };
    if finished.err.contains("panicked") {
        return Err(format!("a panic: {}", finished.err).into());
    }
    Ok(finished)
}

impl FinishedRun {
    fn refused(&self, code: i32, parts: &[&str]) -> TestResult {
        if self.code != Some(code) {
            return Err(format!("exit code {:?}, not {code}: {}{}", self.code, self.out, self.err).into());
        }
        let mut rest = self.err.as_str();
        for part in parts {
            let Some(at) = rest.find(part) else { return Err(format!("no `{part}` in\n{}", self.err).into()) };
            rest = &rest[at + part.len()..];
        }
        Ok(())
    }
}

/// Each row: the part of [`SUITE`] that is replaced, its replacement, and parts of the message.
#[test]
fn suites_are_refused_with_the_place_and_what_helps() -> TestResult {
    let rows: &[(&str, &str, &[&str])] = &[
        ("[[test]]", "[[test]", &["suite.toml:3:8: not valid TOML", "3 | [[test]\n", "^"]),
        ("\"k.cl\"", "\"nope.cl\"", &["suite.toml:1:10: ", "`nope.cl` is not there", "help: give its path relative"]),
        ("[[test]]", "entry = \"kk\"\n[[test]]", &["suite.toml:3:9: k.cl has no kernel `kk`", "help: its kernels: k"]),
        ("global =", "globl =", &["suite.toml:4:1: unknown key `globl`", "help: did you mean `global`?"]),
        ("in = {", "inn = {", &["suite.toml:6:1: `k` has no argument `inn`", "help: did you mean `in`?"]),
        ("\nn = 4\n", "\n", &["suite.toml:5:1: ", "does not give the argument `n` (int)", "help: add it"]),
        (
            "len = 4 }\nn",
            "len = 4, expect = [1] }\nn",
            &["suite.toml:7:37: `expect` has 1 element", "`out` has 4", "help: "],
        ),
        ("fill = 1,", "fill = 1.5,", &["suite.toml:6:15: this is a float", "`int`", "help: give a whole number"]),
        ("\nn = 4", "\nn = 5000000000", &["suite.toml:8:5: 5000000000 does not fit `int`", "help: "]),
        ("\nn = 4", "\nn = [1, 2]", &["suite.toml:8:", "help: "]),
        ("in = { fill = 1, len = 4 }", "in = 3", &["suite.toml:6:", "`in` is a buffer", "help: write something like"]),
        ("in = { fill = 1, len = 4 }", "in = { npy = \"no.npy\" }", &["suite.toml:6:", "no.npy", "help: "]),
        (
            "fill = 1, len = 4",
            "fill = 1, len = 4000000000000000",
            &["suite.toml:6:15: ", "16 GiB", "help: give a smaller `len`"],
        ),
        ("[4]", "[4000000000000, 4000000000000]", &["suite.toml:4:10: ", "2^64", "help: give smaller dimensions"]),
        ("[4]", "4", &["suite.toml:4:10: ", "a list is wanted here", "help: put it into brackets: [4]"]),
        ("[4]", "[0]", &["suite.toml:4:11: this is the integer 0, but a whole number of 1 or more is wanted"]),
        ("[4]", "[-4]", &["suite.toml:4:11: this is the integer -4, but a whole number of 1 or more is wanted"]),
        (
            "[4]",
            "[0x1_0000_0000_0000_0000]",
            &["4:11: this is the integer 18446744073709551616, ", "up to 18446744073709551615"],
        ),
        ("[4]", "[4]\nlocal = [0]", &["suite.toml:5:10: ", "a whole number of 1 or more is wanted"]),
        ("[4]", "[4]\noffset = [-1]", &["suite.toml:5:11: ", "a whole number of 0 or more is wanted"]),
        (
            "fill = 1, len = 4",
            "fill = 1, len = 4, size = -4",
            &["suite.toml:6:", "a whole number of 1 or more is wanted"],
        ),
        ("fill = 1, len = 4", "fill = 1, len = -4", &["suite.toml:6:", "a whole number of 0 or more is wanted"]),
        ("[4]", "[10]\nlocal = [4]", &["suite.toml:5:10: ", "`local` 4 does not divide `global` 10", "help: "]),
        ("[4]", "[4, 4]\nlocal = [4]", &["suite.toml:5:", "help: "]),
        (
            "[4]",
            "[4]\nlocal = [2]\nschedule = { map = [1, 0, 2] }",
            &[
                "suite.toml:6:20: `map` has 3 entries, but the launch has 2 work-groups",
                "help: name each of 0 to 1 once",
            ],
        ),
        (
            "[4]",
            "[4]\nlocal = [2]\nschedule = { map = [1, 2] }",
            &["suite.toml:6:24: there is no number 2: the launch has 2 work-groups", "help: "],
        ),
        (
            "[4]",
            "[4]\nlocal = [2]\nschedule = { item_order = [1, 1] }",
            &["suite.toml:6:31: `item_order` names 1 twice", "help: "],
        ),
        (
            "[4]",
            "[4]\nschedule = { item_order = [3, 2, 1, 0], preemptions = [{ group = 0, item = 4, access = 0 }] }",
            &["suite.toml:5:", "there is no number 4: the launch has 4 work-items in a group", "help: "],
        ),
        (
            "[4]",
            "[4]\nschedule = { preemptions = [{ group = 0, item = 1, access = 2, to = 1 }] }",
            &["suite.toml:5:", "cannot be the one that runs next", "help: name another"],
        ),
        (
            "[4]",
            "[4]\nschedule = { preemptions = [{ group = 0, item = 1, when = 2 }] }",
            &["suite.toml:5:", "unknown key `when`", "help: "],
        ),
    ];
    let bench = Bench::new()?;
    for (from, to, parts) in rows {
        let text = SUITE.replacen(from, to, 1);
        assert_ne!(text, SUITE, "`{from}` is not in the suite");
        bench.put("suite.toml", text)?;
        bench.refuses(2, &["run", "suite.toml"], parts).map_err(|e| format!("{from} -> {to}: {e}"))?;
    }
    bench.refuses(2, &["cover", "missing.toml"], &["missing.toml", "help: give the path of a suite file"])?;
    bench.refuses(2, &["run", "k.cl"], &["k.cl is a kernel, but a suite is wanted", "help: give the suite file"])?;
    std::fs::create_dir(bench.path("empty"))?;
    bench.refuses(2, &["cover", "empty"], &["there are no suites", "below empty", "help: "])?;
    bench.put("suite.json", "{ \"kernel\": \"k.cl\", }")?;
    bench.refuses(2, &["cover", "suite.json"], &["suite.json:1:", "JSON"])?;
    bench.put("suite.toml", [0xff, 0xfe])?;
    bench.refuses(2, &["run", "suite.toml"], &["suite.toml", "UTF-8", "help: "])
}

#[test]
fn kernels_are_refused_with_the_compilers_words() -> TestResult {
    let bench = Bench::new()?;
    bench.put("bad.cl", "kernel void k(global int *x) {\n    x[0] = y;\n}\n")?;
    bench.refuses(
        2,
        &["inspect", "bad.cl"],
        &["bad.cl:2:12: bad.cl does not compile\n", "error: use of undeclared identifier 'y'\n", "^\n", "help: "],
    )?;
    bench.put("two.cl", "kernel void a(global int *x) { x[0] = 1; }\nkernel void b(global int *x) { x[0] = 2; }\n")?;
    bench.put("two.toml", SUITE.replace("k.cl", "two.cl"))?;
    bench.refuses(2, &["cover", "two.toml"], &["two.cl has 2 kernels", "help: name one with --entry: a, b"])?;
    bench.refuses(2, &["lower", "two.cl", "-o", "x.spv"], &["two.cl has 2 kernels", "--entry: a, b"])?;
    bench.refuses(2, &["inspect", "two.cl", "--dot", "x.dot"], &["two.cl has 2", "--entry: a, b"])?;
    bench.refuses(2, &["inspect", "two.cl", "--entry", "c"], &["two.cl has no kernel `c`", "its kernels: a, b"])?;
    bench.put("none.cl", "int f(int x) { return x; }\n")?;
    bench.refuses(2, &["inspect", "none.cl"], &["none.cl has no kernel", "help: "])?;
    bench.put("empty.cl", "")?;
    bench.refuses(2, &["inspect", "empty.cl"], &["empty.cl cannot be read: it is empty", "help: "])?;
    bench.put("k.txt", KERNEL)?;
    bench.refuses(
        2,
        &["inspect", "k.txt"],
        &["k.txt is no kernel file", "help: kernels are .cl, .ocl, .clcpp, .ll, .bc, .spv or .spvasm"],
    )?;
    bench.refuses(2, &["inspect", "no.cl"], &["no.cl cannot be read: there is no such file", "help: "])?;
    bench.refuses(2, &["inspect", "k.cl", "--cl-std", "CL9"], &["CL9", "help: "])?;
    bench.refuses(2, &["inspect", "k.cl", "--clang-arg=-fnonsense"], &["-fnonsense", "help: "])
}

#[test]
fn broken_modules_are_refused() -> TestResult {
    let bench = Bench::new()?;
    let garbage: Vec<u8> = (0..1000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for name in ["g.spv", "g.bc", "g.ll"] {
        bench.put(name, &garbage)?;
        let finished = bench.run(&["inspect", name])?;
        finished.refused(2, &[name, "help: "])?;
        assert!(
            !finished.err.contains(|c: char| c.is_control() && c != '\n' && c != '\t'),
            "{name}: raw bytes: {}",
            finished.err
        );
    }
    let lowered = bench.run(&["lower", "k.cl", "-o", "k.spv"])?;
    assert_eq!(lowered.code, Some(0), "{}", lowered.err);
    let whole = std::fs::read(bench.path("k.spv"))?;
    for len in [3, 4, 19, 20, 100, whole.len() / 2, whole.len() - 4, whole.len() - 2] {
        bench.put("cut.spv", &whole[..len])?;
        bench.refuses(2, &["inspect", "cut.spv"], &["cut.spv", "help: "]).map_err(|e| format!("{len} bytes: {e}"))?;
    }
    bench.put("cut.ll", "define spir_kernel void @k( {\n")?;
    bench.refuses(2, &["inspect", "cut.ll"], &["cut.ll:2:1: ", "does not parse", "help: "])
}

#[test]
fn what_the_environment_lacks_is_reported() -> TestResult {
    let bench = Bench::new()?;
    let run = ["run", "suite.toml"];
    std::fs::create_dir(bench.path("nothing"))?;
    let empty = bench.path("nothing");
    let without = |args: &[&str]| finish(bench.command(args).env("OCL_ICD_VENDORS", &empty).output()?);
    for command in ["run", "cover", "mutate"] {
        let alone = without(&[command, "suite.toml", "--operators", "SDL"][..if command == "mutate" { 4 } else { 2 }])?;
        assert_eq!(alone.code, Some(0), "{command}: {}", alone.err);
        assert!(alone.err.contains("note: there is no OpenCL device: the simulator runs"), "{command}: {}", alone.err);
    }
    let explicit = without(&["run", "suite.toml", "--device", "opencl"])?;
    explicit.refused(3, &["there is no OpenCL device", "help: unset OCL_ICD_VENDORS", "scripts/quickstart"])?;
    let named = without(&["run", "suite.toml", "--device", "Voodoo"])?;
    named.refused(3, &["no device `Voodoo`, nor any other", "help: unset OCL_ICD_VENDORS"])?;
    let devices = without(&["devices"])?;
    assert_eq!(devices.code, Some(3));
    assert!(devices.out.contains("names no driver") && devices.out.contains("help: unset"), "{}", devices.out);

    let device = |name| bench.run(&["cover", "suite.toml", "--device", name]);
    device("Voodoo")?.refused(3, &["there is no device `Voodoo`", "opencl:0.0", "help: name one of these"])?;
    device("opencl:7.0")?.refused(3, &["there is no device `opencl:7.0`", "help: "])?;
    assert_eq!(device("sim")?.code, Some(0));

    let compiler = bench.command(&run).env("PATH", "/nonexistent").output()?;
    let fallback = Path::new("/usr/lib/llvm-22/bin/clang").exists();
    finish(compiler)?.refused(if fallback { 0 } else { 3 }, &[])?;
    let full = bench.run(&["run", "suite.toml", "--quiet", "-o", "/dev/full"])?;
    full.refused(3, &["cannot write /dev/full", "help: free some space"])
}

/// LLVM's library of builtins is opened only for a kernel that calls one of them; only then is a fault in it reported.
#[test]
fn a_broken_library_of_builtins_matters_only_where_it_is_needed() -> TestResult {
    let bench = Bench::new()?;
    bench.put("broken.bc", b"BC\xc0\xdeno more than the first four bytes are those of bitcode")?;
    bench.put("text.bc", "no bitcode")?;
    bench.put("exp.cl", "kernel void k(global const int *in, global int *out, int n) {\n    out[get_global_id(0)] = exp((float)in[0]);\n}\n")?;
    bench.put("exp.toml", SUITE.replace("k.cl", "exp.cl"))?;
    let with = |suite: &str, library: &str| {
        finish(bench.command(&["run", suite, "--device", "sim"]).env("KASSAY_LIBCLC", bench.path(library)).output()?)
    };
    let alone = with("suite.toml", "broken.bc")?;
    assert_eq!(alone.code, Some(0), "{}", alone.err);
    with("exp.toml", "broken.bc")?
        .refused(3, &["broken.bc cannot be read", "help: install Debian's package libclc-22"])?;
    with("exp.toml", "text.bc")?
        .refused(3, &["text.bc is no LLVM bitcode", "help: install Debian's package libclc-22"])?;
    with("exp.toml", "none.bc")?.refused(3, &["none.bc cannot be read", "help: install Debian's package libclc-22"])
}

/// A driver whose library ends the process as soon as it is loaded.
#[test]
fn a_driver_that_aborts_takes_only_its_worker() -> TestResult {
    let bench = Bench::new()?;
    bench.put("driver.c", "void abort(void);\n__attribute__((constructor)) static void die(void) { abort(); }\n")?;
    let (source, library) = (bench.path("driver.c"), bench.path("libdie.so"));
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).output()?;
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    std::fs::create_dir(bench.path("vendors"))?;
    bench.put("vendors/die.icd", format!("{}\n", library.display()))?;
    let with = |args: &[&str]| finish(bench.command(args).env("OCL_ICD_VENDORS", bench.path("vendors")).output()?);
    let explicit = with(&["run", "suite.toml", "--device", "opencl"])?;
    explicit.refused(3, &["the OpenCL runtime died while it started (signal 6", "help: "])?;
    with(&["run", "suite.toml"])?.refused(0, &["note: the OpenCL runtime died", "the simulator runs"])?;
    let devices = with(&["devices"])?;
    assert_eq!(devices.code, Some(3));
    assert!(devices.out.contains("libdie.so"), "the driver at fault is not named: {}", devices.out);
    Ok(())
}

#[test]
fn a_kernel_that_goes_wrong_ends_only_its_test() -> TestResult {
    let bench = Bench::new()?;
    bench.put(
        "wild.cl",
        "kernel void wild(global int *x, int mode) {
    if (mode == 1) { volatile global int *p = x; while (*p >= 0) { *p = *p & 1; } }
    if (mode == 2) { x[(size_t)1 << 44] = 3; }
    x[0] = mode;
}
",
    )?;
    let mut suite = "kernel = \"wild.cl\"\n".to_owned();
    for (name, mode) in [("for ever", 1), ("out of bounds", 2), ("fine", 3)] {
        suite += &format!("[[test]]\nname = \"{name}\"\nglobal = [1]\n");
        suite += &format!("args = {{ mode = {mode}, x = {{ fill = 0, len = 2, expect = [3, 0] }} }}\n");
    }
    bench.put("wild.toml", suite)?;
    for (command, fine) in [("run", "passed"), ("cover", "completed")] {
        let finished = bench.run(&[command, "wild.toml", "--timeout", "1", "--quiet", "-o", "r.json"])?;
        assert_eq!((finished.code, finished.err.as_str()), (Some(1), ""));
        let result: serde_json::Value = serde_json::from_slice(&std::fs::read(bench.path("r.json"))?)?;
        let of = |i: usize, key: &str| result["tests"][i][key].as_str().unwrap_or_default().to_owned();
        assert_eq!([0, 1, 2].map(|i| of(i, "status")), ["timeout", "crashed", fine]);
        assert!(of(0, "reason").contains("after 1 s"), "{}", of(0, "reason"));
        assert!(of(1, "reason").contains("memory that is not its own (signal 11)"), "{}", of(1, "reason"));
        assert!(!of(1, "reason").contains("PLEASE"), "{}", of(1, "reason"));
    }
    // A group that no device accepts is a finding of that test, too.
    bench.put("suite.toml", SUITE.replace("[4]", "[1048576]\nlocal = [1048576]"))?;
    let finished = bench.run(&["run", "suite.toml"])?;
    assert_eq!(finished.code, Some(1));
    assert!(
        finished.out.contains("CL_INVALID_WORK_GROUP_SIZE: a work-group of 1048576 work-items is more"),
        "{}",
        finished.out
    );
    Ok(())
}

#[test]
fn results_that_cannot_be_written_are_refused_before_the_work() -> TestResult {
    let bench = Bench::new()?;
    let to = |path| bench.run(&["cover", "suite.toml", "-o", path]);
    let missing = to("no/such/r.json")?;
    missing.refused(2, &["cannot write no/such/r.json: the folder no/such does not exist", "help: create it first"])?;
    assert_eq!(missing.out, "", "it was found out only after the work");
    to(".")?.refused(2, &["cannot write .: it is a folder", "help: "])?;
    to("k.cl/r.json")?.refused(2, &["k.cl is not a folder", "help: "])?;
    bench.refuses(2, &["inspect", "k.cl", "--dot", "no/k.dot"], &["cannot write no/k.dot", "help: create it first"])?;
    bench.refuses(2, &["run", "suite.toml", "--save-outputs", "k.cl"], &["k.cl", "help: "])
}

#[test]
fn flags_are_checked() -> TestResult {
    let bench = Bench::new()?;
    let cover = |flag, value| bench.run(&["cover", "suite.toml", flag, value]);
    cover("--fail-under", "tea=9")?.refused(2, &["`tea` is no metric; there are branch, condition"])?;
    cover("--fail-under", "branch=900")?.refused(2, &["`900` is no percentage from 0 to 100"])?;
    cover("--fail-under", "branch")?.refused(2, &["METRIC=PERCENT"])?;
    cover("--timeout", "0")?.refused(2, &["not between 0 and 86400"])?;
    cover("--timeout", "soon")?.refused(2, &["--timeout"])?;
    cover("-j", "0")?.refused(2, &["0 is not in 1..=256"])?;
    bench.refuses(2, &["frobnicate"], &["unrecognized subcommand 'frobnicate'"])?;
    bench.refuses(2, &["cover"], &["<SUITE>"])?;
    bench.refuses(2, &["man", "cover", "-o", "pages"], &["cannot be used with"])?;
    bench.refuses(3, &["man", "-o", "/proc/pages"], &["cannot write manual pages to /proc/pages", "help: "])?;
    bench.refuses(2, &["man", "frobnicate"], &["there is no command `frobnicate`", "help: "])
}

#[test]
fn reports_are_made_from_results_only() -> TestResult {
    let bench = Bench::new()?;
    let report = |result: &str, to: &str| bench.run(&["report", result, "-o", to]);
    report("suite.toml", "x.lcov")?.refused(2, &["suite.toml:1:1: this is not a result of kassay", "help: "])?;
    report("no.json", "x.lcov")?.refused(2, &["cannot read no.json", "help: "])?;
    bench.put("tea.json", "{ \"schema\": \"kassay.tea/1\" }")?;
    report("tea.json", "x.lcov")?.refused(2, &["unknown schema `kassay.tea/1`", "help: "])?;
    assert_eq!(bench.run(&["run", "suite.toml", "--quiet", "-o", "run.json"])?.code, Some(0));
    report("run.json", "x.lcov")?.refused(2, &["result of `kassay run`"])?;
    bench.run(&["devices", "--quiet", "-o", "devices.json"])?;
    assert!(bench.path("devices.json").exists());
    report("devices.json", "x.lcov")?.refused(2, &["result of `kassay devices`"])?;
    report("devices.json", "x.stryker.json")?.refused(2, &["result of `kassay devices`"])?;
    report("run.json", "x.pdf")?.refused(2, &["x.pdf does not say which format", "help: ", "`.lcov`"])?;
    assert!(!bench.path("x.lcov").exists());
    bench.refuses(
        2,
        &["check", "run.json"],
        &["run.json is a result of kassay, but a suite is wanted here", "help: "],
    )?;
    Ok(())
}

#[test]
fn kernels_of_every_extension_are_known_everywhere() -> TestResult {
    let bench = Bench::new()?;
    for extension in ["cl", "ocl", "clcpp", "ll", "bc", "spv", "spvasm"] {
        let (file, wanted) =
            (format!("x.{extension}"), format!("x.{extension} is a kernel, but a suite is wanted here"));
        bench.put(&file, "")?;
        bench.refuses(2, &["run", &file], &[&wanted, "help: "])?;
        for command in ["inspect", "lower", "generate"] {
            let help = bench.run(&[command, "--help"])?.out;
            assert!(help.contains(&format!(".{extension}")), "{help}");
        }
        bench.refuses(2, &["inspect", "x.txt"], &["x.txt is no kernel file", &format!(".{extension}")])?;
    }
    Ok(())
}

/// Only the simulator can follow schedules and detect accesses out of bounds.
#[test]
fn the_simulator_follows_schedules_and_finds_faults() -> TestResult {
    let bench = Bench::new()?;
    bench.put(
        "order.cl",
        "kernel void order(global int *out, global int *n) {\n    out[atomic_inc(n)] = get_global_id(0);\n}\n",
    )?;
    let test = |schedule: &str, n: u32, expect: &str| {
        let args = format!("args = {{ n = [{n}], out = {{ fill = 0, len = 4{expect} }} }}");
        format!("kernel = \"order.cl\"\n[[test]]\nglobal = [4]\nlocal = [2]\n{schedule}\n{args}\n")
    };
    for (schedule, expect) in [
        ("schedule = { map = [1, 0] }", ", expect = [2, 3, 0, 1]"),
        ("schedule = { item_order = [1, 0] }", ", expect = [1, 0, 3, 2]"),
        ("schedule = { preemptions = [{ group = 1, item = 0, access = 0 }] }", ", expect = [0, 1, 3, 2]"),
    ] {
        bench.put("order.toml", test(schedule, 0, expect))?;
        for command in ["run", "cover"] {
            let finished = bench.run(&[command, "order.toml", "--device", "sim"])?;
            assert_eq!(finished.code, Some(0), "{schedule}: {}{}", finished.out, finished.err);
        }
        let help = &["the test `test 1` has a schedule", "help: run it on the simulator with --device sim"];
        if !schedule.contains("map") {
            for command in ["run", "cover", "mutate"] {
                bench.refuses(2, &[command, "order.toml", "--device", "opencl"], help)?;
            }
        }
    }
    // Devices follow orders of work-groups alone, too: the group launched first does the work of the last one.
    bench.put(
        "first.cl",
        "kernel void first(global int *out) {\n    out[get_global_id(0)] = get_group_id(0) * 10 + get_local_id(0);\n}\n",
    )?;
    let mapped = "kernel = \"first.cl\"\n[[test]]\nglobal = [6]\nlocal = [2]\nschedule = { map = [2, 0, 1] }\n\
                  args = { out = { fill = 0, len = 6, expect = [0, 1, 10, 11, 20, 21] } }\n";
    bench.put("first.toml", mapped)?;
    for command in ["run", "cover", "mutate"] {
        let finished = bench.run(&[command, "first.toml", "--device", "opencl"])?;
        assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    }
    bench.put("order.toml", test("", 3, ""))?;
    for (command, status) in [("run", "failed"), ("cover", "faulted")] {
        let finished = bench.run(&[command, "order.toml", "--device", "sim"])?;
        assert_eq!(finished.code, Some(1), "{}{}", finished.out, finished.err);
        let found = "the kernel did what no kernel may: out-of-bounds: `out[4]` is written";
        assert!(finished.out.contains(status) && finished.out.contains(found), "{}", finished.out);
    }
    Ok(())
}

/// A launch that the simulator refuses ends neither `check` nor `schedule`; the refusal says where and what helps.
#[test]
fn launches_that_the_simulator_refuses_are_reported() -> TestResult {
    let bench = Bench::new()?;
    let test = |name: &str, items: u32| {
        let args = format!(
            "args = {{ in = {{ fill = 1, len = {items} }}, out = {{ fill = 0, len = {items} }}, n = {items} }}"
        );
        format!("[[test]]\nname = \"{name}\"\nglobal = [{items}]\nlocal = [{items}]\n{args}\n")
    };
    std::fs::create_dir(bench.path("deep"))?;
    let suite = format!("kernel = \"../k.cl\"\n{}{}", test("huge", 16384), test("small", 4));
    bench.put("deep/suite.toml", suite)?;
    let finished = bench.run(&["check", "deep/suite.toml", "--no-amplify"])?;
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    for part in
        ["k (k.cl) on kassay simulator ", "verdict: clean", "the input \"huge\" was not run: a work-group of 16384"]
    {
        assert!(finished.out.contains(part), "{part}: {}", finished.out);
    }
    let finished = bench.run(&["schedule", "deep/suite.toml", "--device", "sim"])?;
    assert_eq!(finished.code, Some(1), "{}{}", finished.out, finished.err);
    let reason = "was refused by the simulator: a work-group of 16384";
    assert_eq!(finished.out.matches(reason).count(), 1, "{}", finished.out);
    assert!(finished.out.contains("stable  small"), "{}", finished.out);

    let vendors = "uint __attribute__((overloadable)) amd_bitalign(uint, uint, uint);\n";
    bench
        .put("g.cl", format!("{vendors}kernel void g(global uint *out) {{\n    *out = amd_bitalign(1, 2, 3);\n}}\n"))?;
    let parts = &["g.cl:3:12: the simulator has no `amd_bitalign`", "help: ", "--device opencl"];
    bench.refuses(4, &["check", "g.cl", "--cl-std", "CL2.0"], parts)?;
    let queue = "kernel void q(global int *out) {\n    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(4), ^{\n        \
                 out[get_global_id(0)] = 1;\n    });\n}\n";
    bench.put("q.cl", queue)?;
    bench.refuses(
        4,
        &["check", "q.cl", "--entry", "q", "--cl-std", "CL2.0"],
        &["the kernel calls `enqueue_kernel` (q.cl:2:5)", "help: "],
    )?;
    bench.put("p.cl", "kernel void p(read_only pipe int in, global int *out) {\n    read_pipe(in, out);\n}\n")?;
    bench.refuses(2, &["check", "p.cl", "--cl-std", "CL2.0"], &["the argument `in` of `p` is of type `pipe int`"])
}

#[test]
fn bit_fields_are_given_by_their_bytes() -> TestResult {
    let bench = Bench::new()?;
    let kernel = "#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
struct S { int low : 3; int high : 5; };
kernel void k(struct S s, global const struct S *in, global int *out) {
    out[0] = s.low; out[1] = s.high; out[2] = in[0].low; out[3] = in[0].high;
}
";
    bench.put("k.cl", kernel)?;
    let suite = "kernel = \"k.cl\"
[[test]]
global = [1]
[test.args]
s = { bytes = \"11000000\" }
in = { npy = \"in.npy\" }
out = { fill = 0, len = 4, expect = [1, 2, 3, -4] }
";
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{:<117}\n", "{'descr': '|V1', 'fortran_order': False, 'shape': (4,), }").bytes());
    file.extend([0xe3, 0, 0, 0]);
    bench.put("in.npy", file)?;
    bench.put("suite.toml", suite)?;
    let ran = bench.run(&["run", "suite.toml", "--device", "sim"])?;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let by_fields = suite.replace("{ bytes = \"11000000\" }", "{ fields = { low = 1, high = 2 } }");
    bench.put("suite.toml", by_fields)?;
    let what = "no test can give a value of the type `3-bit field`";
    bench.refuses(2, &["run", "suite.toml"], &[what, "help: ", "bytes", "8 hexadecimal digits: s = { bytes = "])?;
    bench.put("suite.toml", suite.replace("{ npy = \"in.npy\" }", "{ values = [{ low = 1, high = 2 }] }"))?;
    bench.refuses(2, &["run", "suite.toml"], &[what, "help: ", ".npy file of single untyped bytes"])
}

#[test]
fn blocks_run_unless_the_device_enqueues_them() -> TestResult {
    let bench = Bench::new()?;
    let checked = |kernel: &str| -> TestResult<FinishedRun> {
        bench.put("k.cl", kernel)?;
        bench.run(&["check", "k.cl", "--cl-std", "CL2.0", "--device", "sim", "--global", "4"])
    };
    let direct = checked(
        "__attribute__((used)) int helper(int x) { return x + 1; }
kernel void k(global int *o) {
    int i = get_global_id(0);
    int (^twice)(int) = ^(int x) { return x * 2; };
    o[i] = twice(i) + helper(i);
}
",
    )?;
    assert!(direct.code == Some(0) && direct.out.contains("verdict: clean"), "{}{}", direct.out, direct.err);
    let enqueued = checked(
        "kernel void k(global int *o) {
    int i = get_global_id(0);
    void (^work)(void) = ^{ o[get_global_id(0)] += i; };
    work();
    if (i == 0) enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(4), work);
}
",
    )?;
    enqueued
        .refused(4, &["the kernel calls `enqueue_kernel` (k.cl:5:17)", "no device-side enqueue of blocks", "help: "])?;
    bench.refuses(4, &["lower", "k.cl", "--cl-std", "CL2.0", "-o", "k.spv"], &["the kernel calls `enqueue_kernel`"])?;
    let queried = checked("kernel void k(global int *o) { o[0] = get_kernel_work_group_size(^{ o[1] = 3; }); }\n")?;
    queried.refused(4, &["the kernel calls `get_kernel_work_group_size`", "no device-side enqueue of blocks"])?;
    let recursive = checked(
        "int down(int x) { return x > 0 ? down(x - 1) : 0; }
kernel void k(global int *o) { o[get_global_id(0)] = down(3); }
",
    )?;
    recursive.refused(2, &["`down` cannot be inlined into the kernel: it calls itself"])
}
