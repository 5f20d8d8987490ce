//! Runs a mutation campaign, the mutants of a kernel against the tests of a suite, from enumeration to the result.

pub mod configuration;
pub mod content_hashes;
pub mod context;
pub mod decided_row;
pub mod early_search;
pub mod equivalence_classes;
pub mod mutant_set;
mod outcomes;
pub mod own_host;
mod phases;
mod proving;
pub mod records;
pub mod reuse;
pub mod rows;

use std::time::Instant;

use kassay_base::error::Result;
use kassay_results::result::journal::Journal;
use kassay_results::result::mutate::{self as result, MutateResult, Status};
use kassay_run::exec::Executor;

pub use self::context::{CampaignContext, Request, dimensions};
pub use self::early_search::EarlySearch;
pub use self::equivalence_classes::Class;
use self::mutant_set::mutant_set;
pub use self::mutant_set::mutants;
use self::phases::Planned;
pub use self::phases::{class_of, texts_of};
pub use self::records::Entry;
use crate::mutation::run::test_lists::TestLists;

/// Default of [`Request::most_before`]: takes some ten seconds on two processors. Afterwards, equal mutants are sought
/// only among those that behaved alike; behaviour may be a matter of chance where mutants read uninitialised memory, so
/// smaller kernels are normalised completely before anything runs.
pub const MOST_BEFORE: u64 = 3_000_000;

/// Runs a campaign. `executors`: all of one device. `known`: entries of an earlier journal. Tests that the original
/// fails are named in the result.
///
/// # Errors
/// `Caller` if the device cannot apply a test's map of work-groups; `Environment` if the device, a worker or the
/// journal fails; `Internal` if a pass fails.
pub fn run(
    campaign: &CampaignContext<'_, '_>,
    request: &Request,
    (executors, early): (Vec<Box<dyn Executor>>, Option<EarlySearch>),
    journal: Option<&Journal>,
    known: Vec<Entry>,
) -> Result<MutateResult> {
    let started = early.as_ref().map_or_else(Instant::now, EarlySearch::started);
    let (set, lists) = (mutant_set(campaign, request), TestLists::new(campaign.tests));
    let planned = Planned::new((campaign, request), (&set, &lists), (executors, early), journal, known, started);
    Ok(planned.classify()?.baseline()?.run()?.judge()?.decide()?.result())
}

/// Returns the classes of an earlier result as a `known` entry for [`run`], so that campaigns on the same mutants with
/// more tests do not repeat the search for equivalents: mutants that more tests leave undetected were undetected by
/// fewer too, and so have been submitted to the solver already.
pub fn classified(before: &MutateResult) -> Entry {
    let class = |row: &result::Mutant| match (&row.duplicate_of, row.status) {
        (Some(of), _) => Some(Class::Duplicate(of.clone())),
        (None, Status::Equivalent) => Some(Class::Equivalent(row.reason.clone().unwrap_or_default())),
        _ => None,
    };
    Entry::Classified(before.mutants.iter().filter_map(|row| Some((row.id.clone(), class(row)?))).collect())
}
