//! Writes results as CSV (RFC 4180), for spreadsheets, R and pandas: a row a test, site outcome, mutant, finding, goal
//! or kernel.
//!
//! Values stand as they are in the result. Texts of a source may begin with `=` or `-`, which spreadsheets take for
//! formulas unless the column is imported as text.

use kassay_base::error::{Error, Result};

use super::parts;
use crate::result::any::{KERNEL_COMMANDS, Part};
use crate::result::check::{Finding, Memory, Scope};
use crate::result::generate::{By, GoalStatus};
use crate::result::mutate::Status;
use crate::result::store::ResultFile;
use crate::result::{Header, Location};

/// The commands whose results are tables. `compare` writes its own.
pub(super) const COMMANDS: &[&[&str]] = &[KERNEL_COMMANDS, &["capture", "inspect"]];

/// Returns the columns of a command's table.
fn columns(command: &str) -> &'static [&'static str] {
    match command {
        "run" => &["kernel", "source", "test", "status", "reason", "mismatches", "kernel_s"],
        "cover" => &[
            "kernel",
            "source",
            "id",
            "kind",
            "construct",
            "function",
            "file",
            "line",
            "column",
            "outcome",
            "covered",
            "tests",
            "hits",
            "divergent_groups",
        ],
        "mutate" => &[
            "kernel",
            "source",
            "id",
            "operator",
            "function",
            "file",
            "start_line",
            "start_column",
            "end_line",
            "end_column",
            "original",
            "replacement",
            "status",
            "killed_by",
            "covered_by",
            "duplicate_of",
            "reason",
        ],
        "check" => &[
            "kernel",
            "source",
            "verdict",
            "kind",
            "scope",
            "memory",
            "variable",
            "element",
            "benign",
            "count",
            "file",
            "line",
            "column",
            "mode",
            "other_file",
            "other_line",
            "other_column",
            "other_mode",
            "input",
            "inputs",
            "message",
            "reproduction",
        ],
        "schedule" => &["kernel", "source", "test", "verdict", "work_groups", "schedules", "differing_outputs"],
        "generate" => &[
            "kernel", "source", "kind", "site", "outcome", "mutant", "file", "line", "column", "status", "by",
            "reason", "bound", "time_s",
        ],
        "capture" => {
            &["kernel", "source", "program", "launches", "refused", "kept", "left_out", "suite", "exact", "error"]
        }
        "inspect" => &["kernel", "source", "id", "kind", "construct", "function", "file", "line", "column", "outcomes"],
        _ => &[],
    }
}

/// Returns the table of loaded results.
///
/// # Errors
/// `Caller` if the results are of several commands, which have different columns.
pub(super) fn convert(results: &[ResultFile]) -> Result<String> {
    let command = |n: usize| results[n].1.command();
    if let Some(other) = (1..results.len()).find(|n| command(*n) != command(0)) {
        let what = format!(
            "{} is a result of `kassay {}`, and {} one of `kassay {}`: their tables have different columns",
            results[0].0.display(),
            results[0].1.command_line(),
            results[other].0.display(),
            results[other].1.command_line()
        );
        return Err(Error::caller(what).help("write a CSV file for the results of each command"));
    }
    let failed = |e: &dyn std::fmt::Display| Error::internal(format!("cannot turn the report into CSV: {e}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns(command(0))).map_err(|e| failed(&e))?;
    for row in parts::parts(results).into_iter().flat_map(rows) {
        writer.write_record(row).map_err(|e| failed(&e))?;
    }
    let bytes = writer.into_inner().map_err(|e| failed(&e))?;
    String::from_utf8(bytes).map_err(|e| failed(&e))
}

/// A row: a value for each column.
type Row = Vec<String>;

fn rows(part: Part<'_>) -> Vec<Row> {
    match part {
        Part::Run(r) => r.tests.iter().map(|test| of(&r.header).and(run(test))).collect(),
        Part::Cover(r) => r.sites.iter().map(|site| of(&r.header).and(outcome(site))).collect(),
        Part::Mutate(r) => r.mutants.iter().map(|m| of(&r.header).and(mutant(m))).collect(),
        Part::Check(r) => r
            .findings
            .iter()
            .map(|f| of(&r.header).and([text(r.verdict.name())].into_iter().chain(finding(f))))
            .collect(),
        Part::Schedule(r) => r.tests.iter().map(|test| of(&r.header).and(scheduled(test))).collect(),
        Part::Generate(r) => r.goals.iter().map(|g| of(&r.header).and(goal(g))).collect(),
        Part::Capture(r) => {
            let file = |id: &str| r.programs.iter().find(|p| p.id == id).and_then(|program| program.file.clone());
            r.kernels.iter().map(|k| vec![k.name.clone(), or_empty(&file(&k.program))].and(captured(k))).collect()
        }
        Part::Inspect(r) => {
            let of_kernel = |kernel: &crate::result::inspect::Kernel| -> Vec<Row> {
                let begin = || vec![kernel.name.clone(), r.header.source.clone()];
                kernel.sites.iter().map(|s| begin().and(site(s))).collect()
            };
            r.kernels.iter().flat_map(of_kernel).collect()
        }
        Part::Devices(_) | Part::Compare(_) => Vec::new(),
    }
}

/// The first columns of a row.
fn of(header: &Header) -> Row {
    vec![header.kernel.clone(), header.source.clone()]
}

/// Goes on with a row.
trait And {
    fn and(self, more: impl IntoIterator<Item = String>) -> Row;
}

impl And for Row {
    fn and(mut self, more: impl IntoIterator<Item = String>) -> Row {
        self.extend(more);
        self
    }
}

fn text(value: impl ToString) -> String {
    value.to_string()
}

/// An absent value is an empty cell.
fn or_empty<T: ToString>(value: &Option<T>) -> String {
    value.as_ref().map(T::to_string).unwrap_or_default()
}

/// Names in one cell, a line each, because they may hold any other character.
fn names(list: &[impl std::borrow::Borrow<str>]) -> String {
    list.join("\n")
}

/// File, line and column; what is unknown is empty.
fn place(at: Option<&Location>) -> [String; 3] {
    let known = |n: u32| if n == 0 { String::new() } else { n.to_string() };
    at.map_or_else(Default::default, |at| [at.file.clone(), known(at.line), known(at.column)])
}

fn run(test: &crate::result::run::Test) -> Row {
    let mismatches = test.outputs.iter().fold(0, |sum: u64, output| sum.saturating_add(output.mismatches));
    vec![
        test.name.clone(),
        text(test.status.name()),
        or_empty(&test.reason),
        text(mismatches),
        or_empty(&test.kernel_s),
    ]
}

fn outcome(site: &crate::result::cover::SiteOutcome) -> Row {
    let hit = site.hits_by_test.values().filter(|hits| **hits > 0);
    let hits = hit.clone().fold(0, |sum: u64, hits| sum.saturating_add(*hits));
    let start = [&site.id, &site.kind, &site.construct, &site.function].map(String::clone);
    let end =
        [site.outcome.clone(), text(site.covered), text(hit.count()), text(hits), or_empty(&site.divergent_groups)];
    start.into_iter().chain(place(Some(&site.location))).chain(end).collect()
}

fn mutant(m: &crate::result::mutate::Mutant) -> Row {
    let at = &m.location;
    let known = |n: u32| if n == 0 { String::new() } else { n.to_string() };
    let start = [&m.id, &m.operator, &m.function, &at.file].map(String::clone);
    let range = [at.start.line, at.start.column, at.end.line, at.end.column].map(known);
    let end = [
        m.original.clone(),
        m.replacement.clone(),
        text(status(m.status)),
        names(&m.killed_by),
        names(&m.covered_by),
        or_empty(&m.duplicate_of),
        or_empty(&m.reason),
    ];
    start.into_iter().chain(range).chain(end).collect()
}

/// The word that results use.
pub(super) fn status(status: Status) -> &'static str {
    match status {
        Status::Killed => "killed",
        Status::Survived => "survived",
        Status::Timeout => "timeout",
        Status::RuntimeError => "runtime-error",
        Status::CompileError => "compile-error",
        Status::NoCoverage => "no-coverage",
        Status::Ignored => "ignored",
        Status::Pending => "pending",
        Status::Undecided => "undecided",
        Status::Equivalent => "equivalent",
        Status::EquivalentForLaunches => "equivalent-for-launches",
    }
}

fn finding(f: &Finding) -> Row {
    let scope = match f.scope {
        Some(Scope::IntraGroup) => "intra-group",
        Some(Scope::InterGroup) => "inter-group",
        None => "",
    };
    let memory = match f.memory {
        Some(Memory::Global) => "global",
        Some(Memory::Local) => "local",
        Some(Memory::Private) => "private",
        Some(Memory::Constant) => "constant",
        Some(Memory::Image) => "image",
        None => "",
    };
    let start = [
        text(f.kind.name()),
        text(scope),
        text(memory),
        or_empty(&f.variable),
        or_empty(&f.index),
        text(f.benign),
        text(f.count),
    ];
    let access = |n: usize| {
        let access = f.accesses.get(n);
        let mode = access.and_then(|access| access.mode).map_or("", mode);
        place(access.map(|access| &access.location)).into_iter().chain([text(mode)])
    };
    let end = [or_empty(&f.input), text(f.inputs), f.message.clone(), or_empty(&f.reproduction)];
    start.into_iter().chain(access(0)).chain(access(1)).chain(end).collect()
}

fn mode(mode: crate::result::check::Mode) -> &'static str {
    use crate::result::check::Mode;
    match mode {
        Mode::Read => "read",
        Mode::Write => "write",
        Mode::Atomic => "atomic",
    }
}

fn scheduled(test: &crate::result::schedule::Test) -> Row {
    let mut outputs: Vec<String> = test.differing_outputs.iter().map(|d| d.argument.clone()).collect();
    outputs.dedup();
    let schedules = text(test.schedules.len());
    vec![test.name.clone(), text(test.verdict.name()), text(test.work_groups), schedules, names(&outputs)]
}

fn goal(goal: &crate::result::generate::Goal) -> Row {
    let by = match goal.by {
        Some(By::Seed) => "seed",
        Some(By::Fuzz) => "fuzz",
        Some(By::Smt) => "smt",
        None => "",
    };
    let start = [goal.kind.clone(), or_empty(&goal.site), or_empty(&goal.outcome), or_empty(&goal.mutant)];
    let end =
        [text(goal_status(goal.status)), text(by), or_empty(&goal.reason), or_empty(&goal.bound), text(goal.time_s)];
    start.into_iter().chain(place(Some(&goal.location))).chain(end).collect()
}

fn goal_status(status: GoalStatus) -> &'static str {
    match status {
        GoalStatus::Covered => "covered",
        GoalStatus::CoveredWithFault => "covered-with-fault",
        GoalStatus::Infeasible => "infeasible",
        GoalStatus::Equivalent => "equivalent",
        GoalStatus::Unknown => "unknown",
    }
}

fn captured(kernel: &crate::result::capture::Kernel) -> Row {
    let left_out = kernel.left_out.iter().fold(0, |sum: u64, left| sum.saturating_add(left.count));
    vec![
        kernel.program.clone(),
        text(kernel.launches),
        text(kernel.refused),
        text(kernel.kept),
        text(left_out),
        or_empty(&kernel.suite),
        or_empty(&kernel.replay.as_ref().map(|replay| replay.exact)),
        or_empty(&kernel.error),
    ]
}

fn site(site: &crate::result::inspect::Site) -> Row {
    let start = [&site.id, &site.kind, &site.construct, &site.function].map(String::clone);
    start.into_iter().chain(place(Some(&site.location))).chain([names(&site.outcomes)]).collect()
}
