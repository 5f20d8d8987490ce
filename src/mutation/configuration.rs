//! What a campaign's mutants and verdicts follow from: whether two runs are the same.

use std::fmt::{self, Write as _};

use super::campaign::{self, CampaignContext, Request};
use super::engine::Strategy;
use crate::hash::Fnv1a;
use crate::result::mutate::MutateOptions;

/// Everything that mutants and verdicts follow from, as a hash in hexadecimal: the code without debug information, the ids
/// of the mutants (so that a comment that moves lines counts), what the tests give and expect, the options.
pub fn configuration(campaign: &CampaignContext<'_, '_>, request: &Request) -> String {
    let mut hash = Fnv1a::default();
    // Buffers of tests may be large: their text is never kept.
    let parts = |hash: &mut Fnv1a| {
        write!(hash, "{}\0{}\0", env!("CARGO_PKG_VERSION"), campaign.under_test.code_text())?;
        for mutant in campaign::mutants(campaign, request) {
            writeln!(hash, "{}", mutant.id)?;
        }
        writeln!(hash, "\0{:?} {}", options_of(request), request.seed)?;
        campaign.tests.iter().try_for_each(|t| writeln!(hash, "{} {:?} {:?}", t.name, t.launch, t.expectations))
    };
    // A hash takes whatever is written.
    let _: fmt::Result = parts(&mut hash);
    format!("{:016x}", hash.value())
}

/// The options as results name them.
pub fn options_of(request: &Request) -> MutateOptions {
    MutateOptions {
        operators: request.selection.to_string(),
        order: request.order,
        sample: request.sample,
        repeats: request.repeats,
        full_matrix: request.full_matrix,
        timeout_factor: request.factor,
        strategy: match request.strategy {
            Strategy::Schemata => "schemata".into(),
            Strategy::Rebuild => "rebuild".into(),
        },
        ir_level: request.ir_level.clone(),
    }
}
