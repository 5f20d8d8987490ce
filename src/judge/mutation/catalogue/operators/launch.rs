//! Launch operators (LIU 6.1.1, table 6.2): `AS`, `AI`, `AD` change the NDRange and nothing in the code.

use kassay_ir::instrument::mutants::edit::{Edit, LaunchChange};
use kassay_run::exec::DeviceInfo;
use kassay_suite::launch::NdRange;

use super::super::level::{self, Concept};
use super::super::mutant::Mutant;
use super::super::subject::{Operator, OperatorOutput, Subject};

/// The class of all launch operators.
pub const CLASS: &str = "launch";

/// Exchanges the work-group size and the number of work-groups.
pub const AS: Operator = Operator {
    id: "AS",
    name: "launch swap",
    class: CLASS,
    description: "exchange work-group size and number of work-groups, in all dimensions",
    origin: "LIU",
    peng: false,
    liu: true,
    concept: Concept::SourceAlone,
    levels: level::SOURCE,
    enumerate: no_code_mutants,
};

/// Adds a work-group, or a work-item to each work-group.
pub const AI: Operator = Operator {
    id: "AI",
    name: "launch increase",
    class: CLASS,
    description: "one more work-group in a dimension; one more work-item per work-group in it",
    origin: "LIU",
    peng: false,
    liu: true,
    concept: Concept::SourceAlone,
    levels: level::SOURCE,
    enumerate: no_code_mutants,
};

/// Removes a work-group, or a work-item from each work-group.
pub const AD: Operator = Operator {
    id: "AD",
    name: "launch decrease",
    class: CLASS,
    description: "one work-group fewer in a dimension; one work-item per work-group fewer in it",
    origin: "LIU",
    peng: false,
    liu: true,
    concept: Concept::SourceAlone,
    levels: level::SOURCE,
    enumerate: no_code_mutants,
};

/// Finds nothing: launch mutants are not in the code; see [`mutants`].
fn no_code_mutants(_: &Subject<'_>, _: &mut OperatorOutput) {}

/// Returns the mutants of the launch operators among `selected`, with their ids, of a suite whose tests use at most
/// `dimensions` dimensions (1 to 3).
pub fn mutants(entry: &str, dimensions: usize, selected: &[&Operator]) -> Vec<Mutant> {
    let mut all = Vec::new();
    let mut add = |operator: &Operator, original: String, replacement: String, change| {
        all.push(Mutant {
            id: format!("{}@launch:{replacement}", operator.id),
            operator: operator.id,
            function: entry.to_owned(),
            original,
            replacement,
            range: None,
            spelling: None,
            edit: Edit::Launch(change),
            is_structural: true,
        });
    };
    for operator in selected {
        let by = match operator.id {
            "AS" => {
                let (original, replacement) = ("groups, group size", "group size, groups");
                add(operator, original.into(), replacement.into(), LaunchChange::Swap);
                continue;
            }
            "AI" => 1,
            "AD" => -1,
            _ => continue,
        };
        let sign = if by > 0 { '+' } else { '-' };
        for dimension in 0..dimensions.min(3) {
            let text = format!("groups({dimension})");
            add(operator, text.clone(), format!("{text} {sign} 1"), LaunchChange::Groups { dimension, by });
            let text = format!("group size({dimension})");
            add(operator, text.clone(), format!("{text} {sign} 1"), LaunchChange::GroupSize { dimension, by });
        }
    }
    all
}

/// Limits that a launch must respect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most work-items per work-group, in total; 0: unlimited.
    pub group: u64,
    /// The same by dimension.
    pub sizes: [u64; 3],
    /// `reqd_work_group_size`.
    pub required: Option<[u64; 3]>,
}

impl Limits {
    /// Takes the limits of a device and of the kernel.
    pub fn of(device: &DeviceInfo, required: Option<[u64; 3]>) -> Limits {
        Limits { group: device.max_work_group_size, sizes: device.max_work_item_sizes, required }
    }
}

/// Returns the NDRange that a mutant launches instead of `range`.
///
/// # Errors
/// The reason for ignoring the mutant: the device or the kernel does not allow the launch.
pub fn apply(range: &NdRange, change: LaunchChange, limits: &Limits) -> Result<NdRange, String> {
    let resolved = range.resolve(limits.required, limits.group);
    let (size, groups) = (resolved.local, resolved.group_counts());
    let dims = range.dims as usize;
    let stepped = |of: u64, by: i64, what: &str, dimension: usize| {
        of.checked_add_signed(by)
            .filter(|n| *n > 0)
            .ok_or_else(|| format!("dimension {dimension} would have no {what} left"))
    };
    let (mut new_groups, mut new_size) = (groups, size);
    match change {
        LaunchChange::Swap => {
            (new_groups, new_size) = (size, groups);
            if size == groups {
                return Err("work-group size and number of work-groups are the same".into());
            }
        }
        LaunchChange::Groups { dimension, .. } | LaunchChange::GroupSize { dimension, .. } if dimension >= dims => {
            return Err(format!("the launch has no dimension {dimension}"));
        }
        LaunchChange::Groups { dimension, by } => {
            new_groups[dimension] = stepped(groups[dimension], by, "work-group", dimension)?;
        }
        LaunchChange::GroupSize { dimension, by } => {
            new_size[dimension] = stepped(size[dimension], by, "work-item", dimension)?;
        }
    }
    if let Some(required) = limits.required.filter(|required| *required != new_size) {
        return Err(format!(
            "the kernel requires work-groups of {}, these would be {}",
            dimensions_text(required),
            dimensions_text(new_size)
        ));
    }
    let items = new_size.iter().fold(1_u64, |n, size| n.saturating_mul(*size));
    if limits.group > 0 && items > limits.group {
        return Err(format!("a work-group of {items} work-items is more than the device takes, {}", limits.group));
    }
    if let Some(d) = (0..dims).find(|d| limits.sizes[*d] > 0 && new_size[*d] > limits.sizes[*d]) {
        let (is, most) = (new_size[d], limits.sizes[d]);
        return Err(format!("{is} work-items in dimension {d} of a work-group are more than the device takes, {most}"));
    }
    let mut global = [1; 3];
    for d in 0..3 {
        let items = new_groups[d].checked_mul(new_size[d]).filter(|n| range.offset[d].checked_add(*n).is_some());
        global[d] = items.ok_or_else(|| format!("dimension {d} would have more than 2^64 work-items"))?;
    }
    Ok(NdRange { dims: range.dims, global, local: Some(new_size), offset: range.offset })
}

fn dimensions_text(size: [u64; 3]) -> String {
    format!("{} x {} x {}", size[0], size[1], size[2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::catalogue::operators::Preset;
    use crate::mutation::catalogue::selection::Selection;

    const FREE: Limits = Limits { group: 1024, sizes: [1024, 1024, 64], required: None };

    fn range(dims: u32, global: [u64; 3], local: [u64; 3]) -> NdRange {
        NdRange { dims, global, local: Some(local), offset: [0; 3] }
    }

    fn changed(range: &NdRange, change: LaunchChange) -> ([u64; 3], [u64; 3]) {
        let new = apply(range, change, &FREE).unwrap();
        assert_eq!((new.dims, new.offset), (range.dims, range.offset));
        (new.global, new.local.unwrap())
    }

    #[test]
    fn groups_and_their_size_change_in_one_dimension() {
        let at = range(2, [64, 12, 1], [16, 4, 1]);
        let groups = |dimension, by| changed(&at, LaunchChange::Groups { dimension, by });
        let size = |dimension, by| changed(&at, LaunchChange::GroupSize { dimension, by });
        assert_eq!(groups(0, 1), ([80, 12, 1], [16, 4, 1]));
        assert_eq!(groups(1, -1), ([64, 8, 1], [16, 4, 1]));
        assert_eq!(size(0, 1), ([68, 12, 1], [17, 4, 1]));
        assert_eq!(size(1, -1), ([64, 9, 1], [16, 3, 1]));
        assert_eq!(changed(&at, LaunchChange::Swap), ([64, 12, 1], [4, 3, 1]));
    }

    #[test]
    fn the_default_work_group_size_is_used() {
        let at = NdRange { dims: 1, global: [128, 1, 1], local: None, offset: [5, 0, 0] };
        assert_eq!(changed(&at, LaunchChange::Groups { dimension: 0, by: 1 }), ([192, 1, 1], [64, 1, 1]));
        assert_eq!(changed(&at, LaunchChange::Swap), ([128, 1, 1], [2, 1, 1]));
    }

    #[test]
    fn impossible_launches_are_refused_with_the_reason() {
        let why = |range: &NdRange, change, limits: &Limits| apply(range, change, limits).unwrap_err();
        let one = range(1, [8, 1, 1], [8, 1, 1]);
        assert!(why(&one, LaunchChange::Groups { dimension: 0, by: -1 }, &FREE).contains("no work-group left"));
        assert!(why(&one, LaunchChange::Groups { dimension: 1, by: 1 }, &FREE).contains("no dimension 1"));
        let single = range(1, [8, 1, 1], [1, 1, 1]);
        assert!(why(&single, LaunchChange::GroupSize { dimension: 0, by: -1 }, &FREE).contains("no work-item left"));
        let square = range(1, [64, 1, 1], [8, 1, 1]);
        assert!(why(&square, LaunchChange::Swap, &FREE).contains("the same"));

        let full = range(1, [2048, 1, 1], [1024, 1, 1]);
        assert!(why(&full, LaunchChange::GroupSize { dimension: 0, by: 1 }, &FREE).contains("1025"));
        let deep = range(3, [1, 1, 128], [1, 1, 64]);
        assert!(why(&deep, LaunchChange::GroupSize { dimension: 2, by: 1 }, &FREE).contains("dimension 2"));

        let required = Limits { required: Some([8, 1, 1]), ..FREE };
        assert!(why(&one, LaunchChange::GroupSize { dimension: 0, by: 1 }, &required).contains("requires"));
        assert!(apply(&one, LaunchChange::Groups { dimension: 0, by: 1 }, &required).is_ok());

        let many = NdRange { offset: [u64::MAX - 20, 0, 0], ..range(1, [16, 1, 1], [8, 1, 1]) };
        assert!(why(&many, LaunchChange::Groups { dimension: 0, by: 1 }, &FREE).contains("2^64"));
    }

    #[test]
    fn unused_dimensions_have_no_mutants() {
        let ids = |dimensions| -> Vec<String> {
            mutants("k", dimensions, Selection::default().operators()).into_iter().map(|m| m.id).collect()
        };
        let one = [
            "AS@launch:group size, groups",
            "AI@launch:groups(0) + 1",
            "AI@launch:group size(0) + 1",
            "AD@launch:groups(0) - 1",
            "AD@launch:group size(0) - 1",
        ];
        assert_eq!(ids(1), one);
        assert_eq!(ids(3).len(), 13);
        assert!(mutants("k", 3, Selection::of_preset(Preset::Peng).operators()).is_empty());
    }
}
