//! Hashes that are the same on every machine and with every toolchain: shards, seeds and results depend on them.
//!
//! Not for the maps of the standard library, whose hashes never leave the process.

use std::fmt;
use std::hash::Hash;

/// SipHash-1-3 with zero keys, for values that implement [`Hash`]. The standard library's `DefaultHasher` is the same
/// algorithm today, but may change with any release of Rust.
pub type StableHasher = siphasher::sip::SipHasher13;

/// The [`StableHasher`]'s hash of one value.
pub fn of(value: impl Hash) -> u64 {
    use std::hash::Hasher as _;
    let mut hasher = StableHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// SipHash-1-3 with 128 bits and zero keys of the bytes of these parts, one after the other: for contents that are told
/// apart by it alone.
pub fn wide(parts: &[&[u8]]) -> u128 {
    use std::hash::Hasher as _;

    use siphasher::sip128::{Hasher128 as _, SipHasher13};
    let mut hasher = SipHasher13::new();
    parts.iter().for_each(|part| hasher.write(part));
    hasher.finish128().as_u128()
}

/// An FNV-1a hasher (64 bits). As a [`fmt::Write`] it hashes formatted text without building a string.
#[derive(Debug, Clone, Copy)]
pub struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Fnv1a {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    /// Hashes further bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        self.0 = bytes.iter().fold(self.0, step);
    }

    /// Returns the hash of the bytes so far.
    pub fn value(self) -> u64 {
        self.0
    }
}

impl fmt::Write for Fnv1a {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add(text.as_bytes());
        Ok(())
    }
}

/// Returns the FNV-1a hash (64 bits) of `bytes`.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = Fnv1a::default();
    hash.add(bytes);
    hash.value()
}

/// Returns the hash of a file's bytes as shown in results: [`fnv1a`] in 16 hexadecimal digits.
pub fn hex_digest(bytes: &[u8]) -> String {
    format!("{:016x}", fnv1a(bytes))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn the_stable_hash_is_siphash_1_3() {
        // The standard library's hasher of Rust 1.90 to 1.95, on which seeds of searches have always rested.
        assert_eq!(of(()), 0xd1fb_a762_150c_532c);
        assert_eq!(of("kassay"), 0x3bde_3697_d33e_cfbc);
        assert_eq!(of((1u32, [2u8, 3].as_slice())), 0xaf39_aaf3_206d_56aa);
    }

    /// Values that FNV's authors publish.
    #[test]
    fn hashes_match_published_fnv1a_values() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hex_digest(b"foobar"), "85944171f73967e8");
        let mut hash = Fnv1a::default();
        let b = 'b';
        write!(hash, "foo{b}").unwrap();
        hash.add(b"ar");
        assert_eq!(hash.value(), fnv1a(b"foobar"));
    }
}
