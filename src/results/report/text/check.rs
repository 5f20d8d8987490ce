//! Renders the result of `kassay check` as text: findings with their source lines, then the verdict and numbers.

use std::borrow::Cow;
use std::fmt::Write;

use kassay_model::words::Words;
use kassay_suite::faults::FaultClass;
use kassay_suite::schedule::Schedule;

use super::super::style::{self, Paint, Style, visible, wrap};
use super::super::table::{Cell, Table};
use super::source::pad;
use super::{heading, notes, proofs, repairs, title};
use crate::result::Location;
use crate::result::check::{
    Access, Amplification, CheckResult, Finding, FindingKind, HoldsFor, HostLaunch, Memory, Mode, Scope, Verdict,
    Witness, lockstep,
};
use crate::result::proofs::are_race_free;

/// Options of the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckView {
    /// Also lists inputs and barriers one by one.
    pub verbose: bool,
}

/// Renders every finding with its source lines, the verdict, numbers and amplification. `sources` returns the text of a
/// file by its name in the result; without text the source lines are left out.
pub fn check(result: &CheckResult, view: CheckView, sources: &dyn Fn(&str) -> Option<String>, style: &Style) -> String {
    let mut out = title(style, &result.header.kernel, &result.header.source, result.header.device.as_ref());
    let writer = Writer { result, sources, style };
    for (number, finding) in (1..).zip(&result.findings) {
        // Launches that a host need not make are no accusation.
        if view.verbose || finding.unless.is_none() {
            out.push_str(&writer.finding(number, finding));
        }
    }
    out.push('\n');
    out.push_str(&writer.verdict());
    // Only a clean verdict can be extended to other launches and values, and a proof for all launches goes further.
    let is_extended = view.verbose || result.verdict == Verdict::Clean;
    if is_extended {
        out.push_str(&proofs::proofs(result, view.verbose, style));
    }
    let amplification = result.amplification.as_ref();
    let adds = is_extended && (view.verbose || !are_race_free(&result.proofs, true));
    if let Some(amplification) = amplification.filter(|_| adds) {
        out.push_str(&writer.amplification(amplification, if view.verbose { usize::MAX } else { REASONS_SHOWN }));
    }
    out.push_str(&repairs::repairs(&result.repairs, result.header.words(), style));
    if view.verbose {
        out.push_str(&writer.inputs());
        out.push_str(&writer.barriers());
    }
    out.push_str(&notes(style, &result.notes));
    out
}

/// Number of reasons against amplification that are shown without `-v`.
const REASONS_SHOWN: usize = 4;

struct Writer<'a> {
    result: &'a CheckResult,
    sources: &'a dyn Fn(&str) -> Option<String>,
    style: &'a Style,
}

fn paint(kind: FindingKind) -> Paint {
    match kind {
        FindingKind::Uninitialised | FindingKind::RedundantBarrier => Paint::Warn,
        _ => Paint::Bad,
    }
}

/// The colour of a verdict.
pub(super) fn verdict_paint(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Clean => Paint::Good,
        Verdict::Conditional | Verdict::Unknown => Paint::Warn,
        Verdict::Racy | Verdict::Divergent | Verdict::MemoryFault => Paint::Bad,
    }
}

fn memory(memory: Memory) -> &'static str {
    match memory {
        Memory::Global => "global",
        Memory::Local => "local",
        Memory::Private => "private",
        Memory::Constant => "constant",
        Memory::Image => "image",
    }
}

/// The host thread that asked for a launch.
fn thread(host: &HostLaunch) -> String {
    let HostLaunch { process, thread, .. } = host;
    if process == thread {
        format!("first thread of process {process}")
    } else {
        format!("thread {thread} of process {process}")
    }
}

/// Names a finding: its kind, what is accessed, and between whom.
pub fn headline(words: Words, finding: &Finding) -> String {
    let name = match finding.kind {
        FindingKind::DataRace => "data race",
        FindingKind::BarrierDivergence => "barrier divergence",
        FindingKind::OutOfBounds => FaultClass::OutOfBounds.words(),
        FindingKind::NullAccess => FaultClass::NullAccess.words(),
        FindingKind::ReadOnlyWrite => FaultClass::ReadOnlyWrite.words(),
        FindingKind::WriteOnlyRead => FaultClass::WriteOnlyRead.words(),
        FindingKind::Misaligned => FaultClass::Misaligned.words(),
        FindingKind::Division => FaultClass::Division.words(),
        FindingKind::NonTermination => FaultClass::NonTermination.words(),
        FindingKind::Assertion => FaultClass::Assertion.words(),
        FindingKind::UnawaitedCopy => FaultClass::UnawaitedCopy.words(),
        FindingKind::Uninitialised => FaultClass::Uninitialised.words(),
        FindingKind::RedundantBarrier => "redundant barrier",
    };
    let mut out = name.to_owned();
    if finding.benign {
        out = format!("{out} (equal values)");
    }
    if let Some(name) = &finding.variable {
        let of = finding.memory.map_or("", memory);
        let on = match finding.kind {
            FindingKind::DataRace => "on",
            FindingKind::Uninitialised => "in",
            _ => "of",
        };
        let _ = write!(out, " {on} {of} `{name}`");
    }
    match finding.scope {
        Some(Scope::IntraGroup) => out.push_str(", within work-groups"),
        Some(Scope::InterGroup) => out.push_str(", between work-groups"),
        None => {}
    }
    words.say(&out).into_owned()
}

impl Writer<'_> {
    /// A text in the words of the kernel's language.
    fn say<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.result.header.words().say(text)
    }

    fn finding(&self, number: usize, finding: &Finding) -> String {
        let head = format!("{number}. {}", visible(&headline(self.result.header.words(), finding)));
        let mut out = format!("\n{}\n", self.style.paint(paint(finding.kind), head));
        for line in wrap(&visible(&finding.message), self.style.width.saturating_sub(3).max(20)) {
            let _ = writeln!(out, "   {line}");
        }
        if let Some(cause) = finding.cause {
            let text = format!("cause: {} ({}, {})", cause.words(), cause.name(), cause.page());
            for line in wrap(&self.say(&text), self.style.width.saturating_sub(3).max(20)) {
                let _ = writeln!(out, "   {line}");
            }
        }
        let mut line = None;
        for access in &finding.accesses {
            // Consecutive accesses on one line share it.
            let line_of_access = (&access.location.file, access.location.line);
            out.push_str(&self.access(finding, access, line == Some(line_of_access)));
            line = Some(line_of_access);
        }
        if let Some(branch) = &finding.branch {
            let remark = format!("this `{}` splits the {}", branch.construct, finding.split());
            out.push_str(&self.place(&branch.location, &self.say(&remark), false));
        }
        if let Some(witness) = &finding.witness {
            out.push_str(&self.witness(witness));
        }
        let occurrences = self.occurrences(finding);
        if !occurrences.is_empty() {
            let _ = writeln!(out, "   {}", self.style.paint(Paint::Dim, occurrences));
        }
        out
    }

    /// Describes how often a finding occurred, in which inputs, and how to reproduce it.
    fn occurrences(&self, finding: &Finding) -> String {
        let mut parts = Vec::new();
        match finding.kind {
            FindingKind::DataRace => parts.push(format!("at {}", style::count(finding.count, "element"))),
            FindingKind::BarrierDivergence if finding.waits_for_grid() => {}
            FindingKind::BarrierDivergence if finding.accesses.iter().any(|a| a.waiting.is_some()) => {
                parts.push(self.say(&format!("in {}", style::count(finding.count, "work-group"))).into_owned())
            }
            FindingKind::RedundantBarrier => {}
            _ => parts.push(style::count(finding.count, "time")),
        }
        if let Some(input) = &finding.input {
            let others = finding.inputs.saturating_sub(1);
            let and = if others > 0 { format!(" and {}", style::count(others, "other input")) } else { String::new() };
            let host = self.result.inputs.iter().find(|known| known.name == *input).and_then(|i| i.host.as_ref());
            match host {
                Some(host) => parts.push(format!("{input} ({}){and}", thread(host))),
                None => parts.push(format!("input \"{input}\"{and}")),
            }
        }
        if !finding.schedule.is_natural() {
            parts.push(format!("under {}", schedule_text(&finding.schedule, self.result.header.words())));
        }
        if let Some(condition) = &finding.unless {
            parts.push(format!("not if {condition}"));
        }
        if let Some(path) = &finding.reproduction {
            parts.push(format!("again: kassay check {path}"));
        }
        visible(&parts.join("; ")).into_owned()
    }

    fn access(&self, finding: &Finding, access: &Access, same_line: bool) -> String {
        let input = finding.input.as_ref().and_then(|name| self.result.inputs.iter().find(|i| i.name == *name));
        let dims = input.map_or(3, |i| i.global.len());
        let mut what = match (finding.kind, access.mode) {
            (FindingKind::RedundantBarrier, _) => return self.place(&access.location, "not needed", same_line),
            (FindingKind::BarrierDivergence, _) if access.waiting.is_none() => "other arguments".to_owned(),
            (FindingKind::BarrierDivergence, _) => {
                let n = access.waiting.unwrap_or(0);
                let items = style::count(n, "work-item");
                format!("{} {}", self.say(&items), if n == 1 { "waits" } else { "wait" })
            }
            (_, Some(Mode::Read)) => "read".to_owned(),
            (_, Some(Mode::Write)) => "write".to_owned(),
            (_, Some(Mode::Atomic)) => "atomic access".to_owned(),
            (FindingKind::Division, None) => "division".to_owned(),
            (FindingKind::NonTermination, None) => "loop".to_owned(),
            (_, None) => "here".to_owned(),
        };
        if let Some(builtin) = access.builtin.as_ref().filter(|_| access.mode.is_some()) {
            let _ = write!(what, " by `{builtin}`");
        }
        if let Some(item) = access.global_id {
            let group = access.group_id.map(|g| format!(" of group {}", id(g, dims))).unwrap_or_default();
            let such = if access.waiting.is_some() { "such as" } else { "by" };
            let _ = write!(what, "{}", self.say(&format!(", {such} work-item {}{group}", id(item, dims))));
        }
        for caller in &access.called_from {
            let _ = write!(what, ", called in {}", caller);
        }
        self.place(&access.location, &what, same_line)
    }

    /// Renders a source line with a remark below it; only the remark if the line was just shown.
    fn place(&self, at: &Location, remark: &str, shown: bool) -> String {
        let mut out = if shown { String::new() } else { format!("   {}\n", visible(&at.to_string())) };
        let text = (self.sources)(&at.file);
        let line = text.as_ref().and_then(|t| t.lines().nth((at.line as usize).checked_sub(1)?));
        match line {
            Some(line) => {
                let gutter = at.line.to_string();
                if !shown {
                    let _ = writeln!(out, "   {} | {}", self.style.paint(Paint::Dim, gutter.as_str()), visible(line));
                }
                let blank = " ".repeat(gutter.len());
                let _ = writeln!(out, "   {blank} | {}^ {}", pad(line, at.column), visible(remark));
            }
            None => {
                let _ = writeln!(out, "     {}", visible(remark));
            }
        }
        out
    }

    fn witness(&self, witness: &Witness) -> String {
        let field = witness.field.as_deref().map(|f| format!(".{f}")).unwrap_or_default();
        let what = format!("{}[{}]{field}", witness.argument, witness.index);
        let [a, b] = &witness.values;
        let [first, second] =
            witness.schedules.each_ref().map(|schedule| schedule_text(schedule, self.result.header.words()));
        let text = format!("the result depends on it: {what} is {a} under {first}, {b} under {second}");
        let lines = wrap(&visible(&text), self.style.width.saturating_sub(3).max(20));
        lines.iter().fold(String::new(), |mut out, line| {
            let _ = writeln!(out, "   {line}");
            out
        })
    }

    fn verdict(&self) -> String {
        let r = self.result;
        let paint = verdict_paint(r.verdict);
        let holds = match r.holds_for {
            HoldsFor::AllInterleavings => "for all interleavings of the explored inputs",
            HoldsFor::ExploredSchedules => "for the explored schedules",
        };
        let mut out = format!("verdict: {}; it holds {holds}\n", self.style.paint(paint, r.verdict.name()));
        if let Some(condition) = &r.condition {
            let found: Vec<&Finding> = r.findings.iter().filter(|finding| finding.unless.is_some()).collect();
            let other = match found.as_slice() {
                [] => String::new(),
                [only] => format!("; else: {}", headline(r.header.words(), only)),
                [first, others @ ..] => {
                    let more = style::count(others.len() as u64, "more finding");
                    format!("; else: {}, and {more}", headline(r.header.words(), first))
                }
            };
            let text = format!("clean if {}{other} (-v shows it)", condition.text);
            let lines = wrap(&visible(&text), self.style.width.saturating_sub(4).max(20));
            let _ = writeln!(out, "  - {}", lines.join("\n    "));
        }
        if let Some(items) = r.warp_sync {
            let _ = writeln!(out, "  - it holds {}", self.say(&lockstep(items)));
        }
        if r.verdict == Verdict::Clean && r.findings.iter().any(|f| f.kind == FindingKind::Uninitialised) {
            out.push_str("  - reads of uninitialised memory do not count against it\n");
        }
        for reason in &r.holds_for_because {
            let lines = wrap(&visible(reason), self.style.width.saturating_sub(4).max(20));
            let _ = writeln!(out, "  - {}", lines.join("\n    "));
        }
        let s = &r.summary;
        let kinds: Vec<String> = s.findings.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        let kinds = if kinds.is_empty() { "nothing found".to_owned() } else { kinds.join(", ") };
        let inputs = style::count(s.inputs, "input");
        let incomplete = s.inputs - s.completed;
        let incomplete = match incomplete {
            0 => String::new(),
            1 => " (1 not to its end)".to_owned(),
            n => format!(" ({n} not to their end)"),
        };
        let launches = style::count(s.launches, "launch");
        let _ = writeln!(
            out,
            "{kinds}; {inputs}{incomplete}, {}, {launches}, seed {} ({})",
            style::count(s.barriers, "barrier"),
            r.header.seed,
            style::seconds(r.elapsed_s)
        );
        out
    }

    fn amplification(&self, amplification: &Amplification, max_reasons: usize) -> String {
        let list = |names: &[String]| match names {
            [] => "none".to_owned(),
            _ => names.join(", "),
        };
        let mut out = heading(self.style, "what the inputs stand for");
        let mut table = Table::new(2, "ll");
        let invariant = if amplification.access_invariant { "yes" } else { "no" };
        table.row(["access invariant".into(), invariant.into()]);
        table.row(["holds for all values of".into(), list(&amplification.holds_for_all_values_of).into()]);
        table.row(["depends on".into(), list(&amplification.property_integrity_inputs).into()]);
        let reasons = &amplification.why_not;
        if let Some(proved) = &amplification.proved {
            table.row(["no races, by proof, in".into(), proved.text(self.result.header.words()).into()]);
        }
        for (n, reason) in reasons.iter().take(max_reasons).enumerate() {
            table.row([if n == 0 { "because" } else { "" }.into(), reason.into()]);
        }
        if reasons.len() > max_reasons {
            let more = style::count((reasons.len() - max_reasons) as u64, "more reason");
            table.row(["".into(), format!("and {more}; -v lists them").into()]);
        }
        out.push_str(&table.render(self.style));
        out
    }

    fn inputs(&self) -> String {
        let mut out = heading(self.style, "inputs");
        let mut table = Table::new(2, "llllrl");
        let [all, group] = match self.result.header.words() {
            Words::OpenCl => ["global", "local"],
            Words::Cuda => ["threads", "block"],
        };
        table.head(&["name", "origin", all, group, "findings", ""]);
        let sizes = |all: &[u64]| all.iter().map(u64::to_string).collect::<Vec<_>>().join(" x ");
        for input in &self.result.inputs {
            table.row([
                Cell::new(&input.name),
                Cell::new(&input.origin),
                sizes(&input.global).into(),
                sizes(&input.local).into(),
                input.findings.to_string().into(),
                Cell::painted(Paint::Warn, input.reason.as_deref().unwrap_or_default()),
            ]);
        }
        out.push_str(&table.render(self.style));
        let inputs = &self.result.inputs;
        let first = inputs.first().map_or(&[][..], |i| &i.preconditions);
        let (all, own): (Vec<&String>, Vec<&String>) = inputs
            .iter()
            .flat_map(|i| &i.preconditions)
            .partition(|p| first.contains(p) && inputs.iter().all(|i| i.preconditions.contains(p)));
        let mut assume = |of: &str, what: Vec<&str>| {
            let assumed = format!("assumed of {of}: {}", what.join("; "));
            for line in wrap(&visible(&assumed), self.style.width.saturating_sub(2).max(20)) {
                let _ = writeln!(out, "  {line}");
            }
        };
        if !all.is_empty() {
            assume("all", first.iter().filter(|p| all.contains(p)).map(String::as_str).collect());
        }
        for input in inputs {
            let what: Vec<&str> = input.preconditions.iter().filter(|p| own.contains(p)).map(String::as_str).collect();
            if !what.is_empty() {
                assume(&format!("\"{}\"", input.name), what);
            }
        }
        out
    }

    fn barriers(&self) -> String {
        if self.result.barriers.is_empty() {
            return String::new();
        }
        let mut out = heading(self.style, "barriers");
        let mut table = Table::new(2, "llrl");
        table.head(&["place", "builtin", "inputs", "needed"]);
        for barrier in &self.result.barriers {
            table.row([
                barrier.location.to_string().into(),
                Cell::new(&barrier.builtin),
                barrier.reached.to_string().into(),
                Cell::new(&barrier.reason),
            ]);
        }
        out.push_str(&table.render(self.style));
        out
    }
}

/// The id of a work-item or a work-group in a launch of so many dimensions.
pub fn id(id: [u64; 3], dims: usize) -> String {
    match dims {
        0 | 1 => id[0].to_string(),
        2 => format!("({}, {})", id[0], id[1]),
        _ => format!("({}, {}, {})", id[0], id[1], id[2]),
    }
}

/// Describes a schedule in a few words.
pub fn schedule_text(schedule: &Schedule, words: Words) -> String {
    let mut parts = Vec::new();
    let list = |numbers: &[u32]| {
        let shown: Vec<String> = numbers.iter().take(6).map(u32::to_string).collect();
        let dots = if numbers.len() > 6 { ", …" } else { "" };
        format!("{}{dots}", shown.join(", "))
    };
    if !schedule.map.is_empty() {
        parts.push(format!("groups {}", list(&schedule.map)));
    }
    if !schedule.item_order.is_empty() {
        parts.push(format!("items {}", list(&schedule.item_order)));
    }
    match schedule.preemptions.as_slice() {
        [] => {}
        [p] => {
            let to = p.to.map(|to| format!(" by item {to}")).unwrap_or_default();
            parts.push(format!("item {} of group {} interrupted before its access {}{to}", p.item, p.group, p.access));
        }
        several => parts.push(format!("{} interruptions", several.len())),
    }
    let order = words.say(&parts.join("; ")).into_owned();
    if order.is_empty() { "the natural order".to_owned() } else { format!("the order [{order}]") }
}
