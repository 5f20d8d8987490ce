//! `kassay check`: finds races, barrier divergence, memory faults and redundant barriers.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use kassay_base::error::{Error, Result};
use kassay_ir::kernel::compile;
use kassay_model::kernel_files;
use kassay_results::report::text::{self, CheckView};
use kassay_results::result::check::CheckResult;
use kassay_results::result::proofs::are_race_free;
use kassay_results::result::store;

use super::capture::{ProgramFlags, size};
use super::interrupt::interruptible;
use super::options::{ExecutionFlags, Format, KernelFlags, OF_COMPILING, OutputFlags};
use super::sandbox;
use super::several;
use crate::api::{
    CheckOptions, CheckProgramOptions, KernelText, OpenOptions, Proving, check, check_all, check_program, texts_beside,
};

/// Look for races, barrier divergence, memory faults and redundant barriers
#[derive(Debug, Args)]
pub struct CheckArgs {
    #[arg(id = "target", value_name = "SUITE|KERNEL", required_unless_present = "command", conflicts_with = "command", help = targets_help())]
    pub targets: Vec<PathBuf>,
    /// A host program and its arguments, after `--`: its launches are the inputs
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = FOR_FILES.into_iter().chain(OF_COMPILING))]
    pub command: Vec<OsString>,
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
    /// Prove as much as the time limit allows: no races, convergence of barriers and bounds of arrays for all launches.
    /// Without this flag, a tenth of it
    #[arg(long, conflicts_with = "no_prove")]
    pub prove: bool,
    /// Do not try to prove anything
    #[arg(long)]
    pub no_prove: bool,
    /// Exit with 1 unless it is proved that no launch races, under a condition at most; implies --prove
    #[arg(long, conflicts_with = "no_prove")]
    pub require_proof: bool,
    /// Do not look for redundant barriers, which takes further runs without each barrier
    #[arg(long)]
    pub no_redundant: bool,
    /// Time limit for the command in seconds, with a program from its end on; notes say what was left undone
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = super::generate::budget)]
    pub budget: f64,
    /// Also search for inputs in which work-items access the same addresses
    #[arg(long)]
    pub evolve: bool,
    /// Exit with 1 if the verdict is `conditional`, too: something was found, but only in launches that a host need not
    /// make
    #[arg(long)]
    pub strict: bool,
    /// Write a suite that reproduces each finding to DIR/<n>/suite.toml
    #[allow(rustdoc::invalid_html_tags, reason = "the text of --help")]
    #[arg(long, value_name = "DIR")]
    pub reproduce: Option<PathBuf>,
    /// Look for changes of the source that mend what was found (barriers, their flags and places, atomics), each
    /// checked and, where that can be, proved; show them as a patch, or write that to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub fix: Option<Option<PathBuf>>,
    /// Make these changes in the kernel's file
    #[arg(long)]
    pub write: bool,
    /// Run every input under N schedules
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub schedules: u32,
    /// Assume that N consecutive work-items of a work-group run in lockstep, as programs written for warps rely on:
    /// they race only by one instruction, or on different sides of a branch
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub warp_sync: Option<u32>,
    #[command(flatten)]
    pub program: ProgramFlags,
    #[command(flatten)]
    pub launches: LaunchFlags,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten)]
    pub execution: ExecutionFlags,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// Flags that say nothing about a host program, which has its own options and launches.
const FOR_FILES: [&str; 9] = ["global", "local", "evolve", "fix", "write", "schedules", "device", "seed", "timeout"];

/// Flags for the launches of a host program.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Program options")]
pub struct LaunchFlags {
    /// Check at most N launches of each kernel of a program: the first of each shape, and the 1st, 2nd, 4th, 8th …
    #[arg(long, value_name = "N", default_value_t = 8, conflicts_with = "target", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_launches: u64,
    /// Keep at most so much data of all launches of a program together, such as 500M or 2GiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", conflicts_with = "target", value_parser = size)]
    pub max_bytes: u64,
    /// Check launches of a program's kernels only whose names match a shell pattern; repeatable
    #[arg(long = "kernel", value_name = "GLOB", conflicts_with = "target")]
    pub kernels: Vec<String>,
    /// Keep the kernels of a program and the launches that were checked as suites in a folder
    #[arg(long, value_name = "DIR", conflicts_with = "target")]
    pub keep: Option<PathBuf>,
}

/// Checks a kernel and delivers the result. Returns the exit code: 1 unless the verdict is `clean`, or
/// `conditional` without `--strict`.
///
/// # Errors
/// Errors of the suite and the kernel; `Caller` if the flags are wrong.
pub fn run(args: &CheckArgs) -> Result<u8> {
    let _claim = args.output.claim()?;
    let options = args.options();
    let open = args.open();
    options.check()?;
    let [target, others @ ..] = &args.targets[..] else { return program(args, &open, &options) };
    args.program.refuse()?;
    if !others.is_empty() || target.is_dir() {
        return several(args, &open, &options);
    }
    let opened = match compile::is_kernel(target) {
        true => open.open_kernel(target)?,
        false => {
            options.check_for_suite()?;
            open.open(target)?
        }
    };
    let before = (args.writes()).then(|| KernelText::of(&opened)).transpose()?;
    if let Some(Some(patch)) = &args.fix {
        // Before the check, whose result would be lost.
        fs::OpenOptions::new().create(true).append(true).open(patch).map_err(|e| not_written(patch, &e))?;
    }
    let result = check(&opened, &options)?;
    let written = before.map_or(Ok(()), |before| -> Result<()> {
        if let Some(Some(patch)) = &args.fix {
            let text = before.patch(&result.repairs)?;
            fs::write(patch, text).map_err(|e| not_written(patch, &e))?;
        }
        if args.write {
            before.write(&opened, &result.repairs)?;
        }
        Ok(())
    });
    let (sources, view) = (opened.sources(), CheckView { verbose: args.output.verbose });
    args.output.deliver(&result, |style| text::check(&result, view, &|file| sources.text(file), style))?;
    // A file that has changed meanwhile is left as it is, and the result is shown all the same.
    written?;
    Ok(u8::from(!args.passes(&result)))
}

/// Checks several suites and kernels, each with the whole budget.
fn several(args: &CheckArgs, open: &OpenOptions, options: &CheckOptions) -> Result<u8> {
    if args.writes() {
        return Err(Error::caller("--fix=FILE and --write are for one kernel or suite")
            .help("give one, or --fix alone, which shows the changes of all"));
    }
    if !args.targets.iter().all(|target| compile::is_kernel(target)) {
        options.check_for_suite()?;
    }
    let set = interruptible(None, || check_all(&args.targets, open, options))?;
    several::deliver(&args.output, &set, |sources, style| {
        text::check_set(&set, CheckView { verbose: args.output.verbose }, sources, style)
    })?;
    let passes = set.total.verdict.passes(args.strict) && set.kernels.iter().all(|kernel| args.passes(&kernel.result));
    Ok(several::exit_code(&args.output, &set.failed, !passes))
}

/// Checks the launches of a host program. Standard output is the program's, so the text goes to standard error.
fn program(args: &CheckArgs, open: &OpenOptions, options: &CheckOptions) -> Result<u8> {
    sandbox::refuse("host programs")?;
    let (result, texts) = check_program(&args.command, open, options, &args.program_options())?;
    if let Some(path) = &args.output.output {
        store::write(&result, path)?;
    }
    match args.output.format {
        Format::Json => args.output.show(&result, |_| String::new())?,
        Format::Text => {
            let view = CheckView { verbose: args.output.verbose };
            args.output.show_on_stderr(|style| text::check_set(&result, view, &|file| texts.text(file), style));
        }
    }
    let passes =
        result.total.verdict.passes(args.strict) && result.kernels.iter().all(|kernel| args.passes(&kernel.result));
    Ok(u8::from(!passes))
}

impl CheckArgs {
    /// Whether there is nothing to complain about.
    fn passes(&self, result: &CheckResult) -> bool {
        result.verdict.passes(self.strict) && (!self.require_proof || are_race_free(&result.proofs, false))
    }

    /// Whether changes are written to a file.
    fn writes(&self) -> bool {
        self.write || matches!(self.fix, Some(Some(_)))
    }

    pub(super) fn open(&self) -> OpenOptions {
        let open = self.execution.apply(self.kernel.open_options(self.output.terminal()));
        open.budget(Some(self.options().budget))
    }

    pub(super) fn program_options(&self) -> CheckProgramOptions {
        let texts = self.output.output.as_deref().map(texts_beside);
        CheckProgramOptions::new()
            .shown_as_gpu(self.program.shown_as_gpu)
            .max_launches(self.launches.max_launches)
            .max_bytes(self.launches.max_bytes)
            .kernels(self.launches.kernels.clone())
            .keep(self.launches.keep.clone())
            .texts(texts)
    }

    pub(super) fn options(&self) -> CheckOptions {
        CheckOptions::new()
            .global(self.global.clone())
            .local(self.local.clone())
            .amplify(!self.no_amplify)
            .prove(match (self.no_prove, self.prove || self.require_proof) {
                (true, _) => Proving::Never,
                (false, true) => Proving::Long,
                (false, false) => Proving::Briefly,
            })
            .redundant(!self.no_redundant)
            .measure(self.output.verbose)
            .budget(Duration::from_secs_f64(self.budget))
            .evolve(self.evolve)
            .reproduce(self.reproduce.clone())
            .fix(self.fix.is_some() || self.write)
            .schedules(self.schedules)
            .warp_sync(self.warp_sync)
    }
}

fn targets_help() -> String {
    let kernels = kernel_files::all_listed();
    format!(
        "Suite files (TOML or JSON), whose tests are the inputs, kernels ({kernels}), for which inputs are generated, or folders with suites in them"
    )
}

fn not_written(patch: &Path, why: &std::io::Error) -> Error {
    Error::environment(format!("{} cannot be written: {why}", patch.display()))
        .help("give --fix=FILE the name of a file in a folder that exists")
}
