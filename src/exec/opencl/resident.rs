//! What lies at the beginning of the arena, the device's memory for joint sweeps, from one sweep to the next: contents of buffers that
//! runs only read, what the memories of runs begin with, and expected outputs. Sweeps of one suite need most of it again and again, so a
//! worker gets each piece once.

use std::collections::HashMap;
use std::sync::Arc;

/// Distance between what lies in the arena: enough for every type, and so that no run shares a line of a cache with another.
pub const ALIGNMENT: u64 = 128;

/// The contents of a buffer.
pub type Bytes = Arc<Vec<u8>>;

/// From how many bytes on the next sweep begins anew.
const MOST_KEPT: u64 = 256 << 20;

/// Of a device's memory, at most this part is kept.
const KEPT_DIVISOR: u64 = 16;

/// How much of it a worker has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kept {
    /// Of the [`Resident`] with this number.
    number: u64,
    /// So many bytes.
    len: u64,
}

/// Where pieces lie in the arena.
#[derive(Debug, Default)]
pub struct Resident {
    /// How often it has begun anew.
    number: u64,
    /// By the addresses of what lies side by side: where it begins.
    known: HashMap<Vec<usize>, u64>,
    /// With where they begin, ascending. They are held, so that no others get their addresses.
    pieces: Vec<(u64, Bytes)>,
    len: u64,
}

impl Resident {
    /// Forgets everything, so that no worker has anything of it.
    pub fn begin_anew(&mut self) {
        *self = Resident { number: self.number + 1, ..Resident::default() };
    }

    /// Begins anew if it is much for a device with so much memory (0: unknown).
    pub fn limit(&mut self, memory: u64) {
        let most = if memory == 0 { MOST_KEPT } else { MOST_KEPT.min(memory / KEPT_DIVISOR) };
        if self.len > most {
            self.begin_anew();
        }
    }

    /// All of it, once a worker has that.
    pub fn kept(&self) -> Kept {
        Kept { number: self.number, len: self.len }
    }

    /// Returns how many bytes of it somebody has.
    pub fn has(&self, kept: Kept) -> u64 {
        if kept.number == self.number { kept.len } else { 0 }
    }

    /// Returns where pieces lie side by side, each at the next multiple of the alignment behind the one before it. What follows the last
    /// one up to a multiple of the alignment is of no use to others.
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

    /// Writes what lies in the arena from a former [`Resident::len`] on, with zeros between.
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
    fn what_is_known_keeps_its_place_and_the_rest_is_written_behind_it() {
        let (a, b, c) = (bytes(1, 130), bytes(2, 3), bytes(3, 128));
        let mut resident = Resident::default();
        assert_eq!((resident.place(&[&a]), resident.place(&[&b, &c])), (0, 256));
        assert_eq!((resident.place(&[&a]), resident.place(&[&b, &c]), resident.len()), (0, 256, 512));
        let kept = resident.kept();
        let sent = resident.len();
        // The same piece in another company is another one.
        assert_eq!((resident.place(&[&b]), resident.len()), (512, 640));
        let mut all = vec![9; 640];
        resident.write(0, &mut all);
        let expected = [vec![1; 130], vec![0; 126], vec![2; 3], vec![0; 125], vec![3; 128], vec![2; 3], vec![0; 125]];
        assert_eq!(all, expected.concat());
        let mut rest = vec![9; 128];
        resident.write(sent, &mut rest);
        assert_eq!(rest, all[512..]);
        assert_eq!((resident.has(Kept::default()), resident.has(kept)), (0, 512));
        resident.begin_anew();
        resident.place(&[&c]);
        assert_eq!((resident.has(kept), resident.len()), (0, 128));
    }

    #[test]
    fn pieces_of_the_same_contents_are_told_apart_and_held() {
        let mut resident = Resident::default();
        let first = bytes(7, 5);
        let place = resident.place(&[&first]);
        drop(first);
        // No new piece has the address of one that is placed.
        for _ in 0..100 {
            assert_ne!(resident.place(&[&bytes(7, 5)]), place);
        }
    }

    #[test]
    fn much_is_forgotten() {
        let mut resident = Resident::default();
        resident.place(&[&bytes(1, 4096)]);
        resident.limit(1 << 16);
        resident.limit(0);
        assert_eq!(resident.len(), 4096);
        resident.limit((1 << 16) - 16);
        assert_eq!(resident.len(), 0);
    }

    #[test]
    fn an_empty_piece_has_a_place() {
        let mut resident = Resident::default();
        let (empty, full) = (bytes(0, 0), bytes(1, 1));
        assert_eq!((resident.place(&[&empty, &full]), resident.len()), (0, 128));
        let mut all = vec![9; 128];
        resident.write(0, &mut all);
        assert_eq!(all[..2], [1, 0]);
    }
}
