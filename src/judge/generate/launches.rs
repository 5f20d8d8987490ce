//! Builds launches for a kernel without a suite: several sizes, each with fitting scalars and contents.

use std::cell::Cell;

use kassay_base::error::Result;
use kassay_suite::launch::NdRange;

use super::assign::{self, Number, Scalars, Style};
use super::collisions::{self, Suspect};
use super::fill::{Fill, mix};
use super::geometry::{self, Geometry};
use super::launch_builder::{BuildLimits, FittedPlan, ImageSides, LaunchBuilder, LaunchPlan};
use super::model::{KernelModel, Role};
use super::planned_launch::{GeneratedLaunch, PlannedLaunch, unique};

/// Parameters that the caller fixes.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The only NDRange; `None`: several small ones are tried.
    pub range: Option<NdRange>,
    /// Equal seeds give equal launches.
    pub seed: u64,
}

/// Dry runs per launch that try other scalars.
const MAX_REPAIR_RUNS: usize = 24;

/// Returns the plans of [`launches`], in order, each run dry when it is requested; some may result in equal launches.
/// Ends once `is_over` returns true.
///
/// # Errors
/// `Caller` if the requested sizes do not fit the kernel.
pub(super) fn planned_launches<'w>(
    launch_builder: &'w LaunchBuilder<'_>,
    request: &Request,
    is_over: impl Fn() -> bool + 'w,
) -> Result<impl Iterator<Item = (PlannedLaunch, FittedPlan)> + 'w> {
    let (geometries, others) = match &request.range {
        Some(range) => (vec![geometry::fixed(launch_builder.model, range)?], Vec::new()),
        None => {
            let mut others = geometry::other_dims(launch_builder.model);
            others.extend(geometry::uneven(launch_builder.model));
            (geometry::choices(launch_builder.model), others)
        }
    };
    let others = others.into_iter().map(|geometry| (geometry, Style::Even, Fill::Random));
    let seed = request.seed;
    let mut repairs = true;
    let mut variants = (0u64..).zip(variants(&geometries).chain(others));
    Ok(std::iter::from_fn(move || {
        if is_over() {
            return None;
        }
        let (variant, (geometry, style, fill)) = variants.next()?;
        let seed = mix(seed, variant);
        let scalars = assign::scalars(launch_builder.model, &launch_builder.summary, &geometry, style, variant, seed);
        let name = name(&geometry, style, fill);
        let images = if style == Style::Uneven { ImageSides::Small } else { ImageSides::Launch };
        let mut planned = PlannedLaunch { geometry, scalars, fill, seed, images, name };
        let mut fitted = launch_builder.fit(&planned.plan());
        let before = misfit(&fitted);
        if repairs && before > 0 {
            let repaired = repair_scalars(launch_builder, planned.plan(), fitted, &is_over);
            repairs = misfit(&repaired.1) < before;
            (planned.scalars, fitted) = (repaired.0, repaired.1);
        }
        Some((planned, fitted))
    }))
}

/// Builds several launches with different sizes and values.
///
/// # Errors
/// `Caller` if an argument has a type that cannot be generated, or the requested sizes do not fit the kernel.
pub fn launches(model: &KernelModel, request: &Request) -> Result<Vec<GeneratedLaunch>> {
    Ok(first_round(model, request, || false, || true)?.launches)
}

/// The launches built before anything has run.
#[derive(Debug, Clone)]
pub struct FirstRound {
    /// As [`launches`] returns them.
    pub launches: Vec<GeneratedLaunch>,
    /// Launches in which work-items may conflict. Worth running, but not inputs that a host would pass, unless a run
    /// shows a conflict.
    pub suspects: Vec<Suspect>,
    /// Whether time ran out before all suspects were found.
    pub cut_short: bool,
}

/// Builds the [`launches`], no more than one after `is_over` returns true, and those that [`collisions`] finds until
/// `solving_over` does.
///
/// # Errors
/// As [`launches`].
pub fn first_round(
    model: &KernelModel,
    request: &Request,
    is_over: impl Fn() -> bool,
    solving_over: impl Fn() -> bool,
) -> Result<FirstRound> {
    let launch_builder = LaunchBuilder::new(model, BuildLimits::default());
    let mut all: Vec<GeneratedLaunch> = Vec::new();
    let mut bases: Vec<PlannedLaunch> = Vec::new();
    let has_one = Cell::new(false);
    for (planned, fitted) in planned_launches(&launch_builder, request, || has_one.get() && is_over())? {
        has_one.set(true);
        let launch = launch_builder.launch(&planned.plan(), &fitted)?;
        // All but those in which fewer work-items could conflict than in an earlier one.
        let items = planned.geometry.range.items();
        if planned.geometry.is_even() && bases.iter().all(|b| b.geometry.range.items() < items) {
            bases.push(planned.clone());
        }
        if all.iter().any(|g| g.launch == launch) {
            continue;
        }
        let mut preconditions = model.preconditions.clone();
        preconditions.extend(fitted.notes);
        let name = unique(planned.name, all.iter().map(|g| g.name.as_str()));
        all.push(GeneratedLaunch { launch, name, preconditions, guesses: fitted.guesses });
    }
    let suspects = collisions::suspects(&launch_builder, &bases, solving_over)?;
    Ok(FirstRound { launches: all, suspects: suspects.found, cut_short: suspects.cut_short })
}

/// Returns sizes, styles and contents of the launches, in the order in which they are built.
fn variants(geometries: &[Geometry]) -> impl Iterator<Item = (Geometry, Style, Fill)> + use<> {
    let pick = |i: usize| geometries[i.min(geometries.len() - 1)].clone();
    let variants = [
        (pick(1), Style::Even, Fill::Random),
        (pick(0), Style::Even, Fill::Random),
        (pick(1), Style::Uneven, Fill::Rising),
        (pick(2), Style::Even, Fill::Random),
        (pick(2), Style::Uneven, Fill::Falling),
        (pick(0), Style::Uneven, Fill::Equal),
        (pick(1), Style::Least, Fill::Random),
        (pick(3), Style::Least, Fill::Zero),
    ];
    variants.into_iter()
}

fn name(geometry: &Geometry, style: Style, fill: Fill) -> String {
    let style = match style {
        Style::Even => "",
        Style::Uneven => ", lengths that do not divide",
        Style::Least => ", lengths of 1",
    };
    let fill = match fill {
        Fill::Rising => "rising",
        Fill::Falling => "falling",
        Fill::Equal => "equal",
        Fill::Zero => "zero",
        _ => "random",
    };
    format!("{}{style}, {fill} values", geometry.name)
}

/// Scores how much of a dry run suggests that the values do not fit together; 0 if nothing does.
fn misfit(fitted: &FittedPlan) -> u64 {
    let report = &fitted.report;
    let below = report.args.iter().chain(&report.variables).filter(|u| u.low < 0).count() as u64;
    let conflicts: u64 = report.args.iter().map(|u| u.conflicts.min(1000)).sum();
    below * 1000
        + report.wild.min(1000) * 10
        + report.divisions.min(1000) * 10
        + conflicts
        + u64::from(report.exhausted) * 500
}

/// Tries other values of integers that take part in addresses, one at a time, and keeps those that lower the score.
fn repair_scalars(
    launch_builder: &LaunchBuilder<'_>,
    plan: LaunchPlan<'_>,
    fitted: FittedPlan,
    is_over: &dyn Fn() -> bool,
) -> (Scalars, FittedPlan) {
    let global = plan.geometry.range.global.map(i128::from);
    let local = plan.geometry.local.map(i128::from);
    let candidates =
        [1, global[0], global[1], 2, 4, local[0], global[0] * global[1], 0, 8, 16, global[0] * 2, global[2]];
    let mut best = (plan, fitted);
    let mut tries = 0;
    for scalar in &launch_builder.model.scalars {
        // Lengths that the kernel checks stay as they are: what goes wrong despite a check is the kernel's fault.
        if !matches!(scalar.role, Role::RowLength | Role::Index | Role::Divisor | Role::Shift) {
            continue;
        }
        let key = (scalar.arg, scalar.offset);
        for candidate in candidates {
            if misfit(&best.1) == 0 || tries >= MAX_REPAIR_RUNS || is_over() {
                return (best.0.scalars, best.1);
            }
            if best.0.scalars.get(&key) == Some(&Number::Integer(candidate)) {
                continue;
            }
            tries += 1;
            let mut plan = best.0.clone();
            plan.scalars.insert(key, Number::Integer(candidate));
            let fitted = launch_builder.fit(&plan);
            if misfit(&fitted) < misfit(&best.1) {
                best = (plan, fitted);
            }
        }
    }
    (best.0.scalars, best.1)
}
