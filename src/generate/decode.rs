//! Decodes genotypes into launches.

use std::time::Instant;

use super::buffer_growth::{self, Guess};
use super::genotype::{self, Edit, Genotype};
use super::interface_file::Wishes;
use super::launch_builder::{LaunchBuilder, Outcome};
use crate::error::Result;
use crate::suite::launch::{ArgValue, Launch};

/// Decoded genotypes that are cached, and the size limit of each in bytes.
const REMEMBERED: usize = 32;
const MOST_BYTES: usize = 1 << 20;

/// Decodes genotypes into launches. The decoded base (genotype without edits) is cached: most children differ from
/// their parents only in contents, and need neither a dry run nor to be filled again.
pub struct Decoder<'w> {
    launch_builder: &'w LaunchBuilder<'w>,
    wishes: &'w Wishes,
    /// When decoding ends.
    end: Instant,
    /// Decoded bases, least recently used first.
    known: Vec<(Genotype, Decoded, Vec<Guess>)>,
}

/// A launch and its preconditions.
type Decoded = (Launch, Vec<String>);

impl<'w> Decoder<'w> {
    /// A decoder with an empty cache; nothing new is decoded after `end`.
    pub fn new(launch_builder: &'w LaunchBuilder<'w>, wishes: &'w Wishes, end: Instant) -> Decoder<'w> {
        Decoder { launch_builder, wishes, end, known: Vec::new() }
    }

    /// The launch of a genotype; `None` if it would be too large, or the time is up. `fitted`: the result of its dry
    /// run, if that was already made.
    ///
    /// # Errors
    /// As [`LaunchBuilder::launch`].
    pub fn express(&mut self, genotype: &Genotype, tried: Option<Outcome>) -> Result<Option<Decoded>> {
        let made = match self.known.iter().position(|(known, ..)| known.same_plan(genotype)) {
            Some(i) => {
                let entry = self.known.remove(i);
                let made = entry.1.clone();
                self.known.push(entry);
                made
            }
            None => match self.base(genotype, tried)? {
                Some(made) => made,
                None => return Ok(None),
            },
        };
        let (mut launch, preconditions) = made;
        for edit in &genotype.edits {
            let position = edit.position();
            if let (Some(value @ ArgValue::Sampler { .. }), Edit::Sampler { addressing, filter, normalized, .. }) =
                (launch.args.get_mut(position), edit)
            {
                *value = ArgValue::Sampler { addressing: *addressing, filter: *filter, normalized: *normalized };
            } else if let Some(value) = launch.args.get_mut(position) {
                let (launch_builder, wishes) = (self.launch_builder, self.wishes);
                genotype::change(launch_builder, position, value, |bytes, ty| {
                    genotype::apply(edit, bytes, ty, launch_builder, wishes)
                });
            }
        }
        Ok(Some((launch, preconditions)))
    }

    /// Enlarges arguments of guessed length to what an execution accessed, for this genotype and all others with the
    /// same plan. Returns `false` if there is nothing to grow.
    pub fn grow(&mut self, genotype: &Genotype, reached: &[(u32, u64)]) -> bool {
        let Some((_, made, guesses)) = self.known.iter_mut().find(|(known, ..)| known.same_plan(genotype)) else {
            return false;
        };
        let has_grown = buffer_growth::grow(guesses, &mut made.0, &mut made.1, reached) && bytes(&made.0) <= MOST_BYTES;
        if has_grown {
            bound(self.launch_builder, self.wishes, &mut made.0);
        }
        has_grown
    }

    /// Decodes the genotype without its edits.
    fn base(&mut self, genotype: &Genotype, tried: Option<Outcome>) -> Result<Option<Decoded>> {
        let plan = genotype.plan();
        let mut outcome = tried.unwrap_or_else(|| self.launch_builder.try_out(&plan));
        for (position, (wish, arg)) in
            self.wishes.args.iter().zip(&self.launch_builder.model.interface.args).enumerate()
        {
            if let Some(size) = wish.size {
                outcome.resize(position, size.saturating_mul(LaunchBuilder::element(arg).size()));
            }
        }
        if outcome.too_large || Instant::now() >= self.end {
            return Ok(None);
        }
        let mut launch = self.launch_builder.launch(&plan, &outcome)?;
        for (wish, value) in self.wishes.args.iter().zip(&mut launch.args) {
            if let Some(given) = wish.value.as_ref().filter(|v| !matches!(v, ArgValue::Value(_))) {
                *value = given.clone();
            }
        }
        bound(self.launch_builder, self.wishes, &mut launch);
        let mut preconditions = self.launch_builder.model.preconditions.clone();
        preconditions.extend(outcome.notes);
        let made = (launch, preconditions);
        if bytes(&made.0) <= MOST_BYTES {
            if self.known.len() >= REMEMBERED {
                self.known.remove(0);
            }
            let mut guesses = outcome.guesses;
            // A length that the user specifies is no guess.
            let is_free = |guess: &Guess| {
                let wish = &self.wishes.args[guess.position as usize];
                wish.size.is_none() && wish.value.is_none()
            };
            guesses.retain(is_free);
            self.known.push((Genotype { edits: Vec::new(), ..genotype.clone() }, made.clone(), guesses));
        }
        Ok(Some(made))
    }
}

/// Clamps the contents of buffers and images to the user's bounds.
fn bound(launch_builder: &LaunchBuilder<'_>, wishes: &Wishes, launch: &mut Launch) {
    for (position, (wish, value)) in wishes.args.iter().zip(&mut launch.args).enumerate() {
        if wish.least.is_some() || wish.greatest.is_some() {
            genotype::change(launch_builder, position, value, |bytes, ty| genotype::bound(bytes, ty, wishes, position));
        }
    }
}

/// Bytes of all its buffers and images.
fn bytes(launch: &Launch) -> usize {
    let of = |value: &ArgValue| match value {
        ArgValue::Buffer(bytes) => bytes.len(),
        ArgValue::Image { texels, .. } => texels.len(),
        _ => 0,
    };
    launch.args.iter().map(of).sum()
}
