//! What the program promises to those who call it: messages, keys of results, exit codes. Each page `tests/cli/NAME.md`
//! is a test, NAME, that runs the page's commands. `CONTRIBUTING.md` says how pages are written.

#[path = "../common/mod.rs"]
mod common;
#[path = "../pages/mod.rs"]
mod pages;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::common::testdata::{files_below, name, repository};
use crate::pages::runner::{self, Unshown};

fn main() -> ExitCode {
    let pages = files_below(&repository("tests/cli"), "md");
    let trials = pages.iter().map(|page| trial(&name(page))).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The test of a page.
fn trial(file: &str) -> Trial {
    let path = format!("tests/cli/{file}");
    Trial::test(file.trim_end_matches(".md").replace('-', "_"), move || {
        runner::run(&path, Unshown::Nothing);
        Ok::<(), Failed>(())
    })
}
