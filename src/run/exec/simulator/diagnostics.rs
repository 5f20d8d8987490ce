//! Formats the findings of checks as sentences.

use std::time::Duration;

use kassay_model::native::table::{CallPath, Mode, NativeTable, Object, Space, Storage};
use kassay_suite::faults::FaultClass;

use super::launch::PreparedLaunch;
use super::observation::{Divergence, FaultKind, Simulation, SimulatorFault, VARIOUS, Waiting};
use super::program::writes;

/// Describes the first thing that a run did and no kernel may do, in one sentence; `None` if there is none.
pub fn describe(seen: &Simulation, prepared: &PreparedLaunch, limit: Duration) -> Option<String> {
    let table = prepared.program.table();
    // A loop that does not end is often the consequence of an earlier fault.
    let telling = |f: &&SimulatorFault| !matches!(f.kind, FaultKind::Uninitialised | FaultKind::BeyondRow);
    let fault = seen.faults.iter().filter(telling).min_by_key(|f| f.kind == FaultKind::NonTermination);
    let first = fault.map(|f| fault_text(f, table, prepared, limit));
    first.or_else(|| seen.divergences.first().map(|d| divergence_text(d, table)))
}

fn fault_text(fault: &SimulatorFault, table: &NativeTable, prepared: &PreparedLaunch, limit: Duration) -> String {
    let site = fault.site as usize;
    let (what, path) = match fault.kind {
        FaultKind::Division => {
            let path = table.divisions.get(site).map(|s| s.path);
            ("an integer is divided by zero, or the least one by -1".to_owned(), path)
        }
        FaultKind::Trap => {
            let trap = table.traps.get(site);
            let what = match trap.and_then(|trap| trap.condition.as_ref()) {
                Some(condition) => format!("the assertion `{condition}` fails"),
                None => "a work-item traps".to_owned(),
            };
            (what, trap.map(|trap| trap.path))
        }
        FaultKind::NonTermination => {
            let path = table.loops.get(site).map(|s| s.path);
            (format!("a loop does not come to its end within {} s", limit.as_secs_f64()), path)
        }
        FaultKind::CopyArguments => {
            let path = table.barriers.get(site).map(|s| s.path);
            let what = "the work-items of a group pass an asynchronous copy different arguments";
            (what.to_owned(), path)
        }
        FaultKind::UnawaitedCopy => {
            let path = table.barriers.get(site).map(|s| s.path);
            ("nothing waits for the event of an asynchronous copy before its work-group ends".to_owned(), path)
        }
        FaultKind::BarrierFlags => {
            let path = table.barriers.get(site).map(|s| s.path);
            ("the work-items of a group pass a barrier different flags".to_owned(), path)
        }
        FaultKind::OutsideMask => {
            let site = table.barriers.get(site);
            let what = format!(
                "`{}` is called with the mask {:#010x}, which does not name the caller's lane",
                site.map_or("a function of warps", |site| &site.builtin),
                fault.offset
            );
            (what, site.map(|s| s.path))
        }
        FaultKind::EventLists => {
            let path = table.barriers.get(site).map(|s| s.path);
            let what = "the work-items of a group wait for different events of asynchronous copies";
            (what.to_owned(), path)
        }
        _ => {
            let Some(access) = table.accesses.get(site) else { return String::from("an access faulted") };
            let object = fault.object.and_then(|o| table.objects.get(o as usize).map(|object| (o, object)));
            let by = access.builtin.as_ref().map_or(String::new(), |b| format!(" (by `{b}`)"));
            let does = match access.mode {
                Mode::Read => "read",
                Mode::Write => "written",
                Mode::Atomic | Mode::AtomicRead => "accessed atomically",
            };
            let bytes = if fault.bytes > 0 { fault.bytes } else { u64::from(access.bytes) };
            let place = |object: &Object| place(object, fault.offset, false);
            let what = match (fault.kind, object) {
                (FaultKind::Null, _) => format!("{bytes} bytes are {does} at a null pointer{by}"),
                (FaultKind::Misaligned, Some((_, object))) => format!(
                    "{} is {does}{by} at an address that is no multiple of {} bytes",
                    place(object),
                    access.align
                ),
                (FaultKind::Misaligned, None) => {
                    format!("{bytes} bytes are {does}{by} at an address that is no multiple of {}", access.align)
                }
                (FaultKind::ReadOnlyWrite, Some((_, object))) if is_buffer(object) => {
                    format!("{} is {does}{by}, but the host has made `{}` for reading only", place(object), object.name)
                }
                (FaultKind::WriteOnlyRead, Some((_, object))) => {
                    format!("{} is {does}{by}, but the host has made `{}` for writing only", place(object), object.name)
                }
                (FaultKind::ReadOnlyWrite, Some((_, object))) => {
                    format!("{} is {does}{by}, but `{}` is constant", place(object), object.name)
                }
                (FaultKind::BeyondInner | FaultKind::BeyondRow, _) => {
                    let (index, length) = fault.inner.unwrap_or_default();
                    format!("element {index} of an array of {length} is {does}{by}")
                }
                (FaultKind::Uninitialised, Some((_, object))) if object.space == Space::Global => {
                    format!("{} is read{by}, which nothing has written", place(object))
                }
                (FaultKind::Uninitialised, Some((_, object))) => {
                    format!("{} is read{by} before any work-item of the group wrote it", place(object))
                }
                (_, Some((number, object))) if fault.texel.is_some() => {
                    let (at, size) = texel(fault.texel.unwrap_or_default(), prepared.image_size(number));
                    format!("texel {at} of `{}` is {does}{by}, but the image has {size} texels", object.name)
                }
                (_, Some((number, object))) => {
                    let size = size(object, number, prepared);
                    let outside = part_outside(fault.offset, bytes, object_bytes(object, number, prepared))
                        .filter(|_| may_be_partial(object, fault.offset));
                    match outside {
                        _ if bytes <= u64::from(object.element.max(1)) => {
                            format!("{} is {does}{by}, but {size}", place(object))
                        }
                        Some(part) => {
                            let from = self::place(object, fault.offset, true);
                            format!("{bytes} bytes from {from} on are {does}{by}, {part} outside: {size}")
                        }
                        None if is_placed(object) => {
                            format!("{bytes} bytes from {} on are {does}{by}, but {size}", place(object))
                        }
                        None => format!("{} is {does}{by}, but {size}", place(object)),
                    }
                }
                (_, None) => {
                    let space = match access.space {
                        Space::Global => "global ",
                        Space::Local => "local ",
                        Space::Constant => "constant ",
                        Space::Private => "private ",
                        Space::Generic => "",
                    };
                    let into = if writes(access.mode) { "to" } else { "from" };
                    format!("{bytes} bytes are {does}{by} {into} a place that is no {space}object's")
                }
            };
            (what, Some(access.path))
        }
    };
    let times = if fault.count > 1 { format!(", {} times in all", fault.count) } else { String::new() };
    let item = ids(fault.global_id);
    let group = ids(fault.group_id);
    let name = fault.kind.class().map_or("divergence", FaultClass::name);
    format!("{name}: {what}{}, by work-item {item} of group {group}{times}", at(table, path))
}

fn divergence_text(divergence: &Divergence, table: &NativeTable) -> String {
    let waits = |w: &Waiting| {
        let site = table.barriers.get(w.barrier as usize);
        let builtin = site.map_or_else(|| "barrier".to_owned(), |s| named(&s.builtin, w.mask));
        let items = if w.items == 1 { "1 work-item waits".to_owned() } else { format!("{} work-items wait", w.items) };
        let example = ids(w.item);
        format!("{items} at `{builtin}`{} (such as {example})", at(table, site.map(|s| s.path)))
    };
    let mut parts: Vec<String> = divergence.waiting.iter().take(2).map(waits).collect();
    if let Some(item) = divergence.finished_item {
        let (n, item) = (divergence.finished, ids(item));
        parts.push(if n == 1 {
            format!("1 work-item has ended without it ({item})")
        } else {
            format!("{n} work-items have ended without it (such as {item})")
        });
    } else if parts.len() == 1 {
        parts.push("the others are in another iteration or sub-group".to_owned());
    }
    let parts = parts.join(", ");
    match divergence.is_of_grid {
        true => format!("barrier-divergence: {parts}"),
        false => format!("barrier-divergence: in group {}, {parts}", ids(divergence.group_id)),
    }
}

/// The name of a synchronising function, with the lanes that a function of warps names if it names not all.
pub fn named(builtin: &str, mask: Option<u32>) -> String {
    match mask.filter(|mask| *mask != u32::MAX) {
        Some(VARIOUS) => format!("{builtin}(various masks)"),
        Some(mask) => format!("{builtin}({mask:#010x})"),
        None => builtin.to_owned(),
    }
}

/// Says which part of an access of `bytes` bytes lies outside of an object of `size` bytes (`the last 4 of which lie`);
/// `None` if all of it does, or nothing.
pub fn part_outside(offset: i64, bytes: u64, size: u64) -> Option<String> {
    let (start, size) = (i128::from(offset), i128::from(size));
    let end = start + i128::from(bytes);
    if start >= size || end <= 0 {
        return None;
    }
    let which = match ((-start).max(0), (end - size).max(0)) {
        (0, 0) => return None,
        (0, 1) => "the last of which lies".to_owned(),
        (1, 0) => "the first of which lies".to_owned(),
        (0, after) => format!("the last {after} of which lie"),
        (before, 0) => format!("the first {before} of which lie"),
        (before, after) => format!("the first {before} and the last {after} of which lie"),
    };
    Some(which)
}

/// Whether an access that misses an object may be known to lie partly in it: where its place is not known, its offset
/// is 0.
pub fn may_be_partial(object: &Object, offset: i64) -> bool {
    is_placed(object) || object.storage != Storage::Allocated && offset != 0
}

/// Whether it is a buffer in global memory, which the kernel may write to unless the host has said otherwise.
fn is_buffer(object: &Object) -> bool {
    object.space == Space::Global && matches!(object.storage, Storage::Argument(_))
}

/// Whether it is always known where an access misses the object.
fn is_placed(object: &Object) -> bool {
    !matches!(object.storage, Storage::Private { .. } | Storage::Allocated | Storage::Constant { .. })
}

/// ``` `out[7]` ```, or a byte offset if it is in the middle of an element. `is_known`: even where it mostly is not.
fn place(object: &Object, offset: i64, is_known: bool) -> String {
    if !is_known && !is_placed(object) {
        // The address of such variables is mostly not known.
        return format!("an element outside `{}`", object.name);
    }
    let element = i64::from(object.element.max(1));
    if offset.rem_euclid(element) == 0 {
        format!("`{}[{}]`", object.name, offset.div_euclid(element))
    } else {
        format!("`{}` at byte {offset}", object.name)
    }
}

/// A texel's coordinates and the image's sizes, in the image's number of dimensions.
fn texel(at: [i64; 3], sizes: &[u64]) -> (String, String) {
    let at: Vec<String> = at.iter().take(sizes.len()).map(i64::to_string).collect();
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    (format!("({})", at.join(", ")), sizes.join("x"))
}

fn size(object: &Object, number: u32, prepared: &PreparedLaunch) -> String {
    if object.storage == Storage::Allocated {
        return format!("`{}` has the size that it was given when the work-item came to it", object.name);
    }
    let bytes = object_bytes(object, number, prepared);
    let element = u64::from(object.element.max(1));
    if element > 1 && bytes.is_multiple_of(element) {
        let (count, s) = (bytes / element, if bytes == element { "" } else { "s" });
        format!("`{}` has {count} element{s} of {element} bytes", object.name)
    } else {
        format!("`{}` has {bytes} bytes", object.name)
    }
}

fn object_bytes(object: &Object, number: u32, prepared: &PreparedLaunch) -> u64 {
    match object.storage {
        Storage::Argument(_) => prepared.bytes(number),
        Storage::Allocated => 0,
        Storage::Local { bytes, .. } | Storage::Constant { bytes } | Storage::Private { bytes } => bytes,
    }
}

/// ` at file:line:column in function`, and the chain of calls that leads there.
fn at(table: &NativeTable, path: Option<u32>) -> String {
    let Some(CallPath { frames }) = path.and_then(|p| table.paths.get(p as usize)) else { return String::new() };
    let mut known = frames.iter().filter(|f| f.line > 0);
    let Some(first) = known.next() else { return String::new() };
    let mut text = format!(" at {}:{}:{}", first.file, first.line, first.column);
    let callers: Vec<String> =
        known.map(|f| format!("`{}` at {}:{}:{}", f.function, f.file, f.line, f.column)).collect();
    if !callers.is_empty() {
        text.push_str(&format!(" in `{}`, called from {}", first.function, callers.join(", called from ")));
    }
    text
}

fn ids(id: [u64; 3]) -> String {
    format!("({}, {}, {})", id[0], id[1], id[2])
}
