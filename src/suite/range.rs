//! Reads NDRanges from a suite and checks them as OpenCL 1.2 demands (section 5.8, clEnqueueNDRangeKernel).

use super::de::At;
use super::document::Source;
use super::format::TestEntry;
use super::launch::NdRange;
use crate::error::Result;

/// Reads `sizes` as one to three dimensions; unused dimensions are `rest`.
fn dims<N: Copy + Into<u64>>(source: &Source, key: &str, sizes: &At<Vec<At<N>>>, rest: u64) -> Result<(u32, [u64; 3])> {
    let count = sizes.value.len();
    if count == 0 || count > 3 {
        return Err(source
            .error(&sizes.span, format!("`{key}` has {count} dimensions"))
            .help("give one, two or three, such as [1024]"));
    }
    let mut out = [rest; 3];
    for (to, size) in out.iter_mut().zip(&sizes.value) {
        *to = size.value.into();
    }
    Ok((u32::try_from(count).unwrap_or(3), out))
}

fn same_dims<N>(source: &Source, key: &str, sizes: &At<Vec<At<N>>>, global: u32) -> Result<()> {
    if sizes.value.len() as u64 == u64::from(global) {
        return Ok(());
    }
    Err(source
        .error(&sizes.span, format!("`{key}` has {} dimensions, but `global` has {global}", sizes.value.len()))
        .help("give both the same number of dimensions"))
}

/// Returns the divisors of `n` next below and next above `near`, for messages.
fn divisors_near(n: u64, near: u64) -> String {
    let mut divisors: Vec<u64> = Vec::new();
    let mut d = 1u64;
    // Work-group sizes beyond 2^16 are of no use.
    while d <= 1 << 16 && d.checked_mul(d).is_some_and(|sq| sq <= n) {
        if n.is_multiple_of(d) {
            divisors.extend([d, n / d]);
        }
        d += 1;
    }
    let below = divisors.iter().filter(|d| **d < near).max();
    let above = divisors.iter().filter(|d| **d > near).min();
    match (below, above) {
        (Some(b), Some(a)) => format!("{b} and {a}"),
        (Some(d), None) | (None, Some(d)) => d.to_string(),
        (None, None) => "1".to_owned(),
    }
}

/// Reads the NDRange of a test; [`with_required_local`] applies the kernel's requirements.
///
/// # Errors
/// `Caller`, with its place.
pub fn read(source: &Source, test: &TestEntry) -> Result<NdRange> {
    let (count, global) = dims(source, "global", &test.global, 1)?;
    if global.iter().try_fold(1u64, |a, b| a.checked_mul(*b)).is_none() {
        return Err(source
            .error(&test.global.span, "`global` has more than 2^64 work-items")
            .help("give smaller dimensions"));
    }
    let mut range = NdRange { dims: count, global, local: None, offset: [0; 3] };
    if let Some(offset) = &test.offset {
        range.offset = dims(source, "offset", offset, 0)?.1;
        same_dims(source, "offset", offset, count)?;
        if range.offset.iter().zip(global).any(|(o, g)| o.checked_add(g).is_none()) {
            return Err(source.error(&offset.span, "`offset` + `global` is more than 2^64").help("give less"));
        }
    }
    if let Some(local) = &test.local {
        let sizes = dims(source, "local", local, 1)?.1;
        same_dims(source, "local", local, count)?;
        range.local = Some(sizes);
    }
    Ok(range)
}

/// Checks that `local`, if given, divides `global` in every dimension.
fn check_uniform(source: &Source, test: &TestEntry, global: [u64; 3]) -> Result<()> {
    let Some(local) = &test.local else { return Ok(()) };
    for (i, (size, global)) in local.value.iter().zip(global).enumerate() {
        if !global.is_multiple_of(size.value.get()) {
            return Err(source
                .error(&size.span, format!("in dimension {i}, `local` {} does not divide `global` {global}", size.value))
                .help(format!(
                    "the nearest divisors of {global} are {}; smaller groups at the end are for kernels of OpenCL C 2.0 and later \
                     (-cl-std=CL2.0)",
                    divisors_near(global, size.value.get())
                )));
        }
    }
    Ok(())
}

/// Applies the work-group size that the kernel requires. `uniform`: all work-groups must have the same size.
///
/// # Errors
/// `Caller`, with its place, if the suite contradicts the kernel.
pub fn with_required_local(
    source: &Source,
    test: &TestEntry,
    range: &NdRange,
    required: Option<[u64; 3]>,
    uniform: bool,
) -> Result<NdRange> {
    let mut range = range.clone();
    if uniform {
        check_uniform(source, test, range.global)?;
    }
    let Some(required) = required else { return Ok(range) };
    let text = format!("{}, {}, {}", required[0], required[1], required[2]);
    if let (Some(local), Some(given)) = (range.local, &test.local)
        && local != required
    {
        return Err(source
            .error(&given.span, format!("the kernel requires work-groups of ({text})"))
            .help("leave `local` out, or give these sizes"));
    }
    for (i, (global, size)) in range.global.iter().zip(required).enumerate() {
        if size == 0 || uniform && !global.is_multiple_of(size) {
            let at = test.global.value.get(i).map_or(&test.global.span, |g| &g.span);
            return Err(source
                .error(
                    at,
                    format!("the kernel requires work-groups of ({text}), but `global` is {global} in dimension {i}"),
                )
                .help(format!("give a multiple of {size} in dimension {i}")));
        }
    }
    range.local = Some(required);
    Ok(range)
}
