//! Half of all mutations are libFuzzer's own, of bytes; the others keep TOML and JSON well-formed.

use libfuzzer_sys::fuzzer_mutate;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::structured::structured;
use crate::targets::Form;

/// Mutates an input in place; returns its new size.
pub fn mutate(form: Form, data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = ChaCha8Rng::seed_from_u64(seed.into());
    if form != Form::Bytes
        && random.random_bool(0.5)
        && let Some(mutated) = structured(form, &data[..size], &mut random)
        && mutated.len() <= max_size
        && mutated != data[..size]
    {
        data[..mutated.len()].copy_from_slice(&mutated);
        return mutated.len();
    }
    fuzzer_mutate(data, size, max_size)
}
