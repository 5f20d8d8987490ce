//! Copies of the memory that a launch may write, on which it can be repeated without the program's noticing.

use std::ffi::c_void;
use std::sync::Arc;

use opencl_sys::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_MEM_READ_WRITE, cl_buffer_region, cl_context, cl_device_id, cl_image_desc,
    cl_image_format, cl_int, cl_kernel, cl_mem, cl_uint,
};

use super::objects::{Kind, Owned};
use super::reply::{POINTER, Why};
use super::woven::Woven;
use crate::driver::call;
use crate::driver::extensions::copy_unified;
use crate::launch::contents::extent;
use crate::launch::reached::{Reached, Region, Segment, Source, Value};
use crate::shadow::kernel::Argument;
use crate::shadow::memory::Image;

type Allocate = unsafe extern "C" fn(cl_context, cl_device_id, *const u64, usize, cl_uint, *mut cl_int) -> *mut c_void;
type Free = unsafe extern "C" fn(cl_context, *mut c_void) -> cl_int;

/// A copy of each region that a launch may write.
pub struct Copies {
    woven: Arc<Woven>,
    queue: Arc<Owned>,
    /// By region of the launch; what it only reads are those of the program.
    pub regions: Vec<Region>,
    // Released in this order: parts before the whole.
    parts: Vec<Owned>,
    _objects: Vec<Owned>,
    allocations: Vec<Allocation>,
}

/// Shared virtual memory of ours.
struct Allocation {
    woven: Arc<Woven>,
    address: usize,
    unified: bool,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let (context, address) = (self.woven.context as cl_context, self.address as *mut c_void);
        // SAFETY: the memory is ours, and all commands that use it have been waited for.
        unsafe {
            if !self.unified {
                if let Some(free) = self.woven.driver.table.clSVMFree {
                    free(context, address);
                }
            } else if let Some(free) = self.woven.extension(c"clMemFreeINTEL") {
                // SAFETY: this is the type of the function of this name.
                let free: Free = std::mem::transmute(free);
                free(context, address);
            }
        }
    }
}

fn failed(call: &str, error: cl_int) -> Why {
    Why::new("no-copies", format!("{call}: error {error}"))
}

fn check(call: &str, status: cl_int) -> Result<(), Why> {
    if status == 0 { Ok(()) } else { Err(failed(call, status)) }
}

impl Copies {
    /// Makes copies, without contents.
    ///
    /// # Safety
    /// The queue must be one of the context of `woven`, and the regions those of a launch there.
    pub unsafe fn new(woven: &Arc<Woven>, queue: &Arc<Owned>, regions: &[Region]) -> Result<Copies, Why> {
        let (objects, parts, allocations) = (Vec::new(), Vec::new(), Vec::new());
        let (woven, queue) = (woven.clone(), queue.clone());
        let mut all = Copies { woven, queue, regions: Vec::new(), parts, _objects: objects, allocations };
        for region in regions {
            let copy = if region.may_be_written { all.copy_of(region)? } else { region.clone() };
            all.regions.push(copy);
        }
        Ok(all)
    }

    unsafe fn copy_of(&mut self, region: &Region) -> Result<Region, Why> {
        let source = match &region.source {
            Source::Buffers(_) => {
                let buffer = self.buffer(region.length)?;
                Source::Buffers(vec![Segment { buffer, offset: 0, length: region.length }])
            }
            Source::Image(_, about) => Source::Image(self.image(about)?, about.clone()),
            Source::Svm { unified, .. } => Source::Svm { address: self.svm(region, *unified)?, unified: *unified },
        };
        Ok(Region { flags: 0, source, ..region.clone() })
    }

    unsafe fn buffer(&mut self, length: usize) -> Result<cl_mem, Why> {
        let (context, mut error) = (self.woven.context as cl_context, 0);
        let buffer = call!(
            self.woven.driver,
            clCreateBuffer(context, CL_MEM_READ_WRITE, length, std::ptr::null_mut(), &mut error)
                else std::ptr::null_mut()
        );
        self.keep(buffer, error, "clCreateBuffer")
    }

    unsafe fn image(&mut self, about: &Image) -> Result<cl_mem, Why> {
        if about.buffer.is_some() {
            return Err(Why::new("no-copies", "an image of a buffer's memory is not copied"));
        }
        let format =
            cl_image_format { image_channel_order: about.channel_order, image_channel_data_type: about.channel_type };
        // SAFETY: all fields are numbers or pointers, for which zero is a value.
        let mut description: cl_image_desc = std::mem::zeroed();
        description.image_type = about.object;
        description.image_width = about.width;
        description.image_height = about.height;
        description.image_depth = about.depth;
        description.image_array_size = about.layers;
        let (context, mut error) = (self.woven.context as cl_context, 0);
        let none = std::ptr::null_mut();
        let image = call!(
            self.woven.driver,
            clCreateImage(context, CL_MEM_READ_WRITE, &format, &description, none, &mut error)
                else std::ptr::null_mut()
        );
        self.keep(image, error, "clCreateImage")
    }

    fn keep(&mut self, memory: cl_mem, error: cl_int, call: &str) -> Result<cl_mem, Why> {
        let owned =
            Owned::new(self.woven.driver, Kind::Memory, memory, error, call).map_err(|_| failed(call, error))?;
        self._objects.push(owned);
        Ok(memory)
    }

    unsafe fn svm(&mut self, region: &Region, unified: bool) -> Result<usize, Why> {
        let (context, device) = (self.woven.context as cl_context, self.woven.device() as cl_device_id);
        let mut error = 0;
        let address = if unified {
            let function = self.woven.extension(c"clDeviceMemAllocINTEL");
            // SAFETY: this is the type of the function of this name.
            let function = function.map(|address| std::mem::transmute::<usize, Allocate>(address));
            function.map(|allocate| allocate(context, device, std::ptr::null(), region.length, 0, &mut error))
        } else {
            let allocate = self.woven.driver.table.clSVMAlloc;
            allocate.map(|allocate| allocate(context, CL_MEM_READ_WRITE, region.length, 0))
        };
        let address = address.filter(|address| !address.is_null());
        let address = address.ok_or_else(|| failed("allocating shared virtual memory", error))? as usize;
        self.allocations.push(Allocation { woven: self.woven.clone(), address, unified });
        Ok(address)
    }

    /// Gives the copies the contents of the launch's own regions, or of other copies of them.
    pub unsafe fn fill(&self, from: &[Region]) -> Result<(), Why> {
        for (from, to) in from.iter().zip(&self.regions).filter(|(_, to)| to.may_be_written) {
            self.copy(from, to)?;
        }
        check("clFinish", call!(self.woven.driver, clFinish(self.queue.handle())))
    }

    unsafe fn copy(&self, from: &Region, to: &Region) -> Result<(), Why> {
        let (driver, queue, none) = (self.woven.driver, self.queue.handle(), std::ptr::null());
        let no_event = std::ptr::null_mut();
        match (&from.source, &to.source) {
            (Source::Buffers(segments), Source::Buffers(whole)) => {
                let (Some(whole), mut at) = (whole.first(), 0) else { return Ok(()) };
                for Segment { buffer, offset, length } in segments {
                    let status = call!(
                        driver,
                        clEnqueueCopyBuffer(queue, *buffer, whole.buffer, *offset, at, *length, 0, none, no_event)
                    );
                    check("clEnqueueCopyBuffer", status)?;
                    at += length;
                }
                Ok(())
            }
            (Source::Image(image, about), Source::Image(copy, _)) => {
                let (origin, size) = ([0_usize; 3], extent(about));
                let (at, size) = (origin.as_ptr(), size.as_ptr());
                let status = call!(driver, clEnqueueCopyImage(queue, *image, *copy, at, at, size, 0, none, no_event));
                check("clEnqueueCopyImage", status)
            }
            (Source::Svm { address, unified }, Source::Svm { address: copy, .. }) => {
                let (to, from, size) = (*copy as *mut c_void, *address as *const c_void, from.length);
                let status = if *unified {
                    copy_unified(driver, queue, to, from, size)
                } else {
                    call!(driver, clEnqueueSVMMemcpy(queue, opencl_sys::CL_TRUE, to, from, size, 0, none, no_event))
                };
                check("clEnqueueSVMMemcpy", status)
            }
            _ => Err(Why::new("no-copies", "two kinds of memory")),
        }
    }

    /// Sets an argument of a kernel to the copy of what it reaches. Returns whether there is one; without, the argument
    /// stays.
    pub unsafe fn set(&mut self, kernel: cl_kernel, position: u32, value: &Value) -> Result<bool, Why> {
        let (region, offset, size) = match value {
            Value::Memory { region, offset, size, .. } => (*region, *offset, Some(*size)),
            Value::Svm { region, offset } => (*region, *offset, None),
            _ => return Ok(false),
        };
        let Some(copy) = self.regions.get(region).filter(|copy| copy.may_be_written) else { return Ok(false) };
        let whole = match (&copy.source, size) {
            (Source::Svm { .. }, _) => {
                let Some((pointer, unified)) = self.svm_of(value) else { return Ok(false) };
                let status = self.woven.set_pointer(kernel, position, pointer, unified);
                return check("setting a pointer", status).map(|()| true);
            }
            (Source::Image(image, _), _) => *image,
            (Source::Buffers(segments), size) => {
                let Some(whole) = segments.first().map(|whole| whole.buffer) else { return Ok(false) };
                match size {
                    Some(size) if (offset, size) != (0, copy.length) => self.part(whole, offset, size)?,
                    _ => whole,
                }
            }
        };
        let from = (&raw const whole).cast();
        let status = call!(self.woven.driver, clSetKernelArg(kernel, position, size_of::<cl_mem>(), from));
        check("clSetKernelArg", status).map(|()| true)
    }

    unsafe fn part(&mut self, whole: cl_mem, origin: usize, size: usize) -> Result<cl_mem, Why> {
        let (region, mut error) = (cl_buffer_region { origin, size }, 0);
        let what = CL_BUFFER_CREATE_TYPE_REGION;
        let part = call!(
            self.woven.driver,
            clCreateSubBuffer(whole, CL_MEM_READ_WRITE, what, (&raw const region).cast(), &mut error)
                else std::ptr::null_mut()
        );
        let owned = Owned::new(self.woven.driver, Kind::Memory, part, error, "clCreateSubBuffer");
        self.parts.push(owned.map_err(|_| failed("clCreateSubBuffer", error))?);
        Ok(part)
    }

    /// Sets all arguments of a kernel of the program's own: to what the program has set, and to copies. `members`:
    /// pointers in arguments that are structs, as the argument's position, the offset and what the pointer reaches.
    pub unsafe fn set_all(
        &mut self,
        kernel: cl_kernel,
        given: &[Argument],
        reached: &Reached,
        members: &[(usize, usize, Value)],
    ) -> Result<(), Why> {
        let driver = self.woven.driver;
        for (position, (argument, value)) in (0..).zip(given.iter().zip(&reached.arguments)) {
            if self.set(kernel, position, value)? {
                continue;
            }
            let status = match argument {
                Argument::Value { bytes, .. } => {
                    let mut bytes = bytes.as_slice().to_vec();
                    for (_, offset, value) in members.iter().filter(|(of, ..)| *of == position as usize) {
                        self.svm_of(value).into_iter().for_each(|(pointer, _)| patch(&mut bytes, *offset, pointer));
                    }
                    call!(driver, clSetKernelArg(kernel, position, bytes.len(), bytes.as_ptr().cast()))
                }
                Argument::Sized(size) => call!(driver, clSetKernelArg(kernel, position, *size, std::ptr::null())),
                Argument::Pointer(address) => {
                    let unified = self.svm_of(value).is_some_and(|(_, unified)| unified);
                    self.woven.set_pointer(kernel, position, *address, unified)
                }
                Argument::Unset => return Err(Why::new("no-copies", "an argument is not set")),
            };
            check("clSetKernelArg", status)?;
        }
        Ok(())
    }

    fn svm_of(&self, value: &Value) -> Option<(usize, bool)> {
        let Value::Svm { region, offset } = value else { return None };
        match self.regions.get(*region)?.source {
            Source::Svm { address, unified } => Some((address + offset, unified)),
            _ => None,
        }
    }
}

fn patch(bytes: &mut [u8], at: usize, pointer: usize) {
    if let Some(place) = at.checked_add(POINTER).and_then(|end| bytes.get_mut(at..end)) {
        place.copy_from_slice(&pointer.to_ne_bytes());
    }
}
