//! Provides a hash that is the same on every machine and in every version; shards and results depend on it.

use std::fmt;

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

    /// Values published by FNV's authors.
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
