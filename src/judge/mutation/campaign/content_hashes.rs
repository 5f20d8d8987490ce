//! Hashes of what buffers and images of tests contain: a campaign asks for them more than once, tests share them, and
//! they may be large.

use std::sync::{Arc, Mutex, PoisonError};

use kassay_base::hash;
use rustc_hash::FxHashMap;

/// Hashes of contents, each computed when it is first asked for.
#[derive(Debug, Default)]
pub struct ContentHashes(Mutex<FxHashMap<usize, Hashed>>);

#[derive(Debug)]
struct Hashed {
    /// Keeps the contents, by whose address they are known, where they are.
    _contents: Arc<Vec<u8>>,
    hash: u128,
}

impl ContentHashes {
    /// Returns [`hash::wide`] of the contents, in hexadecimal.
    pub fn of(&self, contents: &Arc<Vec<u8>>) -> String {
        // A thread that panicked left only complete hashes.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hashed = known
            .entry(Arc::as_ptr(contents).addr())
            .or_insert_with(|| Hashed { _contents: contents.clone(), hash: hash::wide(&[contents]) });
        format!("{:032x}", hashed.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_at_one_address_after_another_have_their_own_hashes() {
        let hashes = ContentHashes::default();
        for byte in 0..100u8 {
            let contents = Arc::new(vec![byte; 64]);
            assert_eq!(hashes.of(&contents), format!("{:032x}", hash::wide(&[&contents])));
            assert_eq!(hashes.of(&contents), hashes.of(&Arc::new(vec![byte; 64])));
        }
    }
}
