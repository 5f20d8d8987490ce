//! Proofs of race freedom, convergence and bounds for launches that are not run, in the words of results.

use std::collections::BTreeSet;
use std::time::Instant;

use kassay_base::error::Result;
use kassay_ir::llvm::DebugLocation;
use kassay_model::condition::Condition;
use kassay_model::interface::Interface;
use kassay_model::words::Words;
use kassay_prove::program::{Program, Region, promoted, reader};
use kassay_prove::symbolic::race_freedom::{self, Doubt, HoldsFor, STANDING, Site, Unsupported, Verdict, Wrapping};
use kassay_results::result::check::Scope;
use kassay_results::result::proofs::{Proof, Property, ProvedFor, Status};
use kassay_suite::launch::Launch;

use crate::coverage::build::KernelUnderTest;
use crate::generate::conditions;

/// Most operations that are listed because they have to fit their types.
const MOST_LISTED: usize = 6;

/// Proves what can be proved until `deadline`. `launches`, if any, are those of a suite: what is not proved for all
/// launches is asked for those like these.
///
/// # Errors
/// `Internal` if a pass fails; [`kassay_base::error::Error::late`] at the deadline.
pub fn prove(
    under_test: &KernelUnderTest<'_>,
    launches: &[&Launch],
    words: Words,
    deadline: Option<Instant>,
) -> Result<Vec<Proof>> {
    let mut module = promoted::promote_until(&under_test.module, &under_test.entry, &under_test.machine, deadline)?;
    // Values that are used after a loop go through a `phi` there, and each loop has one back edge.
    promoted::run(&mut module, "function(loop-simplify,lcssa)", &under_test.machine)?;
    let program = reader::read(&module, &under_test.entry)?;
    let interface = &under_test.interface;
    let is_met = |condition: &Condition| {
        launches.iter().all(|launch| conditions::holds(condition, interface, launch) == Some(true))
    };
    let found = race_freedom::prove(&program, interface, &scopes(launches), &is_met, deadline);
    let reporting = Reporting { program: &program, interface: &under_test.interface, words };
    Ok(found.into_iter().map(|proof| reporting.proof(proof)).collect())
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
    words: Words,
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
                (Status::Unsupported, None, Vec::new(), vec![format!("{what}{}", at(location.as_ref()))])
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
            queries: found.queries,
            milliseconds: found.milliseconds,
        }
    }

    fn preconditions(&self, condition: Option<&String>, property: Property, wrapping: &[Wrapping]) -> Vec<String> {
        let mut all: Vec<String> = condition.cloned().into_iter().collect();
        if property != Property::Convergence || condition.is_some() || !wrapping.is_empty() {
            let standing = STANDING.iter().skip(usize::from(property == Property::Bounds));
            all.extend(standing.map(|clause| self.words.say(clause).into_owned()));
        }
        let listed = wrapping.iter().take(MOST_LISTED);
        all.extend(listed.map(|w| format!("{}{} does not overflow", w.what, at(w.location.as_ref()))));
        if wrapping.len() > MOST_LISTED {
            all.push(format!("{} further operations do not overflow", wrapping.len() - MOST_LISTED));
        }
        all
    }

    fn doubt(&self, doubt: &Doubt, property: Property) -> String {
        let first = self.site(&doubt.first);
        if property == Property::Bounds {
            return format!("{first} may be outside");
        }
        let second = self.site(&doubt.second);
        let since = match &doubt.since {
            Some(location) => format!(" from the barrier at {location} on"),
            None => String::new(),
        };
        let text = match property {
            Property::Convergence => format!("one work-item may come to {first} and another to {second}{since}"),
            _ => format!("{first} and {second} may be of the same place{since}"),
        };
        self.words.say(&text).into_owned()
    }

    fn site(&self, site: &Site) -> String {
        let place = at(site.location.as_ref());
        match (site.what, site.region) {
            ("barrier", _) => format!("the barrier{place}"),
            ("return", _) => "its end".to_owned(),
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
}

fn at(location: Option<&DebugLocation>) -> String {
    location.map_or_else(String::new, |l| format!(" at {l}"))
}
