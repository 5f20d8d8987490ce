//! A section for each kind of result: a table with a row a kernel.

use std::fmt::Write;

use super::super::parts;
use super::super::style::{count, percent};
use super::super::text::repairs as texts;
use super::write::{Table, code, details, fenced, prose};
use crate::result::any::Part;
use crate::result::check::{CheckResult, HoldsFor, Verdict, lockstep};
use crate::result::compare::CompareResult;
use crate::result::cover::{CoverResult, Coverage, METRICS, Measure};
use crate::result::generate::GenerateResult;
use crate::result::mutate::{MutateResult, Summary};
use crate::result::proofs::are_race_free;
use crate::result::run::RunResult;
use crate::result::schedule::ScheduleResult;
use crate::result::set::InSet as _;
use crate::result::store::ResultFile;
use crate::result::sum;
use crate::result::{Header, Ratio};

/// A part of the summary. All texts are Markdown.
pub(super) struct Section {
    pub(super) title: &'static str,
    /// The most important figure.
    pub(super) headline: Option<String>,
    pub(super) body: String,
}

/// Returns the sections of the kinds of results that there are.
pub(super) fn of(results: &[ResultFile]) -> Vec<Section> {
    let parts = parts::parts(results);
    macro_rules! of_kind {
        ($kind:ident) => {
            parts.iter().filter_map(|part| if let Part::$kind(r) = part { Some(*r) } else { None }).collect::<Vec<_>>()
        };
    }
    let sections = [
        complaints(results),
        checks(&of_kind!(Check)),
        runs(&of_kind!(Run)),
        schedules(&of_kind!(Schedule)),
        coverage(&of_kind!(Cover)),
        mutants(&of_kind!(Mutate)),
        goals(&of_kind!(Generate)),
        levels(&of_kind!(Compare)),
        captured(&parts),
        interfaces(&parts),
        devices(&parts),
        gaps(results),
    ];
    sections.into_iter().flatten().collect()
}

fn name(header: &Header) -> [String; 2] {
    [code(&header.kernel), code(&header.source)]
}

fn row<const N: usize>(header: &Header, cells: [String; N]) -> Vec<String> {
    name(header).into_iter().chain(cells).collect()
}

fn optional(p: Option<f64>) -> String {
    p.map_or_else(|| "-".to_owned(), percent)
}

fn complaints(results: &[ResultFile]) -> Option<Section> {
    let all = parts::complaints(results);
    let mut table = Table::new(&["kernel", "file", "what"]);
    for complaint in &all {
        table.row(row(complaint.header, [prose(complaint.text)]));
    }
    section("Not as it was asked for", &all, format!("**{}**", count(all.len() as u64, "complaint")), &table)
}

fn checks(results: &[&CheckResult]) -> Option<Section> {
    let mut table = Table::new(&["kernel", "file", "verdict", ">findings", ">inputs", "holds for"]);
    for r in results {
        let holds = match r.holds_for {
            HoldsFor::AllInterleavings => "all interleavings of the inputs",
            HoldsFor::ExploredSchedules => "the explored schedules",
        };
        let holds = match r.warp_sync {
            Some(items) => format!("{holds}, {}", lockstep(items)),
            None => holds.to_owned(),
        };
        let verdict = match (r.verdict, &r.condition) {
            (Verdict::Clean, _) if are_race_free(&r.proofs, true) => "clean, proved race free".to_owned(),
            (Verdict::Clean, _) => "clean".to_owned(),
            (verdict, Some(condition)) => format!("{}: clean if {}", verdict.name(), prose(&condition.text)),
            (verdict, None) => format!("**{}**", verdict.name()),
        };
        let (findings, inputs) = (r.findings.len().to_string(), r.summary.inputs.to_string());
        table.row(row(&r.header, [verdict, findings, inputs, holds]));
    }
    let verdict = CheckResult::total(results.iter().copied()).verdict;
    let mut section = section("Checks", results, verdict.name().to_owned(), &table)?;
    results.iter().for_each(|result| section.body.push_str(&repairs(result)));
    Some(section)
}

/// The repairs of a kernel with their changes, folded away.
fn repairs(result: &CheckResult) -> String {
    let words = result.header.words();
    let mut body = String::new();
    for repair in &result.repairs {
        let what = if repair.is_one() { texts::edits(repair) } else { texts::why_not(repair).to_owned() };
        let known = if repair.is_one() { format!("; {}", words.say(&texts::known(repair))) } else { String::new() };
        let _ = writeln!(body, "**{}**: {}{}\n", texts::subject(repair), prose(&what), prose(&known));
        body.push_str(&fenced("diff", &repair.diff));
    }
    let summary = format!("Repairs of {}", code(&result.header.kernel));
    details(&summary, &body)
}

/// A section with a table; none without results.
fn section<T>(title: &'static str, results: &[T], headline: String, table: &Table) -> Option<Section> {
    (!results.is_empty()).then(|| Section { title, headline: Some(headline), body: table.render() })
}

fn runs(results: &[&RunResult]) -> Option<Section> {
    let mut table = Table::new(&["kernel", "file", ">tests", ">passed", ">failed", ">broken", ">unchecked"]);
    let (mut bad, mut all) = (0, 0);
    for r in results {
        let s = &r.summary;
        (bad, all) = (sum([bad, s.failed, s.broken]), sum([all, s.total]));
        let numbers = [s.total, s.passed, s.failed, s.broken, s.unchecked].map(|n| n.to_string());
        table.row(row(&r.header, numbers));
    }
    let headline = match bad {
        0 => format!("{} passed", count(all, "test")),
        _ => format!("{bad} of {} failed", count(all, "test")),
    };
    section("Tests", results, headline, &table)
}

fn schedules(results: &[&ScheduleResult]) -> Option<Section> {
    let columns = ["kernel", "file", ">tests", ">stable", ">order-dependent", ">nondeterministic", ">failed"];
    let mut table = Table::new(&columns);
    let (mut stable, mut all) = (0, 0);
    for r in results {
        let s = &r.summary;
        (stable, all) = (sum([stable, s.stable]), sum([all, s.total]));
        let numbers = [s.total, s.stable, s.order_dependent, s.nondeterministic, s.failed].map(|n| n.to_string());
        table.row(row(&r.header, numbers));
    }
    section("Schedules", results, format!("{stable} of {} stable", count(all, "test")), &table)
}

fn coverage(results: &[&CoverResult]) -> Option<Section> {
    let total = CoverResult::total(results.iter().copied());
    let is_shown = |of: &Coverage, n: usize| (METRICS[n].measure)(of).percent().is_some();
    let shown: Vec<usize> = (0..METRICS.len()).filter(|n| results.iter().any(|r| is_shown(&r.coverage, *n))).collect();
    let labels: Vec<String> = shown.iter().map(|n| format!(">{}", METRICS[*n].label)).collect();
    let columns: Vec<&str> = ["kernel", "file"].into_iter().chain(labels.iter().map(String::as_str)).collect();
    let mut table = Table::new(&columns);
    let cells = |coverage: &Coverage| -> Vec<String> {
        let cell = |n: &usize| match (METRICS[*n].measure)(coverage) {
            Measure::Ratio(ratio @ Ratio { covered, total }) if total > 0 => {
                format!("{} ({covered}/{total})", optional(ratio.percent()))
            }
            other => optional(other.percent()),
        };
        shown.iter().map(cell).collect()
    };
    for r in results {
        table.row(name(&r.header).into_iter().chain(cells(&r.coverage)).collect());
    }
    if results.len() > 1 {
        table.row(["**all**".to_owned(), String::new()].into_iter().chain(cells(&total)).collect());
    }
    let headline = match (total.branch.percent(), total.line.percent()) {
        (Some(branch), _) => format!("branch coverage {}", percent(branch)),
        (None, line) => format!("line coverage {}", optional(line)),
    };
    section("Coverage", results, headline, &table)
}

fn mutants(results: &[&MutateResult]) -> Option<Section> {
    let columns =
        ["kernel", "file", ">score", ">mutants", ">detected", ">survived", ">not reached", ">undecided", ">equivalent"];
    let mut table = Table::new(&columns);
    let cells = |s: &Summary| {
        [
            s.score.map_or_else(|| "-".to_owned(), percent),
            s.total.to_string(),
            sum([s.killed, s.timeout, s.runtime_error]).to_string(),
            sum([s.survived, s.equivalent_for_launches]).to_string(),
            s.no_coverage.to_string(),
            s.undecided.to_string(),
            s.equivalent.to_string(),
        ]
    };
    for r in results {
        table.row(row(&r.header, cells(&r.summary)));
    }
    let total = MutateResult::total(results.iter().copied());
    if results.len() > 1 {
        table.row(["**all**".to_owned(), String::new()].into_iter().chain(cells(&total)).collect());
    }
    section("Mutants", results, format!("mutation score {}", optional(total.score)), &table)
}

fn goals(results: &[&GenerateResult]) -> Option<Section> {
    let columns = ["kernel", "file", ">tests", ">covered", ">only with a fault", ">impossible", ">unknown", ">branch"];
    let mut table = Table::new(&columns);
    let mut tests = 0;
    for r in results {
        let s = &r.summary;
        tests = sum([tests, s.tests]);
        let [n, covered, fault, impossible, unknown] =
            [s.tests, s.covered, s.covered_with_fault, sum([s.infeasible, s.equivalent]), s.unknown]
                .map(|n| n.to_string());
        let branch = optional(r.coverage.branch.percent());
        table.row(row(&r.header, [n, covered, fault, impossible, unknown, branch]));
    }
    section("Generated tests", results, format!("{} generated", count(tests, "test")), &table)
}

fn levels(results: &[&CompareResult]) -> Option<Section> {
    let columns = ["level", ">kernels", ">mutants", ">score", ">equivalent", ">duplicate", ">minimal", ">hard"];
    let mut table = Table::new(&columns);
    for r in results {
        for level in r.total.levels.iter().filter(|row| row.concept == "all") {
            let numbers = [level.equivalent, level.duplicate, level.minimal, level.hard].map(|n| n.to_string());
            let score = optional(level.score);
            let start = [code(&level.level), r.total.kernels.to_string(), level.generated.to_string(), score];
            table.row(start.into_iter().chain(numbers).collect());
        }
    }
    let kernels = results.iter().fold(0, |sum: u64, r| sum.saturating_add(r.total.kernels));
    section("Levels of mutants", results, format!("{} compared", count(kernels, "kernel")), &table)
}

fn captured(parts: &[Part<'_>]) -> Option<Section> {
    let mut table = Table::new(&["kernel", "suite", ">launches", ">kept", ">left out", "remark"]);
    let (mut suites, mut any) = (0, false);
    for part in parts {
        let Part::Capture(result) = part else { continue };
        any = true;
        for kernel in &result.kernels {
            suites += u64::from(kernel.suite.is_some());
            let left_out = kernel.left_out.iter().fold(0, |sum: u64, left| sum.saturating_add(left.count));
            let numbers = [kernel.launches, kernel.kept, left_out].map(|n| n.to_string());
            let start = [code(&kernel.name), code(kernel.suite.as_deref().unwrap_or_default())];
            let remark = prose(kernel.error.as_deref().unwrap_or_default());
            table.row(start.into_iter().chain(numbers).chain([remark]).collect());
        }
    }
    section("Captured suites", &vec![(); usize::from(any)], format!("{} captured", count(suites, "suite")), &table)
}

fn interfaces(parts: &[Part<'_>]) -> Option<Section> {
    let columns = ["kernel", "file", ">arguments", ">branch outcomes", ">conditions", ">loops", ">barriers", ">lines"];
    let mut table = Table::new(&columns);
    let mut kernels = 0;
    let mut any = false;
    for part in parts {
        let Part::Inspect(result) = part else { continue };
        any = true;
        for kernel in &result.kernels {
            kernels += 1;
            let c = &kernel.counts;
            let numbers = [kernel.args.len() as u64, c.branch_outcomes, c.conditions, c.loops, c.barriers, c.lines]
                .map(|n| n.to_string());
            table.row([code(&kernel.name), code(&result.header.source)].into_iter().chain(numbers).collect());
        }
    }
    section("Kernels", &vec![(); usize::from(any)], count(kernels, "kernel"), &table)
}

fn devices(parts: &[Part<'_>]) -> Option<Section> {
    let mut table = Table::new(&["device", "name", "kind", "driver"]);
    let (mut found, mut any) = (0, false);
    for part in parts {
        let Part::Devices(result) = part else { continue };
        any = true;
        for device in &result.devices {
            found += 1;
            table.row(vec![code(&device.id), prose(&device.name), prose(&device.kind), prose(&device.driver)]);
        }
    }
    section("Devices", &vec![(); usize::from(any)], count(found, "device"), &table)
}

fn gaps(results: &[ResultFile]) -> Option<Section> {
    let gaps = parts::gaps(results);
    let mut table = Table::new(&["kernel", "why"]);
    for gap in &gaps {
        table.row(vec![code(gap.name()), prose(gap.failed.error.lines().next().unwrap_or_default())]);
    }
    section("Without a result", &gaps, format!("{} without a result", count(gaps.len() as u64, "kernel")), &table)
}
