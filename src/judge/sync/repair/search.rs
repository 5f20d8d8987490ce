//! Tries changes, the cheapest first, until nothing is found that can be mended.

use std::collections::{BTreeMap, BTreeSet};

use kassay_base::error::Result;

use super::candidate::{Candidate, Kind};
use super::trial::{Ground, Refused, Rig, Seen, Signature, Verdict, is_proved};
use crate::mutation::catalogue::source_level::text_edit::TextEdit;

/// Changes of one kernel that are tried in a round, at most.
const MAX_TRIED: usize = 40;
/// Changes that are made together, at most.
const MAX_EDITS: usize = 8;
/// Of those, at most so many after which all is still found, but less often.
const MAX_WITHOUT_END: usize = 2;
/// Changed kernels that are tried, at most.
const MAX_IN_ALL: usize = 160;
/// Changes as cheap as one that is clean, but not proved, that are tried for a proof.
const MAX_FOR_PROOF: usize = 6;
/// Changes that are compiled at once.
const BATCH: usize = 4;

/// A changed kernel.
#[derive(Clone, Default)]
pub struct Chosen {
    pub candidates: Vec<Candidate>,
    /// What is not found any more.
    pub mended: BTreeSet<Signature>,
}

/// A changed kernel that is worth it, with what is known of it.
pub struct Repaired {
    pub chosen: Chosen,
    pub seen: Seen,
    pub verdict: Verdict,
    /// Number of trials until it was found.
    pub tried: usize,
}

/// What the search came to.
#[derive(Default)]
pub struct Found {
    pub repaired: Option<Repaired>,
    pub tried: usize,
    pub is_late: bool,
}

/// Returns the edit that all of these make together.
pub fn together<'e>(edits: impl IntoIterator<Item = &'e TextEdit>) -> Option<TextEdit> {
    let mut edits = edits.into_iter();
    let mut all = edits.next()?.clone();
    edits.for_each(|edit| all.replacements.extend(edit.replacements.iter().cloned()));
    Some(all)
}

/// Returns the original's line of a line of the changed text.
pub fn original_line(edit: &TextEdit, line: u32) -> u32 {
    let mut replacements: Vec<_> = edit.replacements.iter().collect();
    replacements.sort_by_key(|(start, end, _)| (*start, *end));
    let (mut old, mut new) = (0_u32, 0_u32);
    for (start, end, by) in replacements {
        let added = by.matches('\n').count() as u32;
        let begins = start.line.saturating_sub(old).saturating_add(new);
        // Where whole lines go, the next one stands in the place of the first of them.
        let whole_lines = by.is_empty() && start.column == 1 && end.column == 1;
        if line < begins || (line == begins && !whole_lines) {
            break;
        }
        if line <= begins + added && !whole_lines {
            return (start.line + (line - begins)).min(end.line);
        }
        old += end.line - start.line;
        new += added;
    }
    (line + old).saturating_sub(new)
}

pub struct Search<'g, 'a, 'c, R> {
    pub ground: &'g Ground<'a, 'c>,
    pub rig: &'g mut R,
    pub original: &'g Seen,
    /// What is to be mended.
    pub targets: BTreeSet<Signature>,
}

/// A trial that was neither refused nor late.
struct Passed {
    chosen: Chosen,
    seen: Seen,
    bitcode: Vec<u8>,
}

impl<R: Rig> Search<'_, '_, '_, R> {
    /// Tries candidates, which are in the order of their costs.
    pub fn run(&mut self, candidates: &[Candidate]) -> Result<Found> {
        let mut found = Found::default();
        let mut base = Chosen::default();
        let mut known = self.original.findings.clone();
        let mut without_end = 0;
        for _ in 0..MAX_EDITS {
            let (repaired, best) = self.round(candidates, &base, &known, &mut found)?;
            if repaired.is_some() {
                found.repaired = repaired;
                return Ok(found);
            }
            let Some(best) = best else { break };
            let mends_more = best.chosen.mended.len() > base.mended.len();
            without_end = if mends_more { 0 } else { without_end + 1 };
            if without_end > MAX_WITHOUT_END || found.tried >= MAX_IN_ALL {
                break;
            }
            known = best.seen.findings.clone();
            if mends_more && let Some(verdict) = self.verify(&best.chosen, &best.bitcode, &best.seen)? {
                found.repaired =
                    Some(Repaired { chosen: best.chosen.clone(), seen: best.seen, verdict, tried: found.tried });
            }
            base = best.chosen;
            if found.is_late {
                break;
            }
        }
        Ok(found)
    }

    /// Tries each candidate on top of `base`. Returns a changed kernel in which no target is found, or else the one
    /// that comes nearest.
    fn round(
        &mut self,
        candidates: &[Candidate],
        base: &Chosen,
        known: &BTreeMap<Signature, u64>,
        found: &mut Found,
    ) -> Result<(Option<Repaired>, Option<Passed>)> {
        let is_new = |candidate: &&Candidate| !base.candidates.contains(candidate);
        let untried: Vec<&Candidate> = candidates.iter().filter(is_new).take(MAX_TRIED).collect();
        let mut unproved: Option<Repaired> = None;
        let mut best: Option<Passed> = None;
        let mut for_proof = 0;
        for batch in untried.chunks(BATCH) {
            let cost = batch.first().map_or(0, |first| first.cost);
            if unproved.as_ref().is_some_and(|known| for_proof >= MAX_FOR_PROOF || !is_as_cheap(known, cost, base)) {
                break;
            }
            let edits: Vec<Option<TextEdit>> = batch
                .iter()
                .map(|candidate| together(base.candidates.iter().chain([*candidate]).map(|c| &c.edit)))
                .map(|edit| edit.filter(|edit| edit.apply_exactly(self.ground.text).is_some()))
                .collect();
            let compiled = self.ground.compile(&edits.iter().flatten().cloned().collect::<Vec<_>>())?;
            let mut compiled = compiled.into_iter();
            for (candidate, edit) in batch.iter().zip(edits) {
                let Some((edit, bitcode)) = edit.and_then(|edit| Some((edit, compiled.next()?))) else { continue };
                let Ok(bitcode) = bitcode else { continue };
                if self.ground.budget.is_over() {
                    found.is_late = true;
                    return Ok((unproved, best));
                }
                found.tried += 1;
                for_proof += usize::from(unproved.is_some());
                let Some(passed) = self.attempt(base, candidate, &edit, bitcode, known, found)? else { continue };
                if self.targets.iter().any(|target| passed.seen.findings.contains_key(target)) {
                    let is_better = best.as_ref().is_none_or(|best| rank(&passed) > rank(best));
                    if is_better && is_progress(&passed, known) {
                        best = Some(passed);
                    }
                    continue;
                }
                let Passed { chosen, seen, bitcode } = passed;
                let Some(verdict) = self.verify(&chosen, &bitcode, &seen)? else { continue };
                let is_proved = is_proved(&verdict.verified);
                let repaired = Repaired { chosen, seen, verdict, tried: found.tried };
                match &unproved {
                    _ if is_proved && unproved.as_ref().is_none_or(|u| is_as_cheap(u, candidate.cost, base)) => {
                        return Ok((Some(repaired), None));
                    }
                    None => unproved = Some(repaired),
                    Some(_) => {}
                }
                if !self.ground.proves {
                    return Ok((unproved, None));
                }
            }
        }
        Ok((unproved, best))
    }

    fn verify(&mut self, chosen: &Chosen, bitcode: &[u8], seen: &Seen) -> Result<Option<Verdict>> {
        let new_atomics = chosen.candidates.iter().any(|candidate| candidate.kind == Kind::Atomic);
        self.ground.verify(self.rig, (bitcode, seen), self.original, new_atomics)
    }

    fn attempt(
        &mut self,
        base: &Chosen,
        candidate: &Candidate,
        edit: &TextEdit,
        bitcode: Vec<u8>,
        known: &BTreeMap<Signature, u64>,
        found: &mut Found,
    ) -> Result<Option<Passed>> {
        let line = |line| original_line(edit, line);
        let allowed = Some((known, &self.original.completed[..]));
        match self.ground.explore(self.rig, &bitcode, allowed, &line)? {
            Ok(seen) if seen.completed.iter().any(|completed| *completed) => {
                let mended = self.targets.iter().filter(|t| !seen.findings.contains_key(*t)).cloned().collect();
                let candidates = [&base.candidates[..], std::slice::from_ref(candidate)].concat();
                Ok(Some(Passed { chosen: Chosen { candidates, mended }, seen, bitcode }))
            }
            Ok(_) | Err(Refused::DoesNotCompile | Refused::Worse) => Ok(None),
            Err(Refused::Late) => {
                found.is_late = true;
                Ok(None)
            }
        }
    }
}

/// Whether another candidate is about as cheap as the last of those that make a changed kernel.
fn is_as_cheap(known: &Repaired, cost: u64, base: &Chosen) -> bool {
    let last = known.chosen.candidates.get(base.candidates.len()).map_or(0, |candidate| candidate.cost);
    cost <= last + last / 4
}

/// How near a changed kernel comes: the number of findings that it mends, then how seldom the others occur.
fn rank(passed: &Passed) -> (usize, std::cmp::Reverse<u64>) {
    let rest = passed.seen.findings.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
    (passed.chosen.mended.len(), std::cmp::Reverse(rest))
}

/// Whether less is found than before: fewer findings, or the same ones half as often.
fn is_progress(passed: &Passed, before: &BTreeMap<Signature, u64>) -> bool {
    let total = |findings: &BTreeMap<Signature, u64>| findings.values().fold(0_u64, |sum, n| sum.saturating_add(*n));
    let seen = &passed.seen.findings;
    seen.len() < before.len() || total(seen) <= total(before) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::catalogue::mutant::Spot;

    #[test]
    fn lines_of_a_changed_text_are_the_originals() {
        let spot = |line, column| Spot { line, column };
        let edit = TextEdit {
            file: "k.cl".to_owned(),
            replacements: vec![
                (spot(3, 9), spot(3, 9), "\n    barrier();".to_owned()),
                (spot(6, 1), spot(7, 1), String::new()),
                (spot(9, 5), spot(9, 5), "b();\n    ".to_owned()),
            ],
        };
        let lines: Vec<u32> = (1..=10).map(|line| original_line(&edit, line)).collect();
        assert_eq!(lines, [1, 2, 3, 3, 4, 5, 7, 8, 9, 9]);
    }
}
