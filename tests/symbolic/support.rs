//! Reads kernels with marks for all their outcomes.

use std::path::Path;
use std::time::{Duration, Instant};

use kassay_ir::cfg::sites::SiteKind;
use kassay_ir::instrument::marks;
use kassay_ir::llvm::Context;
use kassay_model::options::KernelOptions;
use kassay_prove::program::{promoted, reader};
use kassay_prove::solve::query::Limits;
use kassay_prove::symbolic::infeasible::{Assumption, ProofOutcome, prove};

use crate::common::kernels::{Opened, open_bare, source_file};

/// An outcome of a site and the result of its proof.
#[derive(Debug)]
pub struct Judged {
    pub site: String,
    pub kind: SiteKind,
    pub line: u32,
    pub label: String,
    pub proof: ProofOutcome,
}

/// Returns the proof outcomes of all outcomes of branches, conditions, loops and barriers.
pub fn judge(
    path: &Path,
    entry: Option<&str>,
    options: &KernelOptions,
    assumptions: &[Assumption],
    (rlimit, seconds): (u32, u64),
) -> Vec<Judged> {
    let context = Context::create();
    let Opened { under_test, sources, .. } = open_bare(&context, path, entry, options).unwrap();
    let kinds = [SiteKind::Branch, SiteKind::Condition, SiteKind::Loop, SiteKind::Barrier];
    let watched = under_test.sites.sites.iter().enumerate().filter(|(_, s)| kinds.contains(&s.kind));
    let wanted: Vec<(usize, usize)> =
        watched.flat_map(|(s, site)| (0..site.outcomes.len()).map(move |o| (s, o))).collect();
    let module = under_test.module.clone();
    marks::weave(&module, &under_test.sites, &wanted).unwrap();
    let promoted = promoted::promote(&module, &under_test.entry, &under_test.machine).unwrap();
    let program = reader::read(&promoted, &under_test.entry).unwrap();
    let numbers: Vec<u32> = (0..wanted.len() as u32).collect();
    let limits = Limits { rlimit, end: Some(Instant::now() + Duration::from_secs(seconds)) };
    let proofs = prove(&program, &under_test.interface, &numbers, assumptions, &sources, &limits);
    let judged = wanted.into_iter().zip(proofs).map(|((s, o), proof)| {
        let site = &under_test.sites.sites[s];
        let line = site.location.as_ref().map_or(0, |l| l.line);
        Judged { site: site.id.clone(), kind: site.kind, line, label: site.outcomes[o].label.clone(), proof }
    });
    judged.collect()
}

/// As [`judge`], for a source text.
pub fn judge_source(source: &str, options: &KernelOptions, assumptions: &[Assumption]) -> Vec<Judged> {
    let (_folder, path) = source_file(source);
    judge(&path, None, options, assumptions, (2_000_000, 60))
}
