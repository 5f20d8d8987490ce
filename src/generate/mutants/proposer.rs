//! What finds inputs by other means than chance.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::error::Result;
use crate::instrument::mutants::infection::Seen;
use crate::suite::launch::Launch;

/// Finds inputs that make a mutant's value differ from the original's. Mutants are told by their position among those that are
/// searched for.
pub trait Proposer {
    /// A launch that may infect one of the wanted mutants; `None` if there is nothing left to try, or the time is up.
    ///
    /// # Errors
    /// Of the environment, or of kassay.
    fn next(&mut self, wanted: &BTreeSet<u32>, end: Instant) -> Result<Option<Launch>>;

    /// Any launch that was run, those of [`Proposer::next`] among them, with what it showed of every mutant; `None` if it did what
    /// no kernel may.
    fn ran(&mut self, launch: &Launch, seen: Option<&[Seen]>);
}

/// Proposes nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Proposer for Nobody {
    fn next(&mut self, _: &BTreeSet<u32>, _: Instant) -> Result<Option<Launch>> {
        Ok(None)
    }

    fn ran(&mut self, _: &Launch, _: Option<&[Seen]>) {}
}
