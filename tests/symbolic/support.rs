//! Kernels with marks for all their outcomes.

use std::path::Path;
use std::time::{Duration, Instant};

use inkwell::context::Context;
use kassay::cfg::sites::SiteKind;
use kassay::coverage::build::{self, File};
use kassay::instrument::marks;
use kassay::kernel::compile;
use kassay::kernel::options::KernelOptions;
use kassay::program::{promoted, reader};
use kassay::solve::query::Limits;
use kassay::symbolic::infeasible::{Assumption, Fate, prove};

/// An outcome of a site and what was found of it.
#[derive(Debug)]
pub struct Judged {
    pub site: String,
    pub kind: SiteKind,
    pub line: u32,
    pub label: String,
    pub fate: Fate,
}

/// The fates of all outcomes of branches, conditions, loops and barriers.
pub fn judge(
    path: &Path,
    entry: Option<&str>,
    options: &KernelOptions,
    assumptions: &[Assumption],
    (rlimit, seconds): (u32, u64),
) -> Vec<Judged> {
    let loaded = compile::load(path, options, false).unwrap();
    let context = Context::create();
    let file = File::parse(&context, &loaded).unwrap();
    let entry = file.choose(entry).unwrap();
    let sources = build::sources_of(path);
    let assay = file.assay(&entry, &loaded, &sources).unwrap();
    let kinds = [SiteKind::Branch, SiteKind::Condition, SiteKind::Loop, SiteKind::Barrier];
    let watched = assay.sites.sites.iter().enumerate().filter(|(_, s)| kinds.contains(&s.kind));
    let wanted: Vec<(usize, usize)> =
        watched.flat_map(|(s, site)| (0..site.outcomes.len()).map(move |o| (s, o))).collect();
    let module = assay.module.clone();
    marks::weave(&module, &assay.sites, &wanted).unwrap();
    let promoted = promoted::promote(&module, &assay.entry, &assay.machine).unwrap();
    let program = reader::read(&promoted, &assay.entry).unwrap();
    let numbers: Vec<u32> = (0..wanted.len() as u32).collect();
    let limits = Limits { rlimit, end: Some(Instant::now() + Duration::from_secs(seconds)) };
    let fates = prove(&program, &assay.interface, &numbers, assumptions, &sources, &limits);
    let judged = wanted.into_iter().zip(fates).map(|((s, o), fate)| {
        let site = &assay.sites.sites[s];
        let line = site.location.as_ref().map_or(0, |l| l.line);
        Judged { site: site.id.clone(), kind: site.kind, line, label: site.outcomes[o].label.clone(), fate }
    });
    judged.collect()
}

/// The same of a source text.
pub fn judge_source(source: &str, options: &KernelOptions, assumptions: &[Assumption]) -> Vec<Judged> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    std::fs::write(&path, source).unwrap();
    judge(&path, None, options, assumptions, (2_000_000, 60))
}
