//! Provides results written by hand, of every shape that the reports distinguish.

use std::collections::BTreeMap;

use kassay::result::cover::*;
use kassay::result::def_use::{AccessPlace, DefUse, DefUsePair, PairKind};
use kassay::result::inspect::{self, InspectResult};
use kassay::result::run::{self, RunResult};
use kassay::result::{Device, Header, Location, Ratio};

fn device() -> Device {
    Device {
        name: "Example CPU".into(),
        driver: "1.2.3".into(),
        kind: "cpu".into(),
        il_versions: vec!["SPIR-V_1.2".into()],
    }
}

pub const SOURCE: &str = "\
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
    /// Adds a site's outcomes with their hits in the tests `even` and `odd length`.
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

pub fn cover_result() -> CoverResult {
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
        header: Header {
            schema: CoverResult::SCHEMA.into(),
            version: "0.1.0".into(),
            kernel: "sum".into(),
            source: "kernels/sum.cl".into(),
            device: Some(device()),
            seed: 7,
        },
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
            mcdc: None,
            def_use: None,
            def_use_inter_item: None,
            average_statement: None,
        },
        def_use: None,
        sites: s.0,
        mcdc: None,
        tests: vec![
            TestOutcome {
                name: "even".into(),
                status: TestStatus::Completed,
                reason: None,
                work_items: 128,
                work_groups: 2,
                original_s: Some(12.34e-6),
                instrumented_s: Some(15.1e-6),
                printf: String::new(),
            },
            TestOutcome {
                name: "odd length".into(),
                status: TestStatus::Completed,
                reason: None,
                work_items: 1024,
                work_groups: 16,
                original_s: Some(1.5e-3),
                instrumented_s: Some(1.9e-3),
                printf: "n is 1023\n".into(),
            },
            TestOutcome {
                name: "endless".into(),
                status: TestStatus::Timeout,
                reason: Some("not done after 10.0 s; the worker was killed".into()),
                work_items: 64,
                work_groups: 1,
                original_s: None,
                instrumented_s: None,
                printf: String::new(),
            },
        ],
        overhead: Some(1.2449),
        complaints: Vec::new(),
        notes: vec![
            "`endless` counts nothing: its worker was killed, and with it went what the probes had seen until then"
                .into(),
        ],
    }
}

/// Returns pairs of three kinds, some of which no test exercises.
fn def_use() -> DefUse {
    let place = |line, column, operation: &str| AccessPlace {
        function: "sum".into(),
        location: Location { file: "kernels/sum.cl".into(), line, column },
        operation: operation.into(),
    };
    let pair = |variable: &str, kind, definition: Option<AccessPlace>, usage: AccessPlace, tests: &[&str]| DefUsePair {
        id: format!("{variable} {}", usage.location.line),
        variable: variable.into(),
        kind,
        definition,
        usage,
        predicate: false,
        covered: !tests.is_empty(),
        tests: tests.iter().map(|t| (*t).to_owned()).collect(),
    };
    let pairs = vec![
        pair("in", PairKind::HostToKernel, None, place(11, 16, "load"), &["even", "odd length"]),
        pair("limit", PairKind::Private, Some(place(7, 0, "parameter")), place(13, 9, "load"), &["even"]),
        pair("total", PairKind::Private, Some(place(9, 9, "store")), place(14, 9, "load"), &[]),
        pair("tile", PairKind::AcrossBarrier, Some(place(11, 5, "store")), place(18, 20, "load"), &[]),
    ];
    DefUse::new(pairs, 1, Some(12.5))
}

/// Returns a result with numbers of work-items instead of 0 and 1, a barrier that only a part of a group reaches, and
/// sites without a place or a text.
pub fn counted_result() -> CoverResult {
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
    r.def_use = Some(def_use());
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

pub fn sources(file: &str) -> Option<String> {
    (file == "kernels/sum.cl").then(|| SOURCE.to_owned())
}

pub fn run_result() -> RunResult {
    let test = |name: &str, status: run::TestStatus| run::Test {
        name: name.into(),
        status,
        reason: None,
        outputs: Vec::new(),
        kernel_s: Some(12.3e-6),
        printf: String::new(),
        against_source: None,
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
        run::Test { outputs: vec![output("y", 0, None, Some(0.0))], ..test("even", run::TestStatus::Passed) },
        run::Test {
            outputs: vec![
                output("y", 5, first(3, None, "1.5", "NaN"), Some(2.5)),
                output("p", 1, first(0, Some("pos.x"), "2", "-2"), None),
            ],
            printf: "n is 1023\n\x1b[2Jdone".into(),
            ..test("odd length, with a tail", run::TestStatus::Failed)
        },
        test("nothing expected", run::TestStatus::Unchecked),
        run::Test {
            reason: Some("not done after 10.0 s; the worker was killed".into()),
            kernel_s: None,
            ..test("endless", run::TestStatus::Timeout)
        },
        run::Test {
            reason: Some(
                "CL_INVALID_WORK_GROUP_SIZE: the local size [7] does not divide the global size [64]\nhelp: choose a divisor"
                    .into(),
            ),
            kernel_s: None,
            ..test("seven", run::TestStatus::Rejected)
        },
    ];
    RunResult {
        header: Header {
            schema: RunResult::SCHEMA.into(),
            version: "0.1.0".into(),
            kernel: "saxpy".into(),
            source: "kernels/saxpy.cl".into(),
            device: Some(device()),
            seed: 0,
        },
        elapsed_s: 10.8,
        tests,
        summary: run::Summary { total: 5, passed: 1, failed: 1, unchecked: 1, broken: 2 },
        notes: vec!["a note".into()],
    }
}

pub fn inspect_result() -> InspectResult {
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
        level: "canonical".into(),
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
        sub_group_size: None,
        local_variables: vec![
            inspect::LocalVariable { name: "tile".into(), size: 4096 },
            inspect::LocalVariable { name: "n".into(), size: 4 },
        ],
        functions: vec!["blur".into(), "weight".into()],
        counts: inspect::Counts {
            branches: 3,
            branch_outcomes: 19,
            conditions: 2,
            decisions: 1,
            mcdc_conditions: 2,
            loops: 1,
            barriers: 1,
            basic_blocks: 21,
            lines: 6,
            statements: 12,
            def_use_pairs: Some(9),
            def_use_pairs_by_kind: [(PairKind::Private, 7), (PairKind::HostToKernel, 2)].into(),
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
        level: "canonical".into(),
        name: "copy".into(),
        args: vec![arg(0, None, "uint*", "global", "none"), arg(1, None, "uint*", "local", "none")],
        required_local: None,
        sub_group_size: Some(8),
        local_variables: Vec::new(),
        functions: vec!["copy".into()],
        counts: inspect::Counts { basic_blocks: 1, ..Default::default() },
        mutants_by_operator: BTreeMap::from([("ROR".to_owned(), 12), ("AOR".to_owned(), 3)]),
        sites: Vec::new(),
    };
    InspectResult {
        header: Header {
            schema: InspectResult::SCHEMA.into(),
            version: "0.1.0".into(),
            kernel: "blur,copy".into(),
            source: at.into(),
            device: None,
            seed: 0,
        },
        elapsed_s: 0.07,
        kernels: vec![full, bare],
        spec_constants: Vec::new(),
        notes: vec!["the module has no names".into()],
    }
}
