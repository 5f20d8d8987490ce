//! Renders repairs of what `kassay check` found.

use std::fmt::Write;

use super::super::style::{self, Paint, Style, visible, wrap};
use super::heading;
use crate::result::repairs::{Repair, Verified};
use kassay_model::words::Words;

/// Renders repairs, each with what is known of it and its diff, and why others cannot be repaired.
pub(super) fn repairs(repairs: &[Repair], words: Words, style: &Style) -> String {
    if repairs.is_empty() {
        return String::new();
    }
    let mut out = heading(style, "repairs");
    for repair in repairs {
        out.push_str(&one(repair, words, style));
    }
    out
}

fn one(repair: &Repair, words: Words, style: &Style) -> String {
    let mut out = String::new();
    let mut paragraph = |paint: Paint, head: &str, text: &str| {
        let width = style.width.saturating_sub(4).max(20);
        let lines = wrap(&visible(&format!("{head} {text}")), width);
        let text = lines.join("\n    ");
        let painted = text.replacen(head, &style.paint(paint, head), 1);
        let _ = writeln!(out, "  {painted}");
    };
    if !repair.is_one() {
        paragraph(Paint::Warn, &format!("{}:", subject(repair)), why_not(repair));
        return out;
    }
    paragraph(Paint::Good, &format!("{}:", subject(repair)), &edits(repair));
    for line in wrap(&visible(&words.say(&known(repair))), style.width.saturating_sub(4).max(20)) {
        let _ = writeln!(out, "    {line}");
    }
    for line in repair.diff.lines() {
        let paint = match side(line) {
            Some(Side::Added) => Paint::Good,
            Some(Side::Removed) => Paint::Bad,
            None => Paint::Dim,
        };
        let _ = writeln!(out, "{}", style.paint(paint, visible(line)));
    }
    out
}

/// What a line of a diff says of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Added,
    Removed,
}

/// Returns what a line of a diff says; the names of the files count as lines of theirs.
pub fn side(line: &str) -> Option<Side> {
    match line.as_bytes().first() {
        Some(b'+') => Some(Side::Added),
        Some(b'-') => Some(Side::Removed),
        _ => None,
    }
}

/// What it is about: `repair of 1 and 3`.
pub fn subject(repair: &Repair) -> String {
    let numbers: Vec<String> = repair.findings().map(|finding| (finding + 1).to_string()).collect();
    let head = if repair.is_one() { "repair" } else { "no repair" };
    format!("{head} of {}", listed(&numbers))
}

/// Why there is no repair.
pub fn why_not(repair: &Repair) -> &str {
    repair.why_not.as_deref().unwrap_or("none was found")
}

/// What its edits do, and how they were found.
pub fn edits(repair: &Repair) -> String {
    let what: Vec<&str> = repair.edits.iter().map(|edit| edit.what.as_str()).collect();
    let all = style::count(repair.candidates, "candidate");
    let tried = match repair.edits.len() {
        1 => format!("{} of {all}", ordinal(repair.tried)),
        _ => format!("{} tried, {all}", style::count(repair.tried, "change")),
    };
    format!("{} ({tried})", what.join("; "))
}

/// What is known of a repair, the most important first.
pub fn known(repair: &Repair) -> String {
    let mut parts: Vec<String> = Vec::new();
    let strongest = repair.verified.iter().copied().max().filter(|_| repair.is_proved());
    if let Some(proof) = strongest {
        let under = match &repair.conditions[..] {
            [] => String::new(),
            conditions => format!(" with {}", conditions.join(" and ")),
        };
        parts.push(format!("{}{under}", proof.words()));
    }
    parts.push(match repair.remaining {
        0 if strongest.is_some() => "no other finding".to_owned(),
        0 => format!("{}; not proved for others", Verified::CleanInExploredInputs.words()),
        n => format!("{}; {} left", Verified::FewerFindings.words(), style::count(n, "other finding")),
    });
    for verified in [Verified::ScheduleIndependent, Verified::SameOutputsInExploredSchedules] {
        if repair.verified.contains(&verified) {
            parts.push(verified.words().to_owned());
        }
    }
    parts.join("; ")
}

fn listed(numbers: &[String]) -> String {
    match numbers {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn ordinal(n: u64) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}
