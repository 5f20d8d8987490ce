//! Schedules as a suite writes them, checked against the launch they are for.

use super::de::At;
use super::document::Source;
use super::format::{PreemptionSpec, ScheduleSpec};
use super::launch::NdRange;
use super::schedule::{Preemption, Schedule};
use crate::error::Result;

/// Schedules number work-items of groups, so that sizes must not depend on the device: every device takes groups of so many.
const GROUP_EVERYWHERE: u64 = 64;

/// The schedule of a launch. Decides the launch's work-group size if that is still open.
///
/// # Errors
/// `Caller`, with its place: a list that is no permutation of the launch's groups (of a group's items), a preemption of an item that
/// is not there, two at one place.
pub fn resolve(source: &Source, spec: &ScheduleSpec, range: &mut NdRange) -> Result<Schedule> {
    range.decide_local(None, GROUP_EVERYWHERE);
    let (groups, items) = (range.groups(), range.group_items());
    let list = |key, what, given: &Option<At<Vec<At<u64>>>>, count| match given {
        Some(list) => permutation(source, key, what, list, count),
        None => Ok(Vec::new()),
    };
    let map = list("map", "work-groups", &spec.map, groups)?;
    let item_order = list("item_order", "work-items in a group", &spec.item_order, items)?;
    let mut preemptions: Vec<Preemption> = Vec::with_capacity(spec.preemptions.len());
    for given in &spec.preemptions {
        let one = preemption(source, &given.value, groups, items)?;
        if preemptions.iter().any(|p| (p.group, p.item, p.access) == (one.group, one.item, one.access)) {
            return Err(source
                .error(&given.span, "the work-item is interrupted at this access already")
                .help("keep one of the two preemptions"));
        }
        preemptions.push(one);
    }
    Ok(Schedule { map, item_order, preemptions })
}

/// A list that names each of `0..count` once; empty stands for ascending.
fn permutation(source: &Source, key: &str, what: &str, list: &At<Vec<At<u64>>>, count: u64) -> Result<Vec<u32>> {
    let given = list.value.len() as u64;
    if given == 0 {
        return Ok(Vec::new());
    }
    if given != count {
        return Err(source
            .error(&list.span, format!("`{key}` has {given} entries, but the launch has {count} {what}"))
            .help(format!("name each of 0 to {} once, or leave `{key}` out", count - 1)));
    }
    let mut seen = vec![false; list.value.len()];
    let mut out = Vec::with_capacity(list.value.len());
    for At { span, value } in &list.value {
        let slot = usize::try_from(*value).ok().and_then(|i| seen.get_mut(i));
        let (Some(seen), Ok(number)) = (slot, u32::try_from(*value)) else {
            return Err(missing(source, span, what, *value, count));
        };
        if std::mem::replace(seen, true) {
            return Err(source
                .error(span, format!("`{key}` names {value} twice"))
                .help(format!("name each of 0 to {} once", count - 1)));
        }
        out.push(number);
    }
    Ok(out)
}

fn preemption(source: &Source, spec: &PreemptionSpec, groups: u64, items: u64) -> Result<Preemption> {
    let within = |at: &At<u64>, what, count| {
        if at.value < count { Ok(at.value) } else { Err(missing(source, &at.span, what, at.value, count)) }
    };
    let group = within(&spec.group, "work-groups", groups)?;
    let item = within(&spec.item, "work-items in a group", items)?;
    let to = spec.to.as_ref().map(|to| within(to, "work-items in a group", items)).transpose()?;
    if let Some(to) = spec.to.as_ref().filter(|to| to.value == item) {
        return Err(source
            .error(&to.span, "the work-item that is interrupted cannot be the one that runs next")
            .help("name another one, or leave `to` out"));
    }
    Ok(Preemption { group, item, access: spec.access, to })
}

fn missing(source: &Source, span: &super::document::Span, what: &str, number: u64, count: u64) -> crate::error::Error {
    source
        .error(span, format!("there is no number {number}: the launch has {count} {what}"))
        .help(format!("give a number from 0 to {}", count.saturating_sub(1)))
}
