//! Generates data: random values and arithmetic sequences.
//!
//! Both give the same bytes on every machine and in every version: the random stream is ChaCha8, and the mapping from
//! its words to values is spelled out here rather than left to a library.

use kassay_base::hash::fnv1a;
use kassay_model::interface::{Scalar, Type};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::scalar_layout::{self, Number};

/// A stream of random data.
#[derive(Debug, Clone)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    fn from_words(words: [u64; 4]) -> Self {
        let mut seed = [0; 32];
        for (chunk, word) in seed.chunks_exact_mut(8).zip(words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        Stream(ChaCha8Rng::from_seed(seed))
    }

    /// Returns the stream of a seed written in the suite; the same for every test and argument.
    pub fn from_seed(seed: u64) -> Self {
        Stream::from_words([seed, 0, 0, 0])
    }

    /// Returns the stream of an argument without a seed of its own.
    pub fn for_argument(run_seed: u64, test: &str, argument: &str) -> Self {
        Stream::from_words([run_seed, fnv1a(test.as_bytes()), fnv1a(argument.as_bytes()), 1])
    }

    /// Draws a uniform integer in `0..bound`.
    fn below(&mut self, bound: u128) -> u128 {
        // Rejects words beyond the last full multiple of `bound`, which would favour low values.
        let words = 1u128 << 64;
        let limit = words - words % bound;
        loop {
            let word = u128::from(self.0.next_u64());
            if word < limit {
                return word % bound;
            }
        }
    }

    fn push(&mut self, scalar: Scalar, bounds: &Bounds, out: &mut Vec<u8>) {
        if let Some((least, greatest)) = scalar_layout::range(scalar) {
            let min = bounds.min.map_or(least, integer);
            let max = bounds.max.map_or(greatest, integer);
            let width = u128::try_from(max - min).unwrap_or(0) + 1;
            let n = min + i128::try_from(self.below(width)).unwrap_or(0);
            scalar_layout::push_integer(scalar, n, out);
            return;
        }
        let min = bounds.min.map_or(0.0, Number::as_f64);
        let max = bounds.max.map_or(1.0, Number::as_f64);
        let bits = match scalar {
            Scalar::F16 => 11,
            Scalar::F32 => 24,
            _ => 53,
        };
        let start = out.len();
        // Rounding may yield `max`, which is excluded: draw again, but give up if there is nothing between the bounds.
        for _ in 0..64 {
            #[expect(clippy::cast_precision_loss, reason = "at most 53 bits are set")]
            let unit = (self.0.next_u64() >> (64 - bits)) as f64 / (1u64 << bits) as f64;
            let x = min * (1.0 - unit) + max * unit;
            out.truncate(start);
            if scalar_layout::push_float(scalar, x, out) && scalar_layout::decode(scalar, &out[start..]).as_f64() < max
            {
                return;
            }
        }
        out.truncate(start);
        if !scalar_layout::push_float(scalar, min, out) {
            scalar_layout::push_integer(scalar, 0, out);
        }
    }

    /// Appends a random value of `ty`: vectors component by component, structs field by field, padding zero. Unions and
    /// opaque parts get random bytes.
    pub fn value(&mut self, ty: &Type, bounds: &Bounds, out: &mut Vec<u8>) {
        let start = out.len();
        for leaf in scalar_layout::leaves(ty) {
            out.resize(start + usize::try_from(leaf.offset).unwrap_or(0), 0);
            self.push(leaf.scalar, bounds, out);
        }
        out.resize(start + usize::try_from(ty.size()).unwrap_or(0), 0);
    }

    /// Appends `len` random values of `ty`.
    pub fn fill(&mut self, ty: &Type, len: u64, bounds: &Bounds, out: &mut Vec<u8>) {
        match scalar_layout::dense_scalar(ty) {
            Some(scalar) => {
                for _ in 0..len * (ty.size() / scalar.size()) {
                    self.push(scalar, bounds, out);
                }
            }
            None => (0..len).for_each(|_| self.value(ty, bounds, out)),
        }
    }
}

fn integer(n: Number) -> i128 {
    match n {
        Number::Integer(n) => n,
        #[expect(clippy::cast_possible_truncation, reason = "saturates; the caller has checked the range")]
        Number::Float(x) => x as i128,
    }
}

/// The range of random values: `max` is inclusive for integers and exclusive for floats (unless it equals `min`). The
/// caller has checked that both fit the type and that `min <= max`. `None`: the default of the type.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bounds {
    /// The least value.
    pub min: Option<Number>,
    /// The greatest value of integers; an exclusive bound of floats.
    pub max: Option<Number>,
}

/// Appends the `count` scalars `start + i * step`.
///
/// # Errors
/// The text of the first value that does not fit the type.
pub fn arange(scalar: Scalar, count: u64, start: Number, step: Number, out: &mut Vec<u8>) -> Result<(), String> {
    if let Some((min, max)) = scalar_layout::range(scalar) {
        let (start, step) = (integer(start), integer(step));
        for i in 0..count {
            let n = step.checked_mul(i.into()).and_then(|d| start.checked_add(d));
            match n {
                Some(n) if n >= min && n <= max => scalar_layout::push_integer(scalar, n, out),
                _ => return Err(n.map_or_else(|| "a number past all types".to_owned(), |n| n.to_string())),
            }
        }
        return Ok(());
    }
    for i in 0..count {
        #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
        let x = start.as_f64() + i as f64 * step.as_f64();
        if !scalar_layout::push_float(scalar, x, out) {
            return Err(format!("{x:e}"));
        }
    }
    Ok(())
}
