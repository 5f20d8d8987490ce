//! Lays a launch out in memory: arguments, buffers and everything that is the same for all groups. Built once, run
//! many times.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use kassay_base::error::Error;
use kassay_model::native::abi::{Extent, GroupContext};
use kassay_model::native::table::{Space, Storage};
use kassay_suite::launch::{ArgValue, BufferAccess, Launch};

use super::image::Image;
use super::memory::{OffsetAllocator, Reservation};
use super::program::{NONE, Program, writes};

/// The maximum number of work-items in a group.
pub const MAX_GROUP_ITEMS: u64 = 8192;

/// The maximum number of work-items of a launch whose groups wait for each other: each takes a stack.
pub const MAX_GRID_ITEMS: u64 = 1 << 14;

/// A range of memory that accesses may touch.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    pub base: u64,
    pub bytes: u64,
    /// Number in the table; [`NONE`] for the code's own constants.
    pub object: u32,
    /// The object that owns the memory, which is another one if arguments share memory.
    pub owner: u32,
    /// Where it begins in that memory, in bytes.
    pub start: u64,
    pub space: Space,
    pub access: BufferAccess,
}

impl Region {
    /// Memory that belongs to one object alone.
    pub fn of(object: u32, base: u64, bytes: u64, space: Space) -> Region {
        Region { base, bytes, object, owner: object, start: 0, space, access: BufferAccess::ReadWrite }
    }
}

/// Where an object lies: which object owns the memory, and the offset in it at which this one begins, in bytes; and
/// what the kernel may do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Home {
    pub owner: u32,
    pub start: u64,
    pub access: BufferAccess,
}

/// A buffer argument that holds memory.
struct BufferArg {
    position: u32,
    at: *mut u8,
    pristine: Arc<Vec<u8>>,
    /// Whether some access may write to it.
    written: bool,
    /// Whether it is one of the launch's outputs.
    output: bool,
}

/// An image or sampler argument. Its handle points to `image`, which must not move.
struct ImageArg {
    position: u32,
    image: Box<Image>,
    /// Whether some access may write to it.
    written: bool,
}

/// A launch that is ready to be run by [`super::executor::Simulator::simulate`].
pub struct PreparedLaunch {
    pub program: Arc<Program>,
    launch: Launch,
    probe_words: Option<u64>,
    /// The context that groups have in common; slots fill in the rest.
    pub context: GroupContext,
    pub extents: Vec<Extent>,
    /// By object.
    pub homes: Vec<Home>,
    pub regions: Vec<Region>,
    pub arguments: Vec<*const u8>,
    /// Local arguments: position and size in bytes.
    pub locals: Vec<(u32, u64)>,
    /// Static local variables: object, offset and size in bytes.
    pub static_objects: Vec<(u32, u64, u64)>,
    pub static_local: u64,
    pub exchanges: bool,
    /// In all dimensions together.
    pub groups: u64,
    buffers: Vec<BufferArg>,
    images: Vec<ImageArg>,
    /// The words that `arguments` points to.
    _pointers: Vec<u64>,
    probe: *mut u8,
    memory: Reservation,
}

// SAFETY: the pointers lead to memory that this value or its program owns, neither of which is tied to a thread.
unsafe impl Send for PreparedLaunch {}
// SAFETY: while threads share it, only compiled code and hooks write to the memory that the pointers lead to, as on any
// device; everything else is read only.
unsafe impl Sync for PreparedLaunch {}

/// Why a launch cannot be prepared.
pub enum PrepareError {
    /// OpenCL error name and explanation.
    Rejected(&'static str, String),
    Error(Error),
}

impl From<Error> for PrepareError {
    fn from(error: Error) -> PrepareError {
        PrepareError::Error(error)
    }
}

impl PreparedLaunch {
    /// Returns whether [`PreparedLaunch::new`] would produce the same from these arguments.
    pub fn matches(&self, program: &Arc<Program>, launch: &Launch, probe_words: Option<u64>) -> bool {
        Arc::ptr_eq(&self.program, program)
            && self.probe_words == probe_words
            && self.launch.range == launch.range
            && self.launch.views == launch.views
            && self.launch.args.len() == launch.args.len()
            && self.launch.args.iter().zip(&launch.args).all(|(a, b)| same_argument(a, b))
    }

    /// Prepares a launch. `memory`: that of an earlier launch, to be reused.
    ///
    /// # Errors
    /// A rejection if the launch does not suit the kernel or the limits; `Environment` if there is not enough memory.
    pub fn new(
        program: &Arc<Program>,
        launch: &Launch,
        probe_words: Option<u64>,
        mut memory: Reservation,
    ) -> std::result::Result<PreparedLaunch, PrepareError> {
        let table = program.table();
        if launch.args.len() != table.arguments as usize {
            let (given, wanted) = (launch.args.len(), table.arguments);
            let what = format!("a launch with {given} arguments for a kernel with {wanted}");
            return Err(Error::internal(what).into());
        }
        let context = context(launch, table.sub_group())?;
        if table.waits_for_grid() {
            let items = context.global_size.iter().fold(1_u64, |items, size| items.saturating_mul(*size));
            if items > MAX_GRID_ITEMS {
                let what = format!(
                    "a launch of {items} work-items with a barrier of all work-groups, where {MAX_GRID_ITEMS} can be \
                     active at the same time"
                );
                return Err(PrepareError::Rejected("CL_OUT_OF_RESOURCES", what));
            }
        }
        let count = launch.args.len() + usize::from(probe_words.is_some());
        let mut offsets = OffsetAllocator::new();
        let starts: Vec<u64> = launch.args.iter().map(|arg| offsets.allocate(bytes_of(arg))).collect();
        let probe_start = offsets.allocate(probe_words.unwrap_or(0).saturating_mul(4));
        let base = memory.reserve(offsets.bytes())?;
        let at = |start: u64| base.wrapping_add(usize::try_from(start).unwrap_or(0));
        let probe = at(probe_start);
        let (constants, bytes) = program.loaded.constants();
        let mut prepared = PreparedLaunch {
            program: Arc::clone(program),
            launch: launch.clone(),
            probe_words,
            groups: context.groups.iter().product(),
            context,
            extents: vec![Extent { base: 0, bytes: 0 }; table.objects.len().max(count)],
            homes: homes(launch, table.objects.len().max(count)),
            regions: vec![Region::of(NONE, constants as u64, bytes as u64, Space::Constant)],
            arguments: vec![std::ptr::null(); count],
            locals: Vec::new(),
            static_objects: Vec::new(),
            static_local: table.local_bytes,
            exchanges: !table.barriers.is_empty(),
            buffers: Vec::new(),
            images: Vec::new(),
            _pointers: vec![0; count],
            probe,
            memory,
        };
        for (position, (arg, start)) in (0..).zip(launch.args.iter().zip(starts)) {
            prepared.set_argument(position, arg, at(start))?;
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
            prepared.set_pointer(count - 1, probe as u64);
        }
        Ok(prepared)
    }

    /// Returns the memory, for the next launch to reuse.
    pub fn into_memory(mut self) -> Reservation {
        self.memory.trim();
        self.memory
    }

    fn set_pointer(&mut self, index: usize, value: u64) {
        self._pointers[index] = value;
        self.arguments[index] = (&raw const self._pointers[index]).cast();
    }

    fn set_argument(&mut self, position: u32, arg: &ArgValue, at: *mut u8) -> std::result::Result<(), PrepareError> {
        let index = position as usize;
        match arg {
            ArgValue::Value(bytes) => {
                // SAFETY: `at` was reserved for exactly these bytes, in memory of our own that cannot overlap
                // with `bytes`.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
                self.arguments[index] = at;
            }
            ArgValue::Buffer(pristine) => {
                let constant = self.is_constant(position);
                self.place(position, position, at, pristine.len() as u64)?;
                let written = self.is_written(position);
                let output = !constant;
                // SAFETY: `at` was reserved for exactly these bytes, in memory of our own that cannot overlap
                // with `pristine`.
                unsafe { std::ptr::copy_nonoverlapping(pristine.as_ptr(), at, pristine.len()) };
                self.buffers.push(BufferArg { position, at, pristine: Arc::clone(pristine), written, output });
            }
            // Set once the buffer that it shares has been placed: see `share`.
            ArgValue::Same(_) => {}
            ArgValue::Local(bytes) => {
                if *bytes > MAX_LOCAL_BYTES {
                    let what =
                        format!("argument {position} needs {bytes} bytes of local memory, more than {MAX_LOCAL_BYTES}");
                    return Err(PrepareError::Rejected("CL_OUT_OF_RESOURCES", what));
                }
                self.locals.push((position, *bytes));
            }
            ArgValue::Image { .. } | ArgValue::Sampler { .. } => {
                let image = Box::new(Image::new(arg).map_err(|why| {
                    PrepareError::Rejected("CL_INVALID_IMAGE_FORMAT_DESCRIPTOR", format!("argument {position}: {why}"))
                })?);
                // Accesses go through the handle; the extent tells the race detector how many bytes there are.
                let (base, bytes) = image.location();
                self.extents[index] = Extent { base: base as u64, bytes };
                self.set_pointer(index, (&raw const *image) as u64);
                let written = self.is_written(position);
                self.images.push(ImageArg { position, image, written });
            }
        }
        Ok(())
    }

    fn is_constant(&self, position: u32) -> bool {
        self.program.table().objects.get(position as usize).is_some_and(|o| o.space == Space::Constant)
    }

    /// Makes an argument point into the memory of another one.
    fn share(&mut self, position: u32, other: u32) -> std::result::Result<(), PrepareError> {
        let Some(owner) = self.buffers.iter().find(|b| b.position == other) else {
            return Err(Error::internal(format!("argument {position} shares what is no buffer")).into());
        };
        let (at, bytes) = (owner.at, owner.pristine.len() as u64);
        self.place(position, other, at, bytes)
    }

    /// Makes an argument point to its part of the memory of `owner`, which has `bytes` bytes at `at`.
    fn place(&mut self, position: u32, owner: u32, at: *mut u8, bytes: u64) -> std::result::Result<(), PrepareError> {
        let index = position as usize;
        // Memory without contents is passed as a null pointer.
        if bytes == 0 {
            self.set_pointer(index, 0);
            return Ok(());
        }
        let view = self.launch.view(position);
        let (start, size) = view.window(bytes).ok_or_else(|| {
            Error::internal(format!("argument {position} does not lie in its memory of {bytes} bytes"))
        })?;
        let base = at as u64;
        let space = if self.is_constant(position) { Space::Constant } else { Space::Global };
        let access = view.access;
        self.regions.push(Region { base: base + start, bytes: size, object: position, owner, start, space, access });
        self.extents[index] = Extent { base: base + view.offset, bytes: view.reach(bytes) };
        self.set_pointer(index, base + view.offset);
        Ok(())
    }

    /// Restores the initial contents of buffers, images, the code's variables and the probe buffer (which begins
    /// with `head`).
    pub fn reset(&mut self, head: &[u32]) {
        for buffer in self.buffers.iter().filter(|b| b.written) {
            // SAFETY: the range was reserved for these bytes, and no compiled code runs.
            unsafe { std::ptr::copy_nonoverlapping(buffer.pristine.as_ptr(), buffer.at, buffer.pristine.len()) };
        }
        for image_arg in self.images.iter_mut().filter(|p| p.written) {
            image_arg.image.reset();
        }
        self.program.loaded.reset();
        let words = usize::try_from(self.probe_words.unwrap_or(0)).unwrap_or(0);
        let head = &head[..head.len().min(words)];
        // SAFETY: the range was reserved for `words` words, at an address aligned to 128 bytes, and `head` was cut to
        // at most as many; no compiled code runs.
        unsafe {
            std::ptr::write_bytes(self.probe, 0, 4 * words);
            std::ptr::copy_nonoverlapping(head.as_ptr().cast::<u8>(), self.probe, 4 * head.len());
        }
    }

    /// The current contents of the output at `position`; `None` if that argument is not an output.
    pub fn output(&self, position: u32) -> Option<&[u8]> {
        if let Some(buffer) = self.buffers.iter().find(|b| b.position == position && b.output) {
            // SAFETY: the range was reserved for these bytes, and no compiled code runs that could write to them.
            return Some(unsafe { std::slice::from_raw_parts(buffer.at, buffer.pristine.len()) });
        }
        let image_arg = self.images.iter().find(|p| p.position == position)?;
        // SAFETY: no compiled code runs, so nothing writes to the image.
        unsafe { image_arg.image.output() }
    }

    /// The image or sampler of a handle, with its argument position; `None` if `handle` is not a valid handle.
    pub fn image(&self, handle: *const c_void) -> Option<(u32, &Image)> {
        let image_arg = self.images.iter().find(|p| std::ptr::addr_eq(&raw const *p.image, handle))?;
        Some((image_arg.position, &image_arg.image))
    }

    /// The size of an image argument in texels by dimension; layers come after the other dimensions.
    pub fn image_size(&self, position: u32) -> &[u64] {
        let image_arg = self.images.iter().find(|p| p.position == position);
        image_arg.map_or(&[], |p| p.image.size())
    }

    /// Bytes of a texel of an image argument.
    pub fn texel_bytes(&self, position: u32) -> Option<u32> {
        let image = &self.images.iter().find(|p| p.position == position)?.image;
        let texels = image.size().iter().product::<u64>();
        u32::try_from(image.location().1.checked_div(texels)?).ok().filter(|_| !image.size().is_empty())
    }

    /// Returns whether some access may write to the argument at `position`.
    fn is_written(&self, position: u32) -> bool {
        let sites = &self.program.sites;
        let leads_here = |object: u32| object == NONE || self.homes[object as usize].owner == position;
        sites.iter().any(|s| writes(s.mode) && !s.forbidden && leads_here(s.object))
    }

    /// The current contents of all outputs.
    pub fn outputs(&self) -> Vec<(u32, Vec<u8>)> {
        let positions = 0..self.launch.args.len() as u32;
        positions.filter_map(|p| self.output(p).map(|bytes| (p, bytes.to_vec()))).collect()
    }

    /// The current contents of the probe buffer.
    pub fn probe(&self) -> &[u32] {
        let words = usize::try_from(self.probe_words.unwrap_or(0)).unwrap_or(0);
        // SAFETY: the range was reserved for `words` words at an aligned address, and no compiled code runs.
        unsafe { std::slice::from_raw_parts(self.probe.cast::<u32>(), words) }
    }

    /// A word of the probe buffer, as compiled code has it; `None` if there is no such word.
    pub fn probe_word(&self, index: u32) -> Option<*const AtomicU32> {
        let is_there = self.probe_words.is_some_and(|words| u64::from(index) < words);
        // SAFETY: the buffer has that many words.
        is_there.then(|| unsafe { self.probe.cast::<AtomicU32>().add(index as usize) }.cast_const())
    }

    /// The id of the group with this linear number.
    pub fn group_id(&self, linear: u64) -> [u64; 3] {
        let groups = self.context.groups;
        [linear % groups[0], linear / groups[0] % groups[1], linear / (groups[0] * groups[1])]
    }

    /// Size in bytes of an object of the table, against which accesses are checked; 0 for private and constant objects.
    pub fn bytes(&self, object: u32) -> u64 {
        let local = self.locals.iter().find(|(position, _)| *position == object).map(|(_, bytes)| *bytes);
        let fixed = self.static_objects.iter().find(|(o, ..)| *o == object).map(|(_, _, bytes)| *bytes);
        let known = self.extents.get(object as usize).map_or(0, |e| e.bytes);
        local.or(fixed).unwrap_or(known)
    }

    /// Size in bytes of the memory that an object owns; 0 if another one owns it.
    pub fn owned_bytes(&self, object: u32) -> u64 {
        if self.homes.get(object as usize).is_some_and(|home| home.owner != object) {
            return 0;
        }
        let buffer = self.buffers.iter().find(|b| b.position == object);
        buffer.map_or_else(|| self.bytes(object), |b| b.pristine.len() as u64)
    }

    /// Returns whether nothing was written to a buffer before the launch.
    pub fn is_uninitialised(&self, object: u32) -> bool {
        self.launch.view(object).uninitialised
    }

    /// Number of work-items in a full group.
    pub fn items(&self) -> u64 {
        self.context.enqueued_local_size.iter().product()
    }
}

/// Computes [`PreparedLaunch::homes`].
fn homes(launch: &Launch, objects: usize) -> Vec<Home> {
    let home = |object: u32| {
        let view = launch.view(object);
        Home { owner: launch.owner(object), start: view.offset, access: view.access }
    };
    (0..objects as u32).map(home).collect()
}

/// The maximum size of a group's local memory in bytes.
pub const MAX_LOCAL_BYTES: u64 = 16 << 20;

fn bytes_of(arg: &ArgValue) -> u64 {
    match arg {
        ArgValue::Value(bytes) => bytes.len() as u64,
        ArgValue::Buffer(bytes) => bytes.len() as u64,
        ArgValue::Same(_) | ArgValue::Local(_) | ArgValue::Image { .. } | ArgValue::Sampler { .. } => 0,
    }
}

/// Returns whether two arguments are the same, without comparing long contents.
fn same_argument(a: &ArgValue, b: &ArgValue) -> bool {
    match (a, b) {
        (ArgValue::Buffer(a), ArgValue::Buffer(b)) => Arc::ptr_eq(a, b),
        (
            ArgValue::Image { shape, format, texels },
            ArgValue::Image { shape: other_shape, format: other_format, texels: other },
        ) => Arc::ptr_eq(texels, other) && shape == other_shape && format == other_format,
        _ => a == b,
    }
}

fn context(launch: &Launch, sub_group: u32) -> std::result::Result<GroupContext, PrepareError> {
    let range = &launch.range;
    let resolved = range.resolve(None, MAX_GROUP_ITEMS);
    let local = resolved.local;
    let items = local.iter().fold(1_u64, |n, size| n.saturating_mul(*size));
    if items == 0 || items > MAX_GROUP_ITEMS {
        let what = format!("a work-group of {items} work-items, where 1 to {MAX_GROUP_ITEMS} are possible");
        return Err(PrepareError::Rejected("CL_INVALID_WORK_GROUP_SIZE", what));
    }
    if range.global.iter().any(|n| *n == 0 || *n > u64::from(u32::MAX)) {
        let what = format!("a global size of {:?}, where each dimension has 1 to 2^32 - 1 work-items", range.global);
        return Err(PrepareError::Rejected("CL_INVALID_GLOBAL_WORK_SIZE", what));
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
        sub_group: u64::from(sub_group),
    })
}
