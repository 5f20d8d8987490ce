//! Reads schedules from a suite and checks them against their launch.

use kassay_base::error::Result;

use super::de::At;
use super::document::Source;
use super::format::{PreemptionSpec, ScheduleSpec};
use super::launch::NdRange;
use super::schedule::{Preemption, Schedule};

/// A work-group size limit that every device meets. Schedules number the work-items of a group, so the size that kassay
/// chooses for them must not depend on the device.
const PORTABLE_GROUP_LIMIT: u64 = 64;

/// Resolves the schedule of a launch. Sets the work-group size if the suite leaves it open.
///
/// # Errors
/// `Caller`, with its place, if a list is not a permutation of the launch's groups or of a group's items, a preemption
/// names a group or an item that does not exist, or two preemptions are at the same access.
pub fn resolve(source: &Source, spec: &ScheduleSpec, range: &mut NdRange) -> Result<Schedule> {
    range.decide_local(None, PORTABLE_GROUP_LIMIT);
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

/// Reads a list that names each of `0..count` once; an empty list stands for ascending order.
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
        let entry = usize::try_from(*value).ok().and_then(|i| seen.get_mut(i));
        let (Some(seen), Ok(number)) = (entry, u32::try_from(*value)) else {
            return Err(out_of_range(source, span, what, *value, count));
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
        if at.value < count { Ok(at.value) } else { Err(out_of_range(source, &at.span, what, at.value, count)) }
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

fn out_of_range(
    source: &Source,
    span: &super::document::Span,
    what: &str,
    number: u64,
    count: u64,
) -> kassay_base::error::Error {
    source
        .error(span, format!("there is no number {number}: the launch has {count} {what}"))
        .help(format!("give a number from 0 to {}", count.saturating_sub(1)))
}
