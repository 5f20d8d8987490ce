//! Lists the mutants that no test distinguishes from the original, with their source lines, the change, and the tests
//! that reach them.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use super::super::style::{self, Paint, Style, visible, wrap_list};
use super::heading;
use super::source::pad;
use crate::result::mutate::{Location, Mutant, MutateResult, Status};

/// Number of undetected pairs shown; there may be as many as mutants squared.
const PAIRS_SHOWN: usize = 20;

/// Renders the lists of one result.
pub(super) struct Listing<'a> {
    result: &'a MutateResult,
    sources: &'a dyn Fn(&str) -> Option<String>,
    style: &'a Style,
    /// Number of duplicates by the id of the original.
    duplicates: HashMap<&'a str, u64>,
}

impl<'a> Listing<'a> {
    /// Returns the lists of `result`; `sources` returns the text of a file.
    pub(super) fn new(
        result: &'a MutateResult,
        sources: &'a dyn Fn(&str) -> Option<String>,
        style: &'a Style,
    ) -> Listing<'a> {
        let mut duplicates = HashMap::new();
        for original in result.mutants.iter().filter_map(|m| m.duplicate_of.as_deref()) {
            *duplicates.entry(original).or_default() += 1;
        }
        Listing { result, sources, style, duplicates }
    }

    /// Renders survivors, undecided mutants, those that no test reaches, those that no test of these sizes could
    /// detect, and undetected pairs; empty if there are none.
    pub(super) fn render(&self) -> String {
        let mut out = String::new();
        let mut files: BTreeMap<&str, Option<Vec<String>>> = BTreeMap::new();
        for (status, title) in [
            (Status::Survived, "survived"),
            (Status::Undecided, "undecided: in some runs an output differed, in others not"),
            (Status::NoCoverage, "reached by no test"),
            (
                Status::EquivalentForLaunches,
                "equivalent for these launches: only other sizes or arguments could kill them",
            ),
        ] {
            let mutants: Vec<&Mutant> = self
                .result
                .mutants
                .iter()
                .filter(|m| m.status == status && m.duplicate_of.is_none() && !m.is_pair())
                .collect();
            if mutants.is_empty() {
                continue;
            }
            out.push_str(&heading(self.style, &format!("{} {title}", style::count(mutants.len() as u64, "mutant"))));
            for place in mutants.chunk_by(|a, b| a.location == b.location && a.function == b.function) {
                let file = place[0].location.file.as_str();
                let lines = files
                    .entry(file)
                    .or_insert_with(|| (self.sources)(file).map(|t| t.lines().map(str::to_owned).collect()));
                self.place(place, lines.as_deref(), &mut out);
            }
        }
        out.push_str(&self.pairs());
        out
    }

    /// Renders the mutants of one location: the location, its line with the range marked, and a line for each mutant.
    fn place(&self, mutants: &[&Mutant], lines: Option<&[String]>, out: &mut String) {
        let (at, function) = (&mutants[0].location, &mutants[0].function);
        let place = place_of(at).map_or_else(|| function.clone(), |place| format!("{place} in {function}"));
        let _ = writeln!(out, "  {}", self.style.paint(Paint::Bold, visible(&place)));
        if let Some(line) = (at.start.line as usize).checked_sub(1).and_then(|n| lines?.get(n)) {
            let number = at.start.line.to_string();
            let _ = writeln!(out, "{}", format!("    {number} | {}", visible(line)).trim_end());
            let marks = self.style.paint(Paint::Bad, "^".repeat(width(line, at))).into_owned();
            let _ = writeln!(out, "    {:w$} | {}{marks}", "", pad(line, at.start.column), w = number.len());
        }
        for mutant in mutants {
            let _ = writeln!(
                out,
                "    {}  {}",
                self.style.paint(Paint::Warn, visible(&mutant.operator)),
                visible(&change(mutant))
            );
            self.details(mutant, out);
        }
    }

    /// Renders further facts about a mutant below its line.
    fn details(&self, mutant: &Mutant, out: &mut String) {
        let mut push_wrapped = |text: &str| {
            let lines = wrap_list(&visible(text), self.style.width.saturating_sub(6).max(20));
            for (n, line) in lines.iter().enumerate() {
                let _ = writeln!(out, "      {}{}", if n > 0 { "  " } else { "" }, self.style.paint(Paint::Dim, line));
            }
        };
        if let Some(place) = mutant.spelling.as_ref().and_then(place_of) {
            push_wrapped(&format!("spelt in the macro at {place}"));
        }
        if place_of(&mutant.location).is_none() {
            push_wrapped(&mutant.id);
        }
        if !mutant.covered_by.is_empty() {
            push_wrapped(&format!("reached by {}", mutant.covered_by.join(", ")));
        }
        if let Some(reason) = &mutant.reason {
            push_wrapped(reason);
        }
        match self.duplicates.get(mutant.id.as_str()) {
            Some(1) => push_wrapped("another mutant equals it"),
            Some(n) => push_wrapped(&format!("{n} other mutants equal it")),
            None => {}
        }
    }

    fn pairs(&self) -> String {
        let undetected = |m: &&Mutant| matches!(m.status, Status::Survived | Status::Undecided | Status::NoCoverage);
        let pairs: Vec<&Mutant> =
            self.result.mutants.iter().filter(|m| m.is_pair() && m.duplicate_of.is_none()).filter(undetected).collect();
        if pairs.is_empty() {
            return String::new();
        }
        let title = format!("{} detected by no test", style::count(pairs.len() as u64, "pair"));
        let mut out = heading(self.style, &title);
        for pair in pairs.iter().take(PAIRS_SHOWN) {
            let _ = writeln!(out, "  {}", visible(&pair.id));
        }
        if pairs.len() > PAIRS_SHOWN {
            let _ = writeln!(out, "  and {} more, in the result", pairs.len() - PAIRS_SHOWN);
        }
        out
    }
}

/// Returns `file:line:column`, if known.
fn place_of(at: &Location) -> Option<String> {
    (at.start.line > 0).then(|| format!("{}:{}", at.file, at.start))
}

/// Describes the change: `` `<` → `<=` ``, or `` delete `…` ``. Only first lines are shown.
pub fn change(mutant: &Mutant) -> String {
    let first = |text: &str| {
        let mut lines = text.trim().lines();
        let line = lines.next().unwrap_or_default().to_owned();
        if lines.next().is_some() { line + " …" } else { line }
    };
    let (original, replacement) = (first(&mutant.original), first(&mutant.replacement));
    match (original.is_empty(), replacement.is_empty()) {
        (false, false) => format!("`{original}` → `{replacement}`"),
        (false, true) => format!("delete `{original}`"),
        (true, false) => format!("→ `{replacement}`"),
        (true, true) => "delete".to_owned(),
    }
}

/// Returns the number of characters of `line` in the range, at least one.
fn width(line: &str, at: &Location) -> usize {
    let from = (at.start.column.max(1) as usize - 1).min(line.len());
    let to = match at.end.line {
        end if end > at.start.line => line.trim_end().len(),
        _ => (at.end.column.max(1) as usize - 1).min(line.len()),
    };
    line.char_indices().filter(|(n, _)| (from..to).contains(n)).count().max(1)
}
