//! Arrays that are initially zero and, if they are large, use memory only where they are touched.

use std::marker::PhantomData;
use std::ptr::NonNull;

use kassay_base::error::{Error, Result};
use memmap2::{Advice, MmapMut, MmapOptions, UncheckedAdvice};

/// A type that zero bytes initialise and that holds no pointers.
///
/// # Safety
/// Any bytes must be a valid value.
pub unsafe trait Plain: Copy {}

// SAFETY: any bytes are a valid integer.
unsafe impl Plain for u32 {}
// SAFETY: any bytes are a valid integer.
unsafe impl Plain for u64 {}
// SAFETY: an array of integers without padding; any bytes are valid.
unsafe impl<const N: usize> Plain for [u64; N] {}

/// An array of `T`, all zero until written.
#[derive(Debug)]
pub struct LazyArray<T> {
    start: NonNull<T>,
    len: usize,
    map: Option<MmapMut>,
    element: PhantomData<T>,
}

// SAFETY: it is the only owner of its mapping, to which `start` points.
unsafe impl<T: Plain + Send> Send for LazyArray<T> {}

impl<T> Default for LazyArray<T> {
    fn default() -> LazyArray<T> {
        LazyArray { start: NonNull::dangling(), len: 0, map: None, element: PhantomData }
    }
}

/// From this size in bytes on, huge pages are worthwhile.
const LARGE: usize = 4 << 20;

/// From this size in bytes up to [`LARGE`], all pages are populated at once.
const SMALL: usize = 64 << 10;

impl<T: Plain> LazyArray<T> {
    /// An array of `len` zeros.
    ///
    /// # Errors
    /// `Environment`: not enough memory.
    pub fn new(len: u64) -> Result<LazyArray<T>> {
        if len == 0 {
            return Ok(LazyArray::default());
        }
        let lacking = |_| {
            Error::environment(format!("no memory to watch {len} cells of a launch"))
                .help("give the launch smaller buffers, or the machine more memory")
        };
        let count = usize::try_from(len).unwrap_or(usize::MAX);
        let bytes = count.saturating_mul(size_of::<T>());
        let mut map = MmapOptions::new().len(bytes).no_reserve_swap().map_anon().map_err(lacking)?;
        if bytes >= LARGE {
            // Only a hint, so failure does not matter.
            let _ = map.advise(Advice::HugePage);
        } else if bytes >= SMALL {
            // One call is cheaper than a page fault for every page. Older kernels do not support it.
            #[cfg(target_os = "linux")]
            let _ = map.advise(Advice::PopulateWrite);
        }
        // Mappings begin at page boundaries, so any integer is aligned there.
        let start = NonNull::new(map.as_mut_ptr().cast()).unwrap_or(NonNull::dangling());
        Ok(LazyArray { start, len: count, map: Some(map), element: PhantomData })
    }

    /// Number of elements.
    pub fn len(&self) -> u64 {
        self.len as u64
    }

    #[inline]
    /// All elements.
    pub fn all(&mut self) -> &mut [T] {
        // SAFETY: `start` and `len` are those of the mapping, or describe an empty slice; the mapping is borrowed
        // through `&mut self`, and any bytes are a valid `T`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// The `count` elements from `first` on, as far as they exist.
    #[inline]
    pub fn range(&mut self, first: u64, count: u64) -> &mut [T] {
        let all = self.all();
        let len = all.len();
        let first = usize::try_from(first).unwrap_or(len).min(len);
        let count = usize::try_from(count).unwrap_or(len).min(len - first);
        &mut all[first..first + count]
    }

    /// Sets all elements to zero.
    pub fn clear(&mut self) {
        let Some(map) = &self.map else { return };
        // SAFETY: private anonymous memory reads as zero afterwards, which is a valid `T`; `&mut self` excludes
        // other borrows.
        if unsafe { map.unchecked_advise(UncheckedAdvice::DontNeed) }.is_err() {
            // SAFETY: zero bytes are a valid `T`.
            self.all().fill(unsafe { std::mem::zeroed() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_zero_at_first_and_after_clearing() {
        let mut array = LazyArray::<u64>::new(1 << 20).unwrap();
        assert_eq!(array.len(), 1 << 20);
        assert_eq!(array.range(1 << 19, 2), [0, 0]);
        array.range(1 << 19, 2).fill(7);
        assert_eq!(array.range((1 << 19) - 1, 4), [0, 7, 7, 0]);
        array.clear();
        assert_eq!(array.range((1 << 19) - 1, 4), [0; 4]);
    }

    #[test]
    fn ranges_are_clipped_to_the_array() {
        let mut array = LazyArray::<u32>::new(4).unwrap();
        assert_eq!(array.range(3, 5).len(), 1);
        assert_eq!(array.range(9, 1).len(), 0);
        assert_eq!(LazyArray::<u32>::default().range(0, 1).len(), 0);
    }
}
