//! Probe buffers: memory of the device on top of a file of the spool.
//!
//! The buffers use mappings of files as their host memory. Where the device works in that very memory, as CPUs do, the
//! file is right however the process ends, and nothing is ever read. Elsewhere a buffer is mapped for reading, once a
//! second while launches go on, before its context goes and at the process's end.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use opencl_sys::{
    CL_DEVICE_TYPE, CL_DEVICE_TYPE_CPU, CL_FALSE, CL_MAP_READ, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, cl_context,
    cl_device_id, cl_device_type, cl_mem,
};
use serde::Serialize;

use super::objects::{self, Kind, Owned};
use super::reply::{self, Why};
use crate::driver::{Driver, call};
use crate::generation;
use crate::spool::process::Process;
use crate::spool::{config, counts, files, now_ms};

/// How long a read may take before it is given up.
const READ_LIMIT: Duration = Duration::from_secs(2);

/// A line of `probes.jsonl`.
#[derive(Serialize)]
struct Line<'a> {
    probe: usize,
    program: &'a str,
    kernel: &'a str,
    words: usize,
    mutant: Option<&'a str>,
}

/// The file of a probe buffer. It is used again by the next buffer for the same kernel and the same sizes, whose probes
/// then add to it: programs may make any number of contexts. It is never unmapped.
pub struct Mapping {
    address: usize,
    /// Bytes: whole pages, and a word more than the probes need.
    length: usize,
    /// Words of the probes.
    words: usize,
    /// Whether a buffer uses the memory.
    used: Arc<AtomicBool>,
}

impl Mapping {
    /// Makes file `number` of the process, and announces it.
    pub fn create(
        process: &Process,
        number: usize,
        probe: &reply::Probe,
        sizes: &[u64],
        program: &str,
        kernel: &str,
    ) -> Result<Mapping, Why> {
        let folder = process.folder.join("probes");
        let length = (probe.words * 4 + 4).next_multiple_of(page());
        let path = folder.join(format!("{number}.bin"));
        let map = || -> std::io::Result<*mut c_void> {
            if !process.is_writable {
                return Err(std::io::ErrorKind::PermissionDenied.into());
            }
            files::make_folder(&folder)?;
            let mapped = files::create(&path).and_then(|file| counts::map_shared(&file, length));
            mapped.inspect_err(|_| drop(std::fs::remove_file(&path)))
        };
        let unwritable = |error: std::io::Error| Why::new("unwritable", format!("{}: {error}", path.display()));
        let address = files::quietly(map).map_err(unwritable)? as usize;
        let mapping = Mapping { address, length, words: probe.words, used: Arc::new(AtomicBool::new(true)) };
        for (position, value) in &probe.set {
            mapping.word(*position).store(*value, Ordering::Relaxed);
        }
        for (position, value) in words_of_sizes(probe, sizes) {
            mapping.word(position).store(value, Ordering::Relaxed);
        }
        let mutant = config().mutant.as_deref();
        let line = Line { probe: number, program, kernel, words: probe.words, mutant };
        files::append_line(&process.folder.join("probes.jsonl"), &line).map_err(unwritable)?;
        Ok(mapping)
    }

    /// Takes the mapping for a new buffer, unless another one still uses it.
    pub fn take(&self) -> bool {
        !self.used.swap(true, Ordering::AcqRel)
    }

    fn word(&self, position: usize) -> &AtomicU32 {
        debug_assert!(4 * position < self.length);
        // SAFETY: the mapping is never unmapped, and positions are checked to be in it when the reply is read.
        unsafe { &*(self.address as *const AtomicU32).add(position) }
    }
}

/// The words that hold sizes of arguments, in bytes, low word first; sizes that are not given are left out.
fn words_of_sizes(probe: &reply::Probe, sizes: &[u64]) -> impl Iterator<Item = (usize, u32)> {
    let first = probe.sizes.unwrap_or(0);
    sizes.iter().enumerate().filter(|(_, size)| **size != 0).flat_map(move |(argument, size)| {
        let position = first + 4 * argument;
        [(position, *size as u32), (position + 1, (*size >> 32) as u32)]
    })
}

fn page() -> usize {
    // SAFETY: a query.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// A probe buffer in a context.
pub struct Probe {
    driver: &'static Driver,
    buffer: Owned,
    mapping: Arc<Mapping>,
}

/// Gives a mapping back when no command can use it any more.
unsafe extern "C" fn gone(_: cl_mem, data: *mut c_void) {
    // SAFETY: the pointer is from `Arc::into_raw`, and the driver calls this once.
    let used = Arc::from_raw(data.cast::<AtomicBool>().cast_const());
    used.store(false, Ordering::Release);
}

impl Probe {
    /// Makes the buffer on a mapping that has been taken for it.
    ///
    /// # Safety
    /// The context must be one of the driver's.
    pub unsafe fn new(driver: &'static Driver, context: usize, mapping: Arc<Mapping>) -> Result<Probe, Why> {
        let mut error = 0;
        let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
        let host = mapping.address as *mut c_void;
        let buffer = call!(
            driver,
            clCreateBuffer(context as cl_context, flags, mapping.length, host, &mut error) else std::ptr::null_mut()
        );
        let buffer = Owned::new(driver, Kind::Memory, buffer, error, "clCreateBuffer")?;
        let used = Arc::into_raw(mapping.used.clone()).cast_mut();
        if call!(driver, clSetMemObjectDestructorCallback(buffer.handle(), Some(gone), used.cast())) != 0 {
            // The mapping stays taken.
            drop(Arc::from_raw(used.cast_const()));
        }
        Ok(Probe { driver, buffer, mapping })
    }

    pub fn handle(&self) -> cl_mem {
        self.buffer.handle()
    }

    /// What was covered, as far as it is in the file: the bits of all slots, united.
    pub fn covered(&self, bits: &reply::Bits) -> Vec<u32> {
        let mut all = vec![0; bits.words];
        let words = self.mapping.words;
        for slot in (bits.first..).step_by(bits.stride).take_while(|slot| slot + bits.words <= words) {
            for (offset, word) in all.iter_mut().enumerate() {
                *word |= self.mapping.word(slot + offset).load(Ordering::Relaxed);
            }
        }
        all
    }

    /// Brings what the device has recorded into the file. Returns whether that was possible.
    ///
    /// # Safety
    /// The queue must be one of the buffer's context.
    pub unsafe fn read(&self, queue: &Owned) -> bool {
        let (mut event, mut error) = (std::ptr::null_mut(), 0);
        let (buffer, length, none) = (self.handle(), self.mapping.length, std::ptr::null());
        let to = queue.handle();
        let mapped = call!(
            self.driver,
            clEnqueueMapBuffer(to, buffer, CL_FALSE, CL_MAP_READ, 0, length, 0, none, &mut event, &mut error)
                else std::ptr::null_mut()
        );
        if mapped.is_null() || error != 0 {
            return false;
        }
        let done = objects::complete(self.driver, queue, event, READ_LIMIT);
        let mut event = std::ptr::null_mut();
        if call!(self.driver, clEnqueueUnmapMemObject(to, buffer, mapped, 0, none, &mut event)) == 0
            && objects::complete(self.driver, queue, event, if done { READ_LIMIT } else { Duration::ZERO })
        {
            // Nothing is under way any more that would keep the context.
            call!(self.driver, clFinish(to));
        }
        done
    }

    /// Finds out whether the device works in the very memory of the mapping: it is a CPU, and a word that is written to
    /// the buffer is there without a read.
    ///
    /// # Safety
    /// The queue must be one of the buffer's context, for the device.
    unsafe fn is_direct(&self, queue: &Owned, device: usize) -> bool {
        let mut kind: cl_device_type = 0;
        let (device, size, to) = (device as cl_device_id, size_of::<cl_device_type>(), (&raw mut kind).cast());
        call!(self.driver, clGetDeviceInfo(device, CL_DEVICE_TYPE, size, to, std::ptr::null_mut()));
        if kind & CL_DEVICE_TYPE_CPU == 0 || config().read_probes {
            return false;
        }
        if generation::current() > 0 {
            // The driver's threads may not be in a forked child: its commands then run in blocking calls alone, and the
            // word would be waited for in vain.
            return true;
        }
        static SIGNS: [u32; 2] = [0x6b61_7373, 0];
        let last = self.mapping.length / 4 - 1;
        SIGNS.iter().all(|sign| {
            let mut event = std::ptr::null_mut();
            let (from, none) = (std::ptr::from_ref(sign).cast(), std::ptr::null());
            let (to, buffer) = (queue.handle(), self.handle());
            let status =
                call!(self.driver, clEnqueueWriteBuffer(to, buffer, CL_FALSE, 4 * last, 4, from, 0, none, &mut event));
            status == 0
                && objects::complete(self.driver, queue, event, READ_LIMIT)
                && self.mapping.word(last).load(Ordering::Acquire) == *sign
        })
    }
}

/// Whether the probe buffers of a context need to be read, and the queue that reads them.
#[derive(Default)]
pub struct Reader {
    /// `None` where devices work in the mapping itself.
    queue: OnceLock<Option<Owned>>,
    /// When the next read is due, in milliseconds since 1970.
    next_ms: std::sync::atomic::AtomicU64,
}

impl Reader {
    /// Looks once how the device treats the first probe buffer.
    ///
    /// # Safety
    /// The context and the device must be those of the buffer.
    pub unsafe fn prepare(&self, probe: &Probe, context: usize, device: usize) -> Result<(), Why> {
        if self.queue.get().is_none() {
            let queue = objects::queue(probe.driver, context, device)?;
            let needed = !probe.is_direct(&queue, device);
            // Another thread may have been faster.
            let _ = self.queue.set(needed.then_some(queue));
        }
        Ok(())
    }

    /// The queue, if buffers must be read at all.
    pub fn queue(&self) -> Option<&Owned> {
        self.queue.get()?.as_ref()
    }

    /// Whether buffers must be read and a second has passed since that was last done; who asks then does it.
    pub fn is_due(&self) -> bool {
        if self.queue().is_none() {
            return false;
        }
        let (now, next) = (now_ms(), self.next_ms.load(Ordering::Relaxed));
        now >= next && self.next_ms.compare_exchange(next, now + 1000, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Puts the next read off, after one that was given up: the program must not wait again and again.
    pub fn put_off(&self) {
        self.next_ms.store(now_ms() + 60_000, Ordering::Relaxed);
    }
}
