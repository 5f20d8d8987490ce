//! Presents mutants as goals of generation.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use kassay_results::result::Location;
use kassay_results::result::generate::{By, Goal, GoalStatus};
use kassay_results::result::mutate::{self as rows, MutateResult, Status};

use super::kill_search::KillSearchResult;
use crate::generate::search::TestInput;
use crate::mutation::{ByMutant, Mutant, MutantIndex};

/// Result of the search for inputs that kill.
pub struct SearchedMutants<'a> {
    /// The mutants that were searched for.
    pub mutants: &'a ByMutant<&'a Mutant>,
    /// By mutant: why it could not be searched for.
    pub refused: &'a ByMutant<Option<String>>,
    pub kill_result: &'a KillSearchResult,
}

/// The results from which goals are derived.
pub struct GoalView<'a> {
    /// The mutation result of the suite in its current state.
    pub mutation: &'a MutateResult,
    pub tests: &'a [TestInput],
    pub searched: Option<SearchedMutants<'a>>,
    /// Why the search ended, as text.
    pub ended: &'a str,
    /// Path of the kernel's file, for mutants without a location.
    pub source: &'a str,
    pub started: Instant,
    /// End of the mutation run on the suite that covers the branches, and with it of the search for equivalents.
    pub first_run_end: Instant,
}

/// Returns the goals, in source order: every mutant that a test could kill, and those that are proved equivalent.
pub fn goals(view: &GoalView<'_>) -> Vec<Goal> {
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

/// Returns whether a mutant counts in the score, or would but for a proof of equivalence.
fn is_goal(row: &rows::Mutant) -> bool {
    row.duplicate_of.is_none() && !matches!(row.status, Status::Ignored | Status::CompileError)
}

fn goal(view: &GoalView<'_>, row: &rows::Mutant, by: &HashMap<&str, By>, searched: Option<MutantIndex>) -> Goal {
    let start = row.location.start;
    let location = match row.location.file.is_empty() {
        true => Location { file: view.source.to_owned(), line: 0, column: 0 },
        false => Location { file: row.location.file.clone(), line: start.line, column: start.column },
    };
    let kill_result = view.searched.as_ref().map(|s| s.kill_result);
    let (mut reason, mut bound) = (None, None);
    let (status, at) = match row.status {
        Status::Equivalent => {
            reason.clone_from(&row.reason);
            (GoalStatus::Equivalent, view.first_run_end)
        }
        Status::Killed | Status::Timeout | Status::RuntimeError => {
            let found = searched.zip(kill_result).and_then(|(m, kill_result)| kill_result.killed[m]);
            (GoalStatus::Covered, found.map_or(view.first_run_end, |(at, _)| at))
        }
        _ => {
            reason = Some(why(view, row, searched));
            bound = kill_result.map(|h| {
                format!(
                    "{} inputs of up to {} work-items, {} of which faulted",
                    h.statistics.executions, h.statistics.largest, h.statistics.faulted
                )
            });
            (GoalStatus::Unknown, Instant::now())
        }
    };
    let after: Duration = at.saturating_duration_since(view.started);
    Goal {
        site: None,
        outcome: None,
        mutant: Some(row.id.clone()),
        kind: "mutant".to_owned(),
        location,
        status,
        by: row.killed_by.first().and_then(|test| by.get(&**test).copied()),
        reason,
        bound,
        preconditions: Vec::new(),
        time_s: after.as_secs_f64(),
    }
}

/// Says why no test kills the mutant.
fn why(view: &GoalView<'_>, row: &rows::Mutant, searched: Option<MutantIndex>) -> String {
    let (Some(m), Some(known)) = (searched, &view.searched) else {
        return row.reason.clone().unwrap_or_else(|| view.ended.to_owned());
    };
    if let Some(why) = &known.refused[m] {
        return format!("not searched for: {why}");
    }
    if known.kill_result.killed[m].is_some() {
        let device = view.mutation.header.device.as_ref().map_or("the device", |d| d.name.as_str());
        let more = row.reason.as_ref().map(|r| format!(": {r}")).unwrap_or_default();
        return format!("on the simulator an input tells it from the kernel, but not on {device}{more}");
    }
    let seen = known.kill_result.seen[m];
    let how = match (seen.reached, seen.infected) {
        (false, _) => "no input that was tried reaches it",
        (true, false) => "on no input that was tried its value differs from the kernel's",
        (true, true) => "on some inputs its value differs from the kernel's, but on none that was tried do the outputs",
    };
    format!("{how}; {}", view.ended)
}
