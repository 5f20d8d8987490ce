//! From the runs of a kernel's mutants to its result.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use kassay_base::error::{Place, Result};
use kassay_base::hash;
use kassay_ir::instrument::layout::{FaultKind, HEADER_WORDS};
use kassay_judge::mutation::campaign::own_host;
use kassay_results::result::Location;
use kassay_results::result::mutate::{DecidedBy, MutateResult, Status};
use kassay_results::result::outcomes::{Outcome, RunEnd, Said};
use kassay_results::result::probe_map::{GuardMap, ProbeMap};
use kassay_run::host::TrialEnd;
use serde::{Deserialize, Serialize};

use super::super::texts::Texts;
use super::oracle::{Oracle, Shown, ended};
use super::runs::Ran;
use super::weaver::KernelKey;

/// The name of the only test: the program.
pub const TEST: &str = "the program";

/// What is known of a kernel before its mutants run.
pub struct Measured {
    pub key: KernelKey,
    pub launches: u64,
    /// Translated to where people find the text. Mutants that were not drawn are not in it.
    pub map: ProbeMap,
    /// The most loop iterations that a work-item of the original made.
    pub fuel_used: u32,
    /// Whether guards record faults of the original, so that of a mutant's they say nothing.
    pub has_faults: bool,
    /// Seconds in which its modules were made.
    pub woven_s: f64,
    /// Seconds in which its mutants ran on captured launches.
    pub replayed_s: f64,
    /// By module: the words after the header of the buffer for reach; all ones where it is not known.
    pub reach: Vec<Vec<u32>>,
}

impl Measured {
    /// Returns whether the program reaches a mutant, and whether its value differs there.
    pub fn observed(&self, module: u32, number: u32) -> (bool, bool) {
        let at = number.saturating_sub(1);
        let word = self.reach.get(module as usize).and_then(|words| words.get(at as usize / 16));
        let bits = word.copied().unwrap_or(0) >> (at % 16 * 2);
        (bits & 1 != 0, bits & 2 != 0)
    }
}

/// Unites buffers for reach, without their headers.
pub fn united(probes: &[Vec<u32>]) -> Vec<u32> {
    let mut all: Vec<u32> = Vec::new();
    for probe in probes {
        let words = probe.get(HEADER_WORDS as usize..).unwrap_or_default();
        all.resize(all.len().max(words.len()), 0);
        all.iter_mut().zip(words).for_each(|(all, word)| *all |= word);
    }
    all
}

/// What the run of a mutant has shown: an entry of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The program's id.
    pub program: String,
    pub kernel: String,
    /// The mutant's.
    pub id: String,
    end: End,
    /// The fault that a guard recorded.
    fault: u32,
    /// What was different.
    reason: Option<String>,
    /// Whether the program ran with it, or its launches decide.
    #[serde(default)]
    by: DecidedBy,
    /// Seconds of the run.
    #[serde(default)]
    seconds: f64,
}

impl Entry {
    /// The entry of a mutant that leaves what the original leaves in all launches of a kernel.
    pub fn same_in_launches((program, kernel): &KernelKey, id: &str) -> Entry {
        let (program, kernel, id) = (program.clone(), kernel.clone(), id.to_owned());
        Entry { program, kernel, id, end: End::Same, fault: 0, reason: None, by: DecidedBy::Launches, seconds: 0.0 }
    }
}

/// How the run of a mutant ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum End {
    Same,
    Different,
    Timeout,
    Crash,
    Refused,
}

/// Judges the run of a mutant of a kernel.
///
/// # Errors
/// As [`Ran::probes`].
pub fn entry(kernel: &Measured, id: &str, original: &Shown, ran: &Ran, oracle: &Oracle) -> Result<Entry> {
    let probes = ran.probes(&kernel.key)?;
    let fault = kernel.map.guards.as_ref().map_or(0, |guards| fault(guards, &probes, kernel.has_faults));
    let reason = oracle.difference(original, &ran.shown);
    let end = match ran.shown.tried.end {
        _ if reason.is_none() && probes.is_empty() => End::Refused,
        // What a program does after a fault is an accident.
        TrialEnd::TimedOut | TrialEnd::TooMuchOutput if fault == 0 => End::Timeout,
        TrialEnd::Signalled(_) if reason.is_some() => End::Crash,
        _ if reason.is_some() => End::Different,
        _ => End::Same,
    };
    let reason = match end {
        End::Refused => Some(ran.not_woven(&kernel.key)),
        End::Timeout => Some(format!("the program {}", ended(ran.shown.tried.end))),
        _ => reason,
    };
    let (program, kernel) = kernel.key.clone();
    let (by, seconds) = (DecidedBy::Process, ran.shown.tried.seconds);
    Ok(Entry { program, kernel, id: id.to_owned(), end, fault, reason, by, seconds })
}

/// Returns the first fault in any of the buffers. `only_fuel`: only loops without end count.
fn fault(guards: &GuardMap, probes: &[Vec<u32>], only_fuel: bool) -> u32 {
    let mut faults = probes.iter().filter_map(|probe| probe.get(guards.fault as usize).copied());
    let counts = |fault: &u32| match FaultKind::read(*fault) {
        Some((FaultKind::Fuel, _)) => true,
        Some(_) => !only_fuel,
        None => false,
    };
    faults.find(counts).unwrap_or(0)
}

/// Reads what the original's buffers say: the most iterations, and whether there is a fault.
pub fn of_original(guards: &GuardMap, probes: &[Vec<u32>]) -> (u32, bool) {
    let used = probes.iter().filter_map(|probe| probe.get(guards.fuel_used as usize).copied()).max();
    (used.unwrap_or(0), fault(guards, probes, false) != 0)
}

/// Makes the result of a kernel, whose header and options the caller completes.
///
/// # Errors
/// As [`own_host::result`].
pub fn result(kernel: &Measured, entries: &BTreeMap<&str, &Entry>) -> Result<MutateResult> {
    let at = || Place { file: PathBuf::new(), line: 0, column: 0, text: None };
    let outcome = |module: usize, said: Said| Outcome { at: at(), module, test: TEST.to_owned(), said };
    let mut outcomes = vec![outcome(0, Said::Run { number: 0, end: RunEnd::Same, fault: 0 })];
    outcomes.extend(kernel.reach.iter().enumerate().map(|(module, words)| outcome(module, Said::Reach(words.clone()))));
    for mutant in &kernel.map.mutants {
        let Some(entry) = entries.get(mutant.id.as_str()) else { continue };
        let end = match entry.end {
            End::Same => RunEnd::Same,
            End::Different => RunEnd::Different,
            End::Timeout => RunEnd::Timeout,
            End::Crash => RunEnd::Crash,
            End::Refused => RunEnd::Refused,
        };
        let said = Said::Run { number: mutant.number, end, fault: entry.fault };
        outcomes.push(outcome(mutant.module as usize, said));
    }
    let mut result = own_host::result(&kernel.map, outcomes)?;
    for mutant in &mut result.mutants {
        let of = mutant.duplicate_of.as_deref().unwrap_or(&mutant.id);
        if mutant.status == Status::NoCoverage {
            mutant.reason = Some("no launch of the program reaches it".to_owned());
        }
        let entry = entries.get(of);
        if mutant.duplicate_of.is_none() {
            mutant.decided_by = match (mutant.status, entry) {
                (Status::Ignored, _) => None,
                (Status::Equivalent, _) => Some(DecidedBy::Proof),
                (_, Some(entry)) => Some(entry.by),
                (_, None) => Some(DecidedBy::Reach),
            };
        }
        let Some(entry) = entry else { continue };
        // A fault says more about a mutant whose program only ended otherwise.
        if entry.end != End::Same && (entry.fault == 0 || entry.end != End::Different) {
            mutant.reason.clone_from(&entry.reason);
        }
    }
    let timing = &mut result.timing;
    timing.by_launches = entries.values().filter(|entry| entry.by == DecidedBy::Launches).count() as u64;
    // Both counts are of runs of the program.
    timing.pairs = timing.pairs.saturating_sub(timing.by_launches);
    timing.executions = timing.executions.saturating_sub(timing.by_launches);
    // Each run builds a module.
    timing.builds = timing.pairs + 1 + kernel.map.modules.iter().filter(|module| module.reach.is_some()).count() as u64;
    timing.build_s = kernel.woven_s;
    timing.run_s = kernel.replayed_s + entries.values().map(|entry| entry.seconds).sum::<f64>();
    if kernel.has_faults {
        result.notes.push(
            "guards record faults of the original, too: of its mutants, only loops without end count as faults"
                .to_owned(),
        );
    }
    Ok(result)
}

/// Moves all locations of a map to where people find the text, keeps copies of texts that are in no file of theirs, and
/// hashes the files. Returns whether a copy was needed. `kept`: the folder for copies.
///
/// # Errors
/// `Environment` if copies cannot be written.
pub fn locate(map: &mut ProbeMap, texts: &Texts, kept: Option<&Path>) -> Result<bool> {
    let whole = Location { file: texts.path.display().to_string(), line: 0, column: 0 };
    let mut used: Vec<Location> = map.mutants.iter().map(|mutant| mutant.change.location.clone()).collect();
    used.extend(map.left_out.iter().filter_map(|left| Some(left.change.as_ref()?.location.clone())));
    used.push(whole.clone());
    let is_elsewhere = match kept {
        Some(folder) => texts.keep(folder, &used)?,
        None => texts.is_needed(&used),
    };
    let kept = kept.unwrap_or(Path::new(""));
    let changes = map.mutants.iter_mut().map(|mutant| &mut mutant.change);
    let mut files = BTreeSet::new();
    for change in changes.chain(map.left_out.iter_mut().filter_map(|left| left.change.as_mut())) {
        let before = change.location.line;
        texts.translate(&mut change.location, kept);
        if change.end_line > 0 {
            change.end_line = (change.end_line + change.location.line).saturating_sub(before);
        }
        if let Some(spelling) = &mut change.spelling {
            let mut start =
                Location { file: spelling.file.clone(), line: spelling.start.line, column: spelling.start.column };
            let before = start.line;
            texts.translate(&mut start, kept);
            spelling.end.line = (spelling.end.line + start.line).saturating_sub(before);
            (spelling.file, spelling.start.line) = (start.file, start.line);
            files.insert(spelling.file.clone());
        }
        files.insert(change.location.file.clone());
    }
    for place in map.modules.iter_mut().flat_map(|module| &mut module.guarded) {
        texts.translate(&mut place.location, kept);
    }
    let hashed = |file: String| fs::read(&file).ok().map(|text| (file, hash::hex_digest(&text)));
    map.texts = files.into_iter().filter_map(hashed).collect();
    let mut source = whole;
    texts.translate(&mut source, kept);
    map.header.source = source.file;
    Ok(is_elsewhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_united_without_their_headers() {
        let mut one = vec![9; HEADER_WORDS as usize];
        let mut other = one.clone();
        one.extend([1, 0]);
        other.extend([2, 4, 8]);
        assert_eq!(united(&[one, other, vec![1]]), [3, 4, 8]);
    }

    #[test]
    fn a_fault_counts_unless_the_original_has_it() {
        let map: GuardMap = serde_json::from_value(serde_json::json!({
            "length": 4, "fuel": 0, "sizes": 0, "mutant": 0, "fault": 1, "fault_item": 2, "fuel_used": 3, "fault_kinds": [],
        }))
        .unwrap();
        let probes = [vec![0, 0, 0, 5], vec![0, 2 | 3 << 8, 0, 7], vec![0, 1 | 4 << 8, 0, 1]];
        assert_eq!(of_original(&map, &probes), (7, true));
        assert_eq!((fault(&map, &probes, false), fault(&map, &probes, true)), (2 | 3 << 8, 1 | 4 << 8));
    }
}
