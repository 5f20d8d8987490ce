//! The hooks of images: reads, writes and queries through handles.

use std::ffi::c_void;

use super::group_sync;
use super::hooks::who;
use super::image::{Image, Outside, Sampler};
use super::shadow::Place;
use super::work_group::Item;
use crate::lower::host::abi::texel;

/// Handles below this are no addresses but the bits of a sampler literal.
const LITERALS: usize = 4096;

/// Counts the access, as one to global memory.
unsafe fn count(item: *mut Item) {
    // SAFETY: code calls hooks with its own item.
    unsafe {
        let number = (*item).accesses;
        (*item).accesses = number + 1;
        if number == (*item).stop_at {
            group_sync::preempt(item, number);
        }
    }
}

/// The image or sampler behind a handle, and which argument it is.
unsafe fn behind<'a>(item: *const Item, handle: *const c_void) -> Option<(u32, &'a Image)> {
    // SAFETY: the launch, with its images, stays until all its items have ended.
    unsafe { (*(*(*item).thread).prepared).image(handle) }
}

unsafe fn sampler(item: *const Item, handle: *const c_void) -> Option<Sampler> {
    if (handle as usize) < LITERALS {
        return u32::try_from(handle as usize).ok().filter(|bits| *bits != 0).and_then(Sampler::from_bits);
    }
    // SAFETY: as of `behind`.
    unsafe { behind(item, handle) }.and_then(|(_, image)| image.sampler())
}

/// Tells the race detector of a texel's bytes.
unsafe fn tell(item: *mut Item, site: u32, object: u32, image: &Image, bytes: std::ops::Range<usize>) {
    // SAFETY: as of `count`; the bytes are in the image.
    unsafe {
        let thread = (*item).thread;
        if (*thread).races {
            let shadow = &mut *(*thread).shadow;
            let place = Place { object, offset: bytes.start as u64 };
            let address = image.place().0.add(bytes.start);
            shadow.span(who(item), site, place, bytes.len() as u64, address);
        }
    }
}

unsafe fn note(item: *mut Item, site: u32, object: u32, outside: Outside) {
    // SAFETY: as of `count`.
    unsafe { (*(*item).thread).faults.note_texel(item, site, object, outside.texel) };
}

/// [`crate::lower::host::abi::hook::IMAGE_READ`].
pub unsafe extern "C" fn read(
    item: *mut Item,
    site: u32,
    image: *const c_void,
    through: *const c_void,
    coordinates: *const [u32; 4],
    kind: u32,
    result: *mut c_void,
) {
    // SAFETY: code gives coordinates of four words and room for four components.
    unsafe {
        count(item);
        let mut colour = [0; 4];
        if let Some((object, image)) = behind(item, image) {
            let sampler = sampler(item, through);
            let coordinates = coordinates.read_unaligned();
            let mut seen = |bytes| tell(item, site, object, image, bytes);
            match image.read_and_tell(sampler, coordinates, kind, &mut seen) {
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

/// [`crate::lower::host::abi::hook::IMAGE_WRITE`].
pub unsafe extern "C" fn write(
    item: *mut Item,
    site: u32,
    image: *const c_void,
    coordinates: *const [u32; 4],
    kind: u32,
    colour: *const c_void,
) {
    // SAFETY: code gives coordinates of four words and a texel of four components.
    unsafe {
        count(item);
        let Some((object, image)) = behind(item, image) else { return };
        let colour = match kind & !texel::FLOAT_COORDINATES {
            texel::HALF => colour.cast::<[u16; 4]>().read_unaligned().map(u32::from),
            _ => colour.cast::<[u32; 4]>().read_unaligned(),
        };
        let coordinates = coordinates.read_unaligned();
        match image.texel(coordinates) {
            Ok(bytes) => {
                tell(item, site, object, image, bytes);
                // The texel is there.
                let _ = image.write(coordinates, kind, colour);
            }
            Err(outside) => note(item, site, object, outside),
        }
    }
}

/// [`crate::lower::host::abi::hook::IMAGE_QUERY`].
pub unsafe extern "C" fn query(item: *const Item, image: *const c_void, what: u32) -> u64 {
    // SAFETY: as of `behind`.
    unsafe { behind(item, image) }.map_or(0, |(_, image)| image.query(what))
}
