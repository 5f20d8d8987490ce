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
    let of = |head: &str| {
        let numbers: Vec<String> = repair.findings().map(|finding| (finding + 1).to_string()).collect();
        format!("{head} of {}:", listed(&numbers))
    };
    if !repair.is_one() {
        let why = repair.why_not.as_deref().unwrap_or("none was found");
        paragraph(Paint::Warn, &of("no repair"), why);
        return out;
    }
    let what: Vec<&str> = repair.edits.iter().map(|edit| edit.what.as_str()).collect();
    let all = style::count(repair.candidates, "candidate");
    let tried = match repair.edits.len() {
        1 => format!("{} of {all}", ordinal(repair.tried)),
        _ => format!("{} tried, {all}", style::count(repair.tried, "change")),
    };
    paragraph(Paint::Good, &of("repair"), &format!("{} ({tried})", what.join("; ")));
    for line in wrap(&visible(&words.say(&known(repair))), style.width.saturating_sub(4).max(20)) {
        let _ = writeln!(out, "    {line}");
    }
    for line in repair.diff.lines() {
        let paint = match line.as_bytes().first() {
            Some(b'+') => Paint::Good,
            Some(b'-') => Paint::Bad,
            _ => Paint::Dim,
        };
        let _ = writeln!(out, "{}", style.paint(paint, visible(line)));
    }
    out
}

/// What is known of a repair, the most important first.
fn known(repair: &Repair) -> String {
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
