//! The results of single kernels in the files given to a report, with sets taken apart.

use crate::result::Header;
use crate::result::capture::CaptureResult;
use crate::result::check::CheckResult;
use crate::result::compare::CompareResult;
use crate::result::cover::CoverResult;
use crate::result::devices::DevicesResult;
use crate::result::generate::GenerateResult;
use crate::result::inspect::InspectResult;
use crate::result::mutate::MutateResult;
use crate::result::run::RunResult;
use crate::result::schedule::ScheduleResult;
use crate::result::set::{Failed, SetResult};
use crate::result::store::{AnyResult, ResultFile};

/// A result that is no set.
#[derive(Clone, Copy)]
pub(super) enum Part<'a> {
    Devices(&'a DevicesResult),
    Inspect(&'a InspectResult),
    Run(&'a RunResult),
    Cover(&'a CoverResult),
    Mutate(&'a MutateResult),
    Schedule(&'a ScheduleResult),
    Check(&'a CheckResult),
    Generate(&'a GenerateResult),
    Compare(&'a CompareResult),
    Capture(&'a CaptureResult),
}

/// A kernel of a set that has no result.
pub(super) struct Gap<'a> {
    /// The header of the set.
    pub(super) header: &'a Header,
    /// Its name, suite and error.
    pub(super) failed: &'a Failed,
}

impl Gap<'_> {
    /// Returns the kernel's name, as far as it is known.
    pub(super) fn name(&self) -> &str {
        let Failed { kernel, suite, .. } = self.failed;
        kernel.as_deref().or(suite.as_deref()).unwrap_or("a kernel")
    }

    /// Returns the file that it is of: the suite, or the host program.
    pub(super) fn file(&self) -> &str {
        self.failed.suite.as_deref().unwrap_or(&self.header.source)
    }
}

/// Returns all results in their order, those of sets one by one.
pub(super) fn parts(results: &[ResultFile]) -> Vec<Part<'_>> {
    results.iter().flat_map(|(_, result)| of(result)).collect()
}

/// Returns the results in a file.
pub(super) fn of(result: &AnyResult) -> Vec<Part<'_>> {
    match result {
        AnyResult::Devices(r) => vec![Part::Devices(r)],
        AnyResult::Inspect(r) => vec![Part::Inspect(r)],
        AnyResult::Run(r) => vec![Part::Run(r)],
        AnyResult::Cover(r) => vec![Part::Cover(r)],
        AnyResult::CoverSet(set) => set.kernels.iter().map(|kernel| Part::Cover(&kernel.result)).collect(),
        AnyResult::Mutate(r) => vec![Part::Mutate(r)],
        AnyResult::MutateSet(set) => set.kernels.iter().map(|kernel| Part::Mutate(&kernel.result)).collect(),
        AnyResult::Schedule(r) => vec![Part::Schedule(r)],
        AnyResult::Check(r) => vec![Part::Check(r)],
        AnyResult::CheckSet(set) => set.kernels.iter().map(|kernel| Part::Check(&kernel.result)).collect(),
        AnyResult::Generate(r) => vec![Part::Generate(r)],
        AnyResult::Compare(r) => vec![Part::Compare(r)],
        AnyResult::Capture(r) => vec![Part::Capture(r)],
        AnyResult::RunSet(set) => set.kernels.iter().map(|kernel| Part::Run(&kernel.result)).collect(),
        AnyResult::ScheduleSet(set) => set.kernels.iter().map(|kernel| Part::Schedule(&kernel.result)).collect(),
        AnyResult::GenerateSet(set) => set.kernels.iter().map(|kernel| Part::Generate(&kernel.result)).collect(),
        // `report::load` takes it apart.
        AnyResult::Ci(_) => Vec::new(),
    }
}

/// Returns the kernels of sets that have no result.
pub(super) fn gaps(results: &[ResultFile]) -> Vec<Gap<'_>> {
    fn of<R, T>(set: &SetResult<R, T>) -> Vec<Gap<'_>> {
        set.failed.iter().map(|failed| Gap { header: &set.header, failed }).collect()
    }
    results
        .iter()
        .flat_map(|(_, result)| match result {
            AnyResult::CoverSet(set) => of(set),
            AnyResult::MutateSet(set) => of(set),
            AnyResult::CheckSet(set) => of(set),
            AnyResult::RunSet(set) => of(set),
            AnyResult::ScheduleSet(set) => of(set),
            AnyResult::GenerateSet(set) => of(set),
            _ => Vec::new(),
        })
        .collect()
}

/// Something that is not as it was asked for.
pub(super) struct Complaint<'a> {
    /// The header of the result that says so.
    pub(super) header: &'a Header,
    /// What is wrong, a sentence.
    pub(super) text: &'a str,
}

/// Returns what results and sets say is not as it was asked for.
pub(super) fn complaints(results: &[ResultFile]) -> Vec<Complaint<'_>> {
    fn of<'a>(header: &'a Header, texts: &'a [String]) -> impl Iterator<Item = Complaint<'a>> {
        texts.iter().map(move |text| Complaint { header, text })
    }
    let of_sets = results.iter().filter_map(|(_, result)| match result {
        AnyResult::CoverSet(set) => Some(of(&set.header, &set.complaints)),
        AnyResult::MutateSet(set) => Some(of(&set.header, &set.complaints)),
        _ => None,
    });
    let of_parts = parts(results).into_iter().filter_map(|part| match part {
        Part::Cover(r) => Some(of(&r.header, &r.complaints)),
        Part::Mutate(r) => Some(of(&r.header, &r.complaints)),
        _ => None,
    });
    of_parts.flatten().chain(of_sets.flatten()).collect()
}

/// Returns the notes of all results and sets, each once.
pub(super) fn notes(results: &[ResultFile]) -> Vec<&str> {
    let of_sets = results.iter().flat_map(|(_, result)| match result {
        AnyResult::CoverSet(set) => set.notes.as_slice(),
        AnyResult::MutateSet(set) => &set.notes,
        AnyResult::CheckSet(set) => &set.notes,
        AnyResult::RunSet(set) => &set.notes,
        AnyResult::ScheduleSet(set) => &set.notes,
        AnyResult::GenerateSet(set) => &set.notes,
        _ => &[],
    });
    let of_parts = parts(results).into_iter().flat_map(|part| match part {
        Part::Devices(_) => &[],
        Part::Inspect(r) => r.notes.as_slice(),
        Part::Run(r) => &r.notes,
        Part::Cover(r) => &r.notes,
        Part::Mutate(r) => &r.notes,
        Part::Schedule(r) => &r.notes,
        Part::Check(r) => &r.notes,
        Part::Generate(r) => &r.notes,
        Part::Compare(r) => &r.notes,
        Part::Capture(r) => &r.notes,
    });
    let mut notes: Vec<&str> = Vec::new();
    for note in of_sets.chain(of_parts) {
        if !notes.contains(&note.as_str()) {
            notes.push(note);
        }
    }
    notes
}
