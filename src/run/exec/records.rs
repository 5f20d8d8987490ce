//! The results of a sweep in shared memory, written while it runs: however a worker dies, the results it has finished
//! can be read.
//!
//! Four 64-bit words of progress come first, then a record per variation: a word with the number of its completed runs,
//! followed by length of text, text and probe words of each run.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Run;

/// Bytes of progress before the first record.
pub const PROGRESS_BYTES: usize = 32;

/// Set in a record's first word when the variation needs no more runs.
const FINISHED: u32 = 1 << 31;

/// The maximum length of a difference's text in bytes; longer text is cut.
const MAX_TEXT_BYTES: usize = 160;

/// The parameters of a sweep that determine the sizes of its records.
#[derive(Debug, Clone, Copy)]
pub struct Records {
    pub repeats: u32,
    /// Probe words of each run.
    pub words: u32,
}

/// How far a sweep got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Launches begun plus launches ended: odd while a launch runs; half of it, rounded down, have ended.
    pub steps: u64,
    /// The first variation of the current launch, and how many it has.
    pub first: u64,
    pub count: u64,
}

impl Records {
    fn run_bytes(self) -> usize {
        4 + MAX_TEXT_BYTES + 4 * self.words as usize
    }

    /// Bytes of one variation's record.
    pub fn stride(self) -> usize {
        4 + self.repeats as usize * self.run_bytes()
    }

    /// Total size in bytes for this many variations.
    pub fn bytes(self, variations: usize) -> usize {
        PROGRESS_BYTES + variations * self.stride()
    }

    fn record(self, memory: &[u8], variation: usize) -> Option<&[u8]> {
        memory.get(PROGRESS_BYTES + variation * self.stride()..)?.get(..self.stride())
    }

    fn record_mut(self, memory: &mut [u8], variation: usize) -> Option<&mut [u8]> {
        memory.get_mut(PROGRESS_BYTES + variation * self.stride()..)?.get_mut(..self.stride())
    }

    /// Clears the progress words and the records of the first `variations` variations.
    pub fn clear(self, memory: &mut [u8], variations: usize) {
        memory[..PROGRESS_BYTES].fill(0);
        for variation in 0..variations {
            if let Some(record) = self.record_mut(memory, variation) {
                record[..4].fill(0);
            }
        }
    }

    /// Adds a completed run.
    pub fn add(self, memory: &mut [u8], variation: usize, difference: Option<&str>, words: &[u32]) {
        let size = self.run_bytes();
        let Some(record) = self.record_mut(memory, variation) else { return };
        let runs = read_u32(record);
        let Some(run) = record.get_mut(4 + runs as usize * size..).and_then(|r| r.get_mut(..size)) else { return };
        let text = difference.unwrap_or_default();
        let end = (0..=text.len().min(MAX_TEXT_BYTES)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let text = &text.as_bytes()[..end];
        run[..4].copy_from_slice(&(text.len() as u32).to_le_bytes());
        run[4..4 + text.len()].copy_from_slice(text);
        for (to, word) in run[4 + MAX_TEXT_BYTES..].as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *to = word.to_le_bytes();
        }
        record[..4].copy_from_slice(&(runs + 1).to_le_bytes());
    }

    /// Marks a variation as one that needs no more runs.
    pub fn finish(self, memory: &mut [u8], variation: usize) {
        if let Some(record) = self.record_mut(memory, variation) {
            let runs = read_u32(record) | FINISHED;
            record[..4].copy_from_slice(&runs.to_le_bytes());
        }
    }

    /// The runs of a variation; `None` if it is not finished.
    pub fn read(self, memory: &[u8], variation: usize) -> Option<Vec<Run>> {
        let record = self.record(memory, variation)?;
        let runs = read_u32(record);
        if runs & FINISHED == 0 {
            return None;
        }
        let run = |bytes: &[u8]| {
            let text = &bytes[4..4 + MAX_TEXT_BYTES][..(read_u32(bytes) as usize).min(MAX_TEXT_BYTES)];
            let difference = (!text.is_empty()).then(|| String::from_utf8_lossy(text).into_owned());
            let words = bytes[4 + MAX_TEXT_BYTES..].as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
            Run { difference, words }
        };
        Some(record[4..].chunks_exact(self.run_bytes()).take((runs & !FINISHED) as usize).map(run).collect())
    }
}

fn read_u32(bytes: &[u8]) -> u32 {
    bytes.first_chunk::<4>().map_or(0, |b| u32::from_le_bytes(*b))
}

/// The progress words, in memory that parent and worker both map.
#[derive(Debug, Clone, Copy)]
pub struct ProgressWords(*mut u64);

impl ProgressWords {
    /// The progress words of records that begin `memory`; `None` if that is too short or unaligned.
    pub fn of(memory: &mut [u8]) -> Option<ProgressWords> {
        let start = memory.as_mut_ptr().cast::<u64>();
        (memory.len() >= PROGRESS_BYTES && start.is_aligned()).then_some(ProgressWords(start))
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        // SAFETY: `of` checked length and alignment; the mapping outlives the sweep, and both sides use these words
        // through atomics only while a sweep runs.
        unsafe { AtomicU64::from_ptr(self.0.add(index)) }
    }

    /// Notes that a launch of `count` variations begins, of which `first` is the first.
    pub fn begin(&self, first: usize, count: usize) {
        self.word(1).store(first as u64, Ordering::Relaxed);
        self.word(2).store(count as u64, Ordering::Relaxed);
        self.word(0).fetch_add(1, Ordering::Release);
    }

    /// Notes that the launch has ended.
    pub fn end(&self) {
        self.word(0).fetch_add(1, Ordering::Release);
    }

    /// Reads the progress; acquires what was written before the last [`Self::begin`] or [`Self::end`].
    pub fn read(&self) -> Progress {
        let steps = self.word(0).load(Ordering::Acquire);
        Progress { steps, first: self.word(1).load(Ordering::Relaxed), count: self.word(2).load(Ordering::Relaxed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_once_they_are_finished() {
        let records = Records { repeats: 2, words: 3 };
        let mut memory = vec![0xff; records.bytes(2)];
        records.clear(&mut memory, 2);
        records.add(&mut memory, 1, None, &[1, 2, 3]);
        assert_eq!(records.read(&memory, 1), None);
        let long = "ä".repeat(200);
        records.add(&mut memory, 1, Some(&long), &[4, 5, 6]);
        records.finish(&mut memory, 1);
        let runs = records.read(&memory, 1).unwrap_or_default();
        assert_eq!(runs[0], Run { difference: None, words: vec![1, 2, 3] });
        assert_eq!(runs[1], Run { difference: Some("ä".repeat(80)), words: vec![4, 5, 6] });
        assert_eq!(records.read(&memory, 0), None);
        assert_eq!(records.read(&memory, 2), None);
    }
}
