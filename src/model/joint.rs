//! Joint launches: what a kernel that is woven for them and the worker that makes them agree on.
//!
//! A *joint launch* runs a kernel many times at once, for several launches of a suite, each with other sizes, other
//! arguments and other words in its slot. The launch is flat: its work-groups lie side by side in dimension 0, and
//! those of a run follow one another. Runs of one launch of the suite that lie side by side are a *segment*. All
//! buffers lie in one piece of memory, the *arena*, to which every pointer of the kernel's arguments leads.
//!
//! The probe buffer begins with a header. After it come, in any order, a block of parameters for each launch of the
//! suite, the table of segments, and the slots. A header without segments is itself the block of parameters of the only
//! run, whose slot directly follows its arguments: such a launch is an ordinary one, with buffers of its own. All
//! positions are in 32-bit words, and 64-bit numbers have their low word first.

/// Words of a slot.
pub const SLOT_WORDS: u32 = 8;

/// Words of the header, and of a block of parameters before its arguments.
pub const HEADER_WORDS: u32 = 16;

/// Words of the header.
pub mod header {
    /// Where the table of segments begins.
    pub const TABLE: u32 = 6;
    /// Number of segments; 0: the launch is an ordinary one.
    pub const SEGMENTS: u32 = 7;
    /// Where the first slot begins.
    pub const FIRST_SLOT: u32 = 14;
}

/// Words of a block of parameters.
pub mod parameters {
    /// Three words: number of work-groups by dimension.
    pub const GROUPS: u32 = 3;
    /// Three words: the global offset.
    pub const OFFSET: u32 = 8;
    /// Number of dimensions.
    pub const DIMENSIONS: u32 = 11;
    /// Words of an argument; the first one's follow [`super::HEADER_WORDS`].
    pub const ARGUMENT_WORDS: u32 = 4;
    /// For an argument that is a buffer: two words with its distance in bytes from the pointer that the kernel gets,
    /// and the marks [`REPLICATED`] and [`NULL`] in its lowest bits.
    pub const ADDRESS: u32 = 2;
    /// Mark: each run has a copy, in its own memory, from whose start the distance counts.
    pub const REPLICATED: u64 = 1;
    /// Mark: the argument is a null pointer.
    pub const NULL: u64 = 2;
}

/// Words of a segment in the table.
pub mod segment {
    /// Words of a segment.
    pub const WORDS: u32 = 8;
    /// Number of its first work-group.
    pub const FIRST_GROUP: u32 = 0;
    /// Where its block of parameters begins.
    pub const PARAMETERS: u32 = 1;
    /// Number of its first slot.
    pub const FIRST_SLOT: u32 = 2;
    /// Work-groups of a run.
    pub const RUN_GROUPS: u32 = 3;
    /// Two words: where the memory of its first run begins in the arena, in bytes.
    pub const BASE: u32 = 4;
    /// Two words: distance between the memories of two runs, in bytes.
    pub const STRIDE: u32 = 6;
}

/// Returns the position of the words of argument `position` in a block of parameters.
pub fn argument(position: u32) -> u32 {
    HEADER_WORDS + parameters::ARGUMENT_WORDS * position
}

/// Where arguments that are passed by value lie in a block of parameters of a kernel, and how long the block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values {
    /// By argument: the word at which its value begins; `None` for those that are not passed by value.
    pub places: Vec<Option<u32>>,
    /// Words of a whole block.
    pub words: u32,
}

impl Values {
    /// Lays out a block. `sizes`: by argument, the bytes of one that is passed by value.
    pub fn new(sizes: &[Option<u64>]) -> Values {
        // The words in between are the slot of an ordinary launch.
        let mut words = argument(sizes.len() as u32) + SLOT_WORDS;
        let places = sizes.iter().map(|size| {
            let place = words;
            words += size.as_ref()?.div_ceil(4) as u32;
            Some(place)
        });
        let places = places.collect();
        Values { places, words: words.next_multiple_of(SLOT_WORDS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_after_the_slot_of_an_ordinary_launch() {
        let values = Values::new(&[Some(4), None, Some(2), Some(24)]);
        let first = 16 + 4 * 4 + 8;
        assert_eq!(values.places, [Some(first), None, Some(first + 1), Some(first + 2)]);
        assert_eq!(values.words, (first + 8).next_multiple_of(8));
    }
}
