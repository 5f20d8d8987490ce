//! Decodes genotypes into launches.

use std::time::Instant;

use kassay_base::error::Result;
use kassay_suite::launch::{ArgValue, Launch};

use super::buffer_growth::{self, Guess};
use super::fitting;
use super::genotype::{self, Edit, Genotype};
use super::interface_file::UserConstraints;
use super::launch_builder::{FittedPlan, LaunchBuilder};
use super::seeded_genotype;

/// Decoded genotypes that are cached, and the size limit of each in bytes.
const CACHE_SIZE: usize = 32;
const MAX_CACHED_BYTES: usize = 1 << 20;

/// Decodes genotypes into launches. The decoded base (genotype without edits) is cached: most children differ from
/// their parents only in contents, and need neither a dry run nor to be filled again.
pub struct Decoder<'w> {
    launch_builder: &'w LaunchBuilder<'w>,
    constraints: &'w UserConstraints,
    /// When decoding ends.
    end: Instant,
    /// Decoded bases, least recently used first.
    cache: Vec<(Genotype, Decoded, Vec<Guess>)>,
}

/// A launch and its preconditions.
type Decoded = (Launch, Vec<String>);

impl<'w> Decoder<'w> {
    /// Creates a decoder with an empty cache; nothing new is decoded after `end`.
    pub fn new(launch_builder: &'w LaunchBuilder<'w>, constraints: &'w UserConstraints, end: Instant) -> Decoder<'w> {
        Decoder { launch_builder, constraints, end, cache: Vec::new() }
    }

    /// Returns the launch of a genotype; `None` if it would be too large, the time is up, or it cannot keep the
    /// likely invariants of the seeds. `fitted`: the result of its dry run, if that was already made.
    ///
    /// # Errors
    /// As [`LaunchBuilder::launch`].
    pub fn decode(&mut self, genotype: &Genotype, fitted: Option<FittedPlan>) -> Result<Option<Decoded>> {
        let made = match self.cache.iter().position(|(cached, ..)| cached.same_plan(genotype)) {
            Some(i) => {
                let entry = self.cache.remove(i);
                let made = entry.1.clone();
                self.cache.push(entry);
                made
            }
            None => match self.base(genotype, fitted)? {
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
                let (launch_builder, constraints) = (self.launch_builder, self.constraints);
                genotype::edit_contents(launch_builder, position, value, |bytes, ty| {
                    genotype::apply(edit, bytes, ty, launch_builder, constraints)
                });
            }
        }
        Ok(fitting::fit(self.constraints, self.launch_builder.model, &mut launch).then_some((launch, preconditions)))
    }

    /// Enlarges arguments of guessed length to what an execution accessed, for this genotype and all others with the
    /// same plan. Returns `false` if there is nothing to grow.
    pub fn grow(&mut self, genotype: &Genotype, reached: &[(u32, u64)]) -> bool {
        let Some((_, made, guesses)) = self.cache.iter_mut().find(|(cached, ..)| cached.same_plan(genotype)) else {
            return false;
        };
        let has_grown =
            buffer_growth::grow(guesses, &mut made.0, &mut made.1, reached) && bytes(&made.0) <= MAX_CACHED_BYTES;
        if has_grown {
            clamp_launch(self.launch_builder, self.constraints, &mut made.0);
        }
        has_grown
    }

    /// Decodes the genotype without its edits.
    fn base(&mut self, genotype: &Genotype, fitted: Option<FittedPlan>) -> Result<Option<Decoded>> {
        let seeds = self.constraints.seeds.as_deref();
        if let Some(launch) =
            genotype.base.and_then(|at| seeded_genotype::based_on(seeds?, at, genotype, self.launch_builder.model))
        {
            if Instant::now() >= self.end {
                return Ok(None);
            }
            let made = (launch, vec![seeded_genotype::PRECONDITION.to_owned()]);
            self.remember(genotype, &made, Vec::new());
            return Ok(Some(made));
        }
        let plan = genotype.plan();
        let mut fitted = fitted.unwrap_or_else(|| self.launch_builder.fit(&plan));
        for (position, (constraint, arg)) in
            self.constraints.args.iter().zip(&self.launch_builder.model.interface.args).enumerate()
        {
            if let Some(size) = constraint.size {
                fitted.resize(position, size.saturating_mul(LaunchBuilder::element(arg).size()));
            }
        }
        if fitted.too_large || Instant::now() >= self.end {
            return Ok(None);
        }
        let mut launch = self.launch_builder.launch(&plan, &fitted)?;
        for (constraint, value) in self.constraints.args.iter().zip(&mut launch.args) {
            if let Some(given) = constraint.value.as_ref().filter(|v| !matches!(v, ArgValue::Value(_))) {
                *value = given.clone();
            }
        }
        clamp_launch(self.launch_builder, self.constraints, &mut launch);
        let mut preconditions = self.launch_builder.model.preconditions.clone();
        preconditions.extend(fitted.notes);
        let made = (launch, preconditions);
        let mut guesses = fitted.guesses;
        // A length that the user specifies is no guess.
        let is_free = |guess: &Guess| {
            let constraint = &self.constraints.args[guess.position as usize];
            constraint.size.is_none() && constraint.value.is_none()
        };
        guesses.retain(is_free);
        self.remember(genotype, &made, guesses);
        Ok(Some(made))
    }

    /// Puts a decoded base into the cache, if it is small.
    fn remember(&mut self, genotype: &Genotype, made: &Decoded, guesses: Vec<Guess>) {
        if bytes(&made.0) > MAX_CACHED_BYTES {
            return;
        }
        if self.cache.len() >= CACHE_SIZE {
            self.cache.remove(0);
        }
        self.cache.push((Genotype { edits: Vec::new(), ..genotype.clone() }, made.clone(), guesses));
    }
}

/// Clamps the contents of buffers and images to the user's bounds.
fn clamp_launch(launch_builder: &LaunchBuilder<'_>, constraints: &UserConstraints, launch: &mut Launch) {
    for (position, (constraint, value)) in constraints.args.iter().zip(&mut launch.args).enumerate() {
        if constraint.least.is_some() || constraint.greatest.is_some() {
            genotype::edit_contents(launch_builder, position, value, |bytes, ty| {
                genotype::clamp_contents(bytes, ty, constraints, position)
            });
        }
    }
}

/// Returns the size of all buffers and images of a launch, in bytes.
fn bytes(launch: &Launch) -> usize {
    let of = |value: &ArgValue| match value {
        ArgValue::Buffer(bytes) => bytes.len(),
        ArgValue::Image { texels, .. } => texels.len(),
        _ => 0,
    };
    launch.args.iter().map(of).sum()
}
