//! Renders what `kassay check` proves.

use super::super::style::{Paint, Style};
use super::super::table::{Cell, Table};
use super::heading;
use crate::result::check::CheckResult;
use crate::result::proofs::{Proof, Property, Status};

/// Renders the proofs, a row each, with what they assume. Without `verbose`, what every proof assumes is left out, and
/// so are the lengths of buffers.
pub(super) fn proofs(result: &CheckResult, verbose: bool, style: &Style) -> String {
    let (proofs, words) = (&result.proofs, result.header.words());
    let lengths = if verbose { result.lengths.as_slice() } else { &[] };
    let shown: Vec<&Proof> = proofs.iter().filter(|proof| verbose || says_something(proof)).collect();
    if shown.is_empty() && lengths.is_empty() {
        return String::new();
    }
    let mut out = heading(style, "what is proved");
    let mut table = Table::new(2, "ll");
    // Then they all have the same reason.
    let nothing_tried = shown.iter().all(|proof| proof.status == Status::Unsupported);
    for proof in shown.iter().filter(|_| !nothing_tried) {
        let paint = match proof.status {
            Status::Proved => Paint::Good,
            Status::Refuted => Paint::Bad,
            Status::Unknown | Status::Unsupported => Paint::Warn,
        };
        let subject = words.say(proof.subject()).into_owned();
        table.row([subject.into(), Cell::painted(paint, proof.known(words))]);
        // What an input refutes is among the findings.
        for reason in proof.why_not.iter().filter(|_| proof.status != Status::Refuted || proof.replayed) {
            table.row(["".into(), reason.replace('\n', " ").into()]);
        }
    }
    for (n, length) in lengths.iter().enumerate() {
        table.row([if n == 0 { "lengths of buffers" } else { "" }.into(), length.text().into()]);
    }
    if let Some(proof) = shown.first().filter(|_| nothing_tried) {
        let why = proof.why_not.join("; ");
        table.row(["not tried".into(), Cell::painted(Paint::Warn, why)]);
    }
    let mut assumed: Vec<&str> = Vec::new();
    for proof in proofs {
        let all = proof.preconditions.iter().map(String::as_str).filter(|c| Some(*c) != proof.condition.as_deref());
        let clauses: Vec<&str> = if verbose { all.collect() } else { proof.assumed(words).collect() };
        for clause in clauses {
            if !assumed.contains(&clause) {
                assumed.push(clause);
            }
        }
    }
    for length in lengths {
        let all = length.preconditions.iter().map(String::as_str);
        for clause in all.filter(|clause| Some(*clause) != length.condition.as_deref()) {
            if !assumed.contains(&clause) {
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
