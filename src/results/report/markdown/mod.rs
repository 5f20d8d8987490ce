//! Writes a summary in Markdown, for comments on pull requests and for job summaries: what stands where, and what to
//! look at first; the rest is folded away.

mod sections;
mod write;

use std::fmt::Write;

use kassay_base::error::Result;

use super::parts;
use super::problems::{self, Level, Problem};
use super::style::count;
use super::texts::Texts;
use crate::result::any::KERNEL_COMMANDS;
use crate::result::store::ResultFile;
use write::{Table, clipped, code, details, prose};

/// The commands whose results it summarises.
pub(super) const COMMANDS: &[&[&str]] = &[KERNEL_COMMANDS, &["compare", "capture", "inspect", "devices"]];

/// Problems that are shown at once.
const FIRST: usize = 10;
/// Problems that are folded away. Services refuse texts that are too long: GitHub comments of more than 65,536
/// characters.
const FOLDED: usize = 100;
/// Characters of a message.
const MESSAGE: usize = 300;

/// Returns the summary of loaded results.
pub(super) fn convert(results: &[ResultFile]) -> Result<String> {
    let sections = sections::of(results);
    let headlines: Vec<&str> = sections.iter().flat_map(|section| section.headline.as_deref()).collect();
    let mut out = String::from("## kassay");
    if !headlines.is_empty() {
        let _ = write!(out, ": {}", headlines.join(", "));
    }
    out.push_str("\n\n");
    for section in &sections {
        let _ = write!(out, "### {}\n\n{}", section.title, section.body);
    }
    out.push_str(&look_at(&problems::collect(results, &Texts::of_files())));
    let notes: String = parts::notes(results).into_iter().map(|note| format!("- {}\n", prose(note))).collect();
    out.push_str(&details("Notes", &notes));
    Ok(out.trim_end().to_owned() + "\n")
}

/// The problems, gravest first.
fn look_at(problems: &[Problem]) -> String {
    if problems.is_empty() {
        return String::new();
    }
    let of_level = |level: Level| problems.iter().filter(|problem| problem.level == level).count() as u64;
    let counts = [(Level::Error, "error"), (Level::Warning, "warning"), (Level::Note, "note")];
    let counts: Vec<String> =
        counts.iter().map(|(level, name)| count(of_level(*level), name)).filter(|c| !c.starts_with("0 ")).collect();
    let mut out = format!("### What to look at\n\n{}.\n\n", counts.join(", "));
    // Notes are folded away even if there is nothing else.
    let grave = problems.iter().filter(|problem| problem.level != Level::Note).count();
    let (first, others) = problems.split_at(grave.min(FIRST));
    out.push_str(&table(first));
    let shown = others.len().min(FOLDED);
    let mut folded = table(&others[..shown]);
    if others.len() > shown {
        let _ =
            writeln!(folded, "And {} more: other formats of `kassay report` have all of them.", others.len() - shown);
    }
    let summary = if first.is_empty() { count(others.len() as u64, "note") } else { format!("{} more", others.len()) };
    out.push_str(&details(&summary, &folded));
    out
}

fn table(problems: &[Problem]) -> String {
    let mut table = Table::new(&["where", "what", "in full"]);
    for problem in problems {
        let place = &problem.place;
        let at = match place.line {
            0 => place.file.clone(),
            line if place.end_line > line => format!("{}:{line}-{}", place.file, place.end_line),
            line => format!("{}:{line}", place.file),
        };
        table.row(vec![code(&at), problem.rule.title.to_owned(), prose(&clipped(&problem.message, MESSAGE))]);
    }
    table.render()
}
