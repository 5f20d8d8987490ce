//! Proofs of race freedom, convergence and bounds for launches that are not run, in the words of results.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use kassay_base::error::Result;
use kassay_ir::kernel::builtins::{self, Family};
use kassay_ir::llvm::DebugLocation;
use kassay_model::condition::Condition;
use kassay_model::interface::{ArgSource, Interface};
use kassay_model::words::Words;
use kassay_prove::program::{Instruction, Op, Program, Region, promoted, reader};
use kassay_prove::symbolic::race_freedom::{self, Doubt, Given, HoldsFor, Site, Unsupported, Verdict};
use kassay_results::result::check::{Finding, FindingKind, Memory, Scope};
use kassay_results::result::proofs::{Proof, Property, ProvedFor, STANDING, Status};
use kassay_suite::launch::Launch;

use crate::coverage::build::KernelUnderTest;
use crate::generate::conditions;

/// Proves what can be proved until `deadline`. `launches`, if any, are those of a suite: what is not proved for all
/// launches is asked for those like these. `source` is the kernel's file, by the name that locations have.
///
/// # Errors
/// `Internal` if a pass fails; [`kassay_base::error::Error::late`] at the deadline.
pub fn prove(
    under_test: &KernelUnderTest<'_>,
    launches: &[&Launch],
    source: &str,
    deadline: Option<Instant>,
) -> Result<Proofs> {
    let module = promoted::with_simple_loops(&under_test.module, &under_test.entry, &under_test.machine, deadline)?;
    let mut program = reader::read(&module, &under_test.entry)?;
    let interface = &under_test.interface;
    let members_apart = separate_members(&mut program, interface, launches);
    let is_met = |condition: &Condition| {
        launches.iter().all(|launch| conditions::holds(condition, interface, launch) == Some(true))
    };
    let given = Given {
        scopes: &scopes(launches),
        is_met: &is_met,
        one_group: !launches.is_empty() && launches.iter().all(|launch| launch.range.group_counts() == [1; 3]),
        dimensions: [0, 1, 2].map(|d| launches.iter().any(|launch| launch.range.global[d] > 1)),
        end: deadline,
    };
    let found = race_freedom::prove(&program, interface, &given);
    let reporting = Reporting { program: &program, interface, source, words: Words::of(source), members_apart };
    let model = |proof: &race_freedom::Proof| match &proof.verdict {
        Verdict::Unknown(doubt) => doubt.model.clone(),
        _ => None,
    };
    let models = found.iter().map(model).collect();
    let mut proofs: Vec<Proof> = found.into_iter().map(|proof| reporting.proof(proof)).collect();
    rest_on_each_other(&mut proofs, &program, reporting.words);
    Ok(Proofs { proofs, models })
}

/// What is proved of a kernel, and what is not.
#[derive(Debug, Default)]
pub struct Proofs {
    /// The properties.
    pub proofs: Vec<Proof>,
    /// For each property that is not known: sizes and scalars with which it may not hold.
    pub models: Vec<Option<Condition>>,
}

/// Lists what properties need of others that are not proved: the same value for all is loaded only where nobody races.
fn rest_on_each_other(proofs: &mut [Proof], program: &Program, words: Words) {
    let is_proved = |scope: Scope| {
        proofs.iter().any(|p| (p.property, p.scope, p.status) == (Property::RaceFreedom, Some(scope), Status::Proved))
    };
    let (within, between) = (is_proved(Scope::IntraGroup), is_proved(Scope::InterGroup));
    let is_barrier =
        |i: &Instruction| matches!(&i.op, Op::Call(_, base) if builtins::family(base) == Some(Family::Barrier));
    let has_barriers = program.instructions().any(|(_, i)| is_barrier(i));
    for proof in proofs.iter_mut().filter(|proof| proof.status == Status::Proved) {
        let needs = match (proof.property, proof.scope) {
            (Property::Convergence, _) if has_barriers && !(within && between) => "no work-items race",
            (Property::RaceFreedom, Some(Scope::IntraGroup)) if !between => {
                "work-items of different groups do not race"
            }
            _ => continue,
        };
        proof.preconditions.push(words.say(needs).into_owned());
    }
}

/// Takes pointers in structs to lead to different buffers where no given launch has them lead to one. Returns whether
/// there are any.
fn separate_members(program: &mut Program, interface: &Interface, launches: &[&Launch]) -> bool {
    let shared: BTreeSet<u32> = launches.iter().flat_map(|launch| launch.sharing()).collect();
    let mut found = false;
    for (position, arg) in (0..).zip(&interface.args) {
        let is_member = matches!(arg.source, ArgSource::Member { .. });
        let may_share =
            program.may_share.get_mut(position as usize).filter(|_| is_member && !shared.contains(&position));
        if let Some(may_share) = may_share {
            found |= std::mem::take(may_share);
        }
    }
    found
}

/// All launches, then those with the work-group size of the given ones, then those, as far as they are alike.
fn scopes(launches: &[&Launch]) -> Vec<HoldsFor> {
    let mut scopes = vec![HoldsFor::AllLaunches];
    let locals: BTreeSet<[u64; 3]> = launches.iter().filter_map(|launch| launch.range.local).collect();
    let (Some(local), 1) = (locals.first().copied(), locals.len()) else { return scopes };
    scopes.push(HoldsFor::LocalSize(local));
    let groups: BTreeSet<[u64; 3]> =
        launches.iter().map(|launch| [0, 1, 2].map(|d| launch.range.global[d].div_ceil(local[d].max(1)))).collect();
    if let (Some(groups), 1) = (groups.first().copied(), groups.len()) {
        scopes.push(HoldsFor::Launch { local, groups });
    }
    scopes
}

/// Says what was proved.
struct Reporting<'a> {
    program: &'a Program,
    interface: &'a Interface,
    source: &'a str,
    words: Words,
    members_apart: bool,
}

impl Reporting<'_> {
    fn proof(&self, found: race_freedom::Proof) -> Proof {
        let (property, scope) = match found.property {
            race_freedom::Property::Convergence => (Property::Convergence, None),
            race_freedom::Property::RaceFreedom(race_freedom::Scope::IntraGroup) => {
                (Property::RaceFreedom, Some(Scope::IntraGroup))
            }
            race_freedom::Property::RaceFreedom(race_freedom::Scope::InterGroup) => {
                (Property::RaceFreedom, Some(Scope::InterGroup))
            }
            race_freedom::Property::Bounds => (Property::Bounds, None),
        };
        let (status, condition, preconditions, why_not) = match found.verdict {
            Verdict::Proved { condition, wrapping } => {
                let condition = condition.map(|c| c.text(self.words));
                let preconditions = self.preconditions(condition.as_ref(), property, &wrapping);
                (Status::Proved, condition, preconditions, Vec::new())
            }
            Verdict::Vacuous => {
                let what = match scope {
                    Some(Scope::InterGroup) => "a launch has one work-group",
                    _ => "a work-group has one work-item",
                };
                (Status::Proved, None, vec![self.words.say(what).into_owned()], Vec::new())
            }
            Verdict::Unknown(doubt) => (Status::Unknown, None, Vec::new(), vec![self.doubt(&doubt, property)]),
            Verdict::Late => (Status::Unknown, None, Vec::new(), vec!["no time was left".to_owned()]),
            Verdict::Divergent => {
                let why = "it is not known whether all work-items of a group come to the same barriers";
                (Status::Unknown, None, Vec::new(), vec![self.words.say(why).into_owned()])
            }
            Verdict::Unsupported(Unsupported { what, location }) => {
                let what = self.words.say(&what).into_owned();
                (Status::Unsupported, None, Vec::new(), vec![format!("{what}{}", self.at(location.as_ref()))])
            }
        };
        let is_proved = status == Status::Proved;
        let (holds_for, local_size) = match found.holds_for {
            HoldsFor::AllLaunches => (ProvedFor::AllLaunches, None),
            HoldsFor::LocalSize(local) => (ProvedFor::LaunchesOfLocalSize, Some(local.to_vec())),
            HoldsFor::Launch { local, .. } => (ProvedFor::GivenLaunches, Some(local.to_vec())),
        };
        Proof {
            property,
            scope,
            status,
            holds_for: is_proved.then_some(holds_for),
            local_size: local_size.filter(|_| is_proved),
            preconditions,
            condition,
            why_not,
            counterexample: None,
            replayed: false,
            queries: found.queries,
            milliseconds: found.milliseconds,
        }
    }

    fn preconditions(
        &self,
        condition: Option<&String>,
        property: Property,
        wrapping: &BTreeSet<Option<DebugLocation>>,
    ) -> Vec<String> {
        let mut all: Vec<String> = condition.cloned().into_iter().collect();
        if property != Property::Convergence || condition.is_some() || !wrapping.is_empty() {
            let standing = STANDING.iter().skip(usize::from(property == Property::Bounds));
            all.extend(standing.map(|clause| self.words.say(clause).into_owned()));
            if self.members_apart && property != Property::Bounds {
                all.push("pointers in structs lead to different buffers".to_owned());
            }
        }
        all.extend(fitting(wrapping, self.source));
        all
    }

    fn doubt(&self, doubt: &Doubt, property: Property) -> String {
        let first = self.site(&doubt.first);
        if property == Property::Bounds {
            return format!("{first} may be outside");
        }
        let second = self.site(&doubt.second);
        let since = match &doubt.since {
            Some(_) => format!(" from the barrier{} on", self.at(doubt.since.as_ref())),
            None => String::new(),
        };
        let text = match property {
            Property::Convergence => format!("one work-item may come to {first} and another to {second}{since}"),
            _ => format!("{first} and {second} may be of the same place{since}"),
        };
        self.words.say(&text).into_owned()
    }

    fn site(&self, site: &Site) -> String {
        let place = self.at(site.location.as_ref());
        match (site.what, site.region) {
            ("barrier", _) => format!("the barrier{place}"),
            ("end", _) => "its end".to_owned(),
            (what, Some(region)) => format!("the {what} of {}{place}", self.region(region)),
            (what, None) => format!("the {what}{place}"),
        }
    }

    fn region(&self, region: Region) -> String {
        match region {
            Region::Argument(position) => match self.interface.args.get(position as usize) {
                Some(arg) => format!("`{}`", arg.display_name()),
                None => format!("argument {position}"),
            },
            Region::Variable(index) => {
                let name = &self.program.variables[index].name;
                format!("`{}`", name.rsplit('.').next().unwrap_or(name))
            }
            Region::Private(_) => "a private array".to_owned(),
            Region::Unknown => "memory".to_owned(),
        }
    }

    /// Where something stands, to follow what it is.
    fn at(&self, location: Option<&DebugLocation>) -> String {
        match location {
            None => String::new(),
            Some(l) if l.file == self.source => format!(" in line {}", l.line),
            Some(l) => format!(" in {}:{}", l.file, l.line),
        }
    }
}

/// Where integers have to fit their types, a clause for each file.
pub(super) fn fitting(wrapping: &BTreeSet<Option<DebugLocation>>, source: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut lines: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for location in wrapping.iter().flatten() {
        lines.entry(&location.file).or_default().insert(location.line);
    }
    if wrapping.contains(&None) {
        all.push("integers fit their types in code that has no lines".to_owned());
    }
    for (file, lines) in lines {
        let many = if lines.len() == 1 { "line" } else { "lines" };
        let lines = lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let of = if file == source { String::new() } else { format!(" of {file}") };
        all.push(format!("integers fit their types in {many} {lines}{of}"));
    }
    all
}

/// Enters what the runs showed: a finding that contradicts a property refutes it, whatever was proved, as the input
/// need not keep to what proofs assume. `conditions_hold`: the inputs meet the conditions of proofs. Returns what is to
/// be said of proofs that are contradicted.
pub fn refute(proofs: &mut [Proof], findings: &[Finding], interface: &Interface, conditions_hold: bool) -> Vec<String> {
    // Local memory that is an argument has no size that the kernel declares.
    let is_argument = |finding: &Finding| {
        interface.args.iter().any(|arg| finding.variable.as_ref().is_some_and(|name| *name == arg.display_name()))
    };
    let mut notes = Vec::new();
    for proof in proofs.iter_mut() {
        let contradicts = |finding: &&Finding| match proof.property {
            Property::Convergence => finding.kind == FindingKind::BarrierDivergence,
            Property::RaceFreedom => finding.kind == FindingKind::DataRace && finding.scope == proof.scope,
            Property::Bounds => {
                let in_array = matches!(finding.memory, Some(Memory::Local | Memory::Private));
                finding.kind == FindingKind::OutOfBounds && in_array && !is_argument(finding)
            }
        };
        // What holds under a condition is not refuted by a launch that does not meet it.
        let conditional = !conditions_hold && proof.status == Status::Proved && proof.condition.is_some();
        let Some(finding) = findings.iter().filter(|f| f.unless.is_none() && !conditional).find(contradicts) else {
            continue;
        };
        if proof.status == Status::Proved {
            let input = finding.input.as_deref().unwrap_or("of the first pass");
            notes.push(format!(
                "the input \"{input}\" contradicts the proof of {}: it does not keep to what the proof assumes ({}), or \
                 the proof is wrong, which would be a fault of kassay",
                proof.subject(),
                proof.preconditions.join("; ")
            ));
        }
        proof.status = Status::Refuted;
        proof.condition = None;
        proof.holds_for = None;
        proof.local_size = None;
        proof.preconditions.clear();
        proof.why_not = vec![finding.message.clone()];
        proof.counterexample = finding.input.clone();
    }
    notes
}

/// Takes back what was proved within groups of a kernel whose barriers diverge.
pub fn rest_on_convergence(proofs: &mut [Proof]) {
    let diverges = proofs.iter().any(|p| p.property == Property::Convergence && p.status == Status::Refuted);
    for proof in proofs.iter_mut().filter(|p| diverges && p.scope == Some(Scope::IntraGroup)) {
        if proof.status == Status::Proved {
            *proof = Proof {
                status: Status::Unknown,
                holds_for: None,
                local_size: None,
                preconditions: Vec::new(),
                condition: None,
                why_not: vec!["not all work-items of a group come to the same barriers".to_owned()],
                ..proof.clone()
            };
        }
    }
}
