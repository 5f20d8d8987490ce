//! Contents of generated buffers. Each element depends only on the seed, its index and the pattern, so that a buffer
//! can grow without changing the elements that it has.

use std::sync::Arc;

use kassay_model::interface::{Scalar, Type};
use kassay_suite::scalar_layout::{self, Leaf};
use serde::{Deserialize, Serialize};

use super::index_patterns::HeldIndices;
use super::model::List;

/// A pattern that fills buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fill {
    /// Numbers of varied magnitude, among them those that the kernel compares with.
    Random,
    Rising,
    Falling,
    Equal,
    Zero,
    /// Integers from 0 up to, but excluding, this.
    Below(u64),
    /// A permutation of the integers below this, repeated.
    Distinct(u64),
    /// Non-decreasing integers that start at 0 and rise by this much on average, by at most twice as much.
    Offsets(u64),
    /// How far each of these integers is below the next one, with the same seed.
    Differences(u64),
    /// Lengths of dimensions, for so many work-items.
    Sizes(u64),
    /// Strides of dimensions.
    Strides,
    /// Numbers of dimensions.
    Order,
    /// The same number everywhere.
    Each(u64),
    /// 0, this number, twice this number and so on.
    Multiples(u64),
}

/// The contents of one buffer.
#[derive(Debug, Clone, PartialEq)]
pub struct Filling {
    pub ty: Type,
    pub fill: Fill,
    pub seed: u64,
    /// Integers that the kernel compares with.
    pub dictionary: Arc<[i128]>,
    /// Fixed contents: those of a program-scope variable.
    pub fixed: Option<Arc<Vec<u8>>>,
    /// What stands for pointers in its elements.
    pub held: Vec<HeldIndices>,
    /// Scalars with values of their own: offset in bytes, and the bytes.
    pub placed: Arc<[(u64, Vec<u8>)]>,
}

/// Returns a well-mixed number (the finaliser of splitmix64).
pub fn mix(seed: u64, n: u64) -> u64 {
    let mut z = seed.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Appends a number, clamped to the type's range.
pub fn push(scalar: Scalar, n: i128, out: &mut Vec<u8>) {
    match scalar_layout::range(scalar) {
        Some((least, greatest)) => scalar_layout::push_integer(scalar, n.clamp(least, greatest), out),
        None => {
            #[expect(clippy::cast_precision_loss, reason = "the nearest float is what is wanted")]
            push_float(scalar, n as f64, out);
        }
    }
}

/// Appends a float. Values too large for the type become 1; integer types get the nearest integer in range.
pub fn push_float(scalar: Scalar, x: f64, out: &mut Vec<u8>) {
    if !scalar_layout::push_float(scalar, x, out) && !scalar_layout::push_float(scalar, 1.0, out) {
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        push(scalar, x as i128, out);
    }
}

impl Filling {
    /// Returns the bytes in the range `from..to`.
    pub fn bytes(&self, from: u64, to: u64) -> Vec<u8> {
        let mut all = match &self.fixed {
            Some(fixed) => {
                let at = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).min(fixed.len());
                let mut all = fixed[at(from)..at(to.max(from))].to_vec();
                all.resize(usize::try_from(to - from).unwrap_or(0), 0);
                all
            }
            None => self.made(from, to),
        };
        for (offset, bytes) in self.placed.iter() {
            // Of a scalar of which only a part is asked for, that part.
            for (byte, offset) in bytes.iter().zip(*offset..) {
                let at = offset.checked_sub(from).and_then(|at| usize::try_from(at).ok());
                if let Some(place) = at.and_then(|at| all.get_mut(at)) {
                    *place = *byte;
                }
            }
        }
        all
    }

    /// Returns bytes of the pattern.
    fn made(&self, from: u64, to: u64) -> Vec<u8> {
        let size = self.ty.size().max(1);
        // A union of equal parts, such as ids and tags of the members of a group, holds what its parts do.
        let leaves = scalar_layout::leaves_through_unions(&self.ty);
        let (first, last) = (from / size, to.div_ceil(size));
        let mut all = Vec::with_capacity(((last - first) * size) as usize);
        for i in first..last {
            self.element(&leaves, i, &mut all);
        }
        let skip = (from - first * size) as usize;
        all.drain(..skip);
        all.truncate((to - from) as usize);
        all
    }

    fn element(&self, leaves: &[Leaf], i: u64, out: &mut Vec<u8>) {
        let start = out.len();
        for (lane, leaf) in (0u64..).zip(leaves) {
            out.resize(start + leaf.offset as usize, 0);
            if let Some(held) = self.held.iter().find(|held| held.offset == leaf.offset) {
                push(leaf.scalar, held.pattern.at(i), out);
                continue;
            }
            let number = i * leaves.len() as u64 + lane;
            if leaf.scalar.is_float() {
                push_float(leaf.scalar, self.float(number), out);
            } else {
                push(leaf.scalar, self.integer(leaf.scalar, number), out);
            }
        }
        out.resize(start + self.ty.size() as usize, 0);
    }

    fn integer(&self, scalar: Scalar, i: u64) -> i128 {
        let word = mix(self.seed, i);
        let wide = i128::from(i);
        match self.fill {
            Fill::Rising => wide,
            Fill::Falling => 1000 - wide,
            Fill::Equal => 7,
            Fill::Zero => 0,
            Fill::Below(n) => i128::from(word % n.max(1)),
            Fill::Distinct(n) => i128::from(permuted(i % n.max(1), n.max(1), self.seed)),
            Fill::Offsets(step) => self.offset(step, i),
            Fill::Sizes(items) => i128::from(List::Sizes.number(i, items)),
            Fill::Each(n) => i128::from(n),
            Fill::Multiples(n) => wide * i128::from(n),
            Fill::Order => i128::from(List::Order.number(i, 1)),
            Fill::Strides => i128::from(List::Strides.number(i, 1)),
            Fill::Differences(step) => self.offset(step, i + 1) - self.offset(step, i),
            Fill::Random => {
                let (least, greatest) = scalar_layout::range(scalar).unwrap_or((0, 0));
                let pick = word >> 32;
                match word % 16 {
                    0 => [0, 1, least, greatest, least.max(-1), greatest / 2][(pick % 6) as usize],
                    1..=4 if !self.dictionary.is_empty() => {
                        self.dictionary[(pick % self.dictionary.len() as u64) as usize]
                    }
                    5..=7 => i128::from(pick % 1000) - if least < 0 { 500 } else { 0 },
                    _ => i128::from(pick % 128) - if least < 0 { 32 } else { 0 },
                }
            }
        }
    }

    /// Equal steps; each offset but the first is lowered by a random amount of at most one step.
    fn offset(&self, step: u64, i: u64) -> i128 {
        let lowered = i128::from(mix(self.seed, i) % (step + 1));
        if i == 0 { 0 } else { i128::from(i) * i128::from(step) - lowered }
    }

    fn float(&self, i: u64) -> f64 {
        let word = mix(self.seed, i);
        #[expect(clippy::cast_precision_loss, reason = "32 bits fit")]
        let unit = (word >> 32) as f64 / (1u64 << 32) as f64;
        #[expect(clippy::cast_precision_loss, reason = "numbers of elements are small")]
        let place = i as f64;
        match self.fill {
            Fill::Rising | Fill::Offsets(_) => place * 0.5,
            Fill::Falling => 100.0 - place * 0.5,
            Fill::Equal => 1.5,
            Fill::Zero => 0.0,
            _ => match word % 16 {
                0 => [0.0, 1.0, -1.0, 255.0, 1e4, -0.5][((word >> 8) % 6) as usize],
                1..=3 => (unit - 0.5) * 200.0,
                _ => unit * 4.0 - 1.0,
            },
        }
    }
}

/// Returns the `i`th element of a permutation of the numbers below `n`: an affine map whose step is coprime to `n`.
fn permuted(i: u64, n: u64, seed: u64) -> u64 {
    let mut step = (mix(seed, 1) % n) | 1;
    while gcd(step, n) != 1 {
        step += 2;
    }
    (i.wrapping_mul(step % n.max(1)) + mix(seed, 2) % n) % n
}

/// The greatest common divisor.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
