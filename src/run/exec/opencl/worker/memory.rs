//! Creates the buffers and images of a launch from their pristine contents, resets them between repeats, and reads
//! them back.

use std::ffi::c_void;
use std::ptr;

use kassay_model::image_buffer::Descriptor;
use kassay_suite::launch::{ImageFormat, ImageShape, View};
use opencl3::command_queue as queue;
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::memory::{
    self, CL_BUFFER_CREATE_TYPE_REGION, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY,
    CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D,
    CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY,
};
use opencl3::types::{
    CL_TRUE, cl_buffer_region, cl_command_queue, cl_image_desc, cl_image_format, cl_int, cl_mem, cl_mem_flags,
};

use super::super::errors;
use super::handles::{Event, Memory};
use super::refusal::{Refusal, outside};
use crate::exec::formats;

/// A buffer or image that a launch may change.
#[derive(Debug)]
pub struct Object {
    /// What the kernel gets: the buffer or the image.
    pub work: Memory,
    /// Its pristine contents, kept if they are needed again.
    pristine: Option<Memory>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Buffer,
    /// The region that covers the image.
    Image([usize; 3]),
    /// An image over a buffer; its contents are those of the buffer.
    ImageBuffer(Memory),
    /// A buffer that stands for an image: its texels follow their descriptor.
    Described,
    /// The middle of a longer buffer of `total` bytes, from `margin` on; the rest is initially zero.
    WithMargin {
        whole: Memory,
        margin: usize,
        total: usize,
    },
}

/// OpenCL refuses buffers of 0 bytes; buffers of this size replace them, and none of their bytes is returned.
const MIN_BUFFER_BYTES: usize = 16;

impl Object {
    /// A buffer with these contents.
    pub fn buffer(context: &Context, bytes: &[u8], repeats: bool) -> Result<Object, Refusal> {
        let work = buffer(context, bytes, CL_MEM_READ_WRITE)?;
        let pristine = if repeats { Some(buffer(context, bytes, CL_MEM_READ_WRITE)?) } else { None };
        Ok(Object { work, pristine, content: Content::Buffer })
    }

    /// A buffer with these contents, with `margin` zero bytes before and after them that belong to it.
    pub fn with_margin(context: &Context, bytes: &[u8], margin: u64, repeats: bool) -> Result<Object, Refusal> {
        // At least that of a `long16`.
        let align = sub_buffer_alignment(context).max(128);
        let margin = usize::try_from(margin).ok().and_then(|m| m.checked_next_multiple_of(align));
        let total = margin.and_then(|m| m.checked_mul(2)?.checked_add(bytes.len()));
        let (Some(margin), Some(total)) = (margin, total) else {
            return Err(Refusal::new("CL_INVALID_BUFFER_SIZE", "the margin of a buffer is too large".into()));
        };
        let mut contents = vec![0; total];
        contents[margin..margin + bytes.len()].copy_from_slice(bytes);
        let whole = buffer(context, &contents, CL_MEM_READ_WRITE)?;
        let pristine = if repeats { Some(buffer(context, &contents, CL_MEM_READ_WRITE)?) } else { None };
        let work = sub_buffer(&whole, margin, bytes.len().max(1))
            .map_err(|code| Refusal::driver("making a buffer with a margin", code))?;
        Ok(Object { work, pristine, content: Content::WithMargin { whole, margin, total } })
    }

    /// The sub-buffer that `view` names of a buffer with `len` bytes of contents, for the argument at `position`.
    pub fn part(&self, context: &Context, position: u32, view: &View, len: u64) -> Result<Memory, Refusal> {
        let (whole, margin) = match &self.content {
            Content::Buffer => (&self.work, 0),
            Content::WithMargin { whole, margin, .. } => (whole, *margin),
            Content::Image(_) | Content::ImageBuffer(_) | Content::Described => return Err(outside()),
        };
        let size = usize::try_from(view.reach(len)).ok().filter(|size| *size > 0);
        let (Ok(offset), Some(size)) = (usize::try_from(view.offset), size) else { return Err(outside()) };
        let align = sub_buffer_alignment(context);
        if !offset.is_multiple_of(align) {
            let what = match view.svm {
                false => "the device takes sub-buffers",
                true => "the device has no fine-grained SVM, so the pointer becomes a sub-buffer, and it takes those",
            };
            let explanation = format!(
                "argument {position} begins at byte {offset} of its buffer, but {what} at multiples of {align} bytes only"
            );
            return Err(Refusal::new("CL_MISALIGNED_SUB_BUFFER_OFFSET", explanation));
        }
        sub_buffer(whole, margin + offset, size)
            .map_err(|code| Refusal::driver(&format!("making the sub-buffer of argument {position}"), code))
    }

    /// An image with these texels, row by row without padding.
    pub fn image(
        context: &Context,
        shape: &ImageShape,
        format: &ImageFormat,
        texels: &[u8],
        repeats: bool,
    ) -> Result<Object, Refusal> {
        let coded = coded(shape, format, texels)?;
        if let ImageShape::D1Buffer { .. } = shape {
            let base = buffer(context, texels, CL_MEM_READ_WRITE)?;
            let pristine = if repeats { Some(buffer(context, texels, CL_MEM_READ_WRITE)?) } else { None };
            let work = image(context, shape, coded, &[], base.0)?;
            return Ok(Object { work, pristine, content: Content::ImageBuffer(base) });
        }
        let work = image(context, shape, coded, texels, ptr::null_mut())?;
        let pristine = if repeats { Some(image(context, shape, coded, texels, ptr::null_mut())?) } else { None };
        let region = formats::region(shape).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        Ok(Object { work, pristine, content: Content::Image(region) })
    }

    /// A buffer that stands for an image with these texels, for code in which images are buffers.
    pub fn described(
        context: &Context,
        shape: &ImageShape,
        format: &ImageFormat,
        texels: &[u8],
        repeats: bool,
    ) -> Result<Object, Refusal> {
        let coded = coded(shape, format, texels)?;
        let descriptor = formats::descriptor(shape, coded)
            .ok_or_else(|| Refusal::new("CL_INVALID_IMAGE_SIZE", "the image is empty or too large".into()))?;
        let all = [&descriptor.bytes()[..], texels].concat();
        let work = buffer(context, &all, CL_MEM_READ_WRITE)?;
        let pristine = if repeats { Some(buffer(context, &all, CL_MEM_READ_WRITE)?) } else { None };
        Ok(Object { work, pristine, content: Content::Described })
    }

    /// Enqueues a copy of the pristine contents back; does not wait for it.
    pub fn reset(&self, queue: cl_command_queue, len: usize) -> Result<(), Refusal> {
        let Some(Memory(from)) = self.pristine else { return Ok(()) };
        // SAFETY: both objects were created by this module with the same size and format, and live until the queue
        // is finished.
        let event = unsafe {
            match &self.content {
                Content::Image(region) => {
                    let origin = [0_usize; 3];
                    let (origin, region) = (origin.as_ptr(), region.as_ptr());
                    queue::enqueue_copy_image(queue, from, self.work.0, origin, origin, region, 0, ptr::null())
                }
                Content::Buffer => copy(queue, from, self.work.0, len),
                Content::ImageBuffer(base) => copy(queue, from, base.0, len),
                Content::Described => copy(queue, from, self.work.0, Descriptor::TEXELS + len),
                Content::WithMargin { whole, total, .. } => copy(queue, from, whole.0, *total),
            }
        };
        event.map(|raw| drop(Event(raw))).map_err(|code| Refusal::driver("resetting an argument", code))
    }

    /// Reads the contents back and waits for them.
    pub fn read(&self, queue: cl_command_queue, into: &mut [u8]) -> Result<(), Refusal> {
        if into.is_empty() {
            return Ok(());
        }
        let to = into.as_mut_ptr().cast::<c_void>();
        // SAFETY: `into` has exactly the size of the contents, because the parent's span for the input has it, and the
        // call returns only when it is filled.
        let event = unsafe {
            match &self.content {
                Content::Image(region) => {
                    let origin = [0_usize; 3];
                    let (origin, region) = (origin.as_ptr(), region.as_ptr());
                    queue::enqueue_read_image(queue, self.work.0, CL_TRUE, origin, region, 0, 0, to, 0, ptr::null())
                }
                Content::Buffer | Content::WithMargin { .. } => {
                    queue::enqueue_read_buffer(queue, self.work.0, CL_TRUE, 0, into.len(), to, 0, ptr::null())
                }
                Content::ImageBuffer(base) => {
                    queue::enqueue_read_buffer(queue, base.0, CL_TRUE, 0, into.len(), to, 0, ptr::null())
                }
                Content::Described => {
                    let from = Descriptor::TEXELS;
                    queue::enqueue_read_buffer(queue, self.work.0, CL_TRUE, from, into.len(), to, 0, ptr::null())
                }
            }
        };
        event.map(|raw| drop(Event(raw))).map_err(|code| Refusal::driver("reading an argument back", code))
    }
}

/// Looks up the format of an image that these texels fill.
fn coded(shape: &ImageShape, format: &ImageFormat, texels: &[u8]) -> Result<formats::FormatCode, Refusal> {
    let coded = formats::encode(format).map_err(|e| Refusal::new("CL_INVALID_IMAGE_FORMAT_DESCRIPTOR", e))?;
    match formats::size(shape, coded.texel) == Some(texels.len() as u64) {
        true => Ok(coded),
        false => Err(Refusal::new("CL_INVALID_IMAGE_SIZE", "the texels do not fill the image".into())),
    }
}

/// Bytes of which the start of a sub-buffer must be a multiple (OpenCL 1.2, section 5.2.1).
pub fn sub_buffer_alignment(context: &Context) -> usize {
    let bits = Device::new(context.default_device()).mem_base_addr_align().unwrap_or(0);
    usize::try_from(bits / 8).unwrap_or(1).max(1)
}

/// Makes the sub-buffer of `size` bytes from `origin` on.
pub fn sub_buffer(whole: &Memory, origin: usize, size: usize) -> Result<Memory, cl_int> {
    let region = cl_buffer_region { origin, size };
    // SAFETY: the driver reads the region during the call, and keeps the buffer for as long as the sub-buffer lives
    // (clCreateSubBuffer, clReleaseMemObject).
    unsafe {
        let region = (&raw const region).cast::<c_void>();
        memory::create_sub_buffer(whole.0, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, region).map(Memory)
    }
}

/// Enqueues a copy of `len` bytes from one buffer to another.
/// # Safety
/// Both buffers have `len` bytes and live until the queue is finished.
unsafe fn copy(
    queue: cl_command_queue,
    from: cl_mem,
    to: cl_mem,
    len: usize,
) -> Result<opencl3::types::cl_event, cl_int> {
    // SAFETY: the caller guarantees sizes and lifetimes; a buffer without contents has `MIN_BUFFER_BYTES` bytes.
    unsafe {
        queue::enqueue_copy_buffer(queue, from, to, 0, 0, if len == 0 { MIN_BUFFER_BYTES } else { len }, 0, ptr::null())
    }
}

/// Creates a buffer with these contents, or of `MIN_BUFFER_BYTES` bytes if there are none.
fn buffer(context: &Context, bytes: &[u8], flags: cl_mem_flags) -> Result<Memory, Refusal> {
    let bytes = if bytes.is_empty() { &[0; MIN_BUFFER_BYTES][..] } else { bytes };
    let from = bytes.as_ptr().cast_mut().cast::<c_void>();
    // SAFETY: the driver copies `bytes` during the call and does not write to them.
    unsafe { memory::create_buffer(context.get(), flags | CL_MEM_COPY_HOST_PTR, bytes.len(), from) }
        .map(Memory)
        .map_err(|code| Refusal::driver(&format!("making a buffer of {} bytes", bytes.len()), code))
}

/// Creates an uninitialised buffer of `len` bytes (at least `MIN_BUFFER_BYTES`).
pub fn empty_buffer(context: &Context, len: usize) -> Result<Memory, Refusal> {
    // SAFETY: no host memory is passed, and the context is valid for as long as `context` lives.
    unsafe { memory::create_buffer(context.get(), CL_MEM_READ_WRITE, len.max(MIN_BUFFER_BYTES), ptr::null_mut()) }
        .map(Memory)
        .map_err(|code| Refusal::driver(&format!("making a buffer of {len} bytes"), code))
}

/// Creates an image with these texels, or over the buffer `base` if that is not null.
fn image(
    context: &Context,
    shape: &ImageShape,
    coded: formats::FormatCode,
    texels: &[u8],
    base: cl_mem,
) -> Result<Memory, Refusal> {
    let format = cl_image_format { image_channel_order: coded.order, image_channel_data_type: coded.ty };
    let [width, height, depth] = formats::region(shape).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let (kind, height, depth, layers) = match shape {
        ImageShape::D1 { .. } => (CL_MEM_OBJECT_IMAGE1D, 0, 0, 0),
        ImageShape::D1Buffer { .. } => (CL_MEM_OBJECT_IMAGE1D_BUFFER, 0, 0, 0),
        ImageShape::D1Array { .. } => (CL_MEM_OBJECT_IMAGE1D_ARRAY, 0, 0, height),
        ImageShape::D2 { .. } => (CL_MEM_OBJECT_IMAGE2D, height, 0, 0),
        ImageShape::D2Array { .. } => (CL_MEM_OBJECT_IMAGE2D_ARRAY, height, 0, depth),
        ImageShape::D3 { .. } => (CL_MEM_OBJECT_IMAGE3D, height, depth, 0),
    };
    let description = cl_image_desc {
        image_type: kind,
        image_width: width,
        image_height: height,
        image_depth: depth,
        image_array_size: layers,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: base,
    };
    let (extra, from) = match base.is_null() {
        true => (CL_MEM_COPY_HOST_PTR, texels.as_ptr().cast_mut().cast::<c_void>()),
        false => (0, ptr::null_mut()),
    };
    let mut refused = 0;
    // Some devices support some formats only for reading or only for writing.
    for access in [CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY] {
        // SAFETY: format and description live through the call; the texels fill the image, as the caller has checked,
        // and are only read.
        match unsafe {
            memory::create_image(context.get(), access | extra, &raw const format, &raw const description, from)
        } {
            Ok(raw) => return Ok(Memory(raw)),
            Err(code) => refused = code,
        }
        if !matches!(refused, -10 | -39) {
            break;
        }
    }
    if matches!(refused, -10 | -39) {
        let supported = memory::get_supported_image_formats(context.get(), CL_MEM_READ_WRITE, kind).unwrap_or_default();
        let names: Vec<String> =
            supported.iter().filter_map(|f| formats::name(f.image_channel_order, f.image_channel_data_type)).collect();
        let explanation = format!("{}; it takes {}", errors::explain(-10), names.join(", "));
        return Err(Refusal::new(&errors::name(refused), explanation));
    }
    Err(Refusal::driver("making an image", refused))
}
