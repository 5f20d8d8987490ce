//! Formats the findings of checks as sentences.

use std::time::Duration;

use super::launch::PreparedLaunch;
use super::observation::{Divergence, FaultKind, SimulatorFault, Waiting};
use super::program::writes;
use crate::lower::host::table::{CallPath, HostTable, Mode, Object, Space, Storage};
use crate::suite::faults::FaultClass;

/// Describes the first thing that a run did and no kernel may do, in one sentence; `None` if there is none.
pub fn describe(
    faults: &[SimulatorFault],
    divergences: &[Divergence],
    prepared: &PreparedLaunch,
    limit: Duration,
) -> Option<String> {
    let table = prepared.program.table();
    // A loop that does not end is often the consequence of an earlier fault.
    let telling = |f: &&SimulatorFault| f.kind != FaultKind::Uninitialised;
    let fault = faults.iter().filter(telling).min_by_key(|f| f.kind == FaultKind::NonTermination);
    let first = fault.map(|f| fault_text(f, table, prepared, limit));
    first.or_else(|| divergences.first().map(|d| divergence_text(d, table)))
}

fn fault_text(fault: &SimulatorFault, table: &HostTable, prepared: &PreparedLaunch, limit: Duration) -> String {
    let site = fault.site as usize;
    let (what, path) = match fault.kind {
        FaultKind::Division => {
            let path = table.divisions.get(site).map(|s| s.path);
            ("an integer is divided by zero, or the least one by -1".to_owned(), path)
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
            let bytes = access.bytes;
            let place = |object: &Object| place(object, fault.offset);
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
                (FaultKind::ReadOnlyWrite, Some((_, object))) => {
                    format!("{} is {does}{by}, but `{}` is constant", place(object), object.name)
                }
                (FaultKind::BeyondInner, _) => {
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
                    format!("{} is {does}{by}, but {size}", place(object))
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

fn divergence_text(divergence: &Divergence, table: &HostTable) -> String {
    let waits = |w: &Waiting| {
        let site = table.barriers.get(w.barrier as usize);
        let builtin = site.map_or("barrier", |s| s.builtin.as_str());
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
    format!("barrier-divergence: in group {}, {}", ids(divergence.group_id), parts.join(", "))
}

/// ``` `out[7]` ```, or a byte offset if it is in the middle of an element.
fn place(object: &Object, offset: i64) -> String {
    if matches!(object.storage, Storage::Private { .. } | Storage::Allocated | Storage::Constant { .. }) {
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
    let bytes = match object.storage {
        Storage::Argument(_) => prepared.bytes(number),
        Storage::Allocated => 0,
        Storage::Local { bytes, .. } | Storage::Constant { bytes } | Storage::Private { bytes } => bytes,
    };
    let element = u64::from(object.element.max(1));
    if element > 1 && bytes.is_multiple_of(element) {
        format!("`{}` has {} elements of {element} bytes", object.name, bytes / element)
    } else {
        format!("`{}` has {bytes} bytes", object.name)
    }
}

/// ` at file:line:column in function`, and the chain of calls that leads there.
fn at(table: &HostTable, path: Option<u32>) -> String {
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
