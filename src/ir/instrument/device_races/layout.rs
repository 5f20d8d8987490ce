//! The probe buffer of kernels that look for races: what the host tells a launch, what the launch reports, and where
//! the shadow memory of each object lies. `runtime-cl/device_races.cl` has the same numbers.
//!
//! A header of [`HEADER_WORDS`]; a bit for each pair of sites that was reported; the reports; a table with
//! [`OBJECT_WORDS`] for each object; then, on the device only, the shadow memory: two words of 64 bits for each cell.
//! All sizes are in words of 32 bits; numbers of 64 bits have their low word first.

use kassay_model::native::table::SourcePlace;
use kassay_suite::launch::{ArgValue, Launch};

use super::accesses::{Kind, Place};
use super::hand_over::HandOver;
use crate::instrument::layout::HEADER_WORDS;

/// Positions of words in the header; see there.
mod header {
    /// The number of the launch's first interval between barriers.
    pub const FIRST: usize = 0;
    /// [`super::OVERFLOW`] and [`super::OUT_OF_BOUNDS`].
    pub const FLAGS: usize = 1;
    /// The number of the last interval, if the kernel has barriers.
    pub const LAST: usize = 2;
    /// How many pairs of sites were found; not all of them need have a report.
    pub const FOUND: usize = 3;
    /// Length of the local shadow memory in words.
    pub const LOCAL_WORDS: usize = 4;
}

/// Some work-item passed more barriers than there are numbers of intervals.
const OVERFLOW: u32 = 1;
/// Some access was outside its buffer.
const OUT_OF_BOUNDS: u32 = 2;

/// Bits of the table of pairs that were reported.
const SEEN_BITS: u64 = 65_536;
/// First word of the reports.
const REPORTS: u64 = HEADER_WORDS + SEEN_BITS / 32;
/// The most reports, and the words of each.
const MOST_REPORTS: u64 = 256;
const REPORT_WORDS: u64 = 8;
/// First word of the table of objects.
const OBJECTS: u64 = REPORTS + MOST_REPORTS * REPORT_WORDS;
/// Words for each object: see [`object`].
const OBJECT_WORDS: u64 = 8;

/// Positions of words for an object; each is the first of two.
pub mod object {
    /// The object's first word in the shadow memory: of 32 bits from the start of the buffer, or the number of its
    /// first cell in local shadow memory.
    pub const CELLS: u32 = 0;
    /// What is added to the distance from the argument: where the argument begins in its memory.
    pub const START: u32 = 2;
    /// Size of the memory in bytes.
    pub const BYTES: u32 = 4;
    /// Cells of a work-group, if each has its own.
    pub const STRIDE: u32 = 6;
}

/// Limits of the numbers in a word of shadow memory.
pub const MOST_GROUPS: u64 = 1 << 24;
/// Work-items of a group.
pub const MOST_ITEMS: u64 = 1 << 10;
/// Sites, and those of local memory whose shadow is in local memory.
pub const MOST_SITES: usize = 1 << 12;
/// See [`MOST_SITES`].
pub const MOST_LOCAL_SITES: usize = 1 << 8;
/// The largest number of an interval.
pub const MOST_INTERVALS: u32 = (1 << 14) - 1;

/// The words of a cell's shadow in 32-bit words, in global and in local memory.
const CELL_WORDS: u64 = 4;
const LOCAL_CELL_WORDS: u64 = 2;
/// Words of local shadow memory before those of cells, in which simultaneous readers meet.
const MEETINGS: u64 = 256;

/// Alignment of memory that a launch passes, in bytes, as executors choose it for margins.
const LAUNCH_ALIGN: u64 = 128;

/// Alignment in bytes of what lies in local memory: that of the largest cell.
pub const LOCAL_ALIGN: u64 = 16;

/// Where the shadow of local memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalShadow {
    /// In local memory, an argument of the kernel; or there is no local memory to watch.
    Local,
    /// In global memory, for each work-group of the launch.
    Global,
}

/// Memory that is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaceObject {
    /// Where it is: an argument, or a local variable.
    pub place: Place,
    /// The argument's or variable's name; empty if it has none.
    pub name: String,
    /// The binary logarithm of the size of its cells in bytes.
    pub shift: u32,
    /// Whether launches may pass its memory as several arguments.
    pub is_shared: bool,
    /// For a variable in local memory whose shadow is there, too: its first cell.
    pub first_cell: u64,
}

/// An access that is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaceSite {
    /// What the access does.
    pub kind: Kind,
    /// Where it is, and the calls that lead there, innermost first.
    pub frames: Vec<SourcePlace>,
}

/// What a launch of a woven kernel is given, and how what it reports is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaceLayout {
    /// By number, as [`Report`]s name them.
    pub sites: Vec<RaceSite>,
    /// By number, as their shadow memory is laid out.
    pub objects: Vec<RaceObject>,
    /// Where the shadow of local memory is.
    pub local_shadow: LocalShadow,
    /// Whether the kernel takes local shadow memory, before the probe buffer.
    pub takes_local: bool,
    /// Bytes of the variables in local memory.
    pub variable_bytes: u64,
    /// Whether it has barriers that order memory with words of 64 bits, so that it tells the number of its last
    /// interval.
    pub has_barriers: bool,
}

/// A launch as it is run.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedLaunch {
    /// With an argument for local shadow memory, if there is any.
    pub launch: Launch,
    /// What the probe buffer begins with.
    pub head: Vec<u32>,
    /// Its length in words.
    pub probe_words: u64,
    /// Length of the shadow memory that follows it, in words.
    pub shadow_words: u64,
}

/// Why a launch is not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRun {
    /// Local memory has no room for its shadow; [`LocalShadow::Global`] needs none.
    NoLocalRoom,
    /// The simulator has to run it.
    HandOver(HandOver),
}

/// What a launch reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// There were more intervals than numbers: some reports may be of accesses that barriers divide.
    pub overflow: bool,
    /// Some access was outside its buffer.
    pub out_of_bounds: bool,
    /// The last interval.
    pub last: u32,
    /// Pairs of sites found, at least as many as there are reports.
    pub found: u32,
    /// In the order in which they were written.
    pub reports: Vec<Report>,
}

/// Two accesses that conflict: the later one first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Indices of [`RaceLayout::sites`].
    pub sites: [u32; 2],
    /// Linear numbers of their work-groups, and of their work-items in these.
    pub groups: [u64; 2],
    /// See `groups`.
    pub items: [u32; 2],
    /// Index of [`RaceLayout::objects`].
    pub object: u32,
    /// Bytes from the start of the memory.
    pub offset: u64,
}

impl RaceLayout {
    /// First word of an object in the table.
    pub fn object_word(object: usize) -> u32 {
        (OBJECTS + OBJECT_WORDS * object as u64) as u32
    }

    /// Plans a launch, whose work-group size is decided. `first`: the number of its first interval, above those of
    /// earlier launches on the same shadow memory; at least 1. `local_memory`: what a work-group of the device has, in
    /// bytes.
    ///
    /// # Errors
    /// If the words of shadow memory cannot hold the launch's numbers.
    pub fn plan(&self, launch: &Launch, first: u32, local_memory: u64) -> Result<PlannedLaunch, NotRun> {
        let hand_over = |why: &str| NotRun::HandOver(HandOver::because(why));
        let range = launch.range.decided();
        let groups = range.groups();
        if groups > MOST_GROUPS {
            return Err(hand_over("is launched with more than 16,777,216 work-groups"));
        }
        if range.first_group_items() > MOST_ITEMS {
            return Err(hand_over("is launched with more than 1,024 work-items in a work-group"));
        }
        let probe_words = OBJECTS + OBJECT_WORDS * self.objects.len() as u64;
        let mut head = vec![0; probe_words as usize];
        let mut end = probe_words;
        let mut homes: Vec<(u32, u64)> = Vec::new();
        // Cells of a work-group's local memory so far.
        let mut local_cells = self.variable_cells();
        let mut set = |object: usize, at: u32, value: u64| {
            let at = (Self::object_word(object) + at) as usize;
            head[at] = value as u32;
            head[at + 1] = (value >> 32) as u32;
        };
        for (number, object) in self.objects.iter().enumerate() {
            let cells = |bytes: u64| bytes.div_ceil(1 << object.shift);
            match object.place {
                Place::Buffer(position) => {
                    let owner = launch.owner(position);
                    if owner != position && !object.is_shared {
                        return Err(hand_over("is launched with arguments that share memory"));
                    }
                    let Some(ArgValue::Buffer(contents)) = launch.value(position) else {
                        return Err(hand_over("is launched with an argument that is no buffer"));
                    };
                    let margin = launch.margin(owner as usize).next_multiple_of(LAUNCH_ALIGN);
                    let bytes = contents.len() as u64 + 2 * margin;
                    let at = match homes.iter().find(|(known, _)| *known == owner) {
                        Some((_, at)) => *at,
                        None => {
                            homes.push((owner, end));
                            end = end.saturating_add(cells(bytes).saturating_mul(CELL_WORDS));
                            homes[homes.len() - 1].1
                        }
                    };
                    set(number, object::CELLS, at);
                    set(number, object::START, margin + launch.view(position).offset);
                    set(number, object::BYTES, bytes);
                }
                Place::LocalArgument(position) => {
                    let bytes = match launch.args.get(position as usize) {
                        Some(ArgValue::Local(bytes)) => *bytes,
                        _ => return Err(hand_over("is launched with an argument that is no local memory")),
                    };
                    set(number, object::CELLS, local_cells);
                    set(number, object::BYTES, bytes);
                    local_cells = local_cells.saturating_add(cells(bytes));
                }
                Place::LocalVariable(bytes) => {
                    set(number, object::CELLS, object.first_cell);
                    set(number, object::BYTES, bytes);
                }
            }
        }
        let mut launch = launch.clone();
        match self.local_shadow {
            LocalShadow::Local if self.takes_local => {
                let words = local_cells.saturating_mul(LOCAL_CELL_WORDS).saturating_add(MEETINGS);
                let arguments = launch.args.iter().map(|arg| match arg {
                    ArgValue::Local(bytes) => bytes.saturating_add(LOCAL_ALIGN - 1) / LOCAL_ALIGN * LOCAL_ALIGN,
                    _ => 0,
                });
                // What lies there need not begin at the first byte.
                let taken = arguments.fold(self.variable_bytes.saturating_add(LOCAL_ALIGN), u64::saturating_add);
                if taken.saturating_add(words.saturating_mul(4)) > local_memory {
                    return Err(NotRun::NoLocalRoom);
                }
                launch.args.push(ArgValue::Local(words * 4));
                head[header::LOCAL_WORDS] = words as u32;
            }
            LocalShadow::Local => {}
            LocalShadow::Global => {
                let local = self.objects.iter().enumerate().filter(|(_, object)| object.place.is_local());
                for (number, _) in local {
                    let at = (Self::object_word(number) + object::CELLS) as usize;
                    let first = u64::from(head[at]) | u64::from(head[at + 1]) << 32;
                    let cells = end.saturating_add(first.saturating_mul(CELL_WORDS));
                    let stride = (Self::object_word(number) + object::STRIDE) as usize;
                    for (at, value) in [(at, cells), (stride, local_cells)] {
                        head[at] = value as u32;
                        head[at + 1] = (value >> 32) as u32;
                    }
                }
                end = end.saturating_add(local_cells.saturating_mul(groups).saturating_mul(CELL_WORDS));
            }
        }
        head[header::FIRST] = first;
        head[header::LAST] = first;
        Ok(PlannedLaunch { launch, head, probe_words, shadow_words: end - probe_words })
    }

    /// Cells of the variables in a work-group's local memory.
    fn variable_cells(&self) -> u64 {
        let cells = |object: &RaceObject| match object.place {
            Place::LocalVariable(bytes) => bytes.div_ceil(1 << object.shift),
            Place::Buffer(_) | Place::LocalArgument(_) => 0,
        };
        self.objects.iter().map(cells).sum()
    }

    /// Reads what a launch left in the probe buffer.
    pub fn read(&self, probe: &[u32]) -> Seen {
        let word = |at: usize| probe.get(at).copied().unwrap_or_default();
        let found = word(header::FOUND);
        let report = |number: u64| {
            let word = |at: u64| word((REPORTS + REPORT_WORDS * number + at) as usize);
            Report {
                sites: [word(0), word(1)],
                groups: [u64::from(word(2)), u64::from(word(3))],
                items: [word(4) & 0xffff, word(4) >> 16],
                object: word(5),
                offset: u64::from(word(6)) | u64::from(word(7)) << 32,
            }
        };
        Seen {
            overflow: word(header::FLAGS) & OVERFLOW != 0,
            out_of_bounds: word(header::FLAGS) & OUT_OF_BOUNDS != 0,
            last: word(header::LAST).max(word(header::FIRST)),
            found,
            reports: (0..u64::from(found).min(MOST_REPORTS)).map(report).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use kassay_suite::launch::{NdRange, View};

    use super::*;

    fn object(place: Place, shift: u32) -> RaceObject {
        RaceObject { place, name: String::new(), shift, is_shared: false, first_cell: 0 }
    }

    fn layout(objects: Vec<RaceObject>, local_shadow: LocalShadow) -> RaceLayout {
        let takes_local = local_shadow == LocalShadow::Local && objects.iter().any(|object| object.place.is_local());
        RaceLayout { sites: Vec::new(), objects, local_shadow, takes_local, variable_bytes: 0, has_barriers: false }
    }

    fn launch(groups: u64, items: u64, args: Vec<ArgValue>) -> Launch {
        let range = NdRange { dims: 1, global: [groups * items, 1, 1], local: Some([items, 1, 1]), offset: [0; 3] };
        Launch::new(range, args)
    }

    fn buffer(bytes: usize) -> ArgValue {
        ArgValue::Buffer(vec![0; bytes].into())
    }

    /// A number of an object in the table.
    fn number(planned: &PlannedLaunch, object: usize, at: u32) -> u64 {
        let at = (RaceLayout::object_word(object) + at) as usize;
        u64::from(planned.head[at]) | u64::from(planned.head[at + 1]) << 32
    }

    #[test]
    fn each_buffer_has_cells_of_its_own_and_shared_ones_those_of_their_owner() {
        let mut objects = vec![object(Place::Buffer(0), 2), object(Place::Buffer(1), 0), object(Place::Buffer(2), 2)];
        objects[0].is_shared = true;
        objects[2].is_shared = true;
        let mut launch = launch(4, 8, vec![buffer(64), buffer(10), ArgValue::Same(0)]);
        launch.views = vec![View::default(), View::default(), View { offset: 16, ..View::default() }];
        let planned = layout(objects, LocalShadow::Local).plan(&launch, 7, 0).unwrap();
        assert_eq!(planned.shadow_words, 4 * (16 + 10));
        let of = |at: u32| [0, 1, 2].map(|object| number(&planned, object, at));
        let first = planned.probe_words;
        assert_eq!(of(object::CELLS), [first, first + 64, first]);
        assert_eq!((of(object::START), of(object::BYTES)), ([0, 0, 16], [64, 10, 64]));
        assert_eq!((planned.head[header::FIRST], planned.head[header::LAST]), (7, 7));
        assert_eq!(planned.launch, launch);
    }

    #[test]
    fn local_memory_has_its_shadow_in_what_is_left_of_it_or_after_that_of_buffers() {
        let objects = || vec![object(Place::LocalArgument(0), 2), object(Place::LocalVariable(32), 3)];
        let launch = launch(3, 8, vec![ArgValue::Local(64)]);
        let in_local = layout(objects(), LocalShadow::Local);
        let planned = in_local.plan(&launch, 1, 1264).unwrap();
        // Four cells of the variable come first.
        assert_eq!((number(&planned, 0, object::CELLS), planned.shadow_words), (4, 0));
        assert_eq!(planned.launch.args[1..], [ArgValue::Local(1024 + 160)]);
        assert_eq!(in_local.plan(&launch, 1, 1263), Err(NotRun::NoLocalRoom));
        let planned = layout(objects(), LocalShadow::Global).plan(&launch, 1, 0).unwrap();
        assert_eq!(planned.shadow_words, 3 * 20 * 4);
        assert_eq!(number(&planned, 0, object::CELLS), planned.probe_words + 16);
        assert_eq!((number(&planned, 1, object::STRIDE), planned.launch.args.len()), (20, 1));
    }

    #[test]
    fn launches_beyond_the_numbers_of_a_word_are_handed_over() {
        let layout = layout(vec![object(Place::Buffer(0), 2)], LocalShadow::Local);
        let why = |groups: u64, items: u64, args: Vec<ArgValue>| match layout.plan(&launch(groups, items, args), 1, 0) {
            Err(NotRun::HandOver(why)) => Some(why.to_string()),
            _ => None,
        };
        let args = || vec![buffer(4)];
        assert_eq!(why(MOST_GROUPS, MOST_ITEMS, args()), None);
        assert!(why(MOST_GROUPS + 1, 1, args()).is_some_and(|why| why.contains("work-groups")));
        assert!(why(1, MOST_ITEMS + 1, args()).is_some_and(|why| why.contains("work-items")));
        // Nothing was analysed for that.
        assert!(why(1, 1, vec![ArgValue::Same(1), buffer(4)]).is_some_and(|why| why.contains("share memory")));
    }
}
