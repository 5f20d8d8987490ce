//! Renders what `kassay check` proves.

use super::super::style::{Paint, Style};
use super::super::table::{Cell, Table};
use super::heading;
use crate::result::proofs::{Proof, Property, ProvedFor, STANDING, Status};
use kassay_model::words::Words;

/// Renders the proofs, a row each, with what they assume. Without `verbose`, what every proof assumes is left out.
pub(super) fn proofs(proofs: &[Proof], words: Words, verbose: bool, style: &Style) -> String {
    let shown: Vec<&Proof> = proofs.iter().filter(|proof| verbose || says_something(proof)).collect();
    if shown.is_empty() {
        return String::new();
    }
    let mut out = heading(style, "what is proved");
    let mut table = Table::new(2, "ll");
    let (unsupported, told): (Vec<&Proof>, Vec<&Proof>) =
        shown.into_iter().partition(|proof| proof.status == Status::Unsupported);
    for proof in told {
        let paint = match proof.status {
            Status::Proved => Paint::Good,
            Status::Refuted => Paint::Bad,
            Status::Unknown | Status::Unsupported => Paint::Warn,
        };
        let subject = words.say(proof.subject()).into_owned();
        table.row([subject.into(), Cell::painted(paint, status(proof, words))]);
        // What refutes it is among the findings.
        for reason in proof.why_not.iter().filter(|_| proof.status != Status::Refuted) {
            table.row(["".into(), reason.into()]);
        }
    }
    // They all have the same reason.
    if let Some(proof) = unsupported.first() {
        let why = proof.why_not.join("; ");
        table.row(["not tried".into(), Cell::painted(Paint::Warn, why)]);
    }
    let mut assumed: Vec<&str> = Vec::new();
    for proof in proofs {
        for clause in proof.preconditions.iter().filter(|clause| Some(*clause) != proof.condition.as_ref()) {
            let is_standing = STANDING.iter().any(|standing| words.say(standing) == clause.as_str());
            if (verbose || !is_standing) && !assumed.contains(&clause.as_str()) {
                assumed.push(clause);
            }
        }
    }
    for (n, clause) in assumed.into_iter().enumerate() {
        table.row([if n == 0 { "assuming" } else { "" }.into(), clause.into()]);
    }
    out.push_str(&table.render(style));
    out
}

/// Whether there was something to prove: barriers that may diverge, arrays.
fn says_something(proof: &Proof) -> bool {
    proof.property == Property::RaceFreedom || proof.queries > 0 || proof.status != Status::Proved
}

fn status(proof: &Proof, words: Words) -> String {
    let mut text = match (proof.status, proof.holds_for) {
        (Status::Proved, Some(ProvedFor::AllLaunches)) => "for all launches".to_owned(),
        (Status::Proved, Some(ProvedFor::LaunchesOfLocalSize)) => {
            format!("for launches with {} of {}", words.say("work-groups"), size(proof))
        }
        (Status::Proved, _) => "for launches of the sizes that were run".to_owned(),
        (Status::Refuted, _) => match &proof.counterexample {
            Some(input) => format!("refuted by the input \"{input}\""),
            None => "refuted".to_owned(),
        },
        (Status::Unknown, _) => "unknown".to_owned(),
        (Status::Unsupported, _) => "not tried".to_owned(),
    };
    if let Some(condition) = &proof.condition {
        text = format!("{text} if {condition}");
    }
    text
}

/// The work-group size of a proof, without dimensions of size 1 at its end.
fn size(proof: &Proof) -> String {
    let all = proof.local_size.as_deref().unwrap_or_default();
    let last = all.iter().rposition(|n| *n != 1).unwrap_or(0);
    all.iter().take(last + 1).map(u64::to_string).collect::<Vec<_>>().join(" x ")
}
