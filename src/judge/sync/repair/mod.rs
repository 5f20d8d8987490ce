//! Changes of a kernel's text that mend what was found: barriers, their flags and places, atomics.
//!
//! From a finding to changes: `candidates` on `outline` (statements by place), `between` (gaps between two accesses),
//! `barriers`, `expressions`, `updates` (statements that assign) and `layout`. Each is compiled and checked with the
//! inputs of the original (`trial`), the cheapest first (`search`). Why others cannot be mended: `reasons`.

mod barriers;
mod between;
mod candidate;
mod candidates;
pub mod diff;
mod expressions;
mod layout;
mod lexer;
mod outline;
mod reasons;
mod search;
mod trial;
mod updates;

use std::collections::{BTreeMap, BTreeSet};

use kassay_base::error::{Error, Result};
use kassay_base::files;
use kassay_ir::kernel::compile::Loaded;
use kassay_model::options::{KernelOptions, Language};
use kassay_model::words::Words;
use kassay_results::result::Location;
use kassay_results::result::check::{Finding, FindingKind};
use kassay_results::result::repairs::{Repair, RepairEdit, Replacement};

use self::candidate::Candidate;
use self::candidates::Finder;
use self::outline::Outline;
use self::search::{Repaired, Search, original_line, together};
pub use self::trial::Rig;
use self::trial::{Ground, Seen, Signature, is_proved};
use self::updates::Dialect;
use super::budget::Budget;
use super::checking::Case;
use crate::coverage::build::KernelUnderTest;
use crate::mutation::catalogue::mutant::{Spot, same_file};
use crate::mutation::catalogue::source_level;
use crate::mutation::catalogue::source_level::text_edit::TextEdit;

/// What is repaired, and how it was checked.
pub struct Request<'a, 'c> {
    /// The kernel.
    pub under_test: &'a KernelUnderTest<'c>,
    /// Its file, with the syntax tree.
    pub loaded: &'a Loaded,
    /// The options with which it was compiled.
    pub options: &'a KernelOptions,
    /// The inputs that changed kernels are checked with.
    pub cases: Vec<&'a Case>,
    /// Whether they are a suite's.
    pub is_suite: bool,
    /// What was found.
    pub findings: &'a [Finding],
    /// The time that is left.
    pub budget: Budget,
    /// Processors.
    pub jobs: usize,
    /// Whether proofs are tried.
    pub proves: bool,
}

/// Returns why a kernel cannot be repaired: it has no text of OpenCL C or CUDA. `None` if it can.
pub fn without_text(loaded: &Loaded, options: &KernelOptions) -> Option<String> {
    source_level::without_text(loaded, options)
        .map(|_| format!("{} is no text of OpenCL C or CUDA, which could be edited", loaded.source.display()))
}

/// Looks for repairs of what was found; `rig` makes simulators for changed kernels. What needs no repair, as it is only
/// found in launches that break a condition, is left out. Also returns notes.
///
/// # Errors
/// `Caller` if there is no text that could be edited; those of clang's runs and of simulators.
pub fn repairs<R: Rig>(request: &Request<'_, '_>, rig: &mut R) -> Result<(Vec<Repair>, Vec<String>)> {
    let Request { under_test, loaded, options, findings, .. } = request;
    if let Some(why) = without_text(loaded, options) {
        return Err(Error::caller(why).help("give OpenCL C or CUDA, or leave --fix and --write out"));
    }
    let concerned = |finding: &&Finding| finding.unless.is_none() && is_of_synchronisation(finding.kind);
    if !findings.iter().any(|finding| concerned(&finding)) {
        return Ok((Vec::new(), Vec::new()));
    }
    let Some(ast) = &loaded.ast else {
        return Ok((Vec::new(), vec!["nothing was repaired: clang gives no syntax tree of the kernel".to_owned()]));
    };
    let source = loaded.source.display().to_string();
    let text = files::read(&loaded.source, options.sandbox.as_ref())
        .map_err(|e| Error::caller(format!("{source} cannot be read: {e}")))?;
    // clang may spell the name of the file in another way.
    let named = ast.functions.iter().map(|function| &*function.location.expansion.file);
    let file =
        named.clone().find(|name| *name == source).or_else(|| named.clone().find(|name| same_file(name, &source)));
    let outline = Outline::of(ast, file.unwrap_or(&source), &text);
    let dialect = match options.language(&loaded.source) {
        Language::Cuda => Dialect::Cuda,
        _ => Dialect::OpenCl,
    };
    let ground = Ground {
        under_test,
        loaded,
        options,
        text: &text,
        source: &source,
        cases: request.cases.clone(),
        is_suite: request.is_suite,
        budget: request.budget,
        jobs: request.jobs,
        proves: request.proves,
    };
    let original = match ground.explore(rig, &loaded.bitcode, None, &|line| line)? {
        Ok(seen) => seen,
        Err(_) => return Ok((Vec::new(), vec![late(request.budget)])),
    };
    let repairing = Repairing { ground: &ground, outline: &outline, dialect, original: &original, findings };
    repairing.all(rig)
}

fn is_of_synchronisation(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::DataRace | FindingKind::BarrierDivergence | FindingKind::RedundantBarrier)
}

fn late(budget: Budget) -> String {
    format!("not all repairs were tried, because of {}; --budget gives more time", budget.words())
}

struct Repairing<'a, 'c, 'o, 't> {
    ground: &'o Ground<'a, 'c>,
    outline: &'o Outline<'t>,
    dialect: Dialect,
    original: &'o Seen,
    findings: &'o [Finding],
}

impl Repairing<'_, '_, '_, '_> {
    fn all<R: Rig>(&self, rig: &mut R) -> Result<(Vec<Repair>, Vec<String>)> {
        let words = Words::of(self.ground.source);
        let (mut repairs, mut notes) = (Vec::new(), Vec::new());
        let is_target = |finding: &Finding| {
            finding.unless.is_none() && matches!(finding.kind, FindingKind::DataRace | FindingKind::BarrierDivergence)
        };
        let targets: Vec<(usize, Signature)> = (0..)
            .zip(self.findings)
            .filter(|(_, finding)| is_target(finding))
            .map(|(at, finding)| (at, Signature::of(finding, &|line| line)))
            .collect();
        let (candidates, counts) = self.candidates(&targets);
        let wanted = targets.iter().filter(|(at, signature)| {
            counts.get(at).is_some_and(|count| *count > 0) && self.original.findings.contains_key(signature)
        });
        let wanted: BTreeSet<Signature> = wanted.map(|(_, signature)| signature.clone()).collect();
        let mut search = Search { ground: self.ground, rig, original: self.original, targets: wanted.clone() };
        let found = if wanted.is_empty() { search::Found::default() } else { search.run(&candidates)? };
        let mended = found.repaired.as_ref().map(|repaired| &repaired.chosen.mended);
        let is_mended = |signature: &Signature| mended.is_some_and(|mended| mended.contains(signature));
        let mut of_repair: Vec<u64> = Vec::new();
        for (at, signature) in &targets {
            if is_mended(signature) {
                of_repair.push(*at as u64);
                continue;
            }
            let tried = if wanted.contains(signature) { found.tried } else { 0 };
            let why_not = Some(reasons::why_not(Some(self.outline), &self.findings[*at], tried, words));
            let candidates = counts.get(at).copied().unwrap_or_default() as u64;
            repairs.push(Repair { finding: *at as u64, tried: tried as u64, candidates, why_not, ..Repair::default() });
        }
        let mut base: Vec<Candidate> = Vec::new();
        let mut known = self.original.findings.clone();
        if let (Some(repaired), [first, also @ ..]) = (found.repaired, &of_repair[..]) {
            known = repaired.seen.findings.clone();
            base = repaired.chosen.candidates.clone();
            let made = Repair {
                finding: *first,
                also: also.to_vec(),
                candidates: candidates.len() as u64,
                ..self.repair(repaired)
            };
            repairs.push(made);
        }
        notes.extend(found.is_late.then(|| late(self.ground.budget)));
        for (at, finding) in self.findings.iter().enumerate() {
            if finding.kind == FindingKind::RedundantBarrier && finding.unless.is_none() {
                let (repair, made) = self.without(rig, at, finding, &base, &known)?;
                repairs.push(repair);
                base.extend(made);
            }
        }
        repairs.sort_by_key(|repair| repair.finding);
        Ok((repairs, notes))
    }

    /// The candidates for all targets, and how many there are for each.
    fn candidates(&self, targets: &[(usize, Signature)]) -> (Vec<Candidate>, BTreeMap<usize, usize>) {
        let new = || Finder::new(self.outline, self.dialect, targets.iter().map(|(at, _)| &self.findings[*at]));
        let mut finder = new();
        let mut counts = BTreeMap::new();
        for (at, _) in targets {
            // What another finding brought, too, counts for both.
            let mut own = new();
            own.add(&self.findings[*at]);
            counts.insert(*at, own.found.all.len());
            finder.add(&self.findings[*at]);
        }
        (finder.found.sorted(), counts)
    }

    /// Describes a changed kernel.
    fn repair(&self, repaired: Repaired) -> Repair {
        let Repaired { chosen, seen, verdict, tried } = repaired;
        Repair {
            edits: chosen.candidates.iter().map(|candidate| self.described(candidate)).collect(),
            diff: self.diff(&chosen.candidates),
            verified: verdict.verified,
            conditions: verdict.conditions,
            remaining: seen.findings.len() as u64,
            tried: tried as u64,
            ..Repair::default()
        }
    }

    fn described(&self, candidate: &Candidate) -> RepairEdit {
        let replacement = |(start, end, by): &(Spot, Spot, String)| Replacement {
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            text: by.clone(),
        };
        let column = candidate.edit.replacements.first().map_or(1, |(start, ..)| start.column);
        RepairEdit {
            location: Location { file: self.ground.source.to_owned(), line: candidate.line, column },
            what: candidate.what.clone(),
            replacements: candidate.edit.replacements.iter().map(replacement).collect(),
        }
    }

    fn diff(&self, candidates: &[Candidate]) -> String {
        let edit = together(candidates.iter().map(|candidate| &candidate.edit));
        let changed = edit.and_then(|edit| edit.apply_exactly(self.ground.text));
        changed.map_or_else(String::new, |new| diff::unified(self.ground.source, self.ground.text, &new))
    }

    /// Takes a redundant barrier away, if that is proved to be right: then no launch needs it.
    fn without<R: Rig>(
        &self,
        rig: &mut R,
        at: usize,
        finding: &Finding,
        base: &[Candidate],
        known: &BTreeMap<Signature, u64>,
    ) -> Result<(Repair, Option<Candidate>)> {
        let mut finder = Finder::new(self.outline, self.dialect, []);
        finder.without(finding);
        let candidates = finder.found.sorted();
        let mut repair = Repair { finding: at as u64, candidates: candidates.len() as u64, ..Repair::default() };
        for candidate in candidates {
            let edit = together(base.iter().chain([&candidate]).map(|candidate| &candidate.edit));
            let Some(edit) = edit.filter(|edit| edit.apply_exactly(self.ground.text).is_some()) else { continue };
            let compiled = self.ground.compile(std::slice::from_ref(&edit))?.into_iter().next();
            let Some(Ok(bitcode)) = compiled else { continue };
            repair.tried += 1;
            let line = |line| original_line(&edit, line);
            let allowed = Some((known, &self.original.completed[..]));
            let Ok(seen) = self.ground.explore(rig, &bitcode, allowed, &line)? else { continue };
            let verdict = self.ground.verify(rig, (&bitcode, &seen), self.original, false)?;
            let Some(verdict) = verdict.filter(|verdict| is_proved(&verdict.verified)) else { continue };
            let chosen = search::Chosen { candidates: vec![candidate.clone()], mended: BTreeSet::new() };
            let made = self.repair(Repaired { chosen, seen, verdict, tried: 1 });
            let (finding, tried, candidates) = (repair.finding, repair.tried, repair.candidates);
            return Ok((Repair { finding, tried, candidates, ..made }, Some(candidate)));
        }
        let words = Words::of(self.ground.source);
        repair.why_not = Some(reasons::why_not(Some(self.outline), finding, repair.tried as usize, words));
        Ok((repair, None))
    }
}

/// Returns the text with all repairs made; `None` if they do not fit it.
pub fn repaired(text: &[u8], repairs: &[Repair]) -> Option<Vec<u8>> {
    let spot = |line, column| Spot { line, column };
    let edits = repairs.iter().flat_map(|repair| &repair.edits);
    let replacements = edits.flat_map(|edit| &edit.replacements).map(|replacement| {
        let Replacement { line, column, end_line, end_column, text } = replacement;
        (spot(*line, *column), spot(*end_line, *end_column), text.clone())
    });
    TextEdit { file: String::new(), replacements: replacements.collect() }.apply_exactly(text)
}
