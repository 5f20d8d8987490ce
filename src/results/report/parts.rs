//! What the files given to a report hold: the results of single kernels, and what sets say besides.

use crate::result::Header;
use crate::result::any::{AnyResult, Part};
use crate::result::set::{AnySet, Failed};
use crate::result::store::ResultFile;

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
        AnyResult::Compare(r) => vec![Part::Compare(r)],
        AnyResult::Capture(r) => vec![Part::Capture(r)],
        // `report::load` takes a project's result apart, which has no kernels of its own.
        of_kernels => of_kernels.kernels().into_iter().map(|kernel| kernel.part).collect(),
    }
}

/// Returns the sets.
fn sets(results: &[ResultFile]) -> impl Iterator<Item = &dyn AnySet> {
    results.iter().filter_map(|(_, result)| result.set())
}

/// Returns the kernels of sets that have no result.
pub(super) fn gaps(results: &[ResultFile]) -> Vec<Gap<'_>> {
    let of_set = |set| {
        let header = AnySet::header(set);
        AnySet::failed(set).iter().map(move |failed| Gap { header, failed })
    };
    sets(results).flat_map(of_set).collect()
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
    let of_parts = parts(results).into_iter().filter_map(Part::complaints);
    let of_sets = sets(results).map(|set| (set.header(), set.complaints()));
    let all = of_parts.chain(of_sets);
    all.flat_map(|(header, texts)| texts.iter().map(move |text| Complaint { header, text })).collect()
}

/// Returns the notes of all results and sets, each once.
pub(super) fn notes(results: &[ResultFile]) -> Vec<&str> {
    let of_sets = sets(results).flat_map(AnySet::notes);
    let of_parts = parts(results).into_iter().flat_map(Part::notes);
    let mut notes: Vec<&str> = Vec::new();
    for note in of_sets.chain(of_parts) {
        if !notes.contains(&note.as_str()) {
            notes.push(note);
        }
    }
    notes
}
