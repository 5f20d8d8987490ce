//! What a mutation campaign is given: a kernel with its tests, and the parameters.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_ir::kernel::ast::Ast;
use kassay_ir::kernel::source::Sources;
use kassay_results::result::mutate::MutateResult;
use kassay_results::result::shard::Shard;
use kassay_suite::resolve::Test;

use super::content_hashes::ContentHashes;
use crate::coverage::build::KernelUnderTest;
use crate::mutation::catalogue::changed_lines::ChangedLines;
use crate::mutation::catalogue::level::MutationLevel;
use crate::mutation::catalogue::selection::Selection;
use crate::mutation::catalogue::source_level::SourceMutants;
use crate::mutation::run::engine::{Batching, Strategy};

/// The parameters of a campaign.
#[derive(Debug, Clone)]
pub struct Request {
    /// The operators, classes and places that are wanted.
    pub selection: Selection,
    /// 1 or 2.
    pub order: u32,
    /// Size of the random sample: of mutants with order 1, of pairs with order 2. `None`: no sampling.
    pub sample: Option<u64>,
    /// The lines whose mutants are wanted; `None`: all.
    pub changes: Option<ChangedLines>,
    /// Runs per mutant and test. `None`: 1, or 3 if the kernel uses atomics, barriers or local memory.
    pub repeats: Option<u32>,
    /// Whether a mutant is run on further tests once a test has detected it.
    pub full_matrix: bool,
    /// Fuel and time as a multiple of the original's.
    pub factor: f64,
    /// How mutants are distributed over modules.
    pub strategy: Strategy,
    /// The level that mutants are made at.
    pub level: MutationLevel,
    /// The part of the mutants that this run takes; `None`: all.
    pub shard: Option<Shard>,
    /// What random samples follow from.
    pub seed: u64,
    /// Executors of the device; threads of the simulator.
    pub jobs: u32,
    /// Wall-clock limit of one run of the original.
    pub timeout: Duration,
    /// Whether to skip pairs of a mutant and a test that the infection run rules out. Has no effect with a full matrix.
    pub prune: bool,
    /// Whether a launch may hold several runs.
    pub batching: Batching,
    /// When to stop: mutants that are undecided by then stay pending, and those without a proof count as distinct.
    pub end: Option<Instant>,
    /// Whether survivors that no data could kill in launches of the tests' sizes are distinguished.
    pub launch_facts: bool,
    /// Whether the solver is also asked about killed mutants: a proof that one of them is equivalent is a bug
    /// in kassay.
    pub doubt: bool,
    /// Maximum number of instructions that are normalised before anything runs; with more to normalise, mutants
    /// run first.
    pub most_before: u64,
    /// The result of an earlier run, from which fates are taken over.
    pub baseline: Option<Arc<MutateResult>>,
}

/// A kernel with its tests.
pub struct CampaignContext<'a, 'c> {
    /// The kernel in canonical form.
    pub under_test: &'a KernelUnderTest<'c>,
    /// Syntax tree of the source, if there is source.
    pub ast: Option<&'a Ast>,
    /// The texts of its files.
    pub sources: &'a Sources,
    /// The tests, in the order of the suite.
    pub tests: &'a [Test],
    /// The most dimensions of a launch, of these tests or of others for which the mutants are to be the same.
    pub dimensions: u32,
    /// Path of the source as the user gave it.
    pub source: String,
    /// The mutants of the source's text; `None`: those of the canonical form are used.
    pub source_mutants: Option<&'a SourceMutants>,
    /// Of the tests.
    pub contents: ContentHashes,
}

/// Returns the most dimensions of these tests' launches.
pub fn dimensions(tests: &[Test]) -> u32 {
    tests.iter().map(|test| test.launch.range.dims).max().unwrap_or(0)
}
