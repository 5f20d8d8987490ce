//! Chooses NDRanges and work-group sizes that suit a kernel.

use std::borrow::Cow;

use kassay_base::error::{Error, Result};
use kassay_prove::program::Op;
use kassay_suite::launch::{NdRange, ResolvedRange};
use serde::{Deserialize, Serialize};

use super::model::KernelModel;

/// An NDRange with its work-group size, and a description for the names of launches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    pub range: NdRange,
    pub local: [u64; 3],
    pub name: Cow<'static, str>,
}

impl Geometry {
    /// Returns the NDRange with its work-group size.
    pub fn resolved(&self) -> ResolvedRange {
        self.range.with_local(self.local)
    }

    /// Returns whether all work-groups have the same size.
    pub fn is_even(&self) -> bool {
        self.resolved().has_uniform_groups()
    }
}

/// Work-group sizes where the kernel leaves them open, by number of dimensions.
const SMALL: [[u64; 3]; 3] = [[8, 1, 1], [4, 4, 1], [4, 2, 2]];
const LARGE: [[u64; 3]; 3] = [[64, 1, 1], [16, 8, 1], [4, 4, 4]];
/// Limits of generated work-group sizes, per dimension and in total.
const LARGEST: u64 = 256;
const LARGEST_TOTAL: u64 = 512;
/// Numbers of work-groups in launches with several, by number of dimensions.
const GROUPS: [[u64; 3]; 3] = [[3, 1, 1], [2, 3, 1], [2, 2, 2]];

/// Returns the sizes of such a table for the dimensions in which groups have several work-items, as if there were no
/// others.
fn spread(model: &KernelModel, dims: usize, table: &[[u64; 3]; 3]) -> [u64; 3] {
    let is_open = |d: &usize| model.groups.required.is_some() || model.groups.exactly[*d] != Some(1);
    let open: Vec<usize> = (0..dims).filter(is_open).collect();
    let mut sizes = [1; 3];
    let wanted = table[open.len().clamp(1, 3) - 1];
    open.into_iter().zip(wanted).for_each(|(d, size)| sizes[d] = size);
    sizes
}

/// Returns the work-group size closest to `wanted` that fits the kernel. `full`: as large as arrays of fixed
/// size allow.
fn fit_local_size(model: &KernelModel, wanted: [u64; 3], full: bool) -> [u64; 3] {
    let rules = &model.groups;
    if let Some(required) = rules.required {
        return required;
    }
    let mut local = [1; 3];
    for d in 0..model.dims as usize {
        local[d] = match (rules.exactly[d], rules.at_most[d]) {
            (Some(n), _) => n,
            (None, Some(most)) if full => most.min(LARGEST),
            (None, Some(most)) => wanted[d].min(most),
            (None, None) => wanted[d],
        };
        if let (Some(of), None) = (rules.multiple_of[d], rules.exactly[d]) {
            let multiple = local[d].next_multiple_of(of);
            local[d] = if rules.at_most[d].is_some_and(|most| multiple > most) { local[d] } else { multiple };
        }
        if rules.power_of_two && !local[d].is_power_of_two() {
            local[d] = (local[d].next_power_of_two() / 2).max(1);
        }
    }
    local[0] = rules.of_whole_sub_groups(local[0]);
    let is_open = |d: &usize| rules.exactly[*d].is_none() && (*d > 0 || rules.sub_group.is_none());
    while local.iter().product::<u64>() > LARGEST_TOTAL {
        let Some(d) = (0..3).filter(is_open).max_by_key(|d| local[*d]) else { break };
        if local[d] == 1 {
            break;
        }
        local[d] = local[d].div_ceil(2);
    }
    local
}

/// Returns the geometry with `groups` work-groups of size `local`.
pub fn of_groups(model: &KernelModel, local: [u64; 3], groups: [u64; 3], name: &'static str) -> Geometry {
    let global = std::array::from_fn(|d| local[d] * groups[d]);
    Geometry {
        range: NdRange { dims: model.dims, global, local: Some(local), offset: [0; 3] },
        local,
        name: name.into(),
    }
}

/// Returns the numbers of work-groups of launches with several.
fn several(model: &KernelModel) -> [u64; 3] {
    let table = GROUPS[model.dims as usize - 1];
    std::array::from_fn(|d| if model.groups.one_group[d] { 1 } else { table[d] })
}

/// Returns the geometries to try: one group, several, two larger ones, and the smallest group possible.
pub fn choices(model: &KernelModel) -> Vec<Geometry> {
    let dims = model.dims as usize;
    let small = fit_local_size(model, spread(model, dims, &SMALL), false);
    let large = fit_local_size(model, spread(model, dims, &LARGE), true);
    let least = fit_local_size(model, [1; 3], false);
    let two = std::array::from_fn(|d| if d == 0 { 2 } else { 1 });
    let mut all = vec![
        of_groups(model, small, [1; 3], "one group"),
        of_groups(model, small, several(model), "several groups"),
        of_groups(model, large, two, "large groups"),
        of_groups(model, least, [1; 3], "least group"),
    ];
    let mut seen = Vec::new();
    all.retain(|g| {
        let is_new = !seen.contains(&g.range);
        seen.push(g.range.clone());
        is_new
    });
    all
}

/// Returns a geometry whose last work-groups in each dimension are smaller (OpenCL API 3.0, 5.8), if the kernel may be
/// launched like that.
pub fn uneven(model: &KernelModel) -> Option<Geometry> {
    let local = fit_local_size(model, spread(model, model.dims as usize, &SMALL), false);
    if model.interface.uniform_groups || local == [1; 3] {
        return None;
    }
    let mut geometry = of_groups(model, local, several(model), "a smaller group at the end");
    // Devices may form the sub-groups of a ragged row otherwise than the simulator.
    let whole = usize::from(model.dims > 1 && model.groups.sub_group.is_some());
    for (global, local) in geometry.range.global.iter_mut().zip(local).take(model.dims as usize).skip(whole) {
        if *global > local {
            *global -= local / 2;
        }
    }
    Some(geometry)
}

/// Returns geometries with other numbers of dimensions than the kernel's ids need, if it queries the number
/// of dimensions.
pub fn other_dims(model: &KernelModel) -> Vec<Geometry> {
    let asks = |op: &Op| matches!(op, Op::Call(_, base) if base == "get_work_dim");
    if !model.program.instructions().any(|(_, i)| asks(&i.op)) {
        return Vec::new();
    }
    let names = ["one dimension", "two dimensions", "three dimensions"];
    let others = (1..=3u32).zip(names).filter(|(dims, _)| *dims != model.dims);
    let of = |(dims, name): (u32, &'static str)| {
        let within = |sizes: [u64; 3]| std::array::from_fn(|d| if d < dims as usize { sizes[d] } else { 1 });
        let local =
            model.groups.required.unwrap_or_else(|| within(fit_local_size(model, SMALL[dims as usize - 1], false)));
        let mut geometry = of_groups(model, local, within(GROUPS[dims as usize - 1]), name);
        geometry.range.dims = dims;
        geometry
    };
    others.map(of).filter(|g| g.local[g.range.dims as usize..].iter().all(|n| *n == 1)).collect()
}

/// Returns the geometry for sizes that the caller fixes. The work-group size is chosen if they leave it open.
///
/// # Errors
/// `Caller` if the sizes contradict what the kernel requires.
pub fn fixed(model: &KernelModel, range: &NdRange) -> Result<Geometry> {
    if let (Some(required), Some(local)) = (model.groups.required, range.local)
        && required != local
    {
        let text = |n: [u64; 3]| n.map(|n| n.to_string()).join(",");
        return Err(Error::caller(format!(
            "the kernel {} requires work-groups of {}, not of {}",
            model.interface.name,
            text(required),
            text(local)
        ))
        .help(format!("give --local {}", text(required))));
    }
    if let (Some(most), Some(local)) = (model.interface.max_group, range.local) {
        let items = local.iter().fold(1_u64, |items, size| items.saturating_mul(*size));
        if items > most {
            let what = format!("blocks of {items} threads, but `__launch_bounds__` of {} allows", model.interface.name);
            return Err(Error::caller(format!("{what} at most {most}"))
                .help("a launch of such blocks fails: give smaller ones with --local"));
        }
    }
    let local = range.local.or(model.groups.required).unwrap_or_else(|| {
        let fits = |d: usize| {
            let most = fit_local_size(model, spread(model, (range.dims as usize).clamp(1, 3), &LARGE), true)[d];
            let divides =
                |n: &u64| range.global[d].is_multiple_of(*n) && (!model.groups.power_of_two || n.is_power_of_two());
            let has_whole = |n: &u64| d > 0 || model.groups.of_whole_sub_groups(*n) == *n;
            let sizes = || (1..=most).rev().filter(divides);
            sizes().find(has_whole).or_else(|| sizes().next()).unwrap_or(1)
        };
        std::array::from_fn(fits)
    });
    Ok(Geometry { range: NdRange { local: Some(local), ..range.clone() }, local, name: "as given".into() })
}
