//! What lies at the beginning of the arena, the device's memory for joint sweeps, from one sweep to the next: contents
//! of buffers that runs only read, what the memories of runs begin with, and expected outputs. Sweeps of one suite need
//! most of it again and again, so a worker gets each piece once.

use std::collections::HashMap;
use std::sync::Arc;

/// Distance between what lies in the arena: enough for every type, and so that no run shares a line of a cache with
/// another.
pub const ALIGNMENT: u64 = 128;

/// The contents of a buffer.
pub type Bytes = Arc<Vec<u8>>;

/// With more bytes, the contents are dropped before the next sweep.
const MOST_KEPT: u64 = 256 << 20;

/// Of a device's memory, at most this part is kept.
const KEPT_DIVISOR: u64 = 16;

/// The prefix of the arena that a worker already holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kept {
    /// Of the contents with this number.
    number: u64,
    /// In bytes.
    len: u64,
}

/// What lies at the beginning of the arena, and where.
#[derive(Debug, Default)]
pub struct ArenaCache {
    /// How often the contents were dropped: each time, their number is another one.
    number: u64,
    /// By the addresses of what lies side by side: where it begins.
    known: HashMap<Vec<usize>, u64>,
    /// With where they begin, ascending. They are held, so that no others get their addresses.
    pieces: Vec<(u64, Bytes)>,
    len: u64,
}

impl ArenaCache {
    /// Drops the contents, so that no worker holds a prefix of them.
    pub fn clear(&mut self) {
        *self = ArenaCache { number: self.number + 1, ..ArenaCache::default() };
    }

    /// Drops the contents if they are large for a device with so much memory (0: unknown).
    pub fn limit(&mut self, memory: u64) {
        let most = if memory == 0 { MOST_KEPT } else { MOST_KEPT.min(memory / KEPT_DIVISOR) };
        if self.len > most {
            self.clear();
        }
    }

    /// The whole of it, as a worker holds it that was sent everything.
    pub fn kept(&self) -> Kept {
        Kept { number: self.number, len: self.len }
    }

    /// Returns how many bytes of the present contents such a prefix has.
    pub fn has(&self, kept: Kept) -> u64 {
        if kept.number == self.number { kept.len } else { 0 }
    }

    /// Returns where pieces lie side by side, each at the next multiple of the alignment after the one before it. What
    /// follows the last one up to a multiple of the alignment is of no use to others.
    pub fn place(&mut self, pieces: &[&Bytes]) -> u64 {
        let key = pieces.iter().map(|bytes| Arc::as_ptr(bytes).addr()).collect();
        let begin = self.len;
        *self.known.entry(key).or_insert_with(|| {
            for bytes in pieces {
                self.pieces.push((self.len, Arc::clone(bytes)));
                self.len = (self.len + bytes.len() as u64).next_multiple_of(ALIGNMENT);
            }
            begin
        })
    }

    /// The bytes of all pieces, with what lies between: a multiple of the alignment.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Writes what lies in the arena from a former [`ArenaCache::len`] on, with zeros between.
    pub fn write(&self, from: u64, to: &mut [u8]) {
        let mut end = 0;
        for (at, bytes) in &self.pieces[self.pieces.partition_point(|(at, _)| *at < from)..] {
            let at = (at - from) as usize;
            to[end..at].fill(0);
            end = at + bytes.len();
            to[at..end].copy_from_slice(bytes);
        }
        to[end..].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(value: u8, len: usize) -> Bytes {
        Arc::new(vec![value; len])
    }

    #[test]
    fn what_is_known_keeps_its_place_and_the_rest_is_written_after_it() {
        let (a, b, c) = (bytes(1, 130), bytes(2, 3), bytes(3, 128));
        let mut cache = ArenaCache::default();
        assert_eq!((cache.place(&[&a]), cache.place(&[&b, &c])), (0, 256));
        assert_eq!((cache.place(&[&a]), cache.place(&[&b, &c]), cache.len()), (0, 256, 512));
        let kept = cache.kept();
        let sent = cache.len();
        // The same piece in another company is another one.
        assert_eq!((cache.place(&[&b]), cache.len()), (512, 640));
        let mut all = vec![9; 640];
        cache.write(0, &mut all);
        let expected = [vec![1; 130], vec![0; 126], vec![2; 3], vec![0; 125], vec![3; 128], vec![2; 3], vec![0; 125]];
        assert_eq!(all, expected.concat());
        let mut rest = vec![9; 128];
        cache.write(sent, &mut rest);
        assert_eq!(rest, all[512..]);
        assert_eq!((cache.has(Kept::default()), cache.has(kept)), (0, 512));
        cache.clear();
        cache.place(&[&c]);
        assert_eq!((cache.has(kept), cache.len()), (0, 128));
    }

    #[test]
    fn pieces_of_the_same_contents_are_told_apart_and_held() {
        let mut cache = ArenaCache::default();
        let first = bytes(7, 5);
        let place = cache.place(&[&first]);
        drop(first);
        // No new piece has the address of one that is placed.
        for _ in 0..100 {
            assert_ne!(cache.place(&[&bytes(7, 5)]), place);
        }
    }

    #[test]
    fn much_is_forgotten() {
        let mut cache = ArenaCache::default();
        cache.place(&[&bytes(1, 4096)]);
        cache.limit(1 << 16);
        cache.limit(0);
        assert_eq!(cache.len(), 4096);
        cache.limit((1 << 16) - 16);
        assert_eq!(cache.len(), 0);
    }

    #[test]
    fn an_empty_piece_has_a_place() {
        let mut cache = ArenaCache::default();
        let (empty, full) = (bytes(0, 0), bytes(1, 1));
        assert_eq!((cache.place(&[&empty, &full]), cache.len()), (0, 128));
        let mut all = vec![9; 128];
        cache.write(0, &mut all);
        assert_eq!(all[..2], [1, 0]);
    }
}
