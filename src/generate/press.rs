//! From genes to launches.

use std::time::Instant;

use super::fitting::{Outcome, Workshop};
use super::genes::{self, Edit, Genes};
use super::interface_file::Wishes;
use crate::error::Result;
use crate::suite::launch::{ArgValue, Launch};

/// Launches that are remembered, and the bytes that one of them may have.
const REMEMBERED: usize = 32;
const MOST_BYTES: usize = 1 << 20;

/// Makes launches. What genes without their edits come to is remembered: most children differ from their parents in contents
/// only, and need neither a dry run nor to be filled anew.
pub struct Press<'w> {
    workshop: &'w Workshop<'w>,
    wishes: &'w Wishes,
    /// When nothing more is made.
    end: Instant,
    /// The last ones, oldest first.
    known: Vec<(Genes, Made)>,
}

/// A launch, and what is assumed of it.
type Made = (Launch, Vec<String>);

impl<'w> Press<'w> {
    pub fn new(workshop: &'w Workshop<'w>, wishes: &'w Wishes, end: Instant) -> Press<'w> {
        Press { workshop, wishes, end, known: Vec::new() }
    }

    /// The launch that genes come to; `None` if it would be too large, or the time is up. `tried`: what trying out its plan has given, if
    /// that was done.
    ///
    /// # Errors
    /// As of [`Workshop::launch`].
    pub fn express(&mut self, genes: &Genes, tried: Option<Outcome>) -> Result<Option<Made>> {
        let made = match self.known.iter().position(|(known, _)| known.same_plan(genes)) {
            Some(i) => {
                let entry = self.known.remove(i);
                let made = entry.1.clone();
                self.known.push(entry);
                made
            }
            None => match self.base(genes, tried)? {
                Some(made) => made,
                None => return Ok(None),
            },
        };
        let (mut launch, preconditions) = made;
        for edit in &genes.edits {
            let position = edit.position();
            if let (Some(value @ ArgValue::Sampler { .. }), Edit::Sampler { addressing, filter, normalized, .. }) =
                (launch.args.get_mut(position), edit)
            {
                *value = ArgValue::Sampler { addressing: *addressing, filter: *filter, normalized: *normalized };
            } else if let Some(value) = launch.args.get_mut(position) {
                let (workshop, wishes) = (self.workshop, self.wishes);
                genes::change(workshop, position, value, |bytes, ty| genes::apply(edit, bytes, ty, workshop, wishes));
            }
        }
        Ok(Some((launch, preconditions)))
    }

    /// Without the edits.
    fn base(&mut self, genes: &Genes, tried: Option<Outcome>) -> Result<Option<Made>> {
        let plan = genes.plan();
        let mut outcome = tried.unwrap_or_else(|| self.workshop.try_out(&plan));
        for (position, (wish, arg)) in self.wishes.args.iter().zip(&self.workshop.model.interface.args).enumerate() {
            if let Some(size) = wish.size {
                outcome.resize(position, size.saturating_mul(Workshop::element(arg).size()));
            }
        }
        if outcome.too_large || Instant::now() >= self.end {
            return Ok(None);
        }
        let mut launch = self.workshop.launch(&plan, &outcome)?;
        for (position, (wish, value)) in self.wishes.args.iter().zip(&mut launch.args).enumerate() {
            if let Some(given) = wish.value.as_ref().filter(|v| !matches!(v, ArgValue::Value(_))) {
                *value = given.clone();
            }
            if wish.least.is_some() || wish.greatest.is_some() {
                let wishes = self.wishes;
                genes::change(self.workshop, position, value, |bytes, ty| genes::bound(bytes, ty, wishes, position));
            }
        }
        let mut preconditions = self.workshop.model.preconditions.clone();
        preconditions.extend(outcome.notes);
        let made = (launch, preconditions);
        if bytes(&made.0) <= MOST_BYTES {
            if self.known.len() >= REMEMBERED {
                self.known.remove(0);
            }
            self.known.push((Genes { edits: Vec::new(), ..genes.clone() }, made.clone()));
        }
        Ok(Some(made))
    }
}

/// Of all its buffers and images.
fn bytes(launch: &Launch) -> usize {
    let of = |value: &ArgValue| match value {
        ArgValue::Buffer(bytes) => bytes.len(),
        ArgValue::Image { texels, .. } => texels.len(),
        _ => 0,
    };
    launch.args.iter().map(of).sum()
}
