//! `kassay generate`: generates a suite for a kernel.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use kassay_base::error::{Error, Result};
use kassay_ir::kernel::compile;
use kassay_model::kernel_files;
use kassay_results::report::text;

use super::interrupt::interruptible;
use super::options::{ExecutionFlags, Format, KernelFlags, OutputFlags, shown};
use super::several;
use crate::api::{GenerateOptions, Goal, OpenOptions, are_several, generate, generate_all};

/// Generate suites that cover kernels
#[derive(Debug, Args)]
pub struct GenerateArgs {
    #[arg(id = "kernel_file", value_name = "KERNEL", required_unless_present = "from", help = kernels_help())]
    pub kernel_files: Vec<PathBuf>,
    /// A suite of the kernel, such as a captured one: begin with its launches, and keep to what they have in common
    #[arg(long, value_name = "SUITE")]
    pub from: Option<PathBuf>,
    /// Folder for suite.toml, its data, interface.toml and generate.json; of several kernels, with a folder for each.
    /// Created if it does not exist
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub folder: PathBuf,
    /// Goal of the search
    #[arg(long, value_enum, default_value_t)]
    pub goal: GoalFlag,
    /// With --goal mutants: operators, as for kassay mutate
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub operators: String,
    /// With --goal mutants: draw N mutants instead of using all
    #[arg(long, value_name = "N")]
    pub sample: Option<u64>,
    /// Time limit for the command in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = budget)]
    pub budget: f64,
    /// Limit on the number of launches; with it, equal seeds give equal suites on every machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_execs: Option<u64>,
    /// Stop after N attempts in a row without progress, or after a quarter of that once all goals are covered
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    pub attempts: u64,
    /// Add random tests until there are N, whether or not they add coverage
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub tests: u64,
    /// Do not use the solver for what fuzzing leaves uncovered
    #[arg(long)]
    pub no_smt: bool,
    /// Do not fuzz; only make the initial launches
    #[arg(long)]
    pub no_fuzz: bool,
    /// Format of the result on standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Resume an interrupted search from its journal
    #[arg(long)]
    pub resume: bool,
    /// Print no progress, notes or text; with --format json the result is still printed
    #[arg(long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more: every goal and test, and clang's warnings
    #[arg(short = 'v', long)]
    pub verbose: bool,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten)]
    pub execution: ExecutionFlags,
}

/// Values of `--goal`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum GoalFlag {
    /// Outcomes of branches
    #[default]
    Branch,
    /// Test vectors of decisions with two conditions or more (MC/DC), and outcomes of branches
    Mcdc,
    /// Mutants that survive the tests for the branches
    Mutants,
}

/// Parses the seconds of a `--budget`.
pub(super) fn budget(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s > 0.0 && s <= 1e6 => Ok(s),
        Ok(_) => Err("not between 0 and 1000000".into()),
        Err(e) => Err(e.to_string()),
    }
}

/// Generates a suite, writes it with the result, and prints the result. Returns the exit code.
///
/// # Errors
/// `Caller` if the kernel, the flags or the interface file are wrong; those of the device, the journal and the folder.
pub fn run(args: &GenerateArgs) -> Result<u8> {
    if let Some(file) = args.kernel_files.iter().find(|file| is_suite(file)) {
        let what = format!("{} is a suite, but kassay generate takes a kernel", file.display());
        return Err(
            Error::caller(what).help("give the kernel's file, or begin with the suite's launches: --from SUITE")
        );
    }
    let options = args.options();
    let output = args.output();
    let mut open = args.open();
    if are_several(&args.kernel_files) {
        return run_several(args, &open, &options, &output);
    }
    let kernel_file = args.kernel_files.first();
    let file = args.folder.join("interface.toml");
    // OpenCL C tells its interface, with which the file has to agree.
    let tells = |kernel: &Path| compile::is_source(kernel);
    if open.interface.is_none() && kernel_file.is_some_and(|k| !tells(k)) && file.exists() {
        open = open.interface(Some(file));
    }
    options.check(&open, &args.folder)?;
    let opened = match (&args.from, kernel_file) {
        (Some(suite), Some(kernel)) => open.open_for(suite, kernel)?,
        (Some(suite), None) => open.open(suite)?,
        (None, Some(kernel)) => open.open_kernel(kernel)?,
        (None, None) => return Err(Error::caller("no kernel is named").help("give the kernel's file, or --from SUITE")),
    };
    let result = generate(&opened, &args.folder, &options)?;
    let (sources, suite) = (opened.sources(), args.folder.join("suite.toml"));
    output.deliver(&result, |style| {
        let view = text::GenerateView { verbose: args.verbose, suite: shown(&suite) };
        text::generate(&result, &view, &|file| sources.text(file), style)
    })?;
    Ok(0)
}

/// Generates suites for several kernels, each with the whole budget.
fn run_several(args: &GenerateArgs, open: &OpenOptions, options: &GenerateOptions, output: &OutputFlags) -> Result<u8> {
    several::refuse(&[("--from", args.from.is_some()), ("--interface", open.interface.is_some())])?;
    let help = "what was found is kept: the same command with --resume goes on";
    let set = interruptible(Some(help), || generate_all(&args.kernel_files, open, &args.folder, options))?;
    several::deliver(output, &set, |sources, style| text::generate_set(&set, args.verbose, sources, style))?;
    Ok(several::exit_code(output, &set.failed, false))
}

/// Returns whether a file's name is that of a suite.
fn is_suite(file: &Path) -> bool {
    let extension = file.extension().map(|e| e.to_ascii_lowercase());
    extension.is_some_and(|e| e == "toml" || e == "json")
}

impl GenerateArgs {
    fn output(&self) -> OutputFlags {
        OutputFlags { output: None, format: self.format, quiet: self.quiet, verbose: self.verbose }
    }

    pub(super) fn open(&self) -> OpenOptions {
        let open = self.execution.apply(self.kernel.open_options(self.output().terminal()));
        open.budget(Some(self.options().budget))
    }

    pub(super) fn options(&self) -> GenerateOptions {
        GenerateOptions::new()
            .goal(self.goal.into())
            .operators(self.operators.clone())
            .sample(self.sample)
            .budget(Duration::from_secs_f64(self.budget))
            .max_execs(self.max_execs)
            .attempts(self.attempts)
            .tests(self.tests)
            .smt(!self.no_smt)
            .fuzz(!self.no_fuzz)
            .resume(self.resume)
    }
}

impl From<GoalFlag> for Goal {
    fn from(flag: GoalFlag) -> Goal {
        match flag {
            GoalFlag::Branch => Goal::Branch,
            GoalFlag::Mcdc => Goal::Mcdc,
            GoalFlag::Mutants => Goal::Mutants,
        }
    }
}

fn kernels_help() -> String {
    let kernels = kernel_files::all_listed();
    format!(
        "Kernels ({kernels}), or folders with sources of kernels in them; with --from, that of the suite if left out"
    )
}
