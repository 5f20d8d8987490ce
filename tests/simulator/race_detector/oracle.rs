//! Finds races by brute force: compares every pair of accesses, byte by byte, with happens-before as reachability in a
//! graph of all steps.

use std::collections::{BTreeMap, BTreeSet};

use kassay_model::native::table::{Mode, Ordering, Scope};

use super::program::{CELLS, ITEMS, Program, Step};

/// An access, or one side of a copy.
#[derive(Debug, Clone, Copy)]
struct Event {
    /// Node of the graph; for a copy, the node of its begin.
    node: usize,
    step: usize,
    group: u32,
    /// `None`: a copy.
    item: Option<u32>,
    site: u32,
    object: u32,
    /// The bytes that it accesses.
    range: (u64, u64),
    value: Option<u8>,
}

/// A pair of sites and a scope, as `(smaller, larger, inter-group)`.
pub type Pair = (u32, u32, bool);

/// What is known about a pair: the cells at which it conflicts, whether some conflicting writes are unequal, and the
/// possible examples.
#[derive(Debug, Default)]
pub struct PairConflicts {
    pub cells: BTreeSet<(u32, u64)>,
    pub unequal: bool,
    /// The numbers of both steps, with the smaller site first.
    pub examples: BTreeSet<(u64, u64)>,
}

const KINDS: [u32; 2] = [1, 2];

struct Graph {
    /// Edges to later nodes, by memory (local, global).
    edges: [Vec<(usize, usize)>; 2],
    nodes: usize,
    /// The last node of each item's history, by memory, group and item.
    last: BTreeMap<(usize, u32, u32), usize>,
}

impl Graph {
    /// Adds a node that follows the item's history and continues it.
    fn node(&mut self, group: u32, item: u32) -> usize {
        self.nodes += 1;
        for memory in 0..2 {
            if let Some(before) = self.last.insert((memory, group, item), self.nodes) {
                self.edges[memory].push((before, self.nodes));
            }
        }
        self.nodes
    }

    /// Adds a node that joins the histories of some items, for the memory that `flags` names.
    fn join(&mut self, group: u32, items: impl Iterator<Item = u32> + Clone, flags: u32) -> usize {
        self.nodes += 1;
        for memory in (0..2).filter(|m| flags & KINDS[*m] != 0) {
            for item in items.clone() {
                if let Some(before) = self.last.insert((memory, group, item), self.nodes) {
                    self.edges[memory].push((before, self.nodes));
                }
            }
        }
        self.nodes
    }

    fn reach(&self, memory: usize) -> Vec<BTreeSet<usize>> {
        let mut reached = vec![BTreeSet::new(); self.nodes + 1];
        for from in (0..=self.nodes).rev() {
            let next: Vec<usize> = self.edges[memory].iter().filter(|e| e.0 == from).map(|e| e.1).collect();
            for to in next {
                let beyond: Vec<usize> = reached[to].iter().copied().collect();
                reached[from].insert(to);
                reached[from].extend(beyond);
            }
        }
        reached
    }
}

fn scope(number: u32) -> Scope {
    [Scope::WorkItem, Scope::WorkGroup, Scope::Device, Scope::AllDevices, Scope::SubGroup][number as usize]
}

fn includes(scope: Scope, a: (u32, u32), b: (u32, u32)) -> bool {
    match scope {
        Scope::WorkItem => a == b,
        Scope::SubGroup => a.0 == b.0 && a.1 / 16 == b.1 / 16,
        Scope::WorkGroup => a.0 == b.0,
        _ => true,
    }
}

fn reach(ordering: Option<Ordering>, local: bool) -> Scope {
    let scope = ordering.map_or(Scope::AllDevices, |o| o.scope);
    if local { scope.max(Scope::WorkGroup) } else { scope }
}

/// A release or acquire by an atomic or a fence: its node, scope, memory flags.
type SyncOperation = (usize, Scope, u32);

/// Group (if local), object, cell.
type Location = (Option<u32>, u32, u64);

/// A group and an item of it.
type GroupItem = (u32, u32);

/// A write in an atomic's modification order.
#[derive(Clone)]
struct Write {
    by: (u32, u32),
    /// `None`: not atomic.
    atomic: Option<WriteKind>,
}

#[derive(Clone)]
struct WriteKind {
    stores: bool,
    releases: Vec<SyncOperation>,
}

struct Builder<'a> {
    program: &'a Program,
    graph: Graph,
    events: Vec<Event>,
    writes: BTreeMap<Location, Vec<Write>>,
    /// By item: the releases of fences and of barriers of a wider scope so far.
    released: BTreeMap<(u32, u32), Vec<SyncOperation>>,
    /// By item: the releases, and the items that made them, which its atomic reads could acquire.
    read: BTreeMap<GroupItem, Vec<(SyncOperation, GroupItem)>>,
    /// By group: the copies that it has not waited for, by their events.
    flights: BTreeMap<u32, Vec<(u64, usize)>>,
    /// By group: the last barrier's node, by memory.
    barriers: BTreeMap<(usize, u32), usize>,
}

impl Builder<'_> {
    fn visit(&mut self, index: usize, step: &Step) {
        match *step {
            Step::Access { group, item, site, object, cell, value } => {
                self.access(index, (group, item), (site, object, cell, value));
            }
            Step::Barrier { group, flags, scope: number } => {
                let node = self.graph.join(group, 0..ITEMS, flags);
                for memory in (0..2).filter(|m| flags & KINDS[*m] != 0) {
                    self.barriers.insert((memory, group), node);
                }
                if scope(number) >= Scope::Device {
                    for item in 0..ITEMS {
                        self.acquire((group, item), (node, scope(number), flags));
                        self.released.entry((group, item)).or_default().push((node, scope(number), flags));
                    }
                }
            }
            Step::SubGroupBarrier { group, sub_group, flags } => {
                let items = sub_group * 16..((sub_group + 1) * 16).min(ITEMS);
                self.graph.join(group, items, flags);
            }
            Step::Fence { group, item, flags, order, scope: number } => {
                let node = self.graph.node(group, item);
                let half = (node, scope(number), flags);
                if matches!(order, 2 | 4 | 5) {
                    self.acquire((group, item), half);
                }
                if matches!(order, 3..=5) {
                    self.released.entry((group, item)).or_default().push(half);
                }
            }
            Step::Copy { group, destination, source, cells, event: copied } => {
                self.graph.nodes += 1;
                let node = self.graph.nodes;
                for memory in 0..2 {
                    if let Some(barrier) = self.barriers.get(&(memory, group)) {
                        self.graph.edges[memory].push((*barrier, node));
                    }
                }
                let (write, read) = self.program.copy_sites();
                for (site, (object, cell)) in [(read, source), (write, destination)] {
                    let granule = u64::from(self.program.objects[object as usize].1);
                    let range = (cell * granule, (cell + cells) * granule);
                    self.flights.entry(group).or_default().push((copied, self.events.len()));
                    let event = Event { node, step: index, group, item: None, site, object, range, value: None };
                    self.events.push(event);
                    if site == write {
                        self.overwrite((group, u32::MAX), object, cell..cell + cells);
                    }
                }
            }
            Step::Wait { group, events } => {
                let all = self.flights.remove(&group).unwrap_or_default();
                let (ended, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(event, _)| events.contains(event));
                self.flights.insert(group, others);
                let flights: Vec<usize> = ended.into_iter().map(|(_, flight)| flight).collect();
                for item in 0..ITEMS {
                    let node = self.graph.node(group, item);
                    for flight in &flights {
                        self.graph.edges.iter_mut().for_each(|edges| edges.push((self.events[*flight].node, node)));
                    }
                }
                // Later copies come after the wait as well.
                self.graph.nodes += 1;
                let node = self.graph.nodes;
                for memory in 0..2 {
                    let before = self.barriers.insert((memory, group), node);
                    let started = flights.iter().map(|f| self.events[*f].node);
                    let edges: Vec<_> = before.into_iter().chain(started).map(|from| (from, node)).collect();
                    self.graph.edges[memory].extend(edges);
                }
            }
        }
    }

    fn location(&self, group: u32, object: u32, cell: u64) -> Location {
        (self.program.objects[object as usize].0.then_some(group), object, cell)
    }

    fn overwrite(&mut self, by: (u32, u32), object: u32, cells: std::ops::Range<u64>) {
        for cell in cells {
            let location = self.location(by.0, object, cell);
            self.writes.entry(location).or_default().push(Write { by, atomic: None });
        }
    }

    /// Adds edges to an acquire from the releases that the item's atomics have read.
    fn acquire(&mut self, me: (u32, u32), (node, scope, flags): SyncOperation) {
        for ((from, theirs, named), by) in self.read.get(&me).into_iter().flatten() {
            if includes(*theirs, *by, me) && includes(scope, *by, me) {
                for memory in (0..2).filter(|m| flags & named & KINDS[*m] != 0) {
                    self.graph.edges[memory].push((*from, node));
                }
            }
        }
    }

    fn access(&mut self, index: usize, me: (u32, u32), (site, object, cell, value): (u32, u32, u64, u8)) {
        let known = self.program.sites[site as usize];
        let (local, granule) = self.program.objects[object as usize];
        let node = self.graph.node(me.0, me.1);
        let range = (cell * u64::from(granule), (cell + known.cells) * u64::from(granule));
        let value = (known.mode == Mode::Write).then_some(value);
        self.events.push(Event { node, step: index, group: me.0, item: Some(me.1), site, object, range, value });
        match known.mode {
            Mode::Read => {}
            Mode::Write => self.overwrite(me, object, cell..cell + known.cells),
            Mode::Atomic | Mode::AtomicRead => self.atomic(me, site, (object, cell, local), node),
        }
    }

    fn atomic(&mut self, me: (u32, u32), site: u32, (object, cell, local): (u32, u64, bool), node: usize) {
        let known = self.program.sites[site as usize];
        let flag = if local { 1 } else { 2 };
        let mine = reach(known.ordering, local);
        let location = self.location(me.0, object, cell);
        let writes = self.writes.entry(location).or_default();
        if !known.stores {
            // The heads of the release sequences to which the last write belongs.
            let mut heads = Vec::new();
            for (position, head) in writes.iter().enumerate() {
                let goes_on = |w: &Write| w.atomic.as_ref().is_some_and(|k| !k.stores || w.by == head.by);
                if head.atomic.is_some() && writes[position + 1..].iter().all(goes_on) {
                    heads.push(head.clone());
                }
            }
            for head in heads {
                for (from, theirs, flags) in head.atomic.map(|k| k.releases).unwrap_or_default() {
                    if !includes(theirs, head.by, me) || !includes(mine, head.by, me) {
                        continue;
                    }
                    if known.ordering.is_some_and(|o| o.acquire) && flags & flag != 0 {
                        self.graph.edges[usize::from(!local)].push((from, node));
                    }
                    self.read.entry(me).or_default().push(((from, theirs, flags), head.by));
                }
            }
        }
        if known.mode == Mode::Atomic {
            let mut releases: Vec<SyncOperation> = self.released.get(&me).cloned().unwrap_or_default();
            releases.iter_mut().for_each(|half| half.1 = half.1.min(mine));
            if known.ordering.is_some_and(|o| o.release) {
                releases.push((node, mine, flag));
            }
            let kind = WriteKind { stores: known.stores, releases };
            self.writes.entry(location).or_default().push(Write { by: me, atomic: Some(kind) });
        }
    }

    fn conflict(&self, a: &Event, b: &Event) -> bool {
        let sites = [a, b].map(|e| self.program.sites[e.site as usize]);
        let local = self.program.objects[a.object as usize].0;
        if a.object != b.object || (local && a.group != b.group) {
            return false;
        }
        let same = match (a.item, b.item) {
            (Some(x), Some(y)) => x == y && a.group == b.group,
            (None, None) => a.node == b.node,
            _ => false,
        };
        let writes = sites.iter().any(|s| matches!(s.mode, Mode::Write | Mode::Atomic));
        let atomic = sites.iter().all(|s| matches!(s.mode, Mode::Atomic | Mode::AtomicRead));
        let named = [a, b].map(|e| (e.group, e.item.unwrap_or(u32::MAX)));
        let inclusive = sites.iter().all(|s| includes(reach(s.ordering, local), named[0], named[1]));
        !same && writes && !(atomic && inclusive)
    }
}

/// Returns all pairs that race.
pub fn races(program: &Program) -> BTreeMap<Pair, PairConflicts> {
    let mut builder = Builder {
        program,
        graph: Graph { edges: [Vec::new(), Vec::new()], nodes: 0, last: BTreeMap::new() },
        events: Vec::new(),
        writes: BTreeMap::new(),
        released: BTreeMap::new(),
        read: BTreeMap::new(),
        flights: BTreeMap::new(),
        barriers: BTreeMap::new(),
    };
    program.steps.iter().enumerate().for_each(|(index, step)| builder.visit(index, step));
    let reached = [0, 1].map(|memory| builder.graph.reach(memory));
    let mut met: BTreeMap<Pair, PairConflicts> = BTreeMap::new();
    for (position, a) in builder.events.iter().enumerate() {
        for b in &builder.events[position + 1..] {
            let memory = usize::from(!program.objects[a.object as usize].0);
            if !builder.conflict(a, b) || reached[memory][a.node].contains(&b.node) {
                continue;
            }
            let bytes = a.range.0.max(b.range.0)..a.range.1.min(b.range.1);
            if bytes.is_empty() {
                continue;
            }
            let pair = (a.site.min(b.site), a.site.max(b.site), a.group != b.group);
            let entry = met.entry(pair).or_default();
            let granule = u64::from(program.objects[a.object as usize].1);
            entry.cells.extend(bytes.map(|byte| (a.object, byte / granule)));
            entry.unequal |= a.value.is_none() || a.value != b.value;
            // Copies have no access number.
            let number = |e: &Event| if e.item.is_some() { e.step as u64 } else { 0 };
            let steps = (number(a), number(b));
            entry.examples.insert(if a.site <= b.site { steps } else { (steps.1, steps.0) });
            if a.site == b.site {
                entry.examples.insert((steps.1, steps.0));
            }
        }
    }
    met
}

/// Returns the steps that read local memory which their group has not written.
pub fn uninitialised(program: &Program) -> BTreeSet<usize> {
    let mut written: BTreeSet<(u32, u32, u64)> = BTreeSet::new();
    let mut found = BTreeSet::new();
    let mut visit = |index: usize, group: u32, (object, cells): (u32, std::ops::Range<u64>), mode: Mode| {
        for cell in cells {
            if matches!(mode, Mode::Write | Mode::Atomic) {
                written.insert((group, object, cell));
            } else if program.objects[object as usize].0 && !written.contains(&(group, object, cell)) {
                found.insert(index);
            }
        }
    };
    for (index, step) in program.steps.iter().enumerate() {
        match *step {
            Step::Access { group, site, object, cell, .. } => {
                let known = program.sites[site as usize];
                visit(index, group, (object, cell..cell + known.cells), known.mode);
            }
            Step::Copy { group, destination, source, cells, .. } => {
                visit(index, group, (source.0, source.1..source.1 + cells), Mode::Read);
                visit(index, group, (destination.0, destination.1..destination.1 + cells), Mode::Write);
            }
            _ => {}
        }
    }
    found
}

/// Returns the number of distinct cells, the sum of items by cell (of which at most two count), and the widest range of
/// an object.
pub fn footprint(program: &Program) -> (u64, u64, u64) {
    let mut cells: BTreeMap<Location, BTreeSet<GroupItem>> = BTreeMap::new();
    let mut ranges: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    let mut visit = |by: (u32, u32), object: u32, touched: std::ops::Range<u64>| {
        let owner = program.objects[object as usize].0.then_some(by.0);
        for cell in touched {
            cells.entry((owner, object, cell)).or_default().insert(by);
            ranges.entry(object).or_default().insert(cell);
        }
    };
    for step in &program.steps {
        match *step {
            Step::Access { group, item, site, object, cell, .. } => {
                visit((group, item), object, cell..cell + program.sites[site as usize].cells);
            }
            Step::Copy { group, destination, source, cells, .. } => {
                [destination, source].iter().for_each(|(o, c)| visit((group, u32::MAX), *o, *c..*c + cells));
            }
            _ => {}
        }
    }
    let range = |(object, cells): (&u32, &BTreeSet<u64>)| {
        let width = cells.last().unwrap_or(&0) - cells.first().unwrap_or(&0) + 1;
        width * u64::from(program.objects[*object as usize].1)
    };
    let threads = cells.values().map(|items| items.len().min(2) as u64).sum();
    (cells.len() as u64, threads, ranges.iter().map(range).max().unwrap_or(0))
}

/// Returns the cell of an object, moved so that the access stays inside.
pub fn fits(cell: u64, cells: u64) -> u64 {
    (cell / cells * cells) % CELLS
}
