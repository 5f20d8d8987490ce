//! Turns the simulator's observations into findings that a person can read.
//!
//! The simulator distinguishes sites by their call paths, and reports each group and launch separately. Here,
//! observations with the same source locations become one finding with a count and an example.

use std::collections::{BTreeMap, BTreeSet};

use kassay_model::interface::{ArgKind, Interface};
use kassay_model::native::table::{self, NativeTable, SourcePlace, Space, Storage};
use kassay_results::result::Location;
use kassay_results::result::check::{Access, Branch, Finding, FindingKind, Items, Memory, Mode, Scope, Verdict};
use kassay_run::exec::simulator::diagnostics::{may_be_partial, named, part_outside};
use kassay_run::exec::simulator::observation::{self as observation};
use kassay_run::exec::simulator::observation::{
    Conflict, Divergence, FaultKind, ListDifference, Simulation, SimulatorFault,
};
use kassay_suite::launch::{ArgValue, Launch};

use super::causes::{self, Facts};
use super::messages::{self, Extent};
use super::race_facts;

/// Information about the kernel that the simulator does not observe.
pub struct Reader<'a> {
    /// The sites that observations refer to.
    pub table: &'a NativeTable,
    /// The kernel's arguments.
    pub interface: &'a Interface,
    /// Path of the kernel's file as given, for places without debug information.
    pub source: &'a str,
    /// Finds the branch at which the work-items of a group diverged.
    pub diverging_branch: &'a dyn Fn(&Divergence) -> Option<Branch>,
}

/// A launch and what was observed.
#[derive(Clone, Copy)]
pub struct ObservedLaunch<'a> {
    /// Position of the input.
    pub input: usize,
    /// Name of the input.
    pub name: &'a str,
    /// Under its schedule.
    pub launch: &'a Launch,
    /// What was observed.
    pub simulation: &'a Simulation,
}

/// Identity of a finding: observations with the same key are merged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    kind: FindingKind,
    /// Sorted; the number of the site is used only where its location is unknown.
    places: Vec<(Location, Option<Mode>, Option<u32>)>,
    scope: Option<Scope>,
    memory: Option<Memory>,
    variable: Option<String>,
}

/// A finding and its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The finding, as in results.
    pub finding: Finding,
    /// The first input that shows it.
    pub input: usize,
    /// The example of a data race.
    pub conflict: Option<Conflict>,
    /// What is known of that race besides its accesses.
    pub(super) facts: Option<Facts>,
    shown_by: BTreeSet<usize>,
}

impl Found {
    /// Creates a finding that no single input shows.
    pub fn alone(finding: Finding) -> Found {
        Found::of_input(finding, 0)
    }

    /// The inputs that show it.
    pub fn shown_by(&self) -> impl Iterator<Item = usize> {
        let first = self.shown_by.is_empty().then_some(self.input);
        self.shown_by.iter().copied().chain(first)
    }

    /// Creates a finding of the input at this position that the simulator has not shown.
    pub fn of_input(finding: Finding, input: usize) -> Found {
        Found { finding, input, conflict: None, facts: None, shown_by: BTreeSet::new() }
    }
}

/// Findings by key: races, then divergences, then faults, each in the order of the source.
#[derive(Debug, Default)]
pub struct Findings(BTreeMap<Key, Found>);

impl Findings {
    /// Adds the observations of a launch.
    pub fn add(&mut self, reader: &Reader<'_>, observed: ObservedLaunch<'_>) {
        for (key, finding, conflict) in reader.read(observed) {
            match self.0.get_mut(&key) {
                Some(known) => {
                    known.finding.count = known.finding.count.saturating_add(finding.count);
                    known.finding.benign &= finding.benign;
                    known.shown_by.insert(observed.input);
                    if known.finding.within_object == Some(true) && finding.within_object.is_none() {
                        // Leaving the whole object is more severe than leaving an inner array.
                        let (count, benign) = (known.finding.count, known.finding.benign);
                        known.finding = Finding { count, benign, ..finding };
                        known.input = observed.input;
                    }
                }
                None => {
                    let shown_by = BTreeSet::from([observed.input]);
                    let conflicts = &observed.simulation.conflicts;
                    let facts = conflict.as_ref().map(|race| race_facts::facts(reader.table, conflicts, race));
                    self.0.insert(key, Found { finding, input: observed.input, conflict, facts, shown_by });
                }
            }
        }
    }

    /// Returns the findings in order, with the number of inputs that show each, and races with their causes.
    pub fn finish(self) -> Vec<Found> {
        let count = |mut found: Found| {
            found.finding.inputs = found.shown_by.len() as u64;
            if let Some(facts) = &mut found.facts {
                facts.equal_values = found.finding.benign;
                found.finding.cause = causes::cause(&found.finding.accesses, found.finding.scope, *facts);
            }
            found
        };
        self.0.into_values().map(count).collect()
    }
}

/// Returns the verdict: the first that applies of racy, divergent and memory-fault. `completed`: some input ran
/// to completion.
pub fn verdict<'a>(findings: impl IntoIterator<Item = &'a Finding>, completed: bool) -> Verdict {
    let judged = findings.into_iter().filter_map(|f| match f.kind {
        FindingKind::DataRace => Some(Verdict::Racy),
        FindingKind::BarrierDivergence => Some(Verdict::Divergent),
        FindingKind::Uninitialised | FindingKind::RedundantBarrier => None,
        FindingKind::OutOfBounds
        | FindingKind::NullAccess
        | FindingKind::ReadOnlyWrite
        | FindingKind::WriteOnlyRead
        | FindingKind::Misaligned
        | FindingKind::Division
        | FindingKind::NonTermination
        | FindingKind::UnawaitedCopy
        | FindingKind::Assertion => Some(Verdict::MemoryFault),
    });
    judged.min().unwrap_or(if completed { Verdict::Clean } else { Verdict::Unknown })
}

impl Reader<'_> {
    /// Returns the keys of all findings that a launch shows.
    pub fn keys(&self, observed: ObservedLaunch<'_>) -> BTreeSet<Key> {
        self.read(observed).into_iter().map(|(key, ..)| key).collect()
    }

    /// Returns the verdict on one launch.
    pub fn verdict_on(&self, observed: ObservedLaunch<'_>) -> Verdict {
        let found = self.read(observed);
        verdict(found.iter().map(|(_, finding, _)| finding), observed.simulation.completed)
    }

    /// Returns how often a launch shows each of its findings: races by the places in memory.
    pub fn counts(&self, observed: ObservedLaunch<'_>) -> BTreeMap<Key, u64> {
        let mut counts = BTreeMap::new();
        for (key, finding, _) in self.read(observed) {
            let count: &mut u64 = counts.entry(key).or_default();
            *count = count.saturating_add(finding.count);
        }
        counts
    }

    /// Returns files and lines of the two accesses, in order, of every race that a launch shows.
    pub fn races(&self, observed: ObservedLaunch<'_>) -> BTreeSet<Vec<(String, u32)>> {
        observed.simulation.conflicts.iter().map(|conflict| lines(&self.race(observed, conflict))).collect()
    }

    fn read(&self, observed: ObservedLaunch<'_>) -> Vec<(Key, Finding, Option<Conflict>)> {
        let simulation = observed.simulation;
        let races = simulation.conflicts.iter().map(|c| (self.race(observed, c), Some(c.clone())));
        let divergences = simulation.divergences.iter().map(|d| (self.divergence(observed, d), None));
        let primary: Vec<&SimulatorFault> =
            simulation.faults.iter().filter(|f| self.is_primary(simulation, f)).collect();
        let faults = primary.iter().map(|f| (self.fault(observed, f), None));
        let all = races.chain(divergences).chain(faults);
        let sites = simulation.conflicts.iter().map(|c| c.accesses.map(|a| a.site).to_vec());
        let barriers = |d: &Divergence| d.waiting.iter().map(|w| w.barrier).collect::<Vec<u32>>();
        let sites = sites.chain(simulation.divergences.iter().map(barriers));
        let sites = sites.chain(primary.iter().map(|f| vec![f.site]));
        all.zip(sites).map(|((finding, conflict), sites)| (key(&finding, sites), finding, conflict)).collect()
    }

    /// Returns whether a fault is more than a consequence of another finding. A read of uninitialised memory is part of
    /// its race with the writer, and it is unknown what skipped accesses would have written.
    fn is_primary(&self, simulation: &Simulation, fault: &SimulatorFault) -> bool {
        let path = |site: u32| self.table.accesses.get(site as usize).map(|s| s.path);
        let races = |c: &Conflict| {
            Some(c.object) == fault.object && c.accesses.iter().any(|a| path(a.site) == path(fault.site))
        };
        let skips = |kind: FaultKind| {
            let independent = [
                FaultKind::Uninitialised,
                FaultKind::Division,
                FaultKind::NonTermination,
                FaultKind::Trap,
                FaultKind::UnawaitedCopy,
                FaultKind::WriteOnlyRead,
                FaultKind::BeyondInner,
                FaultKind::BeyondRow,
            ];
            !independent.contains(&kind)
        };
        let leaves = |f: &SimulatorFault| f.kind == FaultKind::OutOfBounds && path(f.site) == path(fault.site);
        if fault.kind == FaultKind::BeyondRow {
            // A note of its own.
            return false;
        }
        if fault.kind == FaultKind::BeyondInner {
            return !simulation.faults.iter().any(leaves);
        }
        fault.kind != FaultKind::Uninitialised
            || !(simulation.conflicts.iter().any(races) || simulation.faults.iter().any(|f| skips(f.kind)))
    }

    /// Returns what is to be said of indices beyond rows of arrays of arrays in accesses that stay in these, by place.
    /// That is no finding: much code means flat access.
    pub fn rows(&self, observed: ObservedLaunch<'_>) -> BTreeMap<Location, String> {
        let simulation = observed.simulation;
        let path = |site: u32| self.table.accesses.get(site as usize).map(|s| s.path);
        let leaves = |row: &SimulatorFault| {
            let at_place = |f: &&SimulatorFault| path(f.site) == path(row.site);
            simulation.faults.iter().filter(at_place).any(|f| f.kind == FaultKind::OutOfBounds)
        };
        let rows = simulation.faults.iter().filter(|f| f.kind == FaultKind::BeyondRow && !leaves(f));
        let note = |f: &SimulatorFault| {
            let mode = self.table.accesses.get(f.site as usize).map_or(table::Mode::Read, |s| s.mode);
            let access = Access { global_id: Some(f.global_id), ..self.accessed(f.site, mode) };
            let object = self.object(f.object, 0).name;
            let text = messages::beyond_row(
                &access,
                f.inner.unwrap_or_default(),
                object.as_deref(),
                observed.launch.range.dims,
            );
            (access.location, text)
        };
        rows.map(note).collect()
    }

    fn race(&self, observed: ObservedLaunch<'_>, conflict: &Conflict) -> Finding {
        let [a, b] = conflict.accesses;
        let mut accesses = [self.access(a), self.access(b)];
        let aliases = [a, b].map(|access| self.alias(access.site, conflict, observed.launch));
        if aliases.iter().any(Option::is_some) {
            let own = self.object(Some(conflict.object), i64::try_from(conflict.offset).unwrap_or(i64::MAX)).words();
            for (access, alias) in accesses.iter_mut().zip(aliases) {
                access.element = Some(alias.unwrap_or_else(|| own.clone()));
            }
        }
        accesses.sort_by(|x, y| (&x.location, x.mode, x.global_id).cmp(&(&y.location, y.mode, y.global_id)));
        let object = self.object(Some(conflict.object), i64::try_from(conflict.offset).unwrap_or(i64::MAX));
        let scope = if conflict.inter_group { Scope::InterGroup } else { Scope::IntraGroup };
        let message =
            messages::race(&accesses, &object.words(), scope, observed.launch.range.dims, self.table.waits_for_grid());
        Finding {
            scope: Some(scope),
            benign: conflict.benign,
            count: conflict.count,
            accesses: accesses.to_vec(),
            ..self.finding(FindingKind::DataRace, observed, object, message)
        }
    }

    /// Returns what the access calls the place of a conflict, if its argument has another start or another name than
    /// the memory.
    fn alias(&self, site: u32, conflict: &Conflict, launch: &Launch) -> Option<String> {
        let object = self.table.accesses.get(site as usize)?.object?;
        let Storage::Argument(position) = self.table.objects.get(object as usize)?.storage else { return None };
        let offset = launch.view(position).offset;
        if launch.owner(position) != conflict.object || (position == conflict.object && offset == 0) {
            return None;
        }
        let offset = i64::try_from(conflict.offset).ok()?.checked_sub(i64::try_from(offset).ok()?)?;
        Some(self.object(Some(object), offset).words())
    }

    fn divergence(&self, observed: ObservedLaunch<'_>, divergence: &Divergence) -> Finding {
        let waits = divergence.waiting.iter().filter_map(|w| {
            let barrier = self.table.barriers.get(w.barrier as usize)?;
            Some(Access {
                global_id: Some(w.item),
                group_id: Some(divergence.group_id),
                builtin: Some(named(&barrier.builtin, w.mask)),
                waiting: Some(w.items),
                ..self.place(barrier.path)
            })
        });
        let accesses: Vec<Access> = waits.collect();
        let finished = (divergence.finished > 0)
            .then_some(Items { items: divergence.finished, global_id: divergence.finished_item });
        let branch = (self.diverging_branch)(divergence);
        let iterations = divergence.waiting.first().is_some_and(|first| {
            divergence.waiting[1..].iter().any(|w| w.barrier == first.barrier && w.iteration != first.iteration)
        });
        let message = messages::divergence(&accesses, finished.as_ref(), branch.as_ref(), iterations);
        Finding {
            count: 1,
            accesses,
            finished,
            branch,
            ..self.finding(FindingKind::BarrierDivergence, observed, Object::default(), message)
        }
    }

    fn fault(&self, observed: ObservedLaunch<'_>, fault: &SimulatorFault) -> Finding {
        let site = fault.site as usize;
        let kind = match fault.kind {
            FaultKind::OutOfBounds | FaultKind::BeyondInner | FaultKind::BeyondRow => FindingKind::OutOfBounds,
            FaultKind::BarrierFlags | FaultKind::CopyArguments | FaultKind::EventLists | FaultKind::OutsideMask => {
                FindingKind::BarrierDivergence
            }
            FaultKind::Null => FindingKind::NullAccess,
            FaultKind::WriteOnlyRead => FindingKind::WriteOnlyRead,
            FaultKind::ReadOnlyWrite => FindingKind::ReadOnlyWrite,
            FaultKind::Misaligned => FindingKind::Misaligned,
            FaultKind::UnawaitedCopy => FindingKind::UnawaitedCopy,
            FaultKind::Uninitialised => FindingKind::Uninitialised,
            FaultKind::Division => FindingKind::Division,
            FaultKind::NonTermination => FindingKind::NonTermination,
            FaultKind::Trap => FindingKind::Assertion,
        };
        let ids =
            |access: Access| Access { global_id: Some(fault.global_id), group_id: Some(fault.group_id), ..access };
        let plain = |sites: &[table::PlainSite]| ids(self.place(sites.get(site).map_or(u32::MAX, |s| s.path)));
        let (access, mut object) = match fault.kind {
            FaultKind::Division => (plain(&self.table.divisions), Object::default()),
            FaultKind::NonTermination => (plain(&self.table.loops), Object::default()),
            FaultKind::Trap => {
                let path = self.table.traps.get(site).map_or(u32::MAX, |trap| trap.path);
                (ids(self.place(path)), Object::default())
            }
            FaultKind::BarrierFlags
            | FaultKind::CopyArguments
            | FaultKind::EventLists
            | FaultKind::UnawaitedCopy
            | FaultKind::OutsideMask => {
                let barrier = self.table.barriers.get(site);
                let access = ids(self.place(barrier.map_or(u32::MAX, |b| b.path)));
                (Access { builtin: barrier.map(|b| b.builtin.clone()), ..access }, Object::default())
            }
            _ => {
                let mut object = self.object(fault.object, fault.offset);
                let known = self.table.accesses.get(site);
                object.memory = object.memory.or_else(|| memory(known?.space));
                let mode = known.map_or(table::Mode::Read, |s| s.mode);
                let mut access = self.accessed(fault.site, mode);
                if fault.bytes > 0 {
                    access.bytes = u32::try_from(fault.bytes).ok();
                }
                (ids(access), object)
            }
        };
        let missed = fault.object.and_then(|o| self.table.objects.get(o as usize));
        let size = missed.and_then(|object| bytes_of(object, observed.launch));
        let bytes = access.bytes.map_or(fault.bytes, u64::from);
        let element = missed.map_or(1, |object| object.element.max(1));
        let extent = Extent {
            elements: size.map(|size| size / u64::from(element)),
            is_longer: bytes > u64::from(element),
            outside: missed
                .filter(|object| may_be_partial(object, fault.offset))
                .and(size)
                .and_then(|size| part_outside(fault.offset, bytes, size)),
        };
        // For variables of fixed size, the simulator knows which one was hit but not always where: an index within
        // bounds is only right if the access reaches beyond them.
        let is_given = missed.is_some_and(|object| matches!(object.storage, Storage::Argument(_)));
        let inside = extent.elements.zip(object.index).is_some_and(|(n, i)| u64::try_from(i).is_ok_and(|i| i < n))
            && !is_given
            && extent.outside.is_none();
        if fault.texel.is_some() || kind == FindingKind::OutOfBounds && inside {
            object.index = None;
        }
        let dims = observed.launch.range.dims;
        if let Some(inner) = fault.inner {
            object.index = None;
            let message = messages::beyond_inner(&access, inner, object.name.as_deref(), dims);
            let finding = self.finding(kind, observed, object, message);
            return Finding { count: fault.count, accesses: vec![access], within_object: Some(true), ..finding };
        }
        if kind == FindingKind::BarrierDivergence {
            let message = match fault.kind {
                FaultKind::BarrierFlags => messages::barrier_flags(&access, dims),
                FaultKind::CopyArguments => messages::copy_arguments(&access, fault.offset, dims),
                FaultKind::OutsideMask => messages::outside_mask(&access, fault.offset, dims),
                _ => messages::event_lists(&access, fault.offset == ListDifference::Length as i64, dims),
            };
            let finding = self.finding(kind, observed, object, message);
            return Finding { count: fault.count, accesses: vec![access], ..finding };
        }
        let condition = self.table.traps.get(site).and_then(|trap| trap.condition.as_ref());
        let message = match (fault.texel, &object.name) {
            _ if fault.kind == FaultKind::Trap && condition.is_some() => {
                messages::assertion(&access, condition.map_or("", String::as_str), dims)
            }
            (Some(texel), Some(name)) => messages::texel(&access, name, texel, dims),
            _ if fault.kind == FaultKind::WriteOnlyRead => {
                messages::against_flag(&access, &object.words(), "CL_MEM_WRITE_ONLY", dims)
            }
            _ if fault.kind == FaultKind::ReadOnlyWrite && is_given && object.memory == Some(Memory::Global) => {
                messages::against_flag(&access, &object.words(), "CL_MEM_READ_ONLY", dims)
            }
            _ if kind == FindingKind::Uninitialised && object.memory == Some(Memory::Global) => {
                messages::never_written(&access, &object.words(), dims)
            }
            _ => messages::fault(kind, &access, (&object.words(), object.index), &extent, dims),
        };
        Finding { count: fault.count, accesses: vec![access], ..self.finding(kind, observed, object, message) }
    }

    fn finding(&self, kind: FindingKind, observed: ObservedLaunch<'_>, object: Object, message: String) -> Finding {
        Finding {
            kind,
            scope: None,
            memory: object.memory,
            variable: object.name,
            index: object.index,
            within_object: None,
            benign: false,
            count: 0,
            accesses: Vec::new(),
            finished: None,
            branch: None,
            message,
            cause: None,
            input: Some(observed.name.to_owned()),
            inputs: 1,
            schedule: observed.launch.schedule.clone(),
            witness: None,
            reproduction: None,
            seen_on: None,
            unless: None,
        }
    }

    fn access(&self, access: observation::Access) -> Access {
        let Access { location, function, called_from, builtin, bytes, mode, .. } =
            self.accessed(access.site, access.mode);
        Access {
            location,
            function,
            called_from,
            mode,
            builtin,
            bytes,
            global_id: Some(access.global_id),
            group_id: Some(access.group_id),
            element: None,
            waiting: None,
        }
    }

    fn accessed(&self, site: u32, mode: table::Mode) -> Access {
        let known = self.table.accesses.get(site as usize);
        Access {
            mode: Some(match mode {
                table::Mode::Read => Mode::Read,
                table::Mode::Write => Mode::Write,
                table::Mode::Atomic | table::Mode::AtomicRead => Mode::Atomic,
            }),
            builtin: known.and_then(|s| s.builtin.clone()),
            bytes: known.map(|s| s.bytes),
            ..self.place(known.map_or(u32::MAX, |s| s.path))
        }
    }

    /// Returns the end of a call path, and the calls that lead there.
    pub fn place(&self, path: u32) -> Access {
        let frames = self.table.paths.get(path as usize).map_or(&[][..], |p| &p.frames);
        let here = frames.first();
        Access {
            location: here.map_or_else(|| self.nowhere(), |f| self.location(f)),
            function: here.map_or_else(String::new, |f| f.function.clone()),
            called_from: frames.iter().skip(1).map(|f| self.location(f)).collect(),
            mode: None,
            global_id: None,
            group_id: None,
            builtin: None,
            bytes: None,
            element: None,
            waiting: None,
        }
    }

    fn location(&self, place: &SourcePlace) -> Location {
        let file = if place.file.is_empty() { self.source } else { &place.file };
        Location { file: file.to_owned(), line: place.line, column: place.column }
    }

    fn nowhere(&self) -> Location {
        Location { file: self.source.to_owned(), line: 0, column: 0 }
    }

    fn object(&self, object: Option<u32>, offset: i64) -> Object {
        let Some(known) = object.and_then(|o| self.table.objects.get(o as usize)) else { return Object::default() };
        let is_image = match known.storage {
            Storage::Argument(position) => {
                let arg = self.interface.args.get(position as usize);
                arg.is_some_and(|a| matches!(a.kind, ArgKind::Image(_)))
            }
            _ => false,
        };
        Object {
            name: Some(known.name.clone()),
            memory: if is_image { Some(Memory::Image) } else { memory(known.space) },
            index: Some(offset.div_euclid(i64::from(known.element.max(1)))),
        }
    }
}

/// Returns the number of bytes of a variable or buffer.
fn bytes_of(object: &table::Object, launch: &Launch) -> Option<u64> {
    match object.storage {
        Storage::Argument(position) => match launch.args.get(position as usize)? {
            ArgValue::Local(bytes) => Some(*bytes),
            _ => launch.reach(position),
        },
        Storage::Allocated => None,
        Storage::Local { bytes, .. } | Storage::Constant { bytes } | Storage::Private { bytes } => Some(bytes),
    }
}

/// Returns files and lines of a finding's accesses, in order.
pub fn lines(finding: &Finding) -> Vec<(String, u32)> {
    let mut lines: Vec<_> = finding.accesses.iter().map(|a| (a.location.file.clone(), a.location.line)).collect();
    lines.sort();
    lines
}

/// Returns the key of a finding; `sites`: the numbers of its sites, in any order.
fn key(finding: &Finding, sites: Vec<u32>) -> Key {
    let mut places: Vec<_> = finding.accesses.iter().map(|a| (a.location.clone(), a.mode, None)).collect();
    let nowhere = || Location { file: String::new(), line: 0, column: 0 };
    if finding.accesses.iter().any(|a| a.location.line == 0) {
        // Without locations, only sites distinguish findings.
        places.extend(sites.into_iter().map(|site| (nowhere(), None, Some(site))));
    }
    if finding.finished.is_some() {
        // Distinguishes a divergence in which work-items have ended from one in which all of them wait.
        places.push((nowhere(), None, None));
    }
    places.sort();
    Key { kind: finding.kind, places, scope: finding.scope, memory: finding.memory, variable: finding.variable.clone() }
}

/// The accessed object.
#[derive(Debug, Clone, Default)]
struct Object {
    name: Option<String>,
    memory: Option<Memory>,
    index: Option<i64>,
}

impl Object {
    /// Formats the object for messages: `tmp[4]`.
    fn words(&self) -> String {
        match (&self.name, self.index) {
            (Some(name), Some(index)) => format!("{name}[{index}]"),
            (Some(name), None) => name.clone(),
            (None, _) => "memory".to_owned(),
        }
    }
}

fn memory(space: Space) -> Option<Memory> {
    match space {
        Space::Private => Some(Memory::Private),
        Space::Global => Some(Memory::Global),
        Space::Constant => Some(Memory::Constant),
        Space::Local => Some(Memory::Local),
        Space::Generic => None,
    }
}
