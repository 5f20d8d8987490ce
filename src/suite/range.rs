//! Reads NDRanges from a suite and checks them as OpenCL 1.2 demands (section 5.8, clEnqueueNDRangeKernel).

use std::num::NonZeroU64;

use kassay_base::error::Result;

use super::de::At;
use super::document::{Source, Span};
use super::format::TestEntry;
use super::launch::NdRange;

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

/// Reads the NDRange of a test, of which `whole` is the table; [`with_required_local`] applies the kernel's
/// requirements.
///
/// # Errors
/// `Caller`, with its place.
pub fn read(source: &Source, test: &TestEntry, whole: &Span) -> Result<NdRange> {
    let mut range = match (&test.global, &test.grid, &test.block) {
        (Some(global), None, None) => of_items(source, test, global)?,
        (None, Some(grid), Some(block)) => of_blocks(source, test, grid, block)?,
        (Some(_), Some(size), _) | (Some(_), None, Some(size)) => {
            return Err(source
                .error(&size.span, "the test gives its size in two ways")
                .help("give `global` and `local`, or `grid` and `block`"));
        }
        (None, Some(size), None) => {
            return Err(source
                .error(&size.span, "there is no `block` beside `grid`")
                .help("add it, such as block = [64]"));
        }
        (None, None, Some(size)) => {
            return Err(source
                .error(&size.span, "there is no `grid` beside `block`")
                .help("add it, such as grid = [2]"));
        }
        (None, None, None) => {
            return Err(source
                .error(whole, "the test does not say how many work-items there are")
                .help("add `global` (and `local`), such as global = [1024], or `grid` and `block`"));
        }
    };
    if let Some(offset) = &test.offset {
        range.offset = dims(source, "offset", offset, 0)?.1;
        same_dims(source, "offset", offset, range.dims)?;
        if range.offset.iter().zip(range.global).any(|(o, g)| o.checked_add(g).is_none()) {
            return Err(source.error(&offset.span, "`offset` + `global` is more than 2^64").help("give less"));
        }
    }
    Ok(range)
}

fn of_items(source: &Source, test: &TestEntry, given: &At<Vec<At<NonZeroU64>>>) -> Result<NdRange> {
    let (dims, global) = self::dims(source, "global", given, 1)?;
    check_count(source, "global", given, global)?;
    let mut range = NdRange { dims, global, local: None, offset: [0; 3] };
    if let Some(local) = &test.local {
        let sizes = self::dims(source, "local", local, 1)?.1;
        same_dims(source, "local", local, dims)?;
        range.local = Some(sizes);
    }
    Ok(range)
}

/// Dimensions that one of the two leaves out are 1, as in CUDA's `dim3`.
fn of_blocks(
    source: &Source,
    test: &TestEntry,
    grid: &At<Vec<At<NonZeroU64>>>,
    block: &At<Vec<At<NonZeroU64>>>,
) -> Result<NdRange> {
    if let Some(local) = &test.local {
        return Err(source.error(&local.span, "`block` says what `local` says").help("leave `local` out"));
    }
    if let Some(offset) = &test.offset {
        return Err(source
            .error(&offset.span, "a grid of blocks has no offset")
            .help("leave it out, or give `global` and `local`"));
    }
    let (blocks, sizes) = (dims(source, "grid", grid, 1)?, dims(source, "block", block, 1)?);
    // No size is 0: that stands for one that is too large.
    let of = |d: usize| blocks.1[d].checked_mul(sizes.1[d]);
    let global = [of(0), of(1), of(2)].map(|size| size.unwrap_or(0));
    check_count(source, "grid", grid, global)?;
    Ok(NdRange { dims: blocks.0.max(sizes.0), global, local: Some(sizes.1), offset: [0; 3] })
}

fn check_count(source: &Source, key: &str, given: &At<Vec<At<NonZeroU64>>>, global: [u64; 3]) -> Result<()> {
    match global.iter().try_fold(1u64, |a, b| a.checked_mul(*b)) {
        Some(1..) => Ok(()),
        _ => Err(source
            .error(&given.span, format!("`{key}` has more than 2^64 work-items"))
            .help("give smaller dimensions")),
    }
}

/// The size of work-groups that a test gives, and by which key.
fn local_of(test: &TestEntry) -> Option<(&At<Vec<At<NonZeroU64>>>, &'static str)> {
    test.local.as_ref().map(|local| (local, "local")).or(test.block.as_ref().map(|block| (block, "block")))
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

/// Refuses work-groups that are larger than the kernel's `__launch_bounds__`.
///
/// # Errors
/// `Caller`, with its place, if they are.
pub fn check_group(source: &Source, test: &TestEntry, range: &NdRange, most: Option<u64>) -> Result<()> {
    let (Some(most), Some(local)) = (most, range.local) else { return Ok(()) };
    let items = local.iter().fold(1_u64, |items, size| items.saturating_mul(*size));
    if items <= most {
        return Ok(());
    }
    let at = local_of(test).map(|(given, _)| given.span.clone()).unwrap_or_default();
    let what = format!("blocks of {items} threads, but `__launch_bounds__` says that the kernel has at most {most}");
    Err(source.error(&at, what).help("a launch of such blocks fails: give smaller ones"))
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
    if let (Some(local), Some((given, key))) = (range.local, local_of(test))
        && local != required
    {
        let help = if key == "local" { "leave `local` out, or give these sizes" } else { "give these sizes" };
        return Err(source.error(&given.span, format!("the kernel requires work-groups of ({text})")).help(help));
    }
    for (i, (global, size)) in range.global.iter().zip(required).enumerate() {
        if size == 0 || uniform && !global.is_multiple_of(size) {
            let given = test.global.as_ref().or(test.grid.as_ref());
            let at = given.map(|all| all.value.get(i).map_or(&all.span, |size| &size.span));
            return Err(source
                .error(
                    at.unwrap_or(&Span::default()),
                    format!("the kernel requires work-groups of ({text}), but `global` is {global} in dimension {i}"),
                )
                .help(format!("give a multiple of {size} in dimension {i}")));
        }
    }
    range.local = Some(required);
    Ok(range)
}
