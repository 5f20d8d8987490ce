//! From a finding to the changes that may mend it.

use std::collections::BTreeSet;

use kassay_ir::kernel::builtins::{self, Family};
use kassay_results::result::Location;
use kassay_results::result::check::{Access, Finding, FindingKind, Memory, Mode, Scope};

use super::barriers::{self, BarrierCall, Spelling, barrier_of};
use super::between::{self, Meeting};
use super::candidate::{Candidates, Kind, in_loops};
use super::expressions::expression;
use super::layout::{Gap, Piece};
use super::outline::{Body, ListKind, Outline, Path, Span, Step};
use super::updates::{self, Dialect};

/// What an atomic in place of a plain update costs; loops around it do not matter.
const ATOMIC: u64 = 200;

/// Looks for changes.
pub struct Finder<'o, 'a> {
    pub outline: &'o Outline<'a>,
    pub spelling: Spelling,
    pub found: Candidates<'o, 'a>,
    /// Where several work-items of a group write one place: what is read before a barrier does not mend that.
    pub written_by_all: BTreeSet<Location>,
}

/// An access or a barrier in a function of the file.
type Placed<'o, 'a> = (&'o Body<'a>, Path<'o, 'a>);

impl<'o, 'a> Finder<'o, 'a> {
    /// `findings` are all that are to be mended.
    pub fn new<'f>(
        outline: &'o Outline<'a>,
        dialect: Dialect,
        findings: impl IntoIterator<Item = &'f Finding>,
    ) -> Finder<'o, 'a> {
        let written_by_all = findings.into_iter().filter_map(|finding| match &finding.accesses[..] {
            [a, b] if finding.scope == Some(Scope::IntraGroup) && a.location == b.location && a.mode == b.mode => {
                Some(a.location.clone())
            }
            _ => None,
        });
        let written_by_all = written_by_all.collect();
        Finder { outline, spelling: Spelling::of(outline, dialect), found: Candidates::new(outline), written_by_all }
    }

    /// Adds what may mend a finding.
    pub fn add(&mut self, finding: &Finding) {
        match finding.kind {
            FindingKind::DataRace => self.race(finding),
            FindingKind::BarrierDivergence => self.divergence(finding),
            _ => {}
        }
    }

    fn race(&mut self, finding: &Finding) {
        let [a, b] = &finding.accesses[..] else { return };
        self.atomics(a, b);
        if finding.scope != Some(Scope::IntraGroup) {
            return;
        }
        let memories = BTreeSet::from([finding.memory]);
        self.flags([a, b], &memories);
        let Some((x, y)) = self.meeting(a, b) else { return };
        let Some(meeting) = Meeting::of(self.outline, &x, &y) else { return };
        self.waits(&meeting);
        for (n, barrier) in self.spelling.barriers(&memories).iter().enumerate() {
            for spot in meeting.spots(self.outline) {
                let places: Vec<String> =
                    spot.gaps.iter().map(|(gap, head)| barriers::place(self.outline, *gap, *head)).collect();
                let what = format!("insert `{barrier}` {}", joined(&places));
                let pieces = between::pieces(self.outline, &spot, barrier);
                self.found.add(Kind::Insertion, spot.cost + n as u64 * spot.cost / 3, what, &pieces);
            }
        }
        // What only writes has nothing to read before the barrier.
        let is_by_all = [a, b].iter().any(|access| self.written_by_all.contains(&access.location));
        if meeting.is_one && !is_by_all && [a, b].iter().any(|access| access.mode == Some(Mode::Read)) {
            self.split(&x, &meeting, &memories);
        }
    }

    /// The ways to two accesses in the function in which they part: to the calls that lead to them, if need be.
    fn meeting(&self, a: &Access, b: &Access) -> Option<(Path<'o, 'a>, Path<'o, 'a>)> {
        let chain = |access: &Access| -> Vec<Location> {
            access.called_from.iter().rev().chain([&access.location]).cloned().collect()
        };
        let (a, b) = (chain(a), chain(b));
        let shared = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
        // One place that both are at: the innermost.
        let level = shared.min(a.len() - 1).min(b.len() - 1);
        let (body, x) = self.outline.path(&a[level])?;
        let (other, y) = self.outline.path(&b[level])?;
        std::ptr::eq(std::ptr::from_ref(body), std::ptr::from_ref(other)).then_some((x, y))
    }

    /// The functions in which accesses and the calls that lead to them are.
    fn bodies(&self, accesses: &[&Access]) -> Vec<&'o Body<'a>> {
        let mut bodies: Vec<&'o Body<'a>> = Vec::new();
        for location in accesses.iter().flat_map(|access| [&access.location].into_iter().chain(&access.called_from)) {
            if let Some((body, _)) = self.outline.path(location)
                && !bodies.iter().any(|known| std::ptr::eq(*known, body))
            {
                bodies.push(body);
            }
        }
        bodies
    }

    /// Wider barriers in place of those that are there.
    fn flags(&mut self, accesses: [&Access; 2], memories: &BTreeSet<Option<Memory>>) {
        let outline = self.outline;
        for body in self.bodies(&accesses) {
            for call in barriers::calls(outline, body) {
                let Some(by) = self.spelling.widened(&call, memories) else { continue };
                let what = self.instead(&call, &by);
                self.found.add(Kind::Flags, 1, what, &[(call.span, by)]);
                if self.spelling.dialect == Dialect::Cuda && !call.arguments.is_empty() {
                    let by = "__syncthreads()".to_owned();
                    self.found.add(Kind::Flags, 1, self.instead(&call, &by), &[(call.span, by)]);
                }
            }
        }
    }

    fn instead(&self, call: &BarrierCall<'_, '_>, by: &str) -> String {
        let line = self.outline.line(call.span.start);
        format!("replace `{}` in line {line} by `{by}`", self.outline.slice(call.span))
    }

    /// A wait for copies that comes after an access may come before it.
    fn waits(&mut self, meeting: &Meeting<'o, 'a>) {
        let Some(list) = meeting.common.last() else { return };
        let waits = |n: &usize| {
            let call = expression(list.items[*n].node);
            call.is("CallExpr") && call.callee().and_then(builtins::family) == Some(Family::EventWait)
        };
        let Some(wait) = (meeting.second + 1..list.items.len()).find(waits) else { return };
        let text = self.outline.slice(list.items[wait].span);
        let gap = Gap { list, index: meeting.second };
        let mut pieces = self.outline.insertion(gap, std::slice::from_ref(&text));
        pieces.extend(self.outline.removal(&[Step { list, index: wait }]));
        let line = self.outline.line(list.items[meeting.second].span.start);
        self.found.add(Kind::Move, 5, format!("move `{text}` before line {line}"), &pieces);
    }

    /// A statement that reads its neighbours' elements and writes its own, in two parts.
    fn split(&mut self, path: &Path<'o, 'a>, meeting: &Meeting<'o, 'a>, memories: &BTreeSet<Option<Memory>>) {
        let Some(step) = path.last() else { return };
        let line = self.outline.line(step.item().span.start);
        let cost = 15 * in_loops(meeting.loops());
        let Some(barrier) = self.spelling.barriers(memories).into_iter().next() else { return };
        let Some(pieces) = updates::split(self.outline, path, &barrier) else { return };
        let what = format!("read and write in line {line} apart, with `{barrier}` between");
        self.found.add(Kind::Split, cost, what.clone(), &pieces);
        let Some(list) = meeting.common.iter().rev().find(|list| list.kind == ListKind::Loop) else { return };
        let end = Gap { list, index: list.items.len() };
        if list.has_braces {
            let more = self.outline.insertion(end, std::slice::from_ref(&barrier));
            let what = format!("{what}, and insert `{barrier}` {}", barriers::place(self.outline, end, None));
            self.found.add(Kind::Split, 2 * cost, what, &[pieces, more].concat());
        }
    }

    /// Atomics in place of plain updates, and a wider scope for atomics.
    fn atomics(&mut self, a: &Access, b: &Access) {
        let (mut pieces, mut words): (Vec<Piece>, Vec<String>) = (Vec::new(), Vec::new());
        let mut places: Vec<&Location> =
            [a, b].into_iter().filter(|a| a.mode != Some(Mode::Atomic)).map(|a| &a.location).collect();
        // The read and the write of one statement are at different columns.
        places.dedup();
        for location in places {
            let Some(at) = self.outline.offset(location.line, location.column.max(1)) else { return };
            let Some((_, mut path)) = self.outline.path(location) else { return };
            // What the head of an `if` reads may be the place that its only statement updates.
            if let Some(item) = path.last().map(|step| step.item()).filter(|item| item.node.is("IfStmt"))
                && let [list] = &item.lists[..]
                && list.items.len() == 1
            {
                path.push(Step { list, index: 0 });
            }
            let Some(step) = path.last().copied() else { return };
            let (span, call) = match updates::atomic(self.outline, step, self.spelling.dialect) {
                Some(call) if step.item().span.contains(at) => (step.item().span, call),
                _ => match updates::guarded_atomic(self.outline, &path, self.spelling.dialect) {
                    Some(call) => (path[path.len() - 2].item().span, call),
                    None => return,
                },
            };
            if pieces.iter().all(|(known, _)| *known != span) {
                let line = self.outline.line(span.start);
                let text = self.outline.slice(span);
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                words.push(format!("`{text}` in line {line} by `{call}`"));
                pieces.push((span, call));
            }
        }
        if !pieces.is_empty() {
            self.found.add(Kind::Atomic, ATOMIC, format!("replace {}", joined(&words)), &pieces);
        }
        self.scopes(a, b);
    }

    fn scopes(&mut self, a: &Access, b: &Access) {
        const NARROW: [(&str, &str); 5] = [
            ("memory_scope_work_group", "memory_scope_device"),
            ("memory_scope_sub_group", "memory_scope_device"),
            ("memory_scope_work_item", "memory_scope_device"),
            ("_block(", "("),
            ("thread_scope_block", "thread_scope_device"),
        ];
        let (mut pieces, mut words): (Vec<Piece>, Vec<String>) = (Vec::new(), Vec::new());
        for access in [a, b].into_iter().filter(|access| access.mode == Some(Mode::Atomic)) {
            let Some((_, path)) = self.outline.path(&access.location) else { return };
            let Some(span) = path.last().map(|step| step.item().span) else { return };
            let text = self.outline.slice(span);
            for (narrow, wide) in NARROW {
                let Some(at) = text.find(narrow) else { continue };
                let start = span.start + at;
                let piece = (Span { start, end: start + narrow.len() }, wide.to_owned());
                if !pieces.contains(&piece) {
                    let line = self.outline.line(start);
                    words.push(format!("`{}` in line {line} by `{}`", narrow.trim_end_matches('('), wide));
                    pieces.push(piece);
                }
            }
        }
        if !pieces.is_empty() {
            self.found.add(Kind::Scope, 2, format!("replace {}", joined(&words)), &pieces);
        }
    }

    /// Barriers that not all come to: elsewhere, or not at all.
    fn divergence(&mut self, finding: &Finding) {
        let outline = self.outline;
        let waits = finding.accesses.iter().map(|access| self.outline.path(&access.location));
        let Some(waits) = waits.collect::<Option<Vec<Placed<'o, 'a>>>>() else { return };
        let mut barriers: Vec<BarrierCall<'o, 'a>> = Vec::new();
        for (body, path) in &waits {
            let Some(step) = path.last() else { return };
            if barrier_of(step.item().node).is_none() {
                return;
            }
            let known =
                barriers::calls(outline, body).into_iter().find(|call| call.span.start == step.item().span.start);
            let Some(call) = known else { return };
            if barriers.iter().all(|other| other.span != call.span) {
                barriers.push(call);
            }
        }
        let Some(first) = barriers.first() else { return };
        if finding.accesses.iter().all(|access| access.waiting.is_none()) && self.spelling.dialect == Dialect::OpenCl {
            // All come there, with other flags.
            let by = format!("{}({})", first.name, self.spelling.flags(&BTreeSet::from([None])));
            let what = self.instead(first, &by);
            self.found.add(Kind::Flags, 1, what, &[(first.span, by)]);
        }
        let calls: BTreeSet<String> = barriers.iter().map(|call| outline.slice(call.span)).collect();
        let (Some(call), 1) = (calls.first(), calls.len()) else { return };
        let removals: Vec<Piece> = barriers.iter().flat_map(|call| outline.removal(&call.path)).collect();
        let lines: Vec<String> =
            barriers.iter().map(|call| format!("line {}", outline.line(call.span.start))).collect();
        let from = format!("`{call};` from {}", joined(&lines));
        for (gap, cost, place) in self.targets(finding, &barriers) {
            let Some(pieces) = self.moved(&removals, gap, &format!("{call};")) else { continue };
            self.found.add(Kind::Move, cost, format!("move {from} {place}"), &pieces);
        }
        let depth = first.path.iter().filter(|step| step.list.kind == ListKind::Loop).count();
        self.found.add(Kind::Removal, 40 * in_loops(depth), format!("remove {from}"), &removals);
    }

    /// A barrier taken from one place and put in another; `None` if that is where it was taken from.
    fn moved(&self, removals: &[Piece], gap: Gap<'o, 'a>, call: &str) -> Option<Vec<Piece>> {
        let pieces = self.outline.insertion(gap, &[call.to_owned()]);
        let overlaps = |piece: &Piece| {
            removals.iter().any(|(removed, _)| removed.start < piece.0.start && piece.0.start < removed.end)
        };
        (!pieces.iter().any(overlaps)).then(|| [removals.to_vec(), pieces].concat())
    }

    /// Where barriers can be moved to: behind the branches and loops that hold them, or before what parts the
    /// work-items.
    fn targets(&self, finding: &Finding, barriers: &[BarrierCall<'o, 'a>]) -> Vec<(Gap<'o, 'a>, u64, String)> {
        let Some(first) = barriers.first() else { return Vec::new() };
        let mut all = Vec::new();
        let holds_all = |n: usize| {
            barriers.iter().all(|call| {
                call.path.get(n).is_some_and(|step| step.is_of(first.path[n].list) && step.index == first.path[n].index)
            })
        };
        let loops = |n: usize| first.path[..=n].iter().filter(|step| step.list.kind == ListKind::Loop).count();
        let line = |step: &Step<'o, 'a>| self.outline.line(step.item().span.start);
        for n in (0..first.path.len().saturating_sub(1)).rev().filter(|n| holds_all(*n)) {
            let step = first.path[n];
            if step.item().node.is("CompoundStmt") || step.list.kind == ListKind::Switch {
                continue;
            }
            let what = match &*step.item().node.kind {
                "IfStmt" => "if",
                "SwitchStmt" => "switch",
                _ => "loop",
            };
            let cost = 10 * in_loops(loops(n));
            let behind = Gap { list: step.list, index: step.index + 1 };
            let before = Gap { list: step.list, index: step.index };
            all.push((behind, cost, format!("behind the `{what}` of line {}", line(&step)).replace("`loop`", "loop")));
            let place = format!("before the `{what}` of line {}", line(&step)).replace("`loop`", "loop");
            all.push((before, cost + 2, place));
        }
        let branch = finding.branch.as_ref().and_then(|branch| self.outline.path(&branch.location));
        if let Some((_, path)) = branch {
            for step in path.iter().rev().filter(|step| step.list.kind != ListKind::Switch) {
                let loops = path.iter().take_while(|other| !other.is_of(step.list)).chain([step]);
                let loops = loops.filter(|step| step.list.kind == ListKind::Loop).count();
                let gap = Gap { list: step.list, index: step.index };
                all.push((gap, 10 * in_loops(loops) + 1, format!("before line {}", line(step))));
            }
        }
        all
    }

    /// The change that takes a redundant barrier away.
    pub fn without(&mut self, finding: &Finding) {
        let Some(location) = finding.accesses.first().map(|access| &access.location) else { return };
        let Some((body, path)) = self.outline.path(location) else { return };
        let Some(start) = path.last().map(|step| step.item().span.start) else { return };
        let calls = barriers::calls(self.outline, body);
        let Some(call) = calls.iter().find(|call| call.span.start == start) else { return };
        let what = format!("remove `{};` from line {}", self.outline.slice(call.span), location.line);
        let pieces = self.outline.removal(&call.path);
        self.found.add(Kind::Removal, 1, what, &pieces);
    }
}

/// Names one after the other.
fn joined(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
