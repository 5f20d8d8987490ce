//! Reads memory through the program's own queue.

use std::ffi::c_void;
use std::io;

use opencl_sys::{
    CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_WRITE_ONLY, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_TRUE,
    cl_command_queue, cl_context, cl_int, cl_mem,
};

use super::Request;
use super::reached::{Region, Segment, Source};
use crate::driver::extensions::copy_unified;
use crate::driver::{Driver, call};
use crate::shadow::memory::Image;
use crate::shadow::{Handle, Pinned};
use crate::spool;
use crate::spool::blobs::Draft;
use crate::spool::counts::Column;

/// Bytes read at once.
const CHUNK: usize = 8 << 20;

/// The contents of a region.
pub struct Taken {
    pub region: usize,
    pub draft: Draft,
}

fn check(status: cl_int) -> Result<(), Column> {
    if status == 0 { Ok(()) } else { Err(Column::Unreadable) }
}

fn written(result: io::Result<()>) -> Result<(), Column> {
    result.map_err(|error| match error.kind() {
        io::ErrorKind::OutOfMemory => Column::OutOfMemory,
        _ => Column::Unwritable,
    })
}

/// Waits for what was asked for before a launch: in its queue, in other queues of the context, and in its wait list.
///
/// # Safety
/// The request must be one that the driver has objects of, with a wait list as long as it says.
pub unsafe fn wait(driver: &Driver, request: &Request, pinned: Option<&Pinned>) -> Result<(), Column> {
    let others = pinned.map_or(&[][..], |pinned| &pinned.queues);
    // A queue may wait for another one's events, which come only once that one is flushed.
    for queue in others {
        check(call!(driver, clFlush(*queue as cl_command_queue)))?;
    }
    check(call!(driver, clFinish(request.queue)))?;
    for queue in others {
        check(call!(driver, clFinish(*queue as cl_command_queue)))?;
    }
    if request.waits > 0 && !request.wait_list.is_null() {
        check(call!(driver, clWaitForEvents(request.waits, request.wait_list)))?;
    }
    Ok(())
}

/// Waits for a launch.
///
/// # Safety
/// The queue must be one of the driver's.
pub unsafe fn finish(driver: &Driver, queue: cl_command_queue) -> Result<(), Column> {
    check(call!(driver, clFinish(queue)))
}

/// Reads the regions that are wanted.
///
/// # Safety
/// The objects of the regions must be alive, and in the context, as is the queue.
pub unsafe fn read(
    driver: &Driver,
    (queue, context): (cl_command_queue, Handle),
    regions: &[Region],
    wanted: impl Fn(&Region) -> bool,
) -> Result<Vec<Taken>, Column> {
    let spool = spool::folder().ok_or(Column::Unwritable)?;
    let reader = Reader { driver, queue, context: context as cl_context };
    let mut chunk = Vec::new();
    let mut all = Vec::new();
    for (index, region) in regions.iter().enumerate().filter(|(_, region)| wanted(region)) {
        let mut draft = Draft::new(spool, region.length).map_err(|error| match written(Err(error)) {
            Err(reason) => reason,
            Ok(()) => Column::Unwritable,
        })?;
        let room = region.length.min(CHUNK);
        if chunk.len() < room {
            chunk.try_reserve_exact(room - chunk.len()).map_err(|_| Column::OutOfMemory)?;
            chunk.resize(room, 0);
        }
        let is_hidden = region.flags & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_WRITE_ONLY) != 0;
        match &region.source {
            Source::Buffers(segments) => reader.buffers(segments, is_hidden, &mut chunk, &mut draft)?,
            Source::Image(image, about) => reader.image(*image, about, is_hidden, &mut chunk, &mut draft)?,
            Source::Svm { address, unified } => {
                reader.svm(*address, region.length, *unified, &mut chunk, &mut draft)?
            }
        }
        all.push(Taken { region: index, draft });
    }
    Ok(all)
}

struct Reader<'a> {
    driver: &'a Driver,
    queue: cl_command_queue,
    context: cl_context,
}

/// A buffer of ours, for what the host may not read.
struct Staging<'a> {
    driver: &'a Driver,
    buffer: cl_mem,
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        // SAFETY: the buffer is ours, and commands that use it have been waited for or keep it themselves.
        unsafe { call!(self.driver, clReleaseMemObject(self.buffer)) };
    }
}

impl<'a> Reader<'a> {
    unsafe fn staging(&self, size: usize) -> Result<Staging<'a>, Column> {
        let mut error = 0;
        let buffer = call!(
            self.driver,
            clCreateBuffer(self.context, 0, size, std::ptr::null_mut(), &mut error) else std::ptr::null_mut()
        );
        if buffer.is_null() { Err(Column::Unreadable) } else { Ok(Staging { driver: self.driver, buffer }) }
    }

    unsafe fn read_buffer(&self, buffer: cl_mem, offset: usize, into: &mut [u8]) -> Result<(), Column> {
        let (length, to) = (into.len(), into.as_mut_ptr().cast());
        let none = std::ptr::null_mut();
        check(call!(
            self.driver,
            clEnqueueReadBuffer(self.queue, buffer, CL_TRUE, offset, length, to, 0, std::ptr::null(), none)
        ))
    }

    unsafe fn buffers(
        &self,
        segments: &[Segment],
        is_hidden: bool,
        chunk: &mut [u8],
        draft: &mut Draft,
    ) -> Result<(), Column> {
        let staging = if is_hidden { Some(self.staging(chunk.len())?) } else { None };
        for Segment { buffer, offset, length } in segments {
            let mut done = 0;
            while done < *length {
                let part = &mut chunk[..CHUNK.min(length - done)];
                let at = offset + done;
                match &staging {
                    Some(staging) => {
                        let (to, size) = (staging.buffer, part.len());
                        let none = std::ptr::null_mut();
                        check(call!(
                            self.driver,
                            clEnqueueCopyBuffer(self.queue, *buffer, to, at, 0, size, 0, std::ptr::null(), none)
                        ))?;
                        self.read_buffer_in_order(to, part)?;
                    }
                    None => self.read_buffer(*buffer, at, part)?,
                }
                written(draft.write(part))?;
                done += part.len();
            }
        }
        Ok(())
    }

    /// Reads a staging buffer after the copy into it, also on a queue that would reorder the two.
    unsafe fn read_buffer_in_order(&self, buffer: cl_mem, into: &mut [u8]) -> Result<(), Column> {
        finish(self.driver, self.queue)?;
        self.read_buffer(buffer, 0, into)
    }

    unsafe fn image(
        &self,
        image: cl_mem,
        about: &Image,
        is_hidden: bool,
        chunk: &mut [u8],
        draft: &mut Draft,
    ) -> Result<(), Column> {
        let [width, height, depth] = extent(about);
        let row = width * about.element;
        let rows = chunk.len().checked_div(row).unwrap_or(0);
        if rows == 0 {
            return Err(Column::Unreadable);
        }
        let staging = if is_hidden { Some(self.staging(chunk.len())?) } else { None };
        let none = std::ptr::null_mut();
        for z in 0..depth {
            let mut y = 0;
            while y < height {
                let count = rows.min(height - y);
                let (origin, region) = ([0, y, z], [width, count, 1]);
                let part = &mut chunk[..count * row];
                match &staging {
                    Some(staging) => {
                        let (to, origin, region) = (staging.buffer, origin.as_ptr(), region.as_ptr());
                        check(call!(
                            self.driver,
                            clEnqueueCopyImageToBuffer(
                                self.queue,
                                image,
                                to,
                                origin,
                                region,
                                0,
                                0,
                                std::ptr::null(),
                                none
                            )
                        ))?;
                        self.read_buffer_in_order(to, part)?;
                    }
                    None => {
                        let (origin, region, to) = (origin.as_ptr(), region.as_ptr(), part.as_mut_ptr().cast());
                        check(call!(
                            self.driver,
                            clEnqueueReadImage(
                                self.queue,
                                image,
                                CL_TRUE,
                                origin,
                                region,
                                0,
                                0,
                                to,
                                0,
                                std::ptr::null(),
                                none
                            )
                        ))?;
                    }
                }
                written(draft.write(part))?;
                y += count;
            }
        }
        Ok(())
    }

    unsafe fn svm(
        &self,
        address: usize,
        length: usize,
        unified: bool,
        chunk: &mut [u8],
        draft: &mut Draft,
    ) -> Result<(), Column> {
        let mut done = 0;
        while done < length {
            let part = &mut chunk[..CHUNK.min(length - done)];
            let (to, from, size) = (part.as_mut_ptr().cast::<c_void>(), (address + done) as *const c_void, part.len());
            let none = std::ptr::null_mut();
            check(if unified {
                copy_unified(self.driver, self.queue, to, from, size)
            } else {
                call!(self.driver, clEnqueueSVMMemcpy(self.queue, CL_TRUE, to, from, size, 0, std::ptr::null(), none))
            })?;
            written(draft.write(part))?;
            done += part.len();
        }
        Ok(())
    }
}

/// The size of an image in elements, as regions of commands have it.
pub fn extent(image: &Image) -> [usize; 3] {
    let layers = image.layers.max(1);
    match image.object {
        CL_MEM_OBJECT_IMAGE1D_ARRAY => [image.width, layers, 1],
        CL_MEM_OBJECT_IMAGE2D_ARRAY => [image.width, image.height.max(1), layers],
        _ => [image.width, image.height.max(1), image.depth.max(1)],
    }
}
