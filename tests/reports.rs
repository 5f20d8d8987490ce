//! What results look like: as text, as lcov, as files and as published schemas.
//!
//! Snapshots are in `tests/snapshots/`; `BLESS=1` accepts what comes out now.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kassay::error::{Error, Place};
use kassay::report::text::{self, CoverOptions};
use kassay::report::{self, Style, lcov};
use kassay::result::cover::*;
use kassay::result::inspect::{self, InspectResult};
use kassay::result::run::{self, RunResult};
use kassay::result::store::{self, AnyResult};
use kassay::result::{Device, Location, Ratio, schema};

const PLAIN: Style = Style { color: false, width: 100 };

/// Compares with a committed file, or rewrites it under `BLESS=1`.
fn expect_file(path: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "{} is stale (BLESS=1 accepts what comes out now):\n{actual}\ninstead of:\n{expected}",
        path.display()
    );
}

fn device() -> Device {
    Device {
        name: "Example CPU".into(),
        driver: "1.2.3".into(),
        kind: "cpu".into(),
        il_versions: vec!["SPIR-V_1.2".into()],
    }
}

const SOURCE: &str = "\
// Sums each work-group's part of x, clamped.
float clamp_to(float v, float limit) {
\treturn v > limit ? limit : v;
}

kernel void sum(global const float *x, global float *out, int n, float limit) {
    local float tmp[64];
    int l = get_local_id(0);
    tmp[l] = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        tmp[l] += clamp_to(x[i], limit);
    }
    if (n < 0 || l > 64) {
        out[0] = -1;
        return;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        out[get_group_id(0)] = tmp[0];
}
";

/// A result for `SOURCE`, built site by site.
struct Sites(Vec<SiteOutcome>);

impl Sites {
    /// Each outcome with its hits in the tests `even` and `odd length`.
    fn add(&mut self, kind: &str, construct: &str, function: &str, at: (u32, u32), outcomes: &[(&str, u64, u64)]) {
        self.add_in("kernels/sum.cl", kind, construct, function, at, outcomes);
    }

    fn add_in(
        &mut self,
        file: &str,
        kind: &str,
        construct: &str,
        function: &str,
        (line, column): (u32, u32),
        outcomes: &[(&str, u64, u64)],
    ) {
        for (outcome, even, odd) in outcomes {
            self.0.push(SiteOutcome {
                id: format!("{kind}:{function}:{line}:{column}"),
                kind: kind.into(),
                construct: construct.into(),
                function: function.into(),
                location: Location { file: file.into(), line, column },
                outcome: (*outcome).into(),
                covered: even + odd > 0,
                hits_by_test: BTreeMap::from([("even".to_owned(), *even), ("odd length".to_owned(), *odd)]),
                divergent_groups: None,
            });
        }
    }

    fn diverged(&mut self, kind: &str, line: u32, groups: u64) {
        for site in self.0.iter_mut().filter(|s| s.kind == kind && s.location.line == line) {
            site.divergent_groups = Some(groups);
        }
    }
}

fn cover_result() -> CoverResult {
    let mut s = Sites(Vec::new());
    s.add("line", "line", "clamp_to", (3, 1), &[("executed", 1, 1)]);
    s.add("branch", "?:", "clamp_to", (3, 9), &[("true", 0, 0), ("false", 1, 1)]);
    for line in [8, 9, 10, 11, 13, 17, 18, 19] {
        s.add("line", "line", "sum", (line, 1), &[("executed", 1, 1)]);
    }
    for line in [14, 15] {
        s.add("line", "line", "sum", (line, 1), &[("executed", 0, 0)]);
        s.add("statement", "statement", "sum", (line, 9), &[("executed", 0, 0)]);
    }
    s.add("loop", "for", "sum", (10, 5), &[("zero", 0, 0), ("one", 1, 1), ("many", 0, 1), ("boundary", 1, 1)]);
    s.add("branch", "if", "sum", (13, 9), &[("true", 0, 0), ("false", 1, 1)]);
    s.add("condition", "||", "sum", (13, 9), &[("true", 0, 0), ("false", 1, 1)]);
    s.add("condition", "||", "sum", (13, 18), &[("true", 0, 0), ("false", 1, 1)]);
    s.add("barrier", "barrier", "sum", (17, 5), &[("all", 1, 1)]);
    s.add("branch", "if", "sum", (18, 9), &[("true", 1, 1), ("false", 1, 1)]);
    s.diverged("branch", 18, 3);
    CoverResult {
        schema: CoverResult::SCHEMA.into(),
        version: "0.1.0".into(),
        kernel: "sum".into(),
        source: "kernels/sum.cl".into(),
        device: Some(device()),
        seed: 7,
        elapsed_s: 1.25,
        coverage: Coverage {
            branch: Ratio { covered: 4, total: 6 },
            condition: Ratio { covered: 2, total: 4 },
            loops: LoopCoverage {
                total: 1,
                zero: 0,
                one: 1,
                many: 1,
                boundary: 1,
                applicable: LoopApplicable { zero: 1, boundary: 1 },
            },
            barrier: Ratio { covered: 1, total: 1 },
            line: Ratio { covered: 9, total: 11 },
            statement: Ratio { covered: 7, total: 9 },
            least_branch: Ratio { covered: 5, total: 6 },
            average_statement: None,
        },
        sites: s.0,
        tests: vec![
            TestOutcome {
                name: "even".into(),
                status: "completed".into(),
                reason: None,
                work_items: 128,
                work_groups: 2,
                original_s: Some(12.34e-6),
                instrumented_s: Some(15.1e-6),
                printf: String::new(),
            },
            TestOutcome {
                name: "odd length".into(),
                status: "completed".into(),
                reason: None,
                work_items: 1024,
                work_groups: 16,
                original_s: Some(1.5e-3),
                instrumented_s: Some(1.9e-3),
                printf: "n is 1023\n".into(),
            },
            TestOutcome {
                name: "endless".into(),
                status: "timeout".into(),
                reason: Some("not done after 10.0 s; the worker was killed".into()),
                work_items: 64,
                work_groups: 1,
                original_s: None,
                instrumented_s: None,
                printf: String::new(),
            },
        ],
        overhead: Some(1.2449),
        notes: vec![
            "`endless` counts nothing: its worker was killed, and with it went what the probes had seen until then"
                .into(),
        ],
    }
}

/// Numbers of work-items instead of 0 and 1, a barrier that only a part reaches, and sites without a place or a text.
fn counted_result() -> CoverResult {
    let mut r = cover_result();
    for site in &mut r.sites {
        for (test, hits) in &mut site.hits_by_test {
            *hits *= if test == "even" { 128 } else { 1024 };
        }
        if site.kind == "barrier" {
            site.covered = false;
            site.hits_by_test.values_mut().for_each(|n| *n = 0);
            site.divergent_groups = Some(18);
        }
    }
    r.tests.truncate(2);
    r.notes.clear();
    r.coverage.barrier.covered = 0;
    r.coverage.average_statement = Some(62.5);
    let mut more = Sites(Vec::new());
    more.add_in("kernels/clip.h", "line", "line", "clip", (4, 1), &[("executed", 3, 0)]);
    more.add_in("kernels/clip.h", "line", "line", "clip", (5, 1), &[("executed", 0, 0)]);
    more.add_in("kernels/clip.h", "line", "line", "clip", (6, 1), &[("executed", 0, 0)]);
    more.add_in(
        "kernels/clip.h",
        "branch",
        "switch",
        "clip",
        (4, 5),
        &[("case 1", 0, 0), ("case 2", 3, 0), ("default", 0, 0)],
    );
    more.add_in("", "branch", "branch", "helper", (0, 0), &[("true", 0, 0), ("false", 9, 9)]);
    r.sites.extend(more.0);
    r
}

fn sources(file: &str) -> Option<String> {
    (file == "kernels/sum.cl").then(|| SOURCE.to_owned())
}

#[test]
fn cover_text_points_at_what_is_not_covered() {
    let text = text::cover(&cover_result(), CoverOptions::default(), &sources, &PLAIN);
    expect_file("tests/snapshots/cover.txt", &text);
}

#[test]
fn cover_text_with_counts_shows_work_items_and_files_without_text() {
    let text = text::cover(&counted_result(), CoverOptions::default(), &sources, &PLAIN);
    expect_file("tests/snapshots/cover-counts.txt", &text);
}

#[test]
fn cover_text_says_when_the_source_has_changed() {
    let short = |_: &str| Some(SOURCE.lines().take(12).map(|l| format!("{l}\n")).collect());
    let text = text::cover(&cover_result(), CoverOptions::default(), &short, &PLAIN);
    assert!(text.contains("not executed: 14-15"), "{text}");
    assert!(text.contains("13:9: branch `if`: `true` not covered"), "{text}");
    assert!(text.contains("fewer lines"), "{text}");
}

#[test]
fn cover_text_in_short_leaves_the_source_out() {
    let mut result = cover_result();
    result.coverage.condition = Ratio::default();
    let text = text::cover(&result, CoverOptions { summary_only: true }, &sources, &PLAIN);
    expect_file("tests/snapshots/cover-summary.txt", &text);
}

#[test]
fn colour_adds_escapes_and_nothing_else() {
    let result = counted_result();
    let options = CoverOptions::default();
    let colored = text::cover(&result, options, &sources, &Style { color: true, ..PLAIN });
    let plain = text::cover(&result, options, &sources, &PLAIN);
    assert!(!plain.contains('\x1b'));
    let mut stripped = String::new();
    let mut rest = colored.as_str();
    while let Some((before, after)) = rest.split_once('\x1b') {
        stripped.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    stripped.push_str(rest);
    let trimmed = |s: &str| s.lines().map(|l| l.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(trimmed(&stripped), trimmed(&plain));
    assert!(colored.contains("\x1b[31m") && colored.contains("\x1b[32m"));
}

fn run_result() -> RunResult {
    let test = |name: &str, status: &str| run::Test {
        name: name.into(),
        status: status.into(),
        reason: None,
        outputs: Vec::new(),
        kernel_s: Some(12.3e-6),
        printf: String::new(),
    };
    let output = |arg: &str, mismatches, first, error| run::Output {
        arg: arg.into(),
        passed: mismatches == 0,
        mismatches,
        elements: 1024,
        first,
        largest_absolute_error: error,
    };
    let first = |index, field: Option<&str>, expected: &str, actual: &str| {
        Some(run::Mismatch { index, field: field.map(str::to_owned), expected: expected.into(), actual: actual.into() })
    };
    let tests = vec![
        run::Test { outputs: vec![output("y", 0, None, Some(0.0))], ..test("even", "passed") },
        run::Test {
            outputs: vec![
                output("y", 5, first(3, None, "1.5", "NaN"), Some(2.5)),
                output("p", 1, first(0, Some("pos.x"), "2", "-2"), None),
            ],
            printf: "n is 1023\n\x1b[2Jdone".into(),
            ..test("odd length, with a tail", "failed")
        },
        test("nothing expected", "unchecked"),
        run::Test {
            reason: Some("not done after 10.0 s; the worker was killed".into()),
            kernel_s: None,
            ..test("endless", "timeout")
        },
        run::Test {
            reason: Some(
                "CL_INVALID_WORK_GROUP_SIZE: the local size [7] does not divide the global size [64]\nmend: choose a divisor"
                    .into(),
            ),
            kernel_s: None,
            ..test("seven", "rejected")
        },
    ];
    RunResult {
        schema: RunResult::SCHEMA.into(),
        version: "0.1.0".into(),
        kernel: "saxpy".into(),
        source: "kernels/saxpy.cl".into(),
        device: Some(device()),
        seed: 0,
        elapsed_s: 10.8,
        tests,
        summary: run::Summary { total: 5, passed: 1, failed: 1, unchecked: 1, broken: 2 },
        notes: vec!["a note".into()],
    }
}

#[test]
fn run_text_has_a_line_per_test_and_the_first_mismatches() {
    expect_file("tests/snapshots/run.txt", &text::run(&run_result(), &PLAIN));
}

fn inspect_result() -> InspectResult {
    let arg = |position, name: Option<&str>, type_name: &str, space: &str, access: &str| inspect::Arg {
        name: name.map(str::to_owned),
        position,
        type_name: type_name.into(),
        address_space: space.into(),
        access: access.into(),
        fields: Vec::new(),
    };
    let field = |name: &str, type_name: &str, offset, size, fields| inspect::Field {
        name: name.into(),
        type_name: type_name.into(),
        offset,
        size,
        fields,
    };
    let site =
        |kind: &str, construct: &str, function: &str, file: &str, line, column, outcomes: &[&str]| inspect::Site {
            id: format!("{function}/{kind}/{line}.{column}"),
            kind: kind.into(),
            construct: construct.into(),
            function: function.into(),
            location: Location { file: file.into(), line, column },
            outcomes: outcomes.iter().map(|o| (*o).to_owned()).collect(),
        };
    let cases: Vec<String> = (0..14).map(|n| format!("case {n}")).collect();
    let cases: Vec<&str> = cases.iter().map(String::as_str).chain(["default"]).collect();
    let at = "kernels/blur.cl";
    let full = inspect::Kernel {
        name: "blur".into(),
        args: vec![
            arg(0, Some("src"), "image2d_t", "global", "read_only"),
            arg(1, Some("out"), "float4*", "global", "none"),
            inspect::Arg {
                fields: vec![
                    field("radius", "int", 0, 4, vec![]),
                    field(
                        "window",
                        "struct box",
                        8,
                        16,
                        vec![field("lo", "int2", 0, 8, vec![]), field("hi", "int2", 8, 8, vec![])],
                    ),
                ],
                ..arg(2, Some("p"), "struct params", "private", "none")
            },
        ],
        required_local: Some([16, 16, 1]),
        local_variables: vec![
            inspect::LocalVariable { name: "tile".into(), size: 4096 },
            inspect::LocalVariable { name: "n".into(), size: 4 },
        ],
        functions: vec!["blur".into(), "weight".into()],
        counts: inspect::Counts {
            branches: 3,
            branch_outcomes: 19,
            conditions: 2,
            loops: 1,
            barriers: 1,
            basic_blocks: 21,
            lines: 6,
            statements: 12,
            mutants: 0,
        },
        mutants_by_operator: BTreeMap::new(),
        sites: vec![
            site("loop", "for", "weight", at, 4, 5, &["zero", "one", "many", "boundary"]),
            site("line", "line", "weight", at, 4, 1, &["executed"]),
            site("line", "line", "weight", at, 5, 1, &["executed"]),
            site("branch", "if", "blur", at, 12, 9, &["true", "false"]),
            site("condition", "&&", "blur", at, 12, 9, &["true", "false"]),
            site("barrier", "barrier", "blur", at, 15, 5, &["all"]),
            site("branch", "switch", "blur", at, 17, 5, &cases),
            site("branch", "?:", "blur", "kernels/macros.h", 3, 20, &["true", "false"]),
            site("branch", "branch", "blur", at, 0, 0, &["true", "false"]),
            site("line", "line", "blur", at, 12, 1, &["executed"]),
            site("line", "line", "blur", at, 15, 1, &["executed"]),
            site("line", "line", "blur", at, 16, 1, &["executed"]),
        ],
    };
    let bare = inspect::Kernel {
        name: "copy".into(),
        args: vec![arg(0, None, "uint*", "global", "none"), arg(1, None, "uint*", "local", "none")],
        required_local: None,
        local_variables: Vec::new(),
        functions: vec!["copy".into()],
        counts: inspect::Counts { basic_blocks: 1, ..Default::default() },
        mutants_by_operator: BTreeMap::from([("ROR".to_owned(), 12), ("AOR".to_owned(), 3)]),
        sites: Vec::new(),
    };
    InspectResult {
        schema: InspectResult::SCHEMA.into(),
        version: "0.1.0".into(),
        kernel: "blur,copy".into(),
        source: at.into(),
        device: None,
        seed: 0,
        elapsed_s: 0.07,
        kernels: vec![full, bare],
        notes: vec!["the module has no names".into()],
    }
}

#[test]
fn inspect_text_shows_the_interface_and_the_sites() {
    expect_file("tests/snapshots/inspect.txt", &text::inspect(&inspect_result(), &PLAIN));
}

/// By (test, file): what lcov would read.
#[derive(Debug, Default, PartialEq)]
struct Section {
    lines: BTreeMap<u32, u64>,
    /// By line, block, branch.
    branches: BTreeMap<(u32, u32, u32), Option<u64>>,
    functions: BTreeMap<String, (u32, u64)>,
    totals: BTreeMap<String, u64>,
}

fn parse_lcov(text: &str) -> BTreeMap<(String, String), Section> {
    let mut sections = BTreeMap::new();
    let (mut test, mut file, mut section) = (String::new(), String::new(), Section::default());
    for line in text.lines() {
        if line == "end_of_record" {
            sections.insert((test.clone(), file.clone()), std::mem::take(&mut section));
            continue;
        }
        let (key, value) = line.split_once(':').unwrap();
        let fields: Vec<&str> = value.split(',').collect();
        let number = |i: usize| fields[i].parse::<u32>().unwrap();
        match key {
            "TN" => test = value.to_owned(),
            "SF" => file = value.to_owned(),
            "DA" => assert_eq!(section.lines.insert(number(0), fields[1].parse().unwrap()), None),
            "BRDA" => {
                let taken = (fields[3] != "-").then(|| fields[3].parse().unwrap());
                assert_eq!(section.branches.insert((number(0), number(1), number(2)), taken), None);
            }
            "FN" => assert_eq!(section.functions.insert(fields[1].to_owned(), (number(0), 0)), None),
            "FNDA" => section.functions.get_mut(fields[1]).unwrap().1 = fields[0].parse().unwrap(),
            _ => assert_eq!(section.totals.insert(key.to_owned(), value.parse().unwrap()), None),
        }
    }
    assert_eq!(section, Section::default(), "the last section has no end");
    sections
}

#[test]
fn lcov_has_a_section_per_test_and_file() {
    let sections = parse_lcov(&lcov::tracefile(&[&counted_result()]));
    let keys: Vec<_> = sections.keys().map(|(t, f)| format!("{t} {f}")).collect();
    assert_eq!(
        keys,
        ["even kernels/clip.h", "even kernels/sum.cl", "odd_length kernels/clip.h", "odd_length kernels/sum.cl"]
    );
    let sum = &sections[&("odd_length".to_owned(), "kernels/sum.cl".to_owned())];
    assert_eq!(sum.lines.len(), 11);
    assert_eq!((sum.lines[&3], sum.lines[&14]), (1024, 0));
    assert_eq!(sum.branches[&(13, 0, 0)], Some(0));
    assert_eq!(sum.branches[&(13, 0, 1)], Some(1024));
    assert_eq!(sum.functions["clamp_to"], (3, 1024));
    assert_eq!(sum.functions["sum"], (8, 1024));
    for (key, total) in [("LF", 11), ("LH", 9), ("BRF", 6), ("BRH", 4), ("FNF", 2), ("FNH", 2)] {
        assert_eq!(sum.totals[key], total, "{key}");
    }
    let clip = &sections[&("odd_length".to_owned(), "kernels/clip.h".to_owned())];
    assert_eq!(clip.branches.values().collect::<Vec<_>>(), [&None, &None, &None]);
    assert_eq!(clip.functions["clip"], (4, 0));
}

#[test]
fn lcov_keeps_tests_apart_whose_names_lcov_cannot_tell_apart() {
    let mut result = cover_result();
    for site in &mut result.sites {
        let hits = site.hits_by_test["odd length"];
        site.hits_by_test.insert("odd-length".into(), hits);
    }
    result.tests[2].name = "odd-length".into();
    let sections = parse_lcov(&lcov::tracefile(&[&result, &cover_result()]));
    let tests: Vec<&str> = sections.keys().map(|(t, _)| t.as_str()).collect();
    assert_eq!(tests, ["endless", "even", "even_2", "odd_length", "odd_length_2", "odd_length_3"]);
}

#[test]
fn lcov_without_hits_by_test_has_one_section_without_a_name() {
    let mut result = cover_result();
    result.sites.iter_mut().for_each(|s| s.hits_by_test.clear());
    let sections = parse_lcov(&lcov::tracefile(&[&result]));
    assert_eq!(sections.len(), 1);
    let section = &sections[&(String::new(), "kernels/sum.cl".to_owned())];
    assert_eq!((section.totals["LH"], section.totals["BRH"]), (9, 4));
}

#[test]
fn convert_goes_by_the_output_name() {
    let dir = tempfile::tempdir().unwrap();
    let (cover, run) = (dir.path().join("cover.json"), dir.path().join("run.json"));
    store::write(&cover_result(), &cover).unwrap();
    store::write(&run_result(), &run).unwrap();

    let out = dir.path().join("all.lcov");
    report::convert(std::slice::from_ref(&cover), &out).unwrap();
    assert_eq!(fs::read_to_string(&out).unwrap(), lcov::tracefile(&[&cover_result()]));

    let message = |results: &[PathBuf], name: &str| {
        let error = report::convert(results, &dir.path().join(name)).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(!dir.path().join(name).exists());
        error.to_string()
    };
    assert!(
        message(std::slice::from_ref(&cover), "x.stryker.json").contains("`.stryker.json` files are not built yet")
    );
    assert!(message(std::slice::from_ref(&cover), "x.junit.xml").contains("`.junit.xml`"));
    assert!(message(std::slice::from_ref(&cover), "x.pdf").contains("`.lcov`"));
    assert!(message(&[], "y.info").contains("no result"));
    assert!(message(&[cover, run], "y.info").contains("result of `kassay run`"));
}

#[test]
fn results_come_back_as_they_were_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.json");
    store::write(&counted_result(), &path).unwrap();
    assert_eq!(store::read(&path).unwrap(), AnyResult::Cover(Box::new(counted_result())));
    store::write(&run_result(), &path).unwrap();
    assert_eq!(store::read(&path).unwrap(), AnyResult::Run(Box::new(run_result())));
    store::write(&inspect_result(), &path).unwrap();
    assert_eq!(store::read(&path).unwrap(), AnyResult::Inspect(Box::new(inspect_result())));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a temporary file was left");
}

#[test]
fn a_link_to_a_result_stays_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let (file, link) = (dir.path().join("file.json"), dir.path().join("link.json"));
    store::write_text("old", &file).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    store::write_text("new", &link).unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
}

#[test]
fn a_result_that_cannot_be_written_says_whose_fault_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let missing = store::write_text("x", &dir.path().join("no/such/r.json")).unwrap_err();
    assert!(matches!(missing, Error::Caller(_)) && missing.to_string().contains("mkdir -p"), "{missing}");
    assert!(matches!(store::write_text("x", dir.path()), Err(Error::Caller(_))));
    fs::write(dir.path().join("file"), "").unwrap();
    assert!(matches!(store::write_text("x", &dir.path().join("file/r.json")), Err(Error::Caller(_))));
    // A device that is always full.
    let full = store::write_text("x", Path::new("/dev/full")).unwrap_err();
    assert!(matches!(full, Error::Environment(_)) && full.to_string().contains("mend: free some space"), "{full}");
}

#[test]
fn what_is_no_result_is_refused() {
    let refuse = |text: &str, needle: &str| {
        let error = store::parse(text, Path::new("r.json")).unwrap_err();
        assert!(matches!(error, Error::Caller(_)));
        assert!(error.to_string().contains(needle), "{error}");
        error
    };
    refuse("{\"schema\": \"kassay.cover/2\"}", "newer kassay");
    refuse("{\"schema\": \"kassay.tea/1\"}", "unknown schema `kassay.tea/1`");
    refuse("{}", "no `schema`");
    refuse("[1]", "not a result");
    refuse("{\"schema\": \"kassay.run/1\"}", "missing field `version`");
    let broken = refuse("{\n  \"schema\": oops\n}", "r.json:2:");
    assert!(matches!(&broken.report().place, Some(Place { text: Some(line), .. }) if line.contains("oops")));
    assert!(matches!(store::read(Path::new("/no/such/result.json")), Err(Error::Caller(_))));
}

#[test]
fn published_schemas_are_current() {
    for (name, schema) in schema::schemas() {
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        expect_file(&format!("docs/schema/{name}"), &text);
    }
}
