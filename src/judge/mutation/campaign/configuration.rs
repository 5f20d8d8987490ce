//! Hashes everything that determines a campaign's mutants and verdicts, to decide whether two runs have the
//! same configuration.

use std::fmt::{self, Write as _};

use kassay_base::hash::Fnv1a;
use kassay_results::result::mutate::MutateOptions;
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::resolve::{Expectation, Test};

use super::content_hashes::ContentHashes;
use super::context::{CampaignContext, Request};
use super::mutant_set::mutants;
use crate::mutation::run::engine::Strategy;

/// Returns a hash, in hexadecimal, of everything that determines mutants and verdicts: the code without debug
/// information, the ids of the mutants (so that a comment that moves lines counts), the inputs and expectations of the
/// tests, and the options.
pub fn configuration(campaign: &CampaignContext<'_, '_>, request: &Request) -> String {
    let mut hash = Fnv1a::default();
    let parts = |hash: &mut Fnv1a| {
        write!(hash, "{}\0{}\0", env!("CARGO_PKG_VERSION"), campaign.under_test.code_text())?;
        for mutant in mutants(campaign, request) {
            writeln!(hash, "{}", mutant.id)?;
        }
        writeln!(hash, "\0{:?} {}", options_of(request), request.seed)?;
        campaign.tests.iter().try_for_each(|test| of_test(hash, test, &campaign.contents))
    };
    // Writing to a hash cannot fail.
    let _: fmt::Result = parts(&mut hash);
    format!("{:016x}", hash.value())
}

/// Adds a test: its name, its launch and what it expects. Contents, which may be large, are hashed as bytes.
fn of_test(hash: &mut Fnv1a, test: &Test, contents: &ContentHashes) -> fmt::Result {
    let Launch { range, args, schedule, allows_faults, margins, views } = &test.launch;
    writeln!(hash, "{} {range:?} {schedule:?} {allows_faults} {margins:?} {views:?}", test.name)?;
    for arg in args {
        match arg {
            ArgValue::Buffer(bytes) => writeln!(hash, "buffer {} {}", bytes.len(), contents.of(bytes))?,
            ArgValue::Image { shape, format, texels } => {
                writeln!(hash, "image {shape:?} {format:?} {}", contents.of(texels))?;
            }
            ArgValue::Value(_) | ArgValue::Same(_) | ArgValue::Local(_) | ArgValue::Sampler { .. } => {
                writeln!(hash, "{arg:?}")?;
            }
        }
    }
    test.expectations.iter().try_for_each(|Expectation { position, bytes, ty, tolerance }| {
        writeln!(hash, "{position} {} {} {ty:?} {tolerance:?}", bytes.len(), contents.of(bytes))
    })
}

/// Returns the options as results name them.
pub fn options_of(request: &Request) -> MutateOptions {
    MutateOptions {
        operators: request.selection.to_string(),
        order: request.order,
        sample: request.sample,
        changes: request.changes.as_ref().map(|changes| changes.origin.clone()),
        repeats: request.repeats,
        full_matrix: request.full_matrix,
        timeout_factor: request.factor,
        strategy: match request.strategy {
            Strategy::Schemata => "schemata".into(),
            Strategy::Rebuild => "rebuild".into(),
        },
        level: request.level.name_in_options().to_owned(),
        ir_level: request.level.optimisation().name().to_owned(),
    }
}
