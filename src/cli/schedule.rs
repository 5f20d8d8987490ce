//! `kassay schedule`: tests whether outputs depend on the order in which work-groups and work-items run.

use std::path::PathBuf;

use clap::Args;
use kassay_base::error::Result;
use kassay_results::report::text;

use super::interrupt::interruptible;
use super::options::{ExecutionFlags, KernelFlags, OutputFlags};
use super::several;
use crate::api::{OpenOptions, Replay, ScheduleOptions, StartWorkers, are_several, schedule, schedule_all};

/// Run the tests of suites under many orders of work-groups and work-items
#[derive(Debug, Args)]
pub struct ScheduleArgs {
    /// Suite files, TOML or JSON, or folders with some in them
    #[arg(required = true, value_name = "SUITE")]
    pub suites: Vec<PathBuf>,
    /// Number of schedules per test
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub schedules: u32,
    /// Runs of each schedule; default 20, or 1 on the simulator, where all runs of a schedule are identical
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeats: Option<u32>,
    /// Run a schedule of an earlier result again, by its index, together with the one that it was compared with
    #[arg(long, value_name = "RESULT:INDEX")]
    pub replay: Option<Replay>,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten)]
    pub execution: ExecutionFlags,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// Runs the tests under several schedules and delivers the result. Returns the exit code: 1 if some test is not stable.
///
/// # Errors
/// Errors of the suite, the kernel and the device; `Caller` if the device does not support a schedule.
pub fn run(args: &ScheduleArgs) -> Result<u8> {
    let _claim = args.output.claim()?;
    let open = args.open();
    if are_several(&args.suites) {
        several::refuse(&[("--replay", args.replay.is_some())])?;
        let set = interruptible(None, || schedule_all(&args.suites, &open, &args.options()))?;
        args.output.deliver(&set, |style| text::schedule_set(&set, args.output.verbose, style))?;
        return Ok(several::exit_code(&args.output, &set.failed, set.total.stable < set.total.total));
    }
    let opened = open.syntax_tree(false).open(&args.suites[0])?;
    let result = schedule(&opened, &args.options())?;
    args.output.deliver(&result, |style| text::schedule(&result, args.output.verbose, style))?;
    Ok(u8::from(result.summary.stable < result.summary.total))
}

impl ScheduleArgs {
    pub(super) fn open(&self) -> OpenOptions {
        self.execution.apply(self.kernel.open_options(self.output.terminal())).start(StartWorkers::PerTest)
    }

    pub(super) fn options(&self) -> ScheduleOptions {
        ScheduleOptions::new().schedules(self.schedules).repeats(self.repeats).replay(self.replay.clone())
    }
}
