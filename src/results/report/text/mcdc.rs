//! Renders MC/DC as text: the decisions with conditions that are not covered, and the vectors that are missing.

use std::fmt::Write;

use super::super::style::{Paint, Style, visible};
use super::heading;
use crate::result::mcdc::{Criterion, Mcdc, McdcDecision};

/// Lists the decisions; of those that are covered only a number.
pub(super) fn decisions(mcdc: &Mcdc, style: &Style) -> String {
    if mcdc.decisions.is_empty() {
        return String::new();
    }
    let criterion = match mcdc.criterion {
        Criterion::Masking => "masking",
        Criterion::Unique => "unique cause",
    };
    let mut out = heading(style, &format!("MC/DC ({criterion})"));
    let is_open = |d: &&McdcDecision| d.reason.is_some() || d.conditions.iter().any(|c| !c.covered);
    for decision in mcdc.decisions.iter().filter(is_open) {
        out.push_str(&open(decision, style));
    }
    let covered = mcdc.decisions.len() - mcdc.decisions.iter().filter(is_open).count();
    if covered > 0 {
        let all = if covered == mcdc.decisions.len() { "all " } else { "" };
        let (s, their) = if covered == 1 { ("", "its") } else { ("s", "their") };
        let _ = writeln!(out, "  {all}{covered} decision{s} with all of {their} conditions covered");
    }
    out
}

fn open(decision: &McdcDecision, style: &Style) -> String {
    let at = &decision.location;
    let place = match at.line {
        0 => visible(&decision.id).into_owned(),
        _ => visible(&at.to_string()).into_owned(),
    };
    let covered = decision.conditions.iter().filter(|c| c.covered).count();
    let mut out = String::new();
    let all = decision.conditions.len();
    if let Some(reason) = &decision.reason {
        let text = format!("not measured: {reason}");
        let _ =
            writeln!(out, "  {place}: `{}`, {all} conditions: {}", decision.construct, style.paint(Paint::Warn, text));
        return out;
    }
    let executed: Vec<String> = decision
        .vectors
        .iter()
        .filter(|v| v.executed)
        .map(|v| format!("{}={}", v.values, if v.result { 'T' } else { 'F' }))
        .collect();
    let executed = if executed.is_empty() { "none".to_owned() } else { executed.join(" ") };
    let _ = writeln!(out, "  {place}: `{}`, {covered} of {all} conditions; executed: {executed}", decision.construct);
    for (number, condition) in (1..).zip(&decision.conditions).filter(|(_, c)| !c.covered) {
        let at = match condition.location.line {
            0 => String::new(),
            _ => format!(" ({})", condition.location.position()),
        };
        let (paint, text) = match (&condition.reason, &condition.pair) {
            (Some(reason), _) => (Paint::Warn, format!("does not count: {reason}")),
            (None, Some([a, b])) => {
                let missing = condition.missing.join(" and ");
                (Paint::Bad, format!("not covered: {missing} missing, of the pair {a} and {b}"))
            }
            (None, None) => (Paint::Bad, "not covered".to_owned()),
        };
        let _ = writeln!(out, "    condition {number}{at} {}", style.paint(paint, text));
    }
    out
}
