//! `kassay check`: finds races, barrier divergence, memory faults and redundant barriers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::options::{ExecutionFlags, KernelFlags, OutputFlags};
use crate::api::{CheckOptions, check};
use crate::error::Result;
use crate::report::text::{self, CheckView};
use crate::result::check::Verdict;

/// Look for races, barrier divergence, memory faults and redundant barriers
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A suite file (TOML or JSON), whose tests are the inputs, or a kernel (.cl, .clcpp, .ll, .bc, .spv, .spvasm), for which
    /// inputs are generated
    #[arg(value_name = "SUITE|KERNEL")]
    pub target: PathBuf,
    /// Global work size of the launches generated for a kernel, such as 256,256; if left out, several small ones
    /// are tried
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    pub global: Vec<u64>,
    /// Work-group size of the launches generated for a kernel
    #[arg(long, value_name = "SIZES", value_delimiter = ',', requires = "global", value_parser = clap::value_parser!(u64).range(1..))]
    pub local: Vec<u64>,
    /// Do not determine the input values for which a clean verdict holds
    #[arg(long)]
    pub no_amplify: bool,
    /// Do not look for redundant barriers, which takes further runs without each barrier
    #[arg(long)]
    pub no_redundant: bool,
    /// Time limit for the command in seconds; notes say what was left undone
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = super::generate::budget)]
    pub budget: f64,
    /// Also search for inputs in which work-items access the same addresses
    #[arg(long)]
    pub evolve: bool,
    /// Write a suite that reproduces each finding to DIR/<n>/suite.toml
    #[allow(rustdoc::invalid_html_tags, reason = "the text of --help")]
    #[arg(long, value_name = "DIR")]
    pub reproduce: Option<PathBuf>,
    /// Run every input under N schedules
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub schedules: u32,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten)]
    pub execution: ExecutionFlags,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// Checks a kernel and delivers the result. Returns the exit code: 1 unless the verdict is `clean`.
///
/// # Errors
/// Those of the suite and the kernel; `Caller` if the flags are wrong.
pub fn run(args: &CheckArgs) -> Result<u8> {
    args.output.check()?;
    let options = args.options();
    let open = args.execution.apply(args.kernel.open_options(args.output.terminal())).budget(Some(options.budget));
    options.check(&open)?;
    let opened = match is_kernel(&args.target) {
        true => open.open_kernel(&args.target)?,
        false => {
            options.check_for_suite()?;
            open.open(&args.target)?
        }
    };
    let result = check(&opened, &options)?;
    let (sources, view) = (opened.sources(), CheckView { verbose: args.output.verbose });
    args.output.deliver(&result, |style| text::check(&result, view, &|file| sources.text(file), style))?;
    Ok(u8::from(result.verdict != Verdict::Clean))
}

impl CheckArgs {
    pub(super) fn options(&self) -> CheckOptions {
        CheckOptions::new()
            .global(self.global.clone())
            .local(self.local.clone())
            .amplify(!self.no_amplify)
            .redundant(!self.no_redundant)
            .budget(Duration::from_secs_f64(self.budget))
            .evolve(self.evolve)
            .reproduce(self.reproduce.clone())
            .schedules(self.schedules)
    }
}

fn is_kernel(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_ascii_lowercase());
    ["cl", "ll", "bc", "spv", "spvasm"].iter().any(|kernel| extension.as_deref() == Some(kernel.as_ref()))
}
