//! Checks the book (`docs/`): what its pages show is what the program does, and what they refer to is there.
//!
//! A block ```` ```console ```` is run as a reader would run it. `CONTRIBUTING.md` says how pages are written.

mod blocks;
#[path = "../common/mod.rs"]
mod common;
mod contents;
mod flags;
mod not_run;
#[path = "../pages/mod.rs"]
mod pages;

use pages::page;
use pages::runner::{self, Unshown};

/// Makes a test of each page that shows commands, so that they run side by side.
macro_rules! pages {
    ($($test:ident: $path:literal,)*) => {
        /// The pages whose commands are run.
        const RUN: &[&str] = &[$($path),*];

        $(#[test]
        fn $test() {
            runner::run($path, Unshown::LeftOut);
        })*
    };
}

pages! {
    readme: "README.md",
    bring_your_own_host: "docs/bring-your-own-host.md",
    check: "docs/check.md",
    ci: "docs/ci.md",
    clusters: "docs/clusters.md",
    compare: "docs/compare.md",
    cover: "docs/cover.md",
    cuda: "docs/cuda.md",
    devices: "docs/devices.md",
    generate: "docs/generate.md",
    gpu: "docs/gpu.md",
    hosts: "docs/hosts.md",
    how_to_race: "docs/howto-race.md",
    how_to_survivor: "docs/howto-survivor.md",
    how_to_slow_kernel: "docs/howto-slow-kernel.md",
    how_to_cluster: "docs/howto-cluster.md",
    inspect: "docs/inspect.md",
    introduction: "docs/introduction.md",
    merge: "docs/merge.md",
    mutate: "docs/mutate.md",
    report: "docs/report.md",
    results: "docs/results.md",
    run: "docs/run.md",
    schedule: "docs/schedule.md",
    setup: "docs/setup.md",
    spirv: "docs/spirv.md",
    tutorial: "docs/tutorial.md",
}

#[test]
fn commands_of_every_page_are_run() {
    let with_commands = page::all().into_iter().filter(|page| page.blocks.iter().any(|block| block.is_run()));
    let missing: Vec<String> =
        with_commands.map(|page| page.path).filter(|path| !RUN.contains(&path.as_str())).collect();
    assert!(missing.is_empty(), "the list of pages in tests/book/main.rs lacks {missing:?}");
}
