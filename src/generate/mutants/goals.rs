//! The fates of mutants as goals of generation.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::kill_search::KillSearchResult;
use crate::generate::search::Kept;
use crate::mutation::{ByMutant, Mutant, MutantIndex};
use crate::result::Location;
use crate::result::generate::{By, Goal, GoalStatus};
use crate::result::mutate::{self as rows, MutateResult, Status};

/// What became of the search.
pub struct Searched<'a> {
    /// Those that were searched for.
    pub mutants: &'a ByMutant<&'a Mutant>,
    /// Why some could not be.
    pub refused: &'a ByMutant<Option<String>>,
    pub hunted: &'a KillSearchResult,
}

/// What goals are read from.
pub struct View<'a> {
    /// Of the suite as it is now.
    pub mutation: &'a MutateResult,
    pub tests: &'a [Kept],
    pub searched: Option<Searched<'a>>,
    /// Why the search ended.
    pub ended: &'a str,
    /// The kernel's file, for mutants without a place.
    pub source: &'a str,
    pub begun: Instant,
    /// When the mutation run on the suite that covers the branches was done, and with it the search for equivalents.
    pub tried: Instant,
}

/// The goals: every mutant that a test could kill, and those that are proved equivalent, in the order of the source.
pub fn goals(view: &View<'_>) -> Vec<Goal> {
    let by: HashMap<&str, By> = view.tests.iter().map(|k| (k.name.as_str(), k.by)).collect();
    let searched: HashMap<&str, MutantIndex> = match &view.searched {
        Some(searched) => searched.mutants.positions().map(|m| (searched.mutants[m].id.as_str(), m)).collect(),
        None => HashMap::new(),
    };
    let rows = view.mutation.mutants.iter().filter(|row| is_goal(row));
    let mut goals: Vec<Goal> = rows.map(|row| goal(view, row, &by, searched.get(row.id.as_str()).copied())).collect();
    goals.sort_by(|a, b| a.location.cmp(&b.location));
    goals
}

/// Whether it counts in the score, or would but for a proof.
fn is_goal(row: &rows::Mutant) -> bool {
    row.duplicate_of.is_none() && !matches!(row.status, Status::Ignored | Status::CompileError)
}

fn goal(view: &View<'_>, row: &rows::Mutant, by: &HashMap<&str, By>, searched: Option<MutantIndex>) -> Goal {
    let start = row.location.start;
    let location = match row.location.file.is_empty() {
        true => Location { file: view.source.to_owned(), line: 0, column: 0 },
        false => Location { file: row.location.file.clone(), line: start.line, column: start.column },
    };
    let hunted = view.searched.as_ref().map(|s| s.hunted);
    let (mut reason, mut bound) = (None, None);
    let (status, at) = match row.status {
        Status::Equivalent => {
            reason.clone_from(&row.reason);
            (GoalStatus::Equivalent, view.tried)
        }
        Status::Killed | Status::Timeout | Status::RuntimeError => {
            let found = searched.zip(hunted).and_then(|(m, hunted)| hunted.killed[m]);
            (GoalStatus::Covered, found.map_or(view.tried, |(at, _)| at))
        }
        _ => {
            reason = Some(why(view, row, searched));
            bound = hunted.map(|h| {
                format!(
                    "{} inputs of up to {} work-items, {} of which faulted",
                    h.tried.executions, h.tried.largest, h.tried.faulted
                )
            });
            (GoalStatus::Unknown, Instant::now())
        }
    };
    let after: Duration = at.saturating_duration_since(view.begun);
    Goal {
        site: None,
        outcome: None,
        mutant: Some(row.id.clone()),
        kind: "mutant".to_owned(),
        location,
        status,
        by: row.killed_by.first().and_then(|test| by.get(test.as_str()).copied()),
        reason,
        bound,
        preconditions: Vec::new(),
        time_s: after.as_secs_f64(),
    }
}

/// Why no test kills it.
fn why(view: &View<'_>, row: &rows::Mutant, searched: Option<MutantIndex>) -> String {
    let (Some(m), Some(known)) = (searched, &view.searched) else {
        return row.reason.clone().unwrap_or_else(|| view.ended.to_owned());
    };
    if let Some(why) = &known.refused[m] {
        return format!("not searched for: {why}");
    }
    if known.hunted.killed[m].is_some() {
        let device = view.mutation.header.device.as_ref().map_or("the device", |d| d.name.as_str());
        let more = row.reason.as_ref().map(|r| format!(": {r}")).unwrap_or_default();
        return format!("on the simulator an input tells it from the kernel, but not on {device}{more}");
    }
    let seen = known.hunted.seen[m];
    let how = match (seen.reached, seen.infected) {
        (false, _) => "no input that was tried reaches it",
        (true, false) => "on no input that was tried its value differs from the kernel's",
        (true, true) => "on some inputs its value differs from the kernel's, but on none that was tried do the outputs",
    };
    format!("{how}; {}", view.ended)
}
