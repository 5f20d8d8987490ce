//! The records of a campaign: the journal that an interrupted run leaves, and what one of an earlier run holds.

use kassay_base::error::Result;
use kassay_results::result::journal::Journal;
use kassay_results::result::mutate as result;
use serde::{Deserialize, Serialize};

use super::decided_row::DecidedRow;
use super::equivalence_classes::{Class, Search};

/// A line of the journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// The complete outcome of the search for equivalents: ids with their classes (all others are distinct).
    Classified(Vec<(String, Class)>),
    /// The same by normal forms alone: mutants that no test detects are still to be proved.
    Sorted(Vec<(String, Class)>),
    /// Ids, each with the proof that it is equivalent, if one was found.
    Proved(Vec<(String, Option<String>)>),
    /// Ids, each with whether it is proved to be equivalent in the launches of the tests.
    ProvedForLaunches(Vec<(String, bool)>),
    /// A mutant whose outcome is final.
    Decided(Box<result::Mutant>),
    /// The same, of one that this run has decided.
    Ran(Box<DecidedRow>),
}

/// What is recorded of a campaign besides rows.
pub struct Records<'a> {
    journal: Option<&'a Journal>,
    /// Entries of an earlier run about classes and proofs.
    known: Vec<Entry>,
}

impl<'a> Records<'a> {
    /// Continues a journal, whose entries about classes and proofs are `known`.
    pub fn new(journal: Option<&'a Journal>, known: Vec<Entry>) -> Records<'a> {
        Records { journal, known }
    }

    /// Adds an entry to the journal, if one is kept.
    ///
    /// # Errors
    /// `Environment` if it cannot be written.
    pub fn append(&self, entry: &Entry) -> Result<()> {
        self.journal.map_or(Ok(()), |journal| journal.append(entry))
    }

    /// Returns the journal, if one is kept.
    pub fn journal(&self) -> Option<&'a Journal> {
        self.journal
    }

    /// Returns the outcome of an earlier search for equal mutants, and what it searched by.
    pub fn classes(&self) -> Option<(&[(String, Class)], Search)> {
        self.known.iter().find_map(|entry| match entry {
            Entry::Classified(all) => Some((all.as_slice(), Search::Proofs)),
            Entry::Sorted(all) => Some((all.as_slice(), Search::NormalForms)),
            _ => None,
        })
    }

    /// Returns ids of which proofs were sought, and what was found.
    pub fn proofs(&self) -> impl Iterator<Item = (&str, &Option<String>)> {
        let all = self.known.iter().filter_map(|entry| match entry {
            Entry::Proved(all) => Some(all),
            _ => None,
        });
        all.flatten().map(|(id, proof)| (id.as_str(), proof))
    }

    /// The same for proofs about the launches of the tests.
    pub fn proofs_for_launches(&self) -> impl Iterator<Item = (&str, &bool)> {
        let all = self.known.iter().filter_map(|entry| match entry {
            Entry::ProvedForLaunches(all) => Some(all),
            _ => None,
        });
        all.flatten().map(|(id, proved)| (id.as_str(), proved))
    }
}
