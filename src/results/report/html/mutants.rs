//! Shows mutants: scores by level, operator and test as tables and figures, and all mutants as a list that the page's
//! script makes from embedded data, so that thousands open at once.

use std::collections::HashMap;

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::super::style;
use super::super::text::schedule_text;
use super::annotations::{Notes, is_missed};
use super::figures;
use super::pages::KernelPage;
use super::parts::{facts, names, notes, percent_bar, shown, sort_key};
use super::source_view::known_hash;
use super::sources::Sources;
use crate::result::mutate::{Location, Mutant, MutateResult, Status, Summary, TestName, TestStatus};
use crate::result::sum;

/// All statuses with their names; mutants in the embedded data name them by position. Missed ones come first.
const STATUSES: [(Status, &str); 11] = [
    (Status::Survived, "survived"),
    (Status::NoCoverage, "no coverage"),
    (Status::Undecided, "undecided"),
    (Status::EquivalentForLaunches, "equivalent for these launches"),
    (Status::Killed, "killed"),
    (Status::Timeout, "timeout"),
    (Status::RuntimeError, "runtime error"),
    (Status::CompileError, "compile error"),
    (Status::Equivalent, "equivalent"),
    (Status::Ignored, "ignored"),
    (Status::Pending, "pending"),
];

/// Statuses at the beginning of the list that are missed mutants.
const MISSED: usize = 4;

/// Texts that many mutants share.
#[derive(Default, Serialize)]
struct Texts {
    #[serde(skip)]
    positions: HashMap<String, usize>,
    list: Vec<String>,
}

impl Texts {
    fn position(&mut self, text: &str) -> usize {
        if let Some(at) = self.positions.get(text) {
            return *at;
        }
        self.list.push(shown(text).into_owned());
        self.positions.insert(text.to_owned(), self.list.len() - 1);
        self.list.len() - 1
    }
}

/// Lists of tests that many mutants share, as positions in the tests of all levels.
#[derive(Default)]
struct Lists {
    positions: HashMap<Vec<usize>, usize>,
    list: Vec<Vec<usize>>,
}

impl Lists {
    fn position(&mut self, tests: Vec<usize>) -> usize {
        if let Some(at) = self.positions.get(&tests) {
            return *at;
        }
        self.list.push(tests.clone());
        self.positions.insert(tests, self.list.len() - 1);
        self.list.len() - 1
    }
}

/// What the script reads: shared texts, and a row for each mutant.
#[derive(Serialize)]
struct Embedded {
    statuses: Vec<&'static str>,
    missed: usize,
    levels: Vec<String>,
    files: Vec<String>,
    operators: Vec<String>,
    functions: Vec<String>,
    tests: Vec<String>,
    lists: Vec<Vec<usize>>,
    reasons: Vec<String>,
    rows: Vec<Row>,
}

/// Id; level, operator, status; file, line, columns from and to in UTF-16 units (0: unknown); function; original,
/// replacement; lists of tests that kill and that reach it; reason (from 1), id of the mutant that it equals, schedule.
type Row = (
    String,
    usize,
    usize,
    usize,
    usize,
    u32,
    usize,
    usize,
    usize,
    String,
    String,
    usize,
    usize,
    usize,
    Option<String>,
    Option<String>,
);

/// Shows the mutants of a kernel.
pub(super) fn mutants(page: &KernelPage<'_>, notes: &Notes<'_>, sources: &Sources) -> Markup {
    let levels: Vec<(&str, &MutateResult)> = page.mutates().collect();
    let anchor = page.anchor();
    html! {
        section.part id={ (anchor) "-mutants" } aria-labelledby={ (anchor) "-mutants-h" } {
            h3 id={ (anchor) "-mutants-h" } { "Mutants" }
            @for run in page.mutates.iter().filter_map(|(_, runs)| runs.last()) {
                (facts(run.file, &run.result.header, run.result.elapsed_s))
            }
            (by_level(&levels))
            (list(page, notes, sources, &levels))
            @for (level, result) in &levels {
                details.part-more open[levels.len() == 1] {
                    summary { "Operators and tests" @if levels.len() > 1 { " at level " (shown(level)) } }
                    div.columns { (by_operator(result)) (by_test(result)) }
                    (figures::kill_matrix(result))
                    (figures::subsumption(result))
                    (pairs(result))
                    (excluded(result))
                }
            }
            @for (_, result) in &levels { (self::notes(&result.notes)) }
        }
    }
}

/// Mutants that no test has detected.
fn missed(s: &Summary) -> u64 {
    sum([s.survived, s.undecided, s.no_coverage, s.equivalent_for_launches])
}

fn parts(s: &Summary) -> [(u64, &'static str, &'static str); 5] {
    [
        (sum([s.killed, s.timeout, s.runtime_error]), "good", "detected"),
        (sum([s.survived, s.undecided, s.equivalent_for_launches]), "bad", "survived or undecided"),
        (s.no_coverage, "warn", "not reached"),
        (sum([s.equivalent, s.duplicate]), "quiet", "equivalent or duplicate"),
        (sum([s.ignored, s.compile_error, s.pending]), "none", "not run"),
    ]
}

fn by_level(levels: &[(&str, &MutateResult)]) -> Markup {
    html! {
        table.numbers {
            thead {
                tr {
                    th scope="col" { "level" } th scope="col" { "score" } th.n scope="col" { "missed" } th.n scope="col" { "detected" }
                    th.n scope="col" { "equivalent" } th.n scope="col" { "duplicate" } th.n scope="col" { "not run" } th.n scope="col" { "all" }
                    th scope="col" { "reached" } th.n scope="col" { "time" } th { span.vh { "parts" } }
                }
            }
            tbody {
                @for (level, result) in levels {
                    @let s = &result.summary;
                    tr {
                        th scope="row" { (shown(level)) @if let Some(shard) = &result.shard { " (shard " (shown(shard)) ")" } }
                        td { (percent_bar(s.score)) }
                        td.n { b { (missed(s)) } } td.n { (sum([s.killed, s.timeout, s.runtime_error])) }
                        td.n { (s.equivalent) } td.n { (s.duplicate) } td.n { (sum([s.ignored, s.compile_error, s.pending])) } td.n { (s.total) }
                        td { (percent_bar(s.mutation_coverage)) }
                        td.n { (style::seconds(result.elapsed_s)) }
                        td.w { (figures::bars(&parts(s))) }
                    }
                }
            }
        }
    }
}

fn by_operator(result: &MutateResult) -> Markup {
    html! {
        table.numbers.sortable {
            caption { "Score by operator" }
            thead { tr { th scope="col" { "operator" } th scope="col" { "score" } th.n scope="col" { "missed" } th.n scope="col" { "all" } th { span.vh { "parts" } } } }
            tbody {
                @for (operator, s) in &result.operators {
                    tr {
                        th scope="row" { (shown(operator)) }
                        td data-sort=(sort_key(s.score)) { (percent_bar(s.score)) }
                        td.n { (missed(s)) } td.n { (s.total) }
                        td.w { (figures::bars(&parts(s))) }
                    }
                }
            }
        }
    }
}

fn by_test(result: &MutateResult) -> Markup {
    html! {
        table.numbers.sortable {
            caption { "Tests" }
            thead { tr { th scope="col" { "test" } th.n scope="col" { "kills" } th.n scope="col" { "reaches" } th scope="col" { "status" } } }
            tbody {
                @for test in &result.tests {
                    tr {
                        th scope="row" { (shown(&test.name)) } td.n { (test.kills) } td.n { (test.reaches) }
                        td {
                            @if test.status == TestStatus::Used { span.quiet { "used" } }
                            @else { span.bad { "dropped" } @if let Some(why) = &test.reason { ": " (shown(why)) } }
                        }
                    }
                }
            }
        }
    }
}

fn pairs(result: &MutateResult) -> Markup {
    html! {
        @if let Some(pairs) = &result.pairs {
            p {
                "Pairs of mutants: " (pairs.total) ", " (missed(pairs)) " missed, score " (pairs.score.map_or("–".to_owned(), style::percent)) "."
                @if let Some(second) = &result.second_order { " " (second.others) " survive although both parts are detected." }
            }
        }
    }
}

fn excluded(result: &MutateResult) -> Markup {
    html! {
        @if !result.excluded.is_empty() || !result.not_simulated.is_empty() {
            details {
                summary { "Not mutated or not judged (" (result.excluded.len() + result.not_simulated.len()) ")" }
                ul.plain {
                    @for place in &result.excluded { li { (shown(&place.operator)) " in line " (place.location.start.line) ": " (shown(&place.reason)) } }
                    @for left in &result.not_simulated {
                        li { (shown(left.test.as_deref().or(left.mutant.as_deref()).unwrap_or_default())) ": " (shown(&left.reason)) }
                    }
                }
            }
        }
    }
}

/// The list of all mutants with its filters, and the data from which the script makes it.
fn list(page: &KernelPage<'_>, notes: &Notes<'_>, sources: &Sources, levels: &[(&str, &MutateResult)]) -> Markup {
    let data = embedded(page, notes, sources, levels);
    let json = serde_json::to_string(&data).unwrap_or_default();
    // Nothing in the data may end the element that holds it, or begin a comment in it.
    let json = json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let missed: Vec<&Mutant> =
        levels.iter().flat_map(|(_, r)| &r.mutants).filter(|m| is_missed(m) && !m.is_pair()).collect();
    let anchor = page.anchor();
    html! {
        form.filters data-page=(page.number) hidden aria-label="Filter mutants" {
            label { "Status" select name="status" { option value="missed" { "missed" } option value="" { "all" } @for (n, (_, name)) in STATUSES.iter().enumerate() { option value=(n) { (name) } } } }
            label { "Operator" select name="operator" { option value="" { "all" } } }
            label hidden[levels.len() < 2] { "Level" select name="level" { option value="" { "all" } } }
            label { "Search" input type="search" name="text" placeholder="id, code, reason, test" autocomplete="off"; }
            output.count aria-live="polite" {}
        }
        table.mutants id={ (anchor) "-list" } hidden {
            caption.vh { "Mutants of " (shown(page.name)) }
            thead { tr { th scope="col" { "status" } th scope="col" { "operator" } th scope="col" { "line" } th scope="col" { "change" } th scope="col" { "tests" } th scope="col" { span.vh { "details" } } } }
            tbody {}
        }
        noscript {
            p { "The list of all mutants needs scripts. These " (missed.len()) " are missed:" }
            ul.plain {
                @for mutant in missed.iter().take(200) {
                    li { (shown(&mutant.operator)) " in line " (mutant.location.start.line) ": " code { (shown(&mutant.original)) " → " (shown(&mutant.replacement)) } }
                }
            }
        }
        script type="application/json" id={ (anchor) "-data" } { (PreEscaped(json)) }
    }
}

fn embedded(page: &KernelPage<'_>, notes: &Notes<'_>, sources: &Sources, levels: &[(&str, &MutateResult)]) -> Embedded {
    let (mut operators, mut functions, mut tests, mut reasons) =
        (Texts::default(), Texts::default(), Texts::default(), Texts::default());
    let mut lists = Lists::default();
    let mut rows = Vec::new();
    let files: Vec<&str> = notes.files.iter().map(|file| file.name).collect();
    let texts: Vec<_> = files.iter().map(|name| sources.text(name, page.source, known_hash(page, name))).collect();
    let lines: Vec<Vec<&str>> =
        texts.iter().map(|text| text.as_ref().as_ref().map(|t| t.lines().collect()).unwrap_or_default()).collect();
    for (level, (_, result)) in levels.iter().enumerate() {
        for mutant in result.mutants.iter().filter(|m| !m.is_pair()) {
            let name = if mutant.location.file.is_empty() { page.source } else { &mutant.location.file };
            let file = files.iter().position(|known| *known == name).unwrap_or_default();
            let columns = lines.get(file).and_then(|lines| columns(mutant, lines)).unwrap_or((0, 0));
            let mut list = |names: &[TestName]| lists.position(names.iter().map(|name| tests.position(name)).collect());
            let status = STATUSES.iter().position(|(status, _)| *status == mutant.status).unwrap_or_default();
            rows.push((
                shown(&mutant.id).into_owned(),
                level,
                operators.position(&mutant.operator),
                status,
                file,
                mutant.location.start.line,
                columns.0,
                columns.1,
                functions.position(&mutant.function),
                shown(&mutant.original).into_owned(),
                shown(&mutant.replacement).into_owned(),
                list(&mutant.killed_by),
                list(&mutant.covered_by),
                mutant.reason.as_deref().map_or(0, |reason| reasons.position(reason) + 1),
                mutant.duplicate_of.as_deref().map(|id| shown(id).into_owned()),
                mutant.schedule.as_ref().map(|order| schedule_text(order, notes.words)),
            ));
        }
    }
    Embedded {
        statuses: STATUSES.iter().map(|(_, name)| *name).collect(),
        missed: MISSED,
        levels: levels.iter().map(|(level, _)| shown(level).into_owned()).collect(),
        files: files.iter().map(|name| shown(name).into_owned()).collect(),
        operators: operators.list,
        functions: functions.list,
        tests: tests.list,
        lists: lists.list,
        reasons: reasons.list,
        rows,
    }
}

/// Returns the columns of the original's text in its line, from 1, in UTF-16 units, as scripts count; `None` if it is
/// not what the line has there (as in macros), or is of several lines.
fn columns(mutant: &Mutant, lines: &[&str]) -> Option<(usize, usize)> {
    let Location { start, end, .. } = mutant.location;
    let line = lines.get((start.line as usize).checked_sub(1)?)?;
    let (from, to) = ((start.column as usize).checked_sub(1)?, (end.column as usize).checked_sub(1)?);
    let text = line.get(from..to).filter(|_| start.line == end.line)?;
    let squeezed = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    // Spelling out what hides would move columns.
    if squeezed(text) != squeezed(&mutant.original) || shown(line) != **line {
        return None;
    }
    let units = |text: &str| text.encode_utf16().count() + 1;
    Some((units(&line[..from]), units(&line[..to])))
}

/// The missed mutants of a line in words, for lists of what is untested.
pub(super) fn missed_on_line(page: &KernelPage<'_>, file: &str, line: u32) -> String {
    let found: Vec<String> = page
        .mutates()
        .flat_map(|(_, result)| &result.mutants)
        .filter(|m| is_missed(m) && !m.is_pair() && m.location.start.line == line)
        .filter(|m| m.location.file == file || m.location.file.is_empty())
        .map(|m| match m.replacement.as_str() {
            "" => format!("{} deleted", m.original),
            new if m.original.is_empty() => new.to_owned(),
            new => format!("{} → {new}", m.original),
        })
        .collect();
    names(&found, 3)
}
