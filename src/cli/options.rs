//! Defines the flags that several commands share, and delivers results.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use kassay_base::cache;
use kassay_base::error::{Error, Result};
use kassay_base::files::OutputLock;
use kassay_base::json::{self, Layout};
use kassay_judge::coverage::build::Level;
use kassay_judge::mutation::catalogue::level::MutationLevel;
use kassay_model::options::INSTANTIATE;
use kassay_results::report::Style;
use kassay_results::result::store;
use kassay_run::exec::DeviceRequest;
use kassay_run::exec::kinds::DEVICE_HELP;
use serde::Serialize;

use super::sandbox;
use super::terminal::Terminal;
use crate::api::OpenOptions;

/// Flags for compiling the kernel.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Kernel options")]
pub struct KernelFlags {
    /// The kernel function; required only if the file has several
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Declare what the module does not tell of the kernel's arguments
    #[arg(long, value_name = "FILE")]
    pub interface: Option<PathBuf>,
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VAL]")]
    pub define: Vec<String>,
    /// Add a folder to the include path
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// OpenCL C version, such as CL1.2, CL2.0 or CL3.0
    #[arg(long, value_name = "VERSION")]
    pub cl_std: Option<String>,
    /// Version of C++ in which CUDA is read, such as c++20
    #[arg(long, value_name = "VERSION")]
    pub std: Option<String>,
    /// Make a kernel of CUDA's template with these arguments, such as 'reduce<float, 64>'
    #[arg(long, value_name = "NAME<ARGS>")]
    pub instantiate: Vec<String>,
    /// Pass an argument to clang unchanged
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub clang_arg: Vec<String>,
    /// Set a specialisation constant of a SPIR-V kernel, by its number or name
    #[arg(long, value_name = "CONSTANT=VALUE")]
    pub spec: Vec<String>,
    /// Have sub-groups of N work-items (1, 2, 4 … 64) in kernels that use them and require no size
    #[arg(long, value_name = "N")]
    pub sub_group_size: Option<u32>,
    /// Folder of the compilation cache, instead of $XDG_CACHE_HOME/kassay or ~/.cache/kassay
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    pub cache: Option<PathBuf>,
    /// Compile everything from scratch, without the cache
    #[arg(long)]
    pub no_cache: bool,
}

/// The flags of [`KernelFlags`] that say how a kernel is found and compiled; a host program says that itself.
pub(super) const OF_COMPILING: [&str; 10] =
    ["entry", "interface", "define", "include", "cl_std", "std", "instantiate", "clang_arg", "spec", "sub_group_size"];

impl KernelFlags {
    /// Returns the options for opening the kernel. Also opens the cache, which later compilations use.
    pub fn open_options(&self, terminal: Terminal) -> OpenOptions {
        if let Some(folder) = self.cache_folder() {
            cache::open(folder, cache_bound());
        }
        OpenOptions::new()
            .entry(self.entry.clone())
            .interface(self.interface.clone())
            .defines(self.define.clone())
            .include_dirs(self.include.clone())
            .cl_std(self.cl_std.clone())
            .clang_args(self.clang_arguments())
            .spec(self.spec.clone())
            .sub_group_size(self.sub_group_size)
            .sandbox(sandbox::is_on())
            .validate(terminal.is_verbose())
            // This program is kassay. The link leads to it even if its file has been replaced meanwhile.
            .worker(Some(PathBuf::from("/proc/self/exe")))
            .observer(Arc::new(terminal))
    }
}

impl KernelFlags {
    fn clang_arguments(&self) -> Vec<String> {
        let version = self.std.iter().map(|version| format!("-std={version}"));
        let instances = self.instantiate.iter().map(|instance| format!("{INSTANTIATE}{instance}"));
        version.chain(instances).chain(self.clang_arg.iter().cloned()).collect()
    }

    /// Returns the folder of the cache by flag, environment variable or default; `None` if the cache is off.
    fn cache_folder(&self) -> Option<PathBuf> {
        let variable = std::env::var_os(CACHE_VARIABLE).filter(|value| !value.is_empty());
        match (&self.cache, variable) {
            _ if self.no_cache => None,
            (Some(folder), _) => Some(folder.clone()),
            (None, Some(value)) if value == "off" => None,
            (None, Some(value)) => Some(value.into()),
            (None, None) => {
                let home = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
                let base = home("XDG_CACHE_HOME").or_else(|| home("HOME").map(|home| home.join(".cache")))?;
                Some(base.join("kassay"))
            }
        }
    }
}

/// Environment variable with the folder of the cache, or `off`.
const CACHE_VARIABLE: &str = "KASSAY_CACHE";
/// Environment variable with the size limit of the cache in MiB.
const CACHE_SIZE_VARIABLE: &str = "KASSAY_CACHE_MIB";

/// Returns the size limit of the cache in bytes.
fn cache_bound() -> u64 {
    let wanted = std::env::var(CACHE_SIZE_VARIABLE).ok().and_then(|value| value.parse::<u64>().ok());
    wanted.map_or(cache::BOUND, |mebibytes| mebibytes.saturating_mul(1 << 20))
}

/// The format of a result on standard output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Json,
}

/// Flags for the delivery of results.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output options")]
pub struct OutputFlags {
    /// Write the result as JSON to a file
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format of the result on standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print no progress, notes or text; with --format json the result is still printed
    #[arg(long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more: warnings, what was left out and why
    #[arg(short = 'v', long)]
    pub verbose: bool,
}

impl OutputFlags {
    /// Returns the terminal, as these flags let it be used.
    pub fn terminal(&self) -> Terminal {
        Terminal::new(self.quiet, self.verbose)
    }

    /// Checks before the work starts that the result file can be written, and keeps other processes from writing it as
    /// long as what is returned lives.
    ///
    /// # Errors
    /// `Caller` if the path is a folder, its folder does not exist, or another process writes it; `Environment` if its
    /// folder cannot be written.
    pub fn claim(&self) -> Result<Option<OutputLock>> {
        let Some(output) = self.output.as_deref() else { return Ok(None) };
        store::check_writable(output)?;
        OutputLock::of_file(output)
    }

    /// Writes the result file, if requested, and prints the text or the JSON.
    ///
    /// # Errors
    /// As [`store::write`]; `Environment` if standard output cannot be written.
    pub fn deliver<T: Serialize>(&self, result: &T, text: impl FnOnce(&Style) -> String) -> Result<()> {
        if let Some(path) = &self.output {
            store::write(result, path)?;
        }
        self.show(result, text)
    }

    /// Prints a text to standard error, for commands whose standard output is a program's.
    pub fn show_on_stderr(&self, text: impl FnOnce(&Style) -> String) {
        if !self.quiet {
            let style = Style { color: colours(std::io::stderr().is_terminal()), ..style() };
            // If it cannot be written, there is nowhere to report that.
            let _ = std::io::stderr().write_all(text(&style).as_bytes());
        }
    }

    /// Prints the text or the JSON of a result.
    ///
    /// # Errors
    /// `Environment` if standard output cannot be written.
    pub fn show<T: Serialize>(&self, result: &T, text: impl FnOnce(&Style) -> String) -> Result<()> {
        let printed = match self.format {
            Format::Text if self.quiet => return Ok(()),
            Format::Text => text(&style()),
            Format::Json => {
                let json = json::text(result, Layout::Indented);
                json.map_err(|e| Error::internal(format!("the result cannot be written as JSON: {e}")))? + "\n"
            }
        };
        print(&printed)
    }
}

/// Prints to standard output; a closed pipe (`| head`) is not an error.
///
/// # Errors
/// `Environment` if standard output cannot be written.
pub fn print(text: &str) -> Result<()> {
    match std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::environment(format!("standard output cannot be written: {e}")))
        }
        _ => Ok(()),
    }
}

/// Returns whether to use colours on a terminal.
fn colours(is_terminal: bool) -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    is_terminal && !no_color
}

/// Returns the style of text: coloured on a terminal unless `NO_COLOR` is set; as wide as `COLUMNS` says.
fn style() -> Style {
    let width = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).filter(|w| *w >= 40);
    Style { color: colours(std::io::stdout().is_terminal()), width: width.unwrap_or(Style::default().width) }
}

/// Flags for running tests.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Execution options")]
pub struct ExecutionFlags {
    #[arg(long, value_name = "DEVICE", default_value = "auto", help = DEVICE_HELP)]
    pub device: DeviceRequest,
    /// Seed for generated inputs
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Number of worker processes
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub jobs: u32,
    /// Time limit for a launch in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    pub timeout: f64,
}

impl ExecutionFlags {
    /// Adds the device, the seed, the number of workers and the time limit to options.
    pub fn apply(&self, options: OpenOptions) -> OpenOptions {
        options
            .device(self.device.clone())
            .seed(self.seed)
            .jobs(self.jobs)
            .timeout(Duration::from_secs_f64(self.timeout))
    }
}

pub(super) fn seconds(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s > 0.0 && s <= 86_400.0 => Ok(s),
        Ok(_) => Err("not between 0 and 86400".into()),
        Err(e) => Err(e.to_string()),
    }
}

/// Returns a path as shown in results.
pub fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Values of `--level`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum MutationLevelFlag {
    /// Operators of the source on its text, which clang compiles for each mutant
    Source,
    /// Operators of the source on clang's unoptimised output
    #[default]
    Canonical,
    /// Operators of the source after LLVM's optimisations of level 1
    #[value(name = "canonical:O1")]
    CanonicalO1,
    /// Operators of the source after LLVM's optimisations of level 2
    #[value(name = "canonical:O2")]
    CanonicalO2,
    /// Operators of the IR on clang's unoptimised output
    #[value(name = "ir:raw")]
    IrRaw,
    /// Operators of the IR after LLVM's optimisations of level 1
    #[value(name = "ir:O1")]
    IrO1,
    /// Operators of the IR after LLVM's optimisations of level 2
    #[value(name = "ir:O2")]
    IrO2,
    /// Operators of the IR after LLVM's optimisations of level 3
    #[value(name = "ir:O3")]
    IrO3,
}

impl From<MutationLevelFlag> for MutationLevel {
    fn from(flag: MutationLevelFlag) -> MutationLevel {
        match flag {
            MutationLevelFlag::Source => MutationLevel::Source,
            MutationLevelFlag::Canonical => MutationLevel::CANONICAL,
            MutationLevelFlag::CanonicalO1 => MutationLevel::Canonical(Level::O1),
            MutationLevelFlag::CanonicalO2 => MutationLevel::Canonical(Level::O2),
            MutationLevelFlag::IrRaw => MutationLevel::Ir(Level::Raw),
            MutationLevelFlag::IrO1 => MutationLevel::Ir(Level::O1),
            MutationLevelFlag::IrO2 => MutationLevel::Ir(Level::O2),
            MutationLevelFlag::IrO3 => MutationLevel::Ir(Level::O3),
        }
    }
}
