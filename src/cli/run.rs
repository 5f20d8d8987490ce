//! `kassay run`: runs the tests of a suite and compares their outputs with the expectations.

use std::path::PathBuf;

use clap::Args;
use kassay_base::error::Result;
use kassay_results::report::text;

use super::interrupt::interruptible;
use super::options::{ExecutionFlags, KernelFlags, OutputFlags};
use super::several;
use crate::api::{self, OpenOptions, RunOptions, StartWorkers};

/// Run the tests of suites and compare their outputs with the expectations
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Suite files, TOML or JSON, or folders with some in them
    #[arg(required = true, value_name = "SUITE")]
    pub suites: Vec<PathBuf>,
    /// Write the outputs of each test to DIR/<test>/<argument>.npy; of several suites, into a folder of DIR for each
    #[allow(rustdoc::invalid_html_tags, reason = "the text of --help")]
    #[arg(long, value_name = "DIR")]
    pub save_outputs: Option<PathBuf>,
    /// Also run each test with the kernel as the driver compiles its text, and compare
    #[arg(long)]
    pub against_source: bool,
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
/// Errors of the suite, the kernel and the device.
pub fn run(args: &RunArgs) -> Result<u8> {
    let _claim = args.output.claim()?;
    let options = args.options();
    options.check()?;
    let open = args.open();
    if api::are_several(&args.suites) {
        let set = interruptible(None, || api::run_all(&args.suites, &open, &options))?;
        args.output.deliver(&set, |style| text::run_set(&set, args.output.verbose, style))?;
        let differs = set.kernels.iter().any(|kernel| kernel.result.differs_from_source());
        return Ok(several::exit_code(&args.output, &set.failed, set.total.failed + set.total.broken > 0 || differs));
    }
    let opened = open.syntax_tree(false).open(&args.suites[0])?;
    let result = api::run(&opened, &options)?;
    args.output.deliver(&result, |style| text::run(&result, style))?;
    Ok(u8::from(result.summary.failed + result.summary.broken > 0 || result.differs_from_source()))
}

impl RunArgs {
    pub(super) fn open(&self) -> OpenOptions {
        self.execution.apply(self.kernel.open_options(self.output.terminal())).start(StartWorkers::PerTest)
    }

    pub(super) fn options(&self) -> RunOptions {
        RunOptions::new().save_outputs(self.save_outputs.clone()).against_source(self.against_source)
    }
}
