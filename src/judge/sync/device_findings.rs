//! Words races that a device has reported, for results.

use kassay_model::interface::ArgKind;
use kassay_model::native::table::SourcePlace;
use kassay_results::result::Location;
use kassay_results::result::check::{Access, Finding, FindingKind, Memory, Mode, Scope};

use super::causes::{self, Facts};
use super::checking::Case;
use super::findings::{Reader, lines};
use super::messages;
use crate::coverage::device_races::{Kind, Place, RaceLayout, RaceSite, Report};

/// A race, as a finding.
#[derive(Debug)]
pub struct Described {
    /// The finding, in case that the simulator does not repeat it.
    pub finding: Finding,
    /// The linear numbers of the two work-groups.
    pub groups: [u64; 2],
}

impl Described {
    /// Describes a report of a launch of `case`.
    pub fn of(reader: &Reader<'_>, case: &Case, layout: &RaceLayout, report: &Report, device: &str) -> Described {
        let range = &case.launch.range;
        let counts = range.group_counts();
        let id = |group: u64| {
            let [x, y] = [counts[0].max(1), counts[1].max(1)];
            [group % x, group / x % y, group / x / y]
        };
        let mut accesses: Vec<Access> = (report.sites.iter().zip(report.groups))
            .filter_map(|(site, group)| Some(access(reader, layout.sites.get(*site as usize)?, id(group))))
            .collect();
        accesses.sort_by(|a, b| (&a.location, a.mode).cmp(&(&b.location, b.mode)));
        let object = layout.objects.get(report.object as usize);
        let scope = if report.groups[0] == report.groups[1] { Scope::IntraGroup } else { Scope::InterGroup };
        let element = object.and_then(|object| match object.place {
            Place::Buffer(position) => match &reader.interface.args.get(position as usize)?.kind {
                ArgKind::Buffer { element, .. } => element.as_ref().map(|ty| ty.size()).filter(|size| *size > 0),
                _ => None,
            },
            Place::LocalArgument(_) | Place::LocalVariable(_) => None,
        });
        let index = element.and_then(|size| i64::try_from(report.offset / size).ok());
        let variable = object.map(|object| object.name.clone()).filter(|name| !name.is_empty());
        let memory = object.map(|o| if o.place.is_local() { Memory::Local } else { Memory::Global });
        let message = messages::race_on_device(&accesses, (variable.as_deref(), index), scope, device);
        let cause = causes::cause(&accesses, Some(scope), Facts::default());
        let finding = Finding {
            kind: FindingKind::DataRace,
            scope: Some(scope),
            memory,
            variable,
            index,
            within_object: None,
            benign: false,
            count: 1,
            accesses,
            finished: None,
            branch: None,
            message,
            cause,
            input: Some(case.name.clone()),
            inputs: 1,
            schedule: Default::default(),
            witness: None,
            reproduction: None,
            unless: None,
            seen_on: Some(device.to_owned()),
        };
        Described { finding, groups: report.groups }
    }

    /// Files and lines of both accesses, in order.
    pub fn lines(&self) -> Vec<(String, u32)> {
        lines(&self.finding)
    }
}

fn access(reader: &Reader<'_>, site: &RaceSite, group: [u64; 3]) -> Access {
    let location = |place: &SourcePlace| Location {
        file: if place.file.is_empty() { reader.source.to_owned() } else { place.file.clone() },
        line: place.line,
        column: place.column,
    };
    let here = site.frames.first();
    Access {
        location: here.map_or_else(|| Location { file: reader.source.to_owned(), line: 0, column: 0 }, location),
        function: here.map_or_else(String::new, |place| place.function.clone()),
        called_from: site.frames.iter().skip(1).map(location).collect(),
        mode: Some(match site.kind {
            Kind::Read => Mode::Read,
            Kind::Write => Mode::Write,
            Kind::Atomic | Kind::AtomicRead | Kind::Exchange => Mode::Atomic,
        }),
        global_id: None,
        group_id: Some(group),
        builtin: None,
        bytes: None,
        element: None,
        waiting: None,
    }
}
