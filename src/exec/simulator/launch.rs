//! A launch as it lies in memory: arguments, buffers and all that is the same for every group. Made once, run many times.

use std::ffi::c_void;
use std::sync::Arc;

use super::image::Image;
use super::memory::{Places, Reserved};
use super::program::{NONE, Program, writes};
use crate::error::Error;
use crate::lower::host::abi::{Extent, GroupContext};
use crate::lower::host::table::{Space, Storage};
use crate::suite::launch::{ArgValue, Launch};

/// The most work-items of a group.
pub const MOST_ITEMS: u64 = 8192;

/// Something that accesses may touch.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    pub base: u64,
    pub bytes: u64,
    /// Of the table; [`NONE`]: the code's own constants.
    pub object: u32,
    pub space: Space,
}

/// A buffer argument.
struct Buffer {
    position: u32,
    at: *mut u8,
    pristine: Arc<Vec<u8>>,
    /// Some access may write to it.
    written: bool,
    /// It is one of the launch's outputs.
    output: bool,
}

/// An argument that is an image or a sampler: what its handle points to, which must not move.
struct Picture {
    position: u32,
    image: Box<Image>,
    /// Some access may write to it.
    written: bool,
}

/// What `simulate` needs of a launch.
pub struct Prepared {
    pub program: Arc<Program>,
    launch: Launch,
    probe_words: Option<u64>,
    /// What groups have in common; the rest is for slots to fill in.
    pub context: GroupContext,
    pub extents: Vec<Extent>,
    /// By object: the one whose memory it is; another one where arguments share a buffer.
    pub owners: Vec<u32>,
    pub regions: Vec<Region>,
    pub arguments: Vec<*const u8>,
    /// Local arguments: position and bytes.
    pub locals: Vec<(u32, u64)>,
    /// Static local variables: object, offset and bytes.
    pub static_objects: Vec<(u32, u64, u64)>,
    pub static_local: u64,
    pub exchanges: bool,
    /// In all dimensions together.
    pub groups: u64,
    buffers: Vec<Buffer>,
    pictures: Vec<Picture>,
    /// What `arguments` points to.
    _words: Vec<u64>,
    probe: *mut u8,
    memory: Reserved,
}

// SAFETY: the pointers lead to memory that this owns, and to the program's.
unsafe impl Send for Prepared {}
// SAFETY: while lanes share it, only code and hooks write to what the pointers lead to, as on any device.
unsafe impl Sync for Prepared {}

/// Why a launch cannot be prepared.
pub enum Refusal {
    /// OpenCL error name, and what is wrong.
    Rejected(&'static str, String),
    Error(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Error(error)
    }
}

impl Prepared {
    /// Whether this is what [`Prepared::new`] would make.
    pub fn is_for(&self, program: &Arc<Program>, launch: &Launch, probe_words: Option<u64>) -> bool {
        Arc::ptr_eq(&self.program, program)
            && self.probe_words == probe_words
            && self.launch.range == launch.range
            && self.launch.args.len() == launch.args.len()
            && self.launch.args.iter().zip(&launch.args).all(|(a, b)| same(a, b))
    }

    /// `memory`: of an earlier launch, to be used again.
    ///
    /// # Errors
    /// A rejection if the launch does not suit the kernel or the limits; `Environment` if there is no memory.
    pub fn new(
        program: &Arc<Program>,
        launch: &Launch,
        probe_words: Option<u64>,
        mut memory: Reserved,
    ) -> std::result::Result<Prepared, Refusal> {
        let table = program.table();
        if launch.args.len() != table.arguments as usize {
            let (given, wanted) = (launch.args.len(), table.arguments);
            let what = format!("a launch with {given} arguments for a kernel with {wanted}");
            return Err(Error::internal(what).into());
        }
        let context = context(launch)?;
        let count = launch.args.len() + usize::from(probe_words.is_some());
        let mut places = Places::new();
        let starts: Vec<u64> = launch.args.iter().map(|arg| places.place(bytes_of(arg))).collect();
        let probe_start = places.place(probe_words.unwrap_or(0).saturating_mul(4));
        let base = memory.reserve(places.bytes())?;
        let at = |start: u64| base.wrapping_add(usize::try_from(start).unwrap_or(0));
        let probe = at(probe_start);
        let (constants, bytes) = program.loaded.constants();
        let mut prepared = Prepared {
            program: Arc::clone(program),
            launch: launch.clone(),
            probe_words,
            groups: context.groups.iter().product(),
            context,
            extents: vec![Extent { base: 0, bytes: 0 }; table.objects.len().max(count)],
            owners: owners(launch, table.objects.len().max(count)),
            regions: vec![Region { base: constants as u64, bytes: bytes as u64, object: NONE, space: Space::Constant }],
            arguments: vec![std::ptr::null(); count],
            locals: Vec::new(),
            static_objects: Vec::new(),
            static_local: table.local_bytes,
            exchanges: !table.barriers.is_empty(),
            buffers: Vec::new(),
            pictures: Vec::new(),
            _words: vec![0; count],
            probe,
            memory,
        };
        for (position, (arg, start)) in (0..).zip(launch.args.iter().zip(starts)) {
            prepared.argument(position, arg, at(start))?;
        }
        for (position, arg) in (0..).zip(&launch.args) {
            if let ArgValue::Same(other) = arg {
                prepared.share(position, *other)?;
            }
        }
        for (object, described) in (0..).zip(&table.objects) {
            if let Storage::Local { bytes, offset } = described.storage {
                prepared.static_objects.push((object, offset, bytes));
            }
        }
        if probe_words.is_some() {
            prepared.word(count - 1, probe as u64);
        }
        Ok(prepared)
    }

    /// What the next launch can use again.
    pub fn into_memory(mut self) -> Reserved {
        self.memory.relax();
        self.memory
    }

    fn word(&mut self, index: usize, value: u64) {
        self._words[index] = value;
        self.arguments[index] = (&raw const self._words[index]).cast();
    }

    fn argument(&mut self, position: u32, arg: &ArgValue, at: *mut u8) -> std::result::Result<(), Refusal> {
        let index = position as usize;
        match arg {
            ArgValue::Value(bytes) => {
                // SAFETY: `at` is the place that was reserved for exactly these bytes.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
                self.arguments[index] = at;
            }
            ArgValue::Buffer(pristine) => {
                let described = self.program.table().objects.get(index);
                let constant = described.is_some_and(|o| o.space == Space::Constant);
                let space = if constant { Space::Constant } else { Space::Global };
                let region = Region { base: at as u64, bytes: pristine.len() as u64, object: position, space };
                // Nothing to point to: null.
                if !pristine.is_empty() {
                    self.regions.push(region);
                    self.extents[index] = Extent { base: region.base, bytes: region.bytes };
                    self.word(index, at as u64);
                } else {
                    self.word(index, 0);
                }
                let written = self.is_written(position);
                let output = !constant;
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(pristine.as_ptr(), at, pristine.len()) };
                self.buffers.push(Buffer { position, at, pristine: Arc::clone(pristine), written, output });
            }
            // When what it shares lies in memory: see `share`.
            ArgValue::Same(_) => {}
            ArgValue::Local(bytes) => {
                if *bytes > MOST_LOCAL {
                    let what =
                        format!("argument {position} needs {bytes} bytes of local memory, more than {MOST_LOCAL}");
                    return Err(Refusal::Rejected("CL_OUT_OF_RESOURCES", what));
                }
                self.locals.push((position, *bytes));
            }
            ArgValue::Image { .. } | ArgValue::Sampler { .. } => {
                let image = Box::new(Image::new(arg).map_err(|why| {
                    Refusal::Rejected("CL_INVALID_IMAGE_FORMAT_DESCRIPTOR", format!("argument {position}: {why}"))
                })?);
                // Accesses go through the handle; but what is known of its bytes tells the race detector how many there are.
                let (base, bytes) = image.place();
                self.extents[index] = Extent { base: base as u64, bytes };
                self.word(index, (&raw const *image) as u64);
                let written = self.is_written(position);
                self.pictures.push(Picture { position, image, written });
            }
        }
        Ok(())
    }

    /// Gives an argument the buffer of another one.
    fn share(&mut self, position: u32, other: u32) -> std::result::Result<(), Refusal> {
        let (index, from) = (position as usize, other as usize);
        let Some(ArgValue::Buffer(_)) = self.launch.args.get(from) else {
            return Err(Error::internal(format!("argument {position} shares what is no buffer")).into());
        };
        self.extents[index] = Extent { ..self.extents[from] };
        self.word(index, self._words[from]);
        Ok(())
    }

    /// Gives buffers, images, the code's variables and the probe buffer (which begins with `head`) what they hold at first.
    pub fn reset(&mut self, head: &[u32]) {
        for buffer in self.buffers.iter().filter(|b| b.written) {
            // SAFETY: the place was reserved for these bytes, and no code runs.
            unsafe { std::ptr::copy_nonoverlapping(buffer.pristine.as_ptr(), buffer.at, buffer.pristine.len()) };
        }
        for picture in self.pictures.iter_mut().filter(|p| p.written) {
            picture.image.reset();
        }
        self.program.loaded.reset();
        let words = usize::try_from(self.probe_words.unwrap_or(0)).unwrap_or(0);
        let head = &head[..head.len().min(words)];
        // SAFETY: the place was reserved for so many words, at an address aligned to 128 bytes.
        unsafe {
            std::ptr::write_bytes(self.probe, 0, 4 * words);
            std::ptr::copy_nonoverlapping(head.as_ptr().cast::<u8>(), self.probe, 4 * head.len());
        }
    }

    /// What the output at `position` holds now; `None`: it is none.
    pub fn output(&self, position: u32) -> Option<&[u8]> {
        if let Some(buffer) = self.buffers.iter().find(|b| b.position == position && b.output) {
            // SAFETY: the place was reserved for these bytes, and no code runs.
            return Some(unsafe { std::slice::from_raw_parts(buffer.at, buffer.pristine.len()) });
        }
        let picture = self.pictures.iter().find(|p| p.position == position)?;
        // SAFETY: no code runs.
        unsafe { picture.image.output() }
    }

    /// The image or sampler behind a handle, and which argument it is; `None`: that is no handle.
    pub fn image(&self, handle: *const c_void) -> Option<(u32, &Image)> {
        let picture = self.pictures.iter().find(|p| std::ptr::addr_eq(&raw const *p.image, handle))?;
        Some((picture.position, &picture.image))
    }

    /// Texels by dimension, layers behind the others, of an argument that is an image.
    pub fn image_size(&self, position: u32) -> &[u64] {
        let picture = self.pictures.iter().find(|p| p.position == position);
        picture.map_or(&[], |p| p.image.size())
    }

    /// Bytes of a texel of an argument that is an image.
    pub fn texel_bytes(&self, position: u32) -> Option<u32> {
        let image = &self.pictures.iter().find(|p| p.position == position)?.image;
        let texels = image.size().iter().product::<u64>();
        u32::try_from(image.place().1.checked_div(texels)?).ok().filter(|_| !image.size().is_empty())
    }

    /// Whether some access may write to the argument at `position`.
    fn is_written(&self, position: u32) -> bool {
        let sites = &self.program.sites;
        let leads_here = |object: u32| object == NONE || self.owners[object as usize] == position;
        sites.iter().any(|s| writes(s.mode) && !s.forbidden && leads_here(s.object))
    }

    /// What every output holds now.
    pub fn outputs(&self) -> Vec<(u32, Vec<u8>)> {
        let positions = 0..self.launch.args.len() as u32;
        positions.filter_map(|p| self.output(p).map(|bytes| (p, bytes.to_vec()))).collect()
    }

    /// The probe buffer as it is now.
    pub fn probe(&self) -> &[u32] {
        let words = usize::try_from(self.probe_words.unwrap_or(0)).unwrap_or(0);
        // SAFETY: the place was reserved for so many words, aligned, and no code runs.
        unsafe { std::slice::from_raw_parts(self.probe.cast::<u32>(), words) }
    }

    /// The id of the group with this linear number.
    pub fn group_id(&self, linear: u64) -> [u64; 3] {
        let groups = self.context.groups;
        [linear % groups[0], linear / groups[0] % groups[1], linear / (groups[0] * groups[1])]
    }

    /// Bytes of an object of the table: what accesses to it are checked against; 0 of private and constant ones.
    pub fn bytes(&self, object: u32) -> u64 {
        let local = self.locals.iter().find(|(position, _)| *position == object).map(|(_, bytes)| *bytes);
        let fixed = self.static_objects.iter().find(|(o, ..)| *o == object).map(|(_, _, bytes)| *bytes);
        let known = self.extents.get(object as usize).map_or(0, |e| e.bytes);
        local.or(fixed).unwrap_or(known)
    }

    /// Items of a full group.
    pub fn items(&self) -> u64 {
        self.context.enqueued_local_size.iter().product()
    }
}

/// See [`Prepared::owners`].
fn owners(launch: &Launch, objects: usize) -> Vec<u32> {
    let of = |object: u32| match launch.args.get(object as usize) {
        Some(ArgValue::Same(other)) => *other,
        _ => object,
    };
    (0..objects as u32).map(of).collect()
}

/// Local memory of a group, in bytes, at most.
pub const MOST_LOCAL: u64 = 16 << 20;

fn bytes_of(arg: &ArgValue) -> u64 {
    match arg {
        ArgValue::Value(bytes) => bytes.len() as u64,
        ArgValue::Buffer(bytes) => bytes.len() as u64,
        ArgValue::Same(_) | ArgValue::Local(_) | ArgValue::Image { .. } | ArgValue::Sampler { .. } => 0,
    }
}

/// Whether two arguments are the same without looking at long contents.
fn same(a: &ArgValue, b: &ArgValue) -> bool {
    match (a, b) {
        (ArgValue::Buffer(a), ArgValue::Buffer(b)) => Arc::ptr_eq(a, b),
        (
            ArgValue::Image { shape, format, texels },
            ArgValue::Image { shape: other_shape, format: other_format, texels: other },
        ) => Arc::ptr_eq(texels, other) && shape == other_shape && format == other_format,
        _ => a == b,
    }
}

fn context(launch: &Launch) -> std::result::Result<GroupContext, Refusal> {
    let range = &launch.range;
    let resolved = range.resolve(None, MOST_ITEMS);
    let local = resolved.local;
    let items = local.iter().fold(1_u64, |n, size| n.saturating_mul(*size));
    if items == 0 || items > MOST_ITEMS {
        let what = format!("a work-group of {items} work-items, where 1 to {MOST_ITEMS} are possible");
        return Err(Refusal::Rejected("CL_INVALID_WORK_GROUP_SIZE", what));
    }
    if range.global.iter().any(|n| *n == 0 || *n > u64::from(u32::MAX)) {
        let what = format!("a global size of {:?}, where each dimension has 1 to 2^32 - 1 work-items", range.global);
        return Err(Refusal::Rejected("CL_INVALID_GLOBAL_WORK_SIZE", what));
    }
    Ok(GroupContext {
        extents: std::ptr::null(),
        local_base: std::ptr::null_mut(),
        sink: std::ptr::null_mut(),
        dimensions: u64::from(range.dims),
        global_size: range.global,
        local_size: local,
        enqueued_local_size: local,
        groups: resolved.group_counts(),
        offset: range.offset,
        group_id: [0; 3],
    })
}
