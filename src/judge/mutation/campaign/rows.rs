//! The rows of a campaign's result while it goes on: which are final, and which are this shard's.

use std::collections::HashMap;

use kassay_results::result::mutate::{self as result, Location, Position, Status, TestNames};
use kassay_results::result::shard::Shard;

use super::equivalence_classes::{Class, positions};
use super::records::Entry;
use crate::mutation::catalogue::higher_order;
use crate::mutation::catalogue::indices::{ByMutant, MutantIndex};
use crate::mutation::catalogue::mutant::{Mutant, SourceRange, Spot};
use crate::mutation::run::test_lists::TestLists;

/// A pair of first-order mutants, by position.
pub struct MutantPair {
    /// The ids of both, joined.
    pub id: String,
    /// The one that comes first among all mutants.
    pub first: MutantIndex,
    /// The other one.
    pub second: MutantIndex,
    /// Why the two cannot be in force at once; `None` if they can.
    pub conflict: Option<&'static str>,
    /// Whether the pair belongs to this shard.
    pub in_shard: bool,
}

/// The row of each mutant of a run.
pub struct Rows<'a> {
    /// The lists of tests that rows share.
    pub lists: &'a TestLists,
    /// Rows of the first-order mutants, by position.
    pub rows: ByMutant<result::Mutant>,
    decided: ByMutant<bool>,
    in_shard: ByMutant<bool>,
    /// Rows of pairs: at first those of the journal, in the end all.
    pub pairs: Vec<result::Mutant>,
    mutants: &'a [Mutant],
    shard: Option<Shard>,
}

impl<'a> Rows<'a> {
    /// Creates the rows of mutants about which nothing is known yet.
    pub fn new(mutants: &'a [Mutant], lists: &'a TestLists, shard: Option<Shard>) -> Rows<'a> {
        Rows {
            lists,
            rows: mutants.iter().map(row).collect(),
            decided: ByMutant::filled(false, mutants.len()),
            in_shard: ByMutant::filled(true, mutants.len()),
            pairs: Vec::new(),
            mutants,
            shard,
        }
    }

    /// Enters the final rows among the entries of a journal, and returns its other entries.
    pub fn enter(&mut self, known: Vec<Entry>) -> Vec<Entry> {
        let positions = positions(self.mutants);
        let mut others = Vec::new();
        for entry in known {
            let row = match entry {
                Entry::Decided(row) => Some(*row),
                // What is damaged is run again.
                Entry::Ran(row) => row.with_names(self.lists),
                other => {
                    others.push(other);
                    None
                }
            };
            let Some(row) = row else { continue };
            match positions.get(row.id.as_str()) {
                Some(m) => self.decide(*m, row),
                None => self.pairs.push(row),
            }
        }
        others
    }

    /// Returns whether a mutant is to be run by this shard; duplicates are not.
    pub fn is_in_shard(&self, m: MutantIndex) -> bool {
        self.in_shard[m] && self.rows[m].duplicate_of.is_none()
    }

    /// Returns whether a mutant's row is final.
    pub fn is_decided(&self, m: MutantIndex) -> bool {
        self.decided[m]
    }

    /// Returns the mutants that this shard is to run and whose rows are not final.
    pub fn open(&self) -> impl Iterator<Item = MutantIndex> {
        self.rows.positions().filter(|m| self.is_in_shard(*m) && !self.decided[*m])
    }

    /// Makes `row` the final row of a mutant.
    pub fn decide(&mut self, m: MutantIndex, row: result::Mutant) {
        self.rows[m] = row;
        self.decided[m] = true;
    }

    /// Returns whether a mutant equals neither the original nor another mutant, as far as is known.
    pub fn is_distinct(&self, m: MutantIndex) -> bool {
        self.rows[m].duplicate_of.is_none() && self.rows[m].status != Status::Equivalent
    }

    /// Writes classes into the rows. The row of a mutant that equals another or the original holds nothing else.
    pub fn write_classes(&mut self, classes: ByMutant<Option<Class>>) {
        for (m, class) in self.rows.positions().zip(classes.into_values()) {
            let Some(class) = class else { continue };
            let mut row = row(&self.mutants[m]);
            match class {
                Class::Equivalent(reason) => (row.status, row.reason) = (Status::Equivalent, Some(reason)),
                Class::Duplicate(of) => row.duplicate_of = Some(of),
            }
            self.decide(m, row);
        }
    }

    /// Leaves the mutants of other shards pending. A duplicate goes with the mutant that it equals.
    pub fn divide_among_shards(&mut self) {
        let Some(shard) = self.shard else { return };
        for m in self.rows.positions() {
            let id = self.rows[m].duplicate_of.as_ref().unwrap_or(&self.rows[m].id);
            self.in_shard[m] = shard.owns(id, None);
            if !self.in_shard[m] {
                (self.rows[m].status, self.rows[m].reason) = (Status::Pending, None);
            }
        }
    }

    /// Writes into this shard's rows how proofs changed the classes.
    pub fn apply_proofs(&mut self, before: &ByMutant<Option<Class>>, after: &ByMutant<Option<Class>>) {
        let positions = positions(self.mutants);
        let inherited: ByMutant<Option<result::Mutant>> = before
            .values()
            .zip(after.values())
            .map(|(before, after)| match (before, after) {
                // Proofs separate it from the mutant that it duplicated; it takes over that mutant's outcome, which
                // would have been its own.
                (Some(Class::Duplicate(of)), None) => positions.get(of.as_str()).map(|m| self.rows[*m].clone()),
                _ => None,
            })
            .collect();
        for m in self.rows.positions().filter(|m| self.in_shard[*m] && before[*m] != after[*m]) {
            let row = &mut self.rows[m];
            match (&after[m], &inherited[m]) {
                (Some(Class::Equivalent(reason)), _) => {
                    (row.status, row.reason) = (Status::Equivalent, Some(reason.clone()));
                    (row.duplicate_of, row.killed_by, row.covered_by) =
                        (None, TestNames::default(), TestNames::default());
                    row.schedule = None;
                }
                (Some(Class::Duplicate(of)), _) => row.duplicate_of = Some(of.clone()),
                (None, Some(source)) => {
                    (row.status, row.reason, row.duplicate_of) = (source.status, source.reason.clone(), None);
                    (row.killed_by, row.covered_by) = (source.killed_by.clone(), source.covered_by.clone());
                }
                (None, None) => {}
            }
        }
    }

    /// Enters the tests that reach a mutant, unless its row is final or belongs to another shard.
    pub fn set_covered(&mut self, m: MutantIndex, covering: TestNames) {
        if self.is_in_shard(m) && !self.decided[m] {
            self.rows[m].covered_by = covering;
        }
    }

    /// Returns the pairs of first-order mutants, without duplicates (LIU 6.2.1): those that were drawn, or all.
    pub fn pairs(&self, drawn: Option<&[(MutantIndex, MutantIndex)]>, seed: u64) -> Vec<MutantPair> {
        let all = || {
            let first: Vec<MutantIndex> =
                self.rows.positions().filter(|m| self.rows[*m].duplicate_of.is_none()).collect();
            higher_order::pairs(&first, None, seed)
        };
        let pairs = drawn.map_or_else(all, <[(MutantIndex, MutantIndex)]>::to_vec);
        let pair = |(first, second): (MutantIndex, MutantIndex)| {
            let id = format!("{} + {}", self.mutants[first].id, self.mutants[second].id);
            MutantPair {
                first,
                second,
                conflict: higher_order::conflict(&self.mutants[first].edit, &self.mutants[second].edit),
                in_shard: self.shard.is_none_or(|shard| shard.owns(&id, None)),
                id,
            }
        };
        pairs.into_iter().map(pair).collect()
    }

    /// Returns the rows of pairs: those known from the journal, pending ones for the rest. `covering`: for each the
    /// tests that reach it.
    pub fn pair_rows(&self, pairs: &[MutantPair], covering: Vec<TestNames>) -> Vec<result::Mutant> {
        let known: HashMap<&str, &result::Mutant> = self.pairs.iter().map(|row| (row.id.as_str(), row)).collect();
        let row = |(pair, covering): (&MutantPair, TestNames)| match known.get(pair.id.as_str()) {
            Some(row) => (*row).clone(),
            None => self.pair_row(pair, covering),
        };
        pairs.iter().zip(covering).map(row).collect()
    }

    fn pair_row(&self, pair: &MutantPair, covering: TestNames) -> result::Mutant {
        let (a, b) = (&self.rows[pair.first], &self.rows[pair.second]);
        let conflict = pair.conflict.filter(|_| pair.in_shard);
        result::Mutant {
            id: pair.id.clone(),
            operator: format!("{}+{}", a.operator, b.operator),
            function: a.function.clone(),
            original: format!("{} … {}", a.original, b.original),
            replacement: format!("{} … {}", a.replacement, b.replacement),
            location: a.location.clone(),
            spelling: None,
            status: if conflict.is_some() { Status::Ignored } else { Status::Pending },
            killed_by: TestNames::default(),
            covered_by: if pair.in_shard { covering } else { TestNames::default() },
            duplicate_of: None,
            reason: conflict.map(str::to_owned),
            schedule: None,
            parts: vec![a.id.clone(), b.id.clone()],
            decided_by: None,
            edit: None,
            taken_over: false,
        }
    }

    /// Returns all rows, those of pairs last.
    pub fn into_rows(self) -> Vec<result::Mutant> {
        self.rows.into_values().into_iter().chain(self.pairs).collect()
    }
}

/// Returns the row of a mutant about which nothing is known yet.
pub(super) fn row(mutant: &Mutant) -> result::Mutant {
    result::Mutant {
        id: mutant.id.clone(),
        operator: mutant.operator.to_owned(),
        function: mutant.function.clone(),
        original: mutant.original.clone(),
        replacement: mutant.replacement.clone(),
        location: mutant.range.as_ref().map(location).unwrap_or_default(),
        spelling: mutant.spelling.as_ref().map(location),
        status: Status::Pending,
        killed_by: TestNames::default(),
        covered_by: TestNames::default(),
        duplicate_of: None,
        reason: None,
        schedule: None,
        parts: Vec::new(),
        decided_by: None,
        edit: Some(mutant.edit_hash()),
        taken_over: false,
    }
}

/// Returns a range as results have it.
pub fn location(range: &SourceRange) -> Location {
    let position = |s: Spot| Position { line: s.line, column: s.column };
    Location { file: range.file.clone(), start: position(range.start), end: position(range.end) }
}
