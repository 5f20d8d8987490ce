//! Gathers what all results say of each line of a kernel's source: what ran it, what is untested, mutants, findings,
//! goals.

use std::collections::{BTreeMap, HashMap};

use kassay_model::words::Words;

use super::super::by_file::{self, Site};
use super::super::style;
use super::pages::KernelPage;
use super::parts::Tone;
use crate::result::check::Finding;
use crate::result::generate::{Goal, GoalStatus};
use crate::result::mcdc::McdcDecision;
use crate::result::mutate::{Mutant, Status};

/// Hits of a line.
pub(super) struct Hits {
    pub(super) covered: bool,
    /// Tests that executed it.
    pub(super) tests: usize,
    /// Work-items that executed it, over all tests, if the run counted them.
    pub(super) items: u64,
}

/// All that is known of a line.
#[derive(Default)]
pub(super) struct Line<'a> {
    pub(super) hits: Option<Hits>,
    pub(super) sites: Vec<Site<'a>>,
    pub(super) decisions: Vec<&'a McdcDecision>,
    /// Findings with their numbers, from 1.
    pub(super) findings: Vec<(usize, &'a Finding)>,
    pub(super) goals: Vec<&'a Goal>,
    /// Mutants of all levels, without duplicates and pairs, and those of them that no test detects.
    pub(super) mutants: usize,
    pub(super) missed: usize,
}

/// A source file with its lines; line 0 has what is known of no line.
pub(super) struct File<'a> {
    pub(super) name: &'a str,
    pub(super) lines: BTreeMap<u32, Line<'a>>,
}

/// A remark on a line.
pub(super) struct Chip {
    pub(super) tone: Tone,
    pub(super) text: String,
}

impl Chip {
    fn new(tone: Tone, text: impl Into<String>) -> Chip {
        Chip { tone, text: text.into() }
    }
}

/// The notes on a kernel's source.
pub(super) struct Notes<'a> {
    pub(super) files: Vec<File<'a>>,
    /// Proved and failed goals of a search, by site and outcome.
    decided: HashMap<(&'a str, &'a str), GoalStatus>,
    /// Number of tests of the coverage shown.
    pub(super) tests: usize,
    /// The words for what is said of the kernel.
    pub(super) words: Words,
}

/// Returns whether tests should have detected a mutant and did not.
pub(super) fn is_missed(mutant: &Mutant) -> bool {
    mutant.duplicate_of.is_none() && mutant.status.is_undetected() && mutant.status != Status::Equivalent
}

impl<'a> Notes<'a> {
    /// Gathers the notes of a kernel.
    pub(super) fn of(page: &KernelPage<'a>) -> Notes<'a> {
        let mut notes = Notes { files: Vec::new(), decided: HashMap::new(), tests: 0, words: Words::of(page.source) };
        if let Some(cover) = page.cover() {
            // Pairs link to their lines.
            let pairs = cover.def_use.iter().flat_map(|def_use| &def_use.pairs);
            for at in
                pairs.flat_map(|pair| pair.definition.iter().chain([&pair.usage])).filter(|at| at.location.line > 0)
            {
                notes.line(&at.location.file, at.location.line);
            }
            notes.tests = cover.tests.len();
            for file in by_file::files(cover) {
                notes.coverage(file);
            }
            for decision in cover.mcdc.iter().flat_map(|mcdc| &mcdc.decisions) {
                notes.line(&decision.location.file, decision.location.line).decisions.push(decision);
            }
        }
        for (_, result) in page.mutates() {
            for mutant in result.mutants.iter().filter(|m| m.duplicate_of.is_none() && !m.is_pair()) {
                let at = &mutant.location;
                let file = if at.file.is_empty() { page.source } else { &at.file };
                let line = notes.line(file, at.start.line);
                line.mutants += 1;
                line.missed += usize::from(is_missed(mutant));
            }
        }
        for (number, finding) in (1..).zip(page.check().iter().flat_map(|check| &check.findings)) {
            let mut known: Vec<(&str, u32)> = Vec::new();
            for access in &finding.accesses {
                let at = (access.location.file.as_str(), access.location.line);
                if !known.contains(&at) {
                    known.push(at);
                    notes.line(at.0, at.1).findings.push((number, finding));
                }
            }
        }
        for goal in page.generate().iter().flat_map(|result| &result.goals) {
            if let (Some(site), Some(outcome)) = (&goal.site, &goal.outcome) {
                notes.decided.insert((site, outcome), goal.status);
            }
            if goal.mutant.is_none() || goal.location.line > 0 {
                notes.line(&goal.location.file, goal.location.line).goals.push(goal);
            }
        }
        notes
    }

    fn coverage(&mut self, file: by_file::File<'a>) {
        for (number, line) in file.lines {
            let hits = Hits {
                covered: line.covered,
                tests: line.hits.values().filter(|n| **n > 0).count(),
                items: line.hits.values().fold(0, |sum, hits| sum.saturating_add(*hits)),
            };
            self.line(file.name, number).hits = Some(hits);
        }
        for site in file.sites {
            let number = site.shared().location.line;
            self.line(file.name, number).sites.push(site);
        }
    }

    fn line(&mut self, file: &'a str, line: u32) -> &mut Line<'a> {
        let at = self.files.iter().position(|known| known.name == file).unwrap_or_else(|| {
            self.files.push(File { name: file, lines: BTreeMap::new() });
            self.files.len() - 1
        });
        self.files[at].lines.entry(line).or_default()
    }

    /// What a search found out about an outcome that is not covered.
    pub(super) fn decided(&self, site: &str, outcome: &str) -> Option<GoalStatus> {
        self.decided.get(&(site, outcome)).copied().filter(|status| *status != GoalStatus::Covered)
    }

    /// What is untested on a line, in few words; nothing if all is well.
    pub(super) fn untested(&self, line: &Line<'a>) -> Vec<Chip> {
        let mut chips = Vec::new();
        let is_executed = line.hits.as_ref().is_none_or(|hits| hits.covered);
        if !is_executed {
            chips.push(Chip::new(Tone::Bad, "never executed"));
        }
        let mut statements = 0;
        for site in &line.sites {
            let what = site.shared();
            match what.kind.as_str() {
                // Outcomes of what is never executed follow from that.
                _ if !is_executed => {}
                "statement" | "region" => statements += usize::from(!what.covered && what.kind == "statement"),
                _ => chips.extend(self.missing(site)),
            }
        }
        if statements > 0 {
            let s = if statements == 1 { "" } else { "s" };
            chips.push(Chip::new(Tone::Bad, format!("{statements} statement{s} never executed")));
        }
        let open = |d: &McdcDecision| d.conditions.iter().filter(|c| !c.covered && c.reason.is_none()).count();
        let open: usize = line.decisions.iter().filter(|d| d.reason.is_none()).map(|d| open(d)).sum();
        if open > 0 && is_executed {
            let s = if open == 1 { "" } else { "s" };
            chips.push(Chip::new(Tone::Warn, format!("MC/DC: {open} condition{s} not shown")));
        }
        if line.missed > 0 {
            chips.push(Chip::new(Tone::Warn, format!("{} of {} mutants missed", line.missed, line.mutants)));
        }
        chips
    }

    /// The outcomes of a site that no test covers.
    fn missing(&self, site: &Site<'a>) -> Option<Chip> {
        let what = site.shared();
        let (mut open, mut infeasible) = (Vec::new(), Vec::new());
        for outcome in site.missing() {
            match self.decided(&what.id, outcome) {
                Some(GoalStatus::Infeasible) => infeasible.push(outcome),
                _ => open.push(outcome),
            }
        }
        let construct = match what.kind.as_str() {
            "condition" => "condition",
            "loop" => "loop",
            _ => &what.construct,
        };
        let never = match what.kind.as_str() {
            "barrier" => self.words.say("not reached by a whole group").into_owned(),
            _ => format!("never {}", if open.is_empty() { infeasible.join(", ") } else { open.join(", ") }),
        };
        match (open.is_empty(), infeasible.is_empty()) {
            (true, true) => None,
            (true, false) => Some(Chip::new(Tone::Quiet, format!("{construct} {never}: infeasible"))),
            (false, _) => Some(Chip::new(Tone::Bad, format!("{construct} {never}"))),
        }
    }

    /// What else there is to say of a line in few words.
    pub(super) fn remarks(&self, line: &Line<'a>) -> Vec<Chip> {
        let mut chips: Vec<Chip> =
            line.findings.iter().map(|(_, finding)| Chip::new(tone(finding), finding.kind.name())).collect();
        let divergent: u64 = line.sites.iter().map(Site::divergent_groups).max().unwrap_or(0);
        if divergent > 0 {
            let groups = format!("diverges in {}", style::count(divergent, "group"));
            chips.push(Chip::new(Tone::Quiet, self.words.say(&groups).into_owned()));
        }
        if line.mutants > 0 && line.missed == 0 {
            let s = if line.mutants == 1 { "" } else { "s" };
            chips.push(Chip::new(Tone::Quiet, format!("{} mutant{s}", line.mutants)));
        }
        chips
    }
}

/// How bad a finding is.
pub(super) fn tone(finding: &Finding) -> Tone {
    use crate::result::check::FindingKind::{RedundantBarrier, Uninitialised};
    match finding.kind {
        RedundantBarrier => Tone::Quiet,
        Uninitialised => Tone::Warn,
        _ if finding.unless.is_some() => Tone::Warn,
        _ => Tone::Bad,
    }
}
