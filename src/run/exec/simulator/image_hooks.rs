//! The hooks of images: reads, writes and queries through handles.

use std::ffi::c_void;
use std::ops::Range;

use kassay_model::native::abi::texel;

use super::access_hooks::report_access;
use super::image::{Image, OutsideImage, Sampler};
use super::item_ref::ItemRef;
use super::shadow::Place;

/// Handles below this value are not addresses but the bits of a sampler literal.
const LITERALS: usize = 4096;

fn sampler(item: &ItemRef<'_>, handle: *const c_void) -> Option<Sampler> {
    if (handle as usize) < LITERALS {
        return u32::try_from(handle as usize).ok().filter(|bits| *bits != 0).and_then(Sampler::from_bits);
    }
    item.launch().image(handle).and_then(|(_, image)| image.sampler())
}

/// Tells of the access to a texel's bytes.
fn report_texel(item: &mut ItemRef<'_>, site: u32, object: u32, image: &Image, bytes: Range<usize>) {
    let place = Place { object, offset: bytes.start as u64 };
    let address = image.location().0.wrapping_add(bytes.start);
    // SAFETY: the image has found that the bytes lie in it.
    unsafe { report_access(item, site, place, bytes.len() as u64, address) };
}

fn note(item: &mut ItemRef<'_>, site: u32, object: u32, outside: OutsideImage) {
    let ids = item.ids();
    item.run_mut().faults.note_texel(ids, site, object, outside.texel);
}

/// The hook [`kassay_model::native::abi::hook::IMAGE_READ`].
///
/// # Safety
/// `coordinates` are four words, and `result` has space for four components of the `kind`.
pub unsafe extern "C" fn read(
    mut item: ItemRef<'_>,
    site: u32,
    image: *const c_void,
    through: *const c_void,
    coordinates: *const [u32; 4],
    kind: u32,
    result: *mut c_void,
) {
    // An access to an image counts like one to global memory.
    item.begin_access();
    let mut colour = [0; 4];
    if let Some((object, image)) = item.launch().image(image) {
        let sampler = sampler(&item, through);
        // SAFETY: the caller passes four words.
        let coordinates = unsafe { coordinates.read_unaligned() };
        let mut seen = |bytes| report_texel(&mut item, site, object, image, bytes);
        match image.read_with(sampler, coordinates, kind, &mut seen) {
            Ok(read) => colour = read,
            Err(outside) => note(&mut item, site, object, outside),
        }
    }
    // SAFETY: the caller passes space for four components.
    unsafe {
        if kind & !texel::FLOAT_COORDINATES == texel::HALF {
            result.cast::<[u16; 4]>().write_unaligned(colour.map(|half| half as u16));
        } else {
            result.cast::<[u32; 4]>().write_unaligned(colour);
        }
    }
}

/// The hook [`kassay_model::native::abi::hook::IMAGE_WRITE`].
///
/// # Safety
/// `coordinates` are four words, and `colour` is four components of the `kind`.
pub unsafe extern "C" fn write(
    mut item: ItemRef<'_>,
    site: u32,
    image: *const c_void,
    coordinates: *const [u32; 4],
    kind: u32,
    colour: *const c_void,
) {
    item.begin_access();
    let Some((object, image)) = item.launch().image(image) else { return };
    // SAFETY: the caller passes four components and four words.
    let (colour, coordinates) = unsafe {
        let colour = match kind & !texel::FLOAT_COORDINATES {
            texel::HALF => colour.cast::<[u16; 4]>().read_unaligned().map(u32::from),
            _ => colour.cast::<[u32; 4]>().read_unaligned(),
        };
        (colour, coordinates.read_unaligned())
    };
    match image.texel(coordinates) {
        Ok(bytes) => {
            report_texel(&mut item, site, object, image, bytes);
            // Cannot fail: `texel` has just found these coordinates in the image.
            let _ = image.write(coordinates, kind, colour);
        }
        Err(outside) => note(&mut item, site, object, outside),
    }
}

/// The hook [`kassay_model::native::abi::hook::IMAGE_QUERY`].
pub extern "C" fn query(item: ItemRef<'_>, image: *const c_void, what: u32) -> u64 {
    item.launch().image(image).map_or(0, |(_, image)| image.query(what))
}
