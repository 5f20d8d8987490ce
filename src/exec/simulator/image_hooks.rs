//! The hooks of images: reads, writes and queries through handles.

use std::ffi::c_void;

use super::group_sync;
use super::hooks::accessor;
use super::image::{Image, OutsideImage, Sampler};
use super::shadow::Place;
use super::work_group::Item;
use crate::lower::host::abi::texel;

/// Handles below this value are not addresses but the bits of a sampler literal.
const LITERALS: usize = 4096;

/// Counts the access like one to global memory.
unsafe fn count(item: *mut Item) {
    // SAFETY: compiled code passes its own work-item, which is alive with its slot.
    unsafe {
        let number = (*item).accesses;
        (*item).accesses = number + 1;
        if number == (*item).stop_at {
            group_sync::preempt(item, number);
        }
    }
}

/// The image or sampler behind a handle, with its argument position.
unsafe fn resolve_handle<'a>(item: *const Item, handle: *const c_void) -> Option<(u32, &'a Image)> {
    // SAFETY: the thread points to the launch that it runs, which stays alive with its images until all its work-items
    // have ended.
    unsafe { (*(*(*item).thread).prepared).image(handle) }
}

unsafe fn sampler(item: *const Item, handle: *const c_void) -> Option<Sampler> {
    if (handle as usize) < LITERALS {
        return u32::try_from(handle as usize).ok().filter(|bits| *bits != 0).and_then(Sampler::from_bits);
    }
    // SAFETY: `item` is alive, as `resolve_handle` requires.
    unsafe { resolve_handle(item, handle) }.and_then(|(_, image)| image.sampler())
}

/// Reports the access to a texel's bytes to the race detector.
unsafe fn report_access(item: *mut Item, site: u32, object: u32, image: &Image, bytes: std::ops::Range<usize>) {
    // SAFETY: the work-item and its thread are alive, and the bytes lie in the image.
    unsafe {
        let thread = (*item).thread;
        if (*thread).races {
            let shadow = &mut *(*thread).shadow;
            let place = Place { object, offset: bytes.start as u64 };
            let address = image.location().0.add(bytes.start);
            shadow.span(accessor(item), site, place, bytes.len() as u64, address);
        }
    }
}

unsafe fn note(item: *mut Item, site: u32, object: u32, outside: OutsideImage) {
    // SAFETY: the work-item and its thread are alive.
    unsafe { (*(*item).thread).faults.note_texel(item, site, object, outside.texel) };
}

/// The hook [`crate::lower::host::abi::hook::IMAGE_READ`].
pub unsafe extern "C" fn read(
    item: *mut Item,
    site: u32,
    image: *const c_void,
    through: *const c_void,
    coordinates: *const [u32; 4],
    kind: u32,
    result: *mut c_void,
) {
    // SAFETY: compiled code passes its own work-item, coordinates of four words, and space for four components.
    unsafe {
        count(item);
        let mut colour = [0; 4];
        if let Some((object, image)) = resolve_handle(item, image) {
            let sampler = sampler(item, through);
            let coordinates = coordinates.read_unaligned();
            let mut seen = |bytes| report_access(item, site, object, image, bytes);
            match image.read_with(sampler, coordinates, kind, &mut seen) {
                Ok(read) => colour = read,
                Err(outside) => note(item, site, object, outside),
            }
        }
        if kind & !texel::FLOAT_COORDINATES == texel::HALF {
            result.cast::<[u16; 4]>().write_unaligned(colour.map(|half| half as u16));
        } else {
            result.cast::<[u32; 4]>().write_unaligned(colour);
        }
    }
}

/// The hook [`crate::lower::host::abi::hook::IMAGE_WRITE`].
pub unsafe extern "C" fn write(
    item: *mut Item,
    site: u32,
    image: *const c_void,
    coordinates: *const [u32; 4],
    kind: u32,
    colour: *const c_void,
) {
    // SAFETY: compiled code passes its own work-item, coordinates of four words, and a texel of four components.
    unsafe {
        count(item);
        let Some((object, image)) = resolve_handle(item, image) else { return };
        let colour = match kind & !texel::FLOAT_COORDINATES {
            texel::HALF => colour.cast::<[u16; 4]>().read_unaligned().map(u32::from),
            _ => colour.cast::<[u32; 4]>().read_unaligned(),
        };
        let coordinates = coordinates.read_unaligned();
        match image.texel(coordinates) {
            Ok(bytes) => {
                report_access(item, site, object, image, bytes);
                // Cannot fail: `texel` has just found these coordinates in the image.
                let _ = image.write(coordinates, kind, colour);
            }
            Err(outside) => note(item, site, object, outside),
        }
    }
}

/// The hook [`crate::lower::host::abi::hook::IMAGE_QUERY`].
pub unsafe extern "C" fn query(item: *const Item, image: *const c_void, what: u32) -> u64 {
    // SAFETY: compiled code passes its own work-item, which is alive.
    unsafe { resolve_handle(item, image) }.map_or(0, |(_, image)| image.query(what))
}
