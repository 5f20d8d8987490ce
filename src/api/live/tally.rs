//! Makes a coverage result of the probe buffers that the processes of a host program have left.

use std::fs;

use kassay_base::error::Result;
use kassay_judge::coverage::own_host::{Launches, Reader};
use kassay_judge::coverage::summary::{self, TestTally};
use kassay_judge::coverage::tally::SiteTally;
use kassay_results::result::cover::{CoverResult, Coverage, TestOutcome, TestStatus};
use kassay_results::result::mcdc::{Criterion, Mcdc};
use kassay_results::result::{Header, Location};
use kassay_run::host::{LaunchedKernel, Process, Spool};

use super::weaver::WovenKernel;

/// Tallies the launches of a kernel; a test is a process. Buffers that cannot be read are reported in the result's
/// notes.
///
/// # Errors
/// `Caller` if the kernel's map contradicts itself.
pub fn tally(spool: &Spool, kernel: &LaunchedKernel, woven: &WovenKernel, criterion: Criterion) -> Result<CoverResult> {
    let reader = Reader::new(&woven.coverage, spool.folder())?;
    let (mut tests, mut tallies, mut notes) = (Vec::new(), Vec::new(), woven.notes.clone());
    for (number, process) in (1..).zip(&spool.processes) {
        let Some(Launches { sites, last: (items, groups) }) = of_process(&reader, process, kernel, &mut notes) else {
            continue;
        };
        let name = format!("process {number}");
        tests.push(TestOutcome {
            name: name.clone(),
            status: TestStatus::Completed,
            reason: None,
            work_items: items,
            work_groups: groups,
            original_s: None,
            instrumented_s: None,
            printf: String::new(),
        });
        tallies.push(TestTally { name, sites, items });
    }
    if tests.is_empty() && notes.len() == woven.notes.len() {
        notes.push("its launches had not begun when the program ended".to_owned());
    }
    let mcdc = reader.mcdc(&tallies, criterion);
    let mut sites = summary::outcomes_of(reader.rows(), &tallies);
    // Launches share slots, so that it is not known.
    sites.iter_mut().for_each(|site| site.divergent_groups = None);
    let coverage = summary::coverage_of(reader.rows(), &tallies, false);
    Ok(CoverResult {
        header: Header::new(CoverResult::SCHEMA, kernel.name.clone(), String::new(), None, 0),
        elapsed_s: 0.0,
        coverage: Coverage { mcdc: mcdc.as_ref().map(Mcdc::ratio), ..coverage },
        def_use: None,
        sites,
        mcdc,
        tests,
        overhead: None,
        complaints: Vec::new(),
        notes,
    })
}

/// Unites the buffers of a process, which has one for each context.
fn of_process(
    reader: &Reader<'_>,
    process: &Process,
    kernel: &LaunchedKernel,
    notes: &mut Vec<String>,
) -> Option<Launches> {
    let mut all: Option<Launches> = None;
    for file in &process.probes {
        if (&file.program, &file.kernel) != (&kernel.program, &kernel.name) {
            continue;
        }
        let read = fs::read(&file.path).map_err(|error| error.to_string()).and_then(|mut bytes| {
            bytes.truncate(usize::try_from(file.words.saturating_mul(4)).unwrap_or(usize::MAX));
            reader.tally_launches(&bytes, &file.path).map_err(|error| error.report().what.clone())
        });
        match (read, &mut all) {
            (Ok(Some(new)), Some(all)) => unite(&mut all.sites, &new.sites),
            (Ok(Some(new)), none) => *none = Some(new),
            (Ok(None), _) => {}
            (Err(error), _) => notes.push(format!("a probe buffer cannot be used: {error}")),
        }
    }
    all
}

fn unite(all: &mut [SiteTally], new: &[SiteTally]) {
    for (all, new) in all.iter_mut().zip(new) {
        all.hits.iter_mut().zip(&new.hits).for_each(|(all, new)| *all = (*all).max(*new));
    }
}

/// The locations in a result.
pub fn locations(result: &mut CoverResult) -> Vec<&mut Location> {
    let mut all: Vec<&mut Location> = result.sites.iter_mut().map(|site| &mut site.location).collect();
    for decision in result.mcdc.iter_mut().flat_map(|mcdc| &mut mcdc.decisions) {
        all.push(&mut decision.location);
        all.extend(decision.conditions.iter_mut().map(|condition| &mut condition.location));
    }
    all
}
