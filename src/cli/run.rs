//! `kassay run`: runs the tests of a suite and compares their outputs with the expectations.

use std::path::PathBuf;

use clap::Args;

use super::options::{ExecutionFlags, KernelFlags, OutputFlags};
use crate::api::{self, RunOptions, StartWorkers};
use crate::error::Result;
use crate::report::text;

/// Run a suite's tests and compare their outputs with the expectations
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A suite file, TOML or JSON
    pub suite: PathBuf,
    /// Write the outputs of each test to DIR/<test>/<argument>.npy
    #[allow(rustdoc::invalid_html_tags, reason = "the text of --help")]
    #[arg(long, value_name = "DIR")]
    pub save_outputs: Option<PathBuf>,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten)]
    pub execution: ExecutionFlags,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// Runs the tests and delivers the result. Returns the exit code: 1 if a test failed or did not complete.
///
/// # Errors
/// Those of the suite, the kernel and the device.
pub fn run(args: &RunArgs) -> Result<u8> {
    args.output.check()?;
    let options = args.options();
    options.check()?;
    let open = args.execution.apply(args.kernel.open_options(args.output.terminal()));
    let opened = open.syntax_tree(false).start(StartWorkers::PerTest).open(&args.suite)?;
    let result = api::run(&opened, &options)?;
    args.output.deliver(&result, |style| text::run(&result, style))?;
    Ok(u8::from(result.summary.failed + result.summary.broken > 0))
}

impl RunArgs {
    pub(super) fn options(&self) -> RunOptions {
        RunOptions::new().save_outputs(self.save_outputs.clone())
    }
}
