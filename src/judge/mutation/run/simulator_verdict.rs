//! Judges a mutant by a launch on the simulator, relative to the same launch of the original: by findings that are new
//! and outputs that differ. Pure.

use std::collections::BTreeSet;

use kassay_ir::instrument::layout::FaultKind as Guarded;
use kassay_model::native::table::{CallPath, Mode, NativeTable, SourcePlace};
use kassay_run::exec::simulator::observation::{Access, Conflict, Divergence, FaultKind, Simulation, SimulatorFault};
use kassay_run::exec::{Reference, difference};
use kassay_suite::faults::FaultClass;

use super::verdict::TestVerdict;

/// Identity of a finding: its place in the source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKey {
    /// Two accesses race.
    Race {
        /// Whether the work-items are of different work-groups.
        between_groups: bool,
        /// The places of both accesses, and what they do.
        accesses: Vec<(Option<CallPath>, Mode)>,
    },
    /// A value that was never written is read here.
    Uninitialised(Option<CallPath>),
}

/// The findings and outputs of the original in a launch.
#[derive(Debug, Clone)]
pub struct OriginalRun {
    /// What was found in the original.
    pub keys: BTreeSet<FindingKey>,
    /// The outputs that a mutant's are compared with.
    pub references: Vec<Reference>,
    /// Whether the outputs are the same in every schedule, and those of a mutant that has no finding of its own, too:
    /// without races, only what atomics read depends on the order of work-items.
    pub is_determined: bool,
}

/// Returns the findings of a launch that the original may have too.
pub fn keys(simulation: &Simulation, table: &NativeTable) -> BTreeSet<FindingKey> {
    let races = simulation.conflicts.iter().map(|c| race_key(c, table));
    let reads = simulation.faults.iter().filter(|f| f.kind == FaultKind::Uninitialised).map(|f| read_key(f, table));
    races.chain(reads).collect()
}

/// Returns why a launch of the original cannot serve as a reference for mutants: it faults, diverges or does not
/// terminate. `None`: it can.
pub fn unusable(simulation: &Simulation) -> Option<&'static str> {
    if simulation.rejected.is_some() {
        return Some("the simulator cannot run it");
    }
    if !simulation.divergences.is_empty() {
        return Some("work-items of the original wait at barriers that others never reach");
    }
    if simulation.faults.iter().any(|f| is_decisive(f.kind)) {
        return Some("the original does what no kernel may");
    }
    (!simulation.completed).then_some("the original does not come to its end")
}

/// Returns whether a fault decides regardless of the original. Uninitialised reads are compared with the original's; an
/// index beyond an inner array that stays within its object is no fault to the guards on a device either.
fn is_decisive(kind: FaultKind) -> bool {
    !matches!(kind, FaultKind::Uninitialised | FaultKind::BeyondInner | FaultKind::BeyondRow)
}

/// Judges a launch of a mutant. Races and divergence come first: a race decides what is read, so what follows from it
/// (an index out of bounds, a loop that does not terminate) is an accident of one schedule.
pub fn verdict(simulation: &Simulation, table: &NativeTable, original: &OriginalRun) -> TestVerdict {
    if simulation.conflicted {
        return TestVerdict::Killed("data race".to_owned());
    }
    if let Some(conflict) = simulation.conflicts.iter().find(|c| !original.keys.contains(&race_key(c, table))) {
        return TestVerdict::Killed(race_text(conflict, table));
    }
    if let Some(divergence) = simulation.divergences.first() {
        return TestVerdict::Killed(divergence_text(divergence, table));
    }
    // A loop that does not terminate is often the consequence of an earlier fault.
    let decisive = simulation.faults.iter().filter(|f| is_decisive(f.kind));
    if let Some(fault) = decisive.min_by_key(|f| f.kind == FaultKind::NonTermination) {
        let text = fault_text(fault, table);
        return match fault.kind {
            FaultKind::NonTermination => TestVerdict::Timeout(text),
            FaultKind::BarrierFlags | FaultKind::CopyArguments | FaultKind::EventLists | FaultKind::OutsideMask => {
                TestVerdict::Killed(text)
            }
            _ => TestVerdict::RuntimeError(text),
        };
    }
    let reads = simulation.faults.iter().filter(|f| f.kind == FaultKind::Uninitialised);
    if let Some(fault) = reads.into_iter().find(|f| !original.keys.contains(&read_key(f, table))) {
        return TestVerdict::Killed(fault_text(fault, table));
    }
    if !simulation.completed {
        return TestVerdict::Timeout("it does not come to its end".to_owned());
    }
    let outputs = &simulation.observation.outputs;
    let differs = original.references.iter().find_map(|r| {
        let (_, left) = outputs.iter().find(|(position, _)| *position == r.position)?;
        difference::first(&r.label, r.ty.as_ref(), r.tolerance, &r.bytes, left)
    });
    differs.map_or(TestVerdict::Passed, TestVerdict::Killed)
}

fn path(table: &NativeTable, path: Option<u32>) -> Option<CallPath> {
    table.paths.get(path? as usize).cloned()
}

fn race_key(conflict: &Conflict, table: &NativeTable) -> FindingKey {
    let access = |a: &Access| (path(table, table.accesses.get(a.site as usize).map(|s| s.path)), a.mode);
    let mut accesses: Vec<_> = conflict.accesses.iter().map(access).collect();
    accesses.sort();
    FindingKey::Race { between_groups: conflict.inter_group, accesses }
}

fn read_key(fault: &SimulatorFault, table: &NativeTable) -> FindingKey {
    FindingKey::Uninitialised(path(table, table.accesses.get(fault.site as usize).map(|s| s.path)))
}

/// Returns ` at k.cl:7:3`, or nothing where the place is not known.
fn place(table: &NativeTable, path: Option<u32>) -> String {
    let frame = path.and_then(|p| table.paths.get(p as usize)?.frames.first());
    match frame {
        Some(SourcePlace { file, line, column, .. }) if *line > 0 => format!(" at {file}:{line}:{column}"),
        _ => String::new(),
    }
}

fn access_place(table: &NativeTable, site: u32) -> String {
    place(table, table.accesses.get(site as usize).map(|s| s.path))
}

fn object(table: &NativeTable, object: Option<u32>) -> String {
    let known = object.and_then(|o| table.objects.get(o as usize));
    known.map_or_else(|| "memory".to_owned(), |o| format!("`{}`", o.name))
}

fn race_text(conflict: &Conflict, table: &NativeTable) -> String {
    let does = |a: &Access| {
        let what = match a.mode {
            Mode::Read => "a read",
            Mode::Write => "a write",
            Mode::Atomic | Mode::AtomicRead => "an atomic",
        };
        format!("{what}{}", access_place(table, a.site))
    };
    let [a, b] = &conflict.accesses;
    let who = if conflict.inter_group { "of different work-groups" } else { "of one work-group" };
    format!(
        "a data race on {} that the original does not have, between {} and {}, by work-items {who}",
        object(table, Some(conflict.object)),
        does(a),
        does(b)
    )
}

fn divergence_text(divergence: &Divergence, table: &NativeTable) -> String {
    let barrier = divergence.waiting.first().and_then(|w| table.barriers.get(w.barrier as usize));
    let name = barrier.map_or("barrier", |b| b.builtin.as_str());
    format!(
        "work-items wait at the `{name}`{} that others of their {} never reach",
        place(table, barrier.map(|b| b.path)),
        if divergence.is_of_grid { "launch" } else { "group" }
    )
}

fn fault_text(fault: &SimulatorFault, table: &NativeTable) -> String {
    let site = fault.site as usize;
    let what = object(table, fault.object);
    match fault.kind {
        FaultKind::Division => {
            let at = place(table, table.divisions.get(site).map(|s| s.path));
            format!("{},{at}", Guarded::Division.words())
        }
        FaultKind::Trap => table.trap_text(fault.site),
        FaultKind::NonTermination => {
            let at = place(table, table.loops.get(site).map(|s| s.path));
            format!("{}{at}", Guarded::Fuel.words())
        }
        FaultKind::Uninitialised => {
            format!(
                "{what} is read{} before any work-item of the group has written it",
                access_place(table, fault.site)
            )
        }
        FaultKind::OutOfBounds | FaultKind::BeyondInner | FaultKind::BeyondRow => {
            format!("{} of {what}{}", Guarded::OutOfBounds.words(), access_place(table, fault.site))
        }
        FaultKind::CopyArguments => {
            let barrier = table.barriers.get(site).map(|b| b.path);
            format!("work-items of a group disagree on the arguments of an asynchronous copy{}", place(table, barrier))
        }
        FaultKind::BarrierFlags => {
            let barrier = table.barriers.get(site).map(|b| b.path);
            format!("work-items of a group disagree on the flags of a barrier{}", place(table, barrier))
        }
        FaultKind::EventLists => {
            let barrier = table.barriers.get(site).map(|b| b.path);
            format!("work-items of a group wait for different events{}", place(table, barrier))
        }
        FaultKind::OutsideMask => {
            let barrier = table.barriers.get(site).map(|b| b.path);
            format!(
                "a work-item calls a function of its warp with a mask that does not name it{}",
                place(table, barrier)
            )
        }
        FaultKind::UnawaitedCopy => {
            let barrier = table.barriers.get(site).map(|b| b.path);
            format!("{}{}", FaultClass::UnawaitedCopy.words(), place(table, barrier))
        }
        FaultKind::Null => format!("{}{}", FaultClass::NullAccess.words(), access_place(table, fault.site)),
        FaultKind::ReadOnlyWrite => format!("write to {what}, which is read-only,{}", access_place(table, fault.site)),
        FaultKind::WriteOnlyRead => format!("read of {what}, which is write-only,{}", access_place(table, fault.site)),
        FaultKind::Misaligned => {
            format!("{} to {what}{}", FaultClass::Misaligned.words(), access_place(table, fault.site))
        }
    }
}
