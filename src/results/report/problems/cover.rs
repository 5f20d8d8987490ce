//! What no test covers.

use super::problem::{Place, Places, Problem};
use super::rules::{self, Level, Rule};
use crate::report::by_file::{self, Site};
use crate::report::texts::Texts;
use crate::result::Location;
use crate::result::cover::{CoverResult, SiteOutcome, TestStatus};

/// Returns a problem for each run of lines that are not executed, for each site on other lines with outcomes that are
/// not covered, and for what MC/DC and def-use coverage miss; and for each test that did not complete.
pub(super) fn problems(result: &CoverResult, texts: &Texts) -> Vec<Problem> {
    let reader = Reader { result, kernel: &result.header.kernel, places: Places::of(texts, &result.header.source) };
    let mut problems = reader.lines();
    problems.extend(reader.sites());
    problems.extend(reader.conditions());
    problems.extend(reader.pairs());
    problems.extend(reader.tests());
    problems
}

struct Reader<'a> {
    result: &'a CoverResult,
    kernel: &'a str,
    places: Places<'a>,
}

impl Reader<'_> {
    /// Lines that are not executed, with those of the same function that follow each other as one.
    fn lines(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut lines: Vec<&SiteOutcome> = self.result.sites.iter().filter(|s| s.kind == "line").collect();
        lines.sort_by_key(|s| (&s.location.file, s.location.line));
        let mut run: Vec<&SiteOutcome> = Vec::new();
        for line in lines.into_iter().map(Some).chain([None]) {
            let goes_on = |next: &SiteOutcome| {
                run.last().is_some_and(|last| {
                    !next.covered && last.function == next.function && last.location.file == next.location.file
                })
            };
            if !line.is_some_and(goes_on)
                && let (Some(first), Some(last)) = (run.first(), run.last())
            {
                problems.push(self.run_of_lines(first, last));
                run.clear();
            }
            run.extend(line.filter(|line| !line.covered && line.location.line > 0));
        }
        problems
    }

    fn run_of_lines(&self, first: &SiteOutcome, last: &SiteOutcome) -> Problem {
        let (start, end) = (first.location.line, last.location.line);
        let which = if start == end { format!("line {start} is") } else { format!("lines {start} to {end} are") };
        let message = format!("{which} not executed by any test");
        let place = Place { column: 0, end_line: end, ..self.places.at(&first.location) };
        Problem::new(&rules::UNEXECUTED_LINES, self.kernel, place, message, String::new()).within(&first.function)
    }

    /// Sites with outcomes that are not covered, where that is not said by the line already.
    fn sites(&self) -> Vec<Problem> {
        let files = by_file::files(self.result);
        let sites = files.iter().flat_map(|file| {
            file.sites.iter().filter(|site| file.lines.get(&site.shared().location.line).is_none_or(|l| l.covered))
        });
        sites.filter_map(|site| self.site(site)).collect()
    }

    fn site(&self, site: &Site<'_>) -> Option<Problem> {
        let (missing, what) = (site.missing(), site.shared());
        if missing.is_empty() {
            return None;
        }
        let rule: &'static Rule = match what.kind.as_str() {
            "branch" => &rules::UNCOVERED_BRANCH,
            "condition" => &rules::UNCOVERED_CONDITION,
            "loop" => &rules::UNCOVERED_LOOP,
            "barrier" => &rules::UNCOVERED_BARRIER,
            "statement" => &rules::UNEXECUTED_STATEMENT,
            // A region is what its branch leads to.
            _ => return None,
        };
        let name = match (what.kind.as_str(), what.construct.as_str()) {
            (kind, construct) if construct.is_empty() || construct == kind => kind.to_owned(),
            ("condition", "&&" | "||") => format!("operand of `{}`", what.construct),
            ("condition", _) => "operand of a decision".to_owned(),
            ("statement", _) => "statement".to_owned(),
            (_, construct) => format!("`{construct}`"),
        };
        let outcomes: Vec<String> = missing.iter().map(|outcome| format!("`{outcome}`")).collect();
        let message = match what.kind.as_str() {
            "statement" => "this statement is not executed by any test".to_owned(),
            "barrier" => {
                let groups = "in no work-group of any test does every work-item arrive at this";
                format!("{} {name}", self.result.header.words().say(groups))
            }
            "loop" => format!("no test has this {name} run so: {}", outcomes.join(", ")),
            _ if missing.len() == site.outcomes.len() => format!("this {name} is not evaluated by any test"),
            _ => format!("this {name} is never {} in any test", outcomes.join(" or ")),
        };
        let key = format!("{} {}", what.kind, what.construct);
        let place = self.places.at(&what.location);
        Some(Problem::new(rule, self.kernel, place, message, key).within(&what.function))
    }

    /// Conditions whose independent effect is not shown.
    fn conditions(&self) -> Vec<Problem> {
        let decisions = self.result.mcdc.iter().flat_map(|mcdc| &mcdc.decisions).filter(|d| d.reason.is_none());
        let mut problems = Vec::new();
        for decision in decisions {
            for (number, condition) in (1..).zip(&decision.conditions) {
                if condition.covered || condition.reason.is_some() {
                    continue;
                }
                let message = format!(
                    "no test shows that condition {number} of this decision alone changes its result; missing: {}",
                    condition.missing.join(", ")
                );
                let key = format!("{number} of {}", decision.construct);
                let place = self.places.at(&condition.location);
                let problem = Problem::new(&rules::UNSHOWN_CONDITION, self.kernel, place, message, key);
                problems.push(problem.within(&decision.function));
            }
        }
        problems
    }

    /// Definitions whose uses no test exercises.
    fn pairs(&self) -> Vec<Problem> {
        let pairs = self.result.def_use.iter().flat_map(|def_use| &def_use.pairs).filter(|pair| !pair.covered);
        pairs
            .map(|pair| {
                let from = match &pair.definition {
                    Some(definition) => format!("what {} writes", at_line(&definition.location)),
                    None => "what the host has written".to_owned(),
                };
                let kind = pair.kind.label();
                let message = format!("no test reads here {from} to `{}` ({kind})", pair.variable);
                let key = format!("{} {kind} {}", pair.variable, pair.usage.operation);
                let place = self.places.at(&pair.usage.location);
                let mut problem = Problem::new(&rules::UNUSED_DEFINITION, self.kernel, place, message, key);
                if let Some(definition) = &pair.definition {
                    let place = self.places.at(&definition.location);
                    problem.related.push((place, format!("`{}` gets its value here", pair.variable)));
                }
                problem.within(&pair.usage.function)
            })
            .collect()
    }

    /// Tests that did not complete, and so cover less than they should.
    fn tests(&self) -> Vec<Problem> {
        let tests = self.result.tests.iter().filter(|test| test.status != TestStatus::Completed);
        tests
            .map(|test| {
                let reason = test.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
                let message = format!("test \"{}\" ended as `{}`{reason}", test.name, test.status.name());
                let place = self.places.file();
                let problem = Problem::new(&rules::BROKEN_TEST, self.kernel, place, message, test.name.clone());
                Problem { level: Level::Error, ..problem }
            })
            .collect()
    }
}

fn at_line(at: &Location) -> String {
    if at.line == 0 { "another place".to_owned() } else { format!("line {}", at.line) }
}
