//! What a campaign's mutants and verdicts follow from: whether two runs are the same.

use super::campaign::{self, Matter, Request};
use super::engine::Strategy;
use crate::result::mutate::MutateOptions;

/// Everything that mutants and verdicts follow from, as a hash in hexadecimal: the code without debug information, the ids
/// of the mutants (so that a comment that moves lines counts), what the tests give and expect, the options.
pub fn configuration(matter: &Matter<'_, '_>, request: &Request) -> String {
    let body = matter.assay.code_text();
    let options = options_of(request);
    let tests: Vec<String> =
        matter.tests.iter().map(|t| format!("{} {:?} {:?}", t.name, t.launch, t.expectations)).collect();
    let ids: Vec<String> = campaign::mutants(matter, request).into_iter().map(|m| m.id).collect();
    let options = format!("{options:?} {}", request.seed);
    let parts = [env!("CARGO_PKG_VERSION").to_owned(), body, ids.join("\n"), options, tests.join("\n")];
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in parts.join("\0").bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("{hash:016x}")
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
