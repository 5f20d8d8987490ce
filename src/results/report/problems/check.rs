//! Findings of `kassay check`.

use kassay_model::words::Words;
use kassay_suite::schedule::{Preemption, Schedule};

use super::problem::{Fix, Flow, Places, Problem, Step};
use super::rules::{self, Level, Rule};
use crate::report::text::{headline, schedule_text};
use crate::report::texts::Texts;
use crate::result::check::{Access, CheckResult, Finding, FindingKind, Mode, Verdict};
use crate::result::repairs::Repair;

fn rule(kind: FindingKind) -> &'static Rule {
    match kind {
        FindingKind::DataRace => &rules::DATA_RACE,
        FindingKind::BarrierDivergence => &rules::BARRIER_DIVERGENCE,
        FindingKind::OutOfBounds => &rules::OUT_OF_BOUNDS,
        FindingKind::NullAccess => &rules::NULL_ACCESS,
        FindingKind::ReadOnlyWrite => &rules::READ_ONLY_WRITE,
        FindingKind::WriteOnlyRead => &rules::WRITE_ONLY_READ,
        FindingKind::Misaligned => &rules::MISALIGNED,
        FindingKind::Division => &rules::DIVISION,
        FindingKind::NonTermination => &rules::NON_TERMINATION,
        FindingKind::Assertion => &rules::ASSERTION,
        FindingKind::UnawaitedCopy => &rules::UNAWAITED_COPY,
        FindingKind::Uninitialised => &rules::UNINITIALISED,
        FindingKind::RedundantBarrier => &rules::REDUNDANT_BARRIER,
    }
}

/// Returns a problem for each finding. A kernel of which no input completed has one, too.
pub(super) fn problems(result: &CheckResult, texts: &Texts) -> Vec<Problem> {
    let places = Places::of(texts, &result.header.source);
    let kernel = result.header.kernel.as_str();
    let words = result.header.words();
    let mut problems: Vec<Problem> = result.findings.iter().map(|f| problem(f, kernel, words, &places)).collect();
    for repair in result.repairs.iter().filter(|repair| repair.is_one()) {
        let fix = fix(repair, &places);
        for finding in repair.findings() {
            if let Some(problem) = usize::try_from(finding).ok().and_then(|finding| problems.get_mut(finding)) {
                problem.fix = Some(fix.clone());
            }
        }
    }
    if result.verdict == Verdict::Unknown {
        let reason = result.inputs.iter().find_map(|input| input.reason.as_deref());
        let message = format!("no input of {kernel} completed: {}", reason.unwrap_or("the check says nothing of it"));
        let open = Problem::new(&rules::BROKEN_TEST, kernel, places.file(), message, "verdict".to_owned());
        problems.push(Problem { level: Level::Warning, ..open });
    }
    problems
}

fn fix(repair: &Repair, places: &Places<'_>) -> Fix {
    let what: Vec<&str> = repair.edits.iter().map(|edit| edit.what.as_str()).collect();
    let pieces = repair.edits.iter().flat_map(|edit| {
        let file = &edit.location.file;
        edit.replacements.iter().map(|piece| (places.replaced(file, piece), piece.text.clone()))
    });
    Fix { what: what.join("; "), pieces: pieces.collect() }
}

fn problem(finding: &Finding, kernel: &str, words: Words, places: &Places<'_>) -> Problem {
    let first = finding.accesses.first();
    let place = first.map_or_else(|| places.file(), |access| places.at(&access.location));
    let mut message = format!("{}: {}", headline(words, finding), finding.message);
    if let Some(cause) = finding.cause {
        message = format!("{}. Cause: {} ({})", message.trim_end_matches('.'), words.say(cause.words()), cause.page());
    }
    if let Some(input) = &finding.input {
        message = format!("{}. Seen with input \"{input}\"", message.trim_end_matches('.'));
    }
    if let Some(condition) = &finding.unless {
        message = format!("{}. Not found if {condition}", message.trim_end_matches('.'));
    }
    if let Some(path) = &finding.reproduction {
        message = format!("{message}; see it again by kassay check {path}");
    }
    let mut key: Vec<&str> = vec![finding.variable.as_deref().unwrap_or_default()];
    key.extend(finding.accesses.iter().flat_map(|access| [mode(access), access.function.as_str()]));
    let function = first.map_or("", |access| access.function.as_str());
    let mut problem = Problem::new(rule(finding.kind), kernel, place, message, key.join(" ")).within(function);
    if finding.unless.is_some() {
        problem.level = Level::Note;
    }
    // The first place is the problem's own, but its remark says who makes the access.
    for access in &finding.accesses {
        problem.related.push((places.at(&access.location), remark(access)));
        for caller in &access.called_from {
            problem.related.push((places.at(caller), format!("called here, for the {}", mode(access))));
        }
    }
    if let Some(branch) = &finding.branch {
        let remark = format!("this `{}` splits the {}", branch.construct, finding.split());
        problem.related.push((places.at(&branch.location), remark));
    }
    problem.flows = flows(finding, places);
    problem.related.iter_mut().for_each(|(_, remark)| words.put(remark));
    for flow in &mut problem.flows {
        words.put(&mut flow.what);
        for (thread, steps) in &mut flow.threads {
            words.put(thread);
            steps.iter_mut().for_each(|step| words.put(&mut step.what));
        }
    }
    problem
}

fn mode(access: &Access) -> &'static str {
    match access.mode {
        Some(Mode::Read) => "read",
        Some(Mode::Write) => "write",
        Some(Mode::Atomic) => "atomic access",
        None if access.waiting.is_some() => "barrier",
        None => "place",
    }
}

fn item(access: &Access) -> Option<String> {
    let list = |id: [u64; 3]| format!("({}, {}, {})", id[0], id[1], id[2]);
    let group = access.group_id.map(|group| format!(" of group {}", list(group))).unwrap_or_default();
    access.global_id.map(|id| format!("work-item {}{group}", list(id)))
}

fn remark(access: &Access) -> String {
    let by = item(access).map(|item| format!(" by {item}")).unwrap_or_default();
    let element = access.element.as_ref().map(|element| format!(" of {element}")).unwrap_or_default();
    match access.waiting {
        Some(n) => format!("{n} work-items wait here, such as{}", by.replacen(" by", "", 1)),
        None => format!("{}{element}{by}", mode(access)),
    }
}

/// Returns what happens under the schedules that show the finding: the two after which an output differs, or the one
/// that is not the natural order.
fn flows(finding: &Finding, places: &Places<'_>) -> Vec<Flow> {
    let flow = |schedule: &Schedule, left: String| {
        let of_accesses = finding.accesses.iter().map(|access| {
            let callers = access.called_from.iter().rev();
            let mut steps: Vec<Step> =
                callers.map(|at| Step { place: Some(places.at(at)), what: "call".to_owned() }).collect();
            steps.push(Step { place: Some(places.at(&access.location)), what: remark(access) });
            (item(access).unwrap_or_else(|| "a work-item".to_owned()), steps)
        });
        let interruptions: Vec<Step> =
            schedule.preemptions.iter().map(|p| Step { place: None, what: interruption(p) }).collect();
        let of_schedule = (!interruptions.is_empty()).then(|| ("schedule".to_owned(), interruptions));
        let threads = of_schedule.into_iter().chain(of_accesses).collect();
        Flow { what: format!("under {}{left}", schedule_text(schedule, Words::OpenCl)), threads }
    };
    let flows = match &finding.witness {
        Some(witness) => {
            let field = witness.field.as_deref().map(|field| format!(".{field}")).unwrap_or_default();
            let of = |n: usize| {
                let left = format!(": {}[{}]{field} is {}", witness.argument, witness.index, witness.values[n]);
                flow(&witness.schedules[n], left)
            };
            vec![of(0), of(1)]
        }
        None if !finding.schedule.is_natural() => vec![flow(&finding.schedule, String::new())],
        None => Vec::new(),
    };
    flows.into_iter().filter(|flow| !flow.threads.is_empty()).collect()
}

fn interruption(p: &Preemption) -> String {
    let next = p.to.map(|to| format!("; item {to} runs next")).unwrap_or_default();
    format!("item {} of group {} is interrupted before its access {}{next}", p.item, p.group, p.access)
}
