//! Checks what a launch gives besides the kernel's parameters, through the program itself: buffers of pointers in
//! structs, program-scope variables, null pointers; and work-groups that are smaller at the end of a dimension.

use std::process::Output;

use crate::common::TestResult;
use crate::common::program::kassay;

const STD: &str = "options = [\"-cl-std=CL2.0\"]\n";

/// A folder with `k.cl` and `suite.toml`.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new(kernel: &str, suite: &str) -> TestResult<Bench> {
        let bench = Bench(tempfile::tempdir()?);
        std::fs::write(bench.0.path().join("k.cl"), kernel)?;
        bench.suite(suite)?;
        Ok(bench)
    }

    fn suite(&self, text: &str) -> TestResult {
        Ok(std::fs::write(self.0.path().join("suite.toml"), format!("kernel = \"k.cl\"\n{text}"))?)
    }

    fn run(&self, args: &[&str]) -> TestResult<Output> {
        let output = kassay().args(args).current_dir(self.0.path()).output()?;
        assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{output:?}");
        Ok(output)
    }

    /// Runs kassay and expects an exit code.
    fn ends(&self, code: i32, args: &[&str]) -> TestResult<String> {
        let output = self.run(args)?;
        let text = format!("{}{}", String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        Ok(text)
    }

    fn refuses(&self, parts: &[&str]) -> TestResult {
        let text = self.ends(2, &["run", "suite.toml", "--device", "sim"])?;
        let missing = parts.iter().find(|p| !text.contains(**p));
        assert_eq!(missing, None, "{text}");
        Ok(())
    }
}

const MEMBERS: &str = "struct job { int n; global int *from; global int *to; constant int *by; };
kernel void k(struct job j, global int *x) {
    int i = get_global_id(0);
    if (j.to && i < j.n) j.to[i] = j.from[i] * j.by[0];
    x[i] += 1;
}
";

fn members(fields: &str) -> String {
    format!(
        "{STD}[[test]]\nglobal = [2]\nlocal = [2]\n[test.args]\nx = [1, 2]\nj = {{ fields = {{ n = 2, {fields} }} }}\n"
    )
}

#[test]
fn wrong_values_of_pointers_in_structs_are_refused() -> TestResult {
    let bench = Bench::new(MEMBERS, "")?;
    for (fields, parts) in [
        ("from = [1, 2], by = [3]", &["suite.toml:8:16: the pointer `j.to` (int*) is not given", "same_as"][..]),
        ("from = { same_as = \"y\" }, to = [0, 0], by = [3]", &["`k` has no other buffer `y`", "its buffers: `x`"]),
        ("from = { same_as = \"j.from\" }, to = [0, 0], by = [3]", &["no other buffer `j.from`"]),
        (
            "from = { same_as = \"j.to\" }, to = { same_as = \"x\" }, by = [3]",
            &["`j.to` has no buffer of its own", "write same_as = \"x\""],
        ),
        ("from = [1, 2], to = [0, 0], by = { same_as = \"x\" }", &["`j.by` is constant memory, `x` is not"]),
        ("from = 7, to = [0, 0], by = [3]", &["the argument `j.from` is a buffer"]),
        ("from = [1], to = [0], by = [3], expect = [1]", &["has no field `expect`"]),
    ] {
        bench.suite(&members(fields))?;
        bench.refuses(parts)?;
    }
    bench.suite(&members("from = [1], to = [0], by = [3]").replace("x = [1, 2]", "x = { same_as = \"j\" }"))?;
    bench.refuses(&["`k` has no other buffer `j`", "its buffers: `j.from`"])?;
    bench.suite(&members("from = [1], to = [0], by = [3]").replace("x = [1, 2]", "x = [1, 2]\n\"j.to\" = [1]"))?;
    bench.refuses(&["`k` has no argument `j.to`"])
}

#[test]
fn pointers_in_structs_point_to_their_buffers_on_device_and_simulator() -> TestResult {
    let bench = Bench::new(MEMBERS, "")?;
    for fields in [
        "from = [5, 7], to = { fill = 0, len = 2, expect = [15, 21] }, by = [3]",
        "from = [5, 7], to = { same_as = \"j.from\" }, by = [3]",
        "from = [], to = { len = 0 }, by = [3]",
    ] {
        let x = if fields.contains("same_as") { "x = [1, 2]" } else { "x = { values = [1, 2], expect = [2, 3] }" };
        bench.suite(&members(fields).replace("x = [1, 2]", x))?;
        for device in ["sim", "opencl"] {
            bench.ends(0, &["run", "suite.toml", "--device", device])?;
            bench.ends(0, &["cover", "suite.toml", "--device", device])?;
        }
    }
    // The launches that kassay generates work, too.
    bench.ends(0, &["check", "k.cl", "--cl-std", "CL2.0"])?;
    bench.ends(0, &["generate", "k.cl", "--cl-std", "CL2.0", "-o", "made", "--budget", "20"])?;
    for device in ["sim", "opencl"] {
        bench.ends(0, &["run", "made/suite.toml", "--device", device])?;
    }
    let text = std::fs::read_to_string(bench.0.path().join("made/interface.toml"))?;
    assert!(text.contains("name = \"j.from\"") && text.contains("name = \"j.by\""), "{text}");
    Ok(())
}

#[test]
fn a_pointer_that_leaves_its_buffer_is_a_fault_and_so_is_a_null_one() -> TestResult {
    let bench = Bench::new(MEMBERS, &members("from = [5], to = [0, 0], by = [3]"))?;
    let text = bench.ends(1, &["check", "suite.toml"])?;
    assert!(text.contains("out of bounds of global `j.from`") && text.contains("only 1 element"), "{text}");
    bench.suite(&members("from = [], to = [0, 0], by = [3]"))?;
    let text = bench.ends(1, &["check", "suite.toml"])?;
    assert!(text.contains("null"), "{text}");
    Ok(())
}

#[test]
fn buffers_whose_elements_hold_pointers_are_refused() -> TestResult {
    let kernel = "struct node { int v; global struct node *next; };
kernel void k(global struct node *all, global int *out) { out[0] = all[0].next->v; }
";
    let bench = Bench::new(kernel, "")?;
    let text = bench.ends(2, &["check", "k.cl", "--cl-std", "CL2.0"])?;
    assert!(text.contains("reads pointers out of the buffer `all`"), "{text}");
    Ok(())
}

const VARIABLES: &str = "global int total = 40;
global uint table[3];
kernel void k(global uint *out) {
    int i = get_global_id(0);
    atomic_inc(&total);
    out[i] = table[i % 3] + 1;
    if (i == 0) table[2] = 0xfffffff0u;
}
";

fn variables(given: &str) -> String {
    format!(
        "{STD}[[test]]\nglobal = [2]\nlocal = [2]\n[test.args]\nout = {{ fill = 0, len = 2 }}\n[test.variables]\n{given}\n"
    )
}

#[test]
fn variables_of_the_program_are_given_by_name() -> TestResult {
    let bench = Bench::new(VARIABLES, "")?;
    bench.suite(&variables("totl = [1]"))?;
    bench.refuses(&["suite.toml:9:1: `k` uses no variable `totl` of the program", "did you mean `total`?"])?;
    bench.suite(&variables("total = { local = 8 }"))?;
    bench.refuses(&["the argument `total` is a buffer", "local memory"])?;
    bench.suite(&variables("total = { expect = [41] }"))?;
    for device in ["sim", "opencl"] {
        let text = bench.ends(1, &["run", "suite.toml", "--device", device])?;
        assert!(text.contains("total") && text.contains("42"), "{text}");
    }
    bench
        .suite(&variables("total = { expect = [42] }\ntable = { values = [7, 8, 9], expect = [7, 8, 4294967280] }"))?;
    for device in ["sim", "opencl"] {
        bench.ends(0, &["run", "suite.toml", "--device", device])?;
    }
    bench.ends(0, &["generate", "k.cl", "--cl-std", "CL2.0", "-o", "made", "--budget", "20"])?;
    bench.ends(0, &["run", "made/suite.toml"])?;
    Ok(())
}

#[test]
fn a_variable_that_begins_with_an_address_is_refused() -> TestResult {
    let kernel = "global int x; global int *global p = &x; kernel void k(global int *out) { out[0] = *p; }\n";
    let bench = Bench::new(kernel, &format!("{STD}[[test]]\nglobal = [1]\n[test.args]\nout = [0]\n"))?;
    bench.refuses(&["the program-scope variable `p` begins with an address"])
}

/// Each work-item stores the sizes that it sees; the group's first work-item waits for all.
const SIZES: &str = "kernel void k(global int *out, global int *sums) {
    local int sum;
    int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    int l = get_local_id(1) * get_local_size(0) + get_local_id(0);
    if (l == 0) sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = get_local_size(0) * 10 + get_local_size(1);
    if (l == 0) sums[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = sum;
}
";

#[test]
fn groups_at_the_end_of_a_dimension_may_be_smaller() -> TestResult {
    let launch = "[[test]]\nglobal = [5, 3]\nlocal = [3, 2]\n[test.args]\n\
                  out = { fill = 0, len = 15, expect = [32, 32, 32, 22, 22, 32, 32, 32, 22, 22, 31, 31, 31, 21, 21] }\n\
                  sums = { fill = 0, len = 4, expect = [6, 4, 3, 2] }\n";
    let bench = Bench::new(SIZES, launch)?;
    bench.refuses(&["in dimension 0, `local` 3 does not divide `global` 5", "-cl-std=CL2.0"])?;
    bench.suite(&format!("{STD}{launch}"))?;
    for device in ["sim", "opencl"] {
        bench.ends(0, &["run", "suite.toml", "--device", device])?;
        for counts in [&[][..], &["--counts"]] {
            let mut args = vec!["cover", "suite.toml", "--device", device, "--fail-under", "branch=100,barrier=100"];
            args.extend(counts);
            bench.ends(0, &args)?;
        }
        let text = bench.ends(0, &["mutate", "suite.toml", "--device", device, "--fail-under", "60"])?;
        assert!(!text.contains("dropped"), "{text}");
    }
    let text = bench.ends(0, &["check", "suite.toml", "--no-amplify"])?;
    assert!(text.contains("verdict: clean"), "{text}");
    Ok(())
}

#[test]
fn outcomes_of_smaller_groups_are_covered_where_there_are_any_and_infeasible_elsewhere() -> TestResult {
    let kernel = "kernel void k(global int *out) {
    out[get_global_id(0)] = get_local_size(0) == get_enqueued_local_size(0) ? 1 : 2;
}
";
    let bench = Bench::new(kernel, "")?;
    for (options, covered) in [
        (&["--cl-std", "CL2.0"][..], true),
        (&["--cl-std", "CL2.0", "--clang-arg", "-cl-uniform-work-group-size"], false),
    ] {
        let folder = if covered { "partial" } else { "uniform" };
        let mut args = vec!["generate", "k.cl", "-o", folder, "--budget", "20", "--format", "json"];
        args.extend(options);
        let text = bench.ends(0, &args)?;
        let found = text.contains("2 of 2 outcomes") || text.contains("\"covered\": 2");
        assert_eq!(found, covered, "{text}");
    }
    Ok(())
}

/// Two of four items wait at a barrier that the others never reach.
const DIVERGING: &str = "kernel void k(global int *out) {
    int l = get_local_id(0);
    if (l < 2) {
        out[l] = 1;
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        out[l] = 3;
    }
}
";

#[test]
fn items_that_wait_for_ever_have_covered_what_they_executed() -> TestResult {
    let suite = "[[test]]\nglobal = [4]\nlocal = [4]\n[test.args]\nout = { fill = 0, len = 4 }\n";
    let bench = Bench::new(DIVERGING, suite)?;
    for device in ["sim", "opencl"] {
        for counts in [&["--format", "json"][..], &["--format", "json", "--counts"]] {
            let mut args = vec!["cover", "suite.toml", "--device", device];
            args.extend(counts);
            let text = String::from_utf8(bench.run(&args)?.stdout)?;
            let result: serde_json::Value = serde_json::from_str(&text)?;
            assert_eq!(result["coverage"]["branch"]["covered"], 2, "{device}: {text}");
            assert_eq!(result["coverage"]["barrier"]["covered"], 0, "{device}: {text}");
        }
    }
    Ok(())
}
