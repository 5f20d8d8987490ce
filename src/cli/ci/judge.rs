//! Says what of a result a project complains of: what makes the command's exit code 1.

use super::command::Command;
use crate::api::Given;
use crate::result::check::Verdict;
use crate::result::{cover, mutate};

/// Returns what is wrong with a result of a command, a sentence each.
pub fn complaints(command: &Command, result: &Given<'_>) -> Vec<String> {
    match (command, result) {
        (Command::Cover(args), Given::Cover(result)) => {
            let ended = |test: &&cover::TestOutcome| test.status != cover::TestStatus::Completed;
            let ended = result.tests.iter().filter(ended).count();
            let early = (ended > 0).then(|| format!("{ended} of {} tests did not complete", result.tests.len()));
            early
                .into_iter()
                .chain(args.fail_under.iter().filter_map(|least| least.complaint(&result.coverage)))
                .collect()
        }
        (_, Given::Mutate(result)) => {
            let dropped = result.tests.iter().filter(|test| test.status == mutate::TestStatus::Dropped).count();
            let dropped = (dropped > 0).then(|| {
                format!("{dropped} of {} tests were dropped: the kernel itself fails them", result.tests.len())
            });
            dropped.into_iter().chain(result.complaints.iter().cloned()).collect()
        }
        (_, Given::Run(result)) => {
            let bad = result.summary.failed + result.summary.broken;
            (bad > 0).then(|| format!("{bad} of {} tests did not pass", result.summary.total)).into_iter().collect()
        }
        (_, Given::Check(result)) => match result.verdict {
            Verdict::Clean => Vec::new(),
            verdict => vec![format!("the verdict is {}", verdict.name())],
        },
        (_, Given::Schedule(result)) => {
            let bad = result.summary.total - result.summary.stable;
            (bad > 0).then(|| format!("{bad} of {} tests are not stable", result.summary.total)).into_iter().collect()
        }
        // What a search leaves open is no fault of the kernel's, and `kassay generate` ends with 0, too.
        (_, Given::Cover(_) | Given::Generate(_)) => Vec::new(),
    }
}
