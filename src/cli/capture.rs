//! `kassay capture`: turns launches of an unmodified host program into suites.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use kassay_base::error::{Error, Result};
use kassay_results::report::text;
use kassay_run::host::Verify;

use super::options::{Format, KernelFlags, OutputFlags, seconds};
use super::sandbox;
use super::terminal::complain;
use crate::api::{CaptureOptions, capture};

/// Capture launches of an unmodified host program as suites
#[derive(Debug, Args)]
pub struct CaptureArgs {
    /// Folder for a suite of each kernel and capture.json; empty, of an earlier capture, or created
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub folder: PathBuf,
    /// The program and its arguments, after `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    #[command(flatten)]
    pub program: ProgramFlags,
    #[command(flatten)]
    pub verified: VerifyFlags,
    /// Keep at most N launches of each kernel: the first of each shape, and the 1st, 2nd, 4th, 8th …
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "all")]
    pub max_launches: u64,
    /// Keep at most so much data of all launches together, such as 500M or 2GiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    pub max_bytes: u64,
    /// Keep launches of kernels only whose names match a shell pattern; repeatable
    #[arg(long = "kernel", value_name = "GLOB")]
    pub kernels: Vec<String>,
    /// Keep every launch, as far as --max-bytes goes
    #[arg(long)]
    pub all: bool,
    /// Also keep launches that cover what no earlier one of their kernel has covered; kernels then run with probes
    #[arg(long, conflicts_with = "all")]
    pub sample_by_coverage: bool,
    /// Do not run the suites: they then expect what the launches left, bit for bit
    #[arg(long)]
    pub no_replay: bool,
    /// Run the program once more before, without kassay, and tell how long that takes: whatever it does, it does twice
    #[arg(long)]
    pub measure_native: bool,
    /// Time limit for a launch of a suite in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    pub timeout: f64,
    /// Number of kernels whose suites are made and run at a time
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub jobs: u32,
    /// Folder of the compilation cache, instead of $XDG_CACHE_HOME/kassay or ~/.cache/kassay
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    pub cache: Option<PathBuf>,
    /// Compile everything from scratch, without the cache
    #[arg(long)]
    pub no_cache: bool,
    /// Format of the result: text goes to standard error, because standard output is the program's; JSON to standard
    /// output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print no progress, notes or text; with --format json the result is still printed
    #[arg(long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more: warnings, every program
    #[arg(short = 'v', long)]
    pub verbose: bool,
}

/// Flags for running a host program.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Program options")]
pub struct ProgramFlags {
    /// Give the CPU device to a program that asks for a GPU where there is none
    #[arg(long = "as-gpu")]
    pub shown_as_gpu: bool,
}

/// What is compared when the kernels of a host program are woven.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Program options")]
pub struct VerifyFlags {
    /// Launches in which a woven kernel is compared with the program's own before it takes its place [default: first]
    #[arg(long, value_enum, value_name = "WHICH", requires = "command")]
    verify: Option<VerifyFlag>,
}

/// Values of `--verify`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VerifyFlag {
    /// The first of each kernel, and the 2nd, 4th, 8th …, up to eight
    First,
    /// All; what cannot be compared runs as it is
    All,
    /// None
    None,
}

impl VerifyFlags {
    /// Refuses the flag where there is no program.
    ///
    /// # Errors
    /// `Caller` if it was given.
    pub(super) fn refuse(&self) -> Result<()> {
        if self.verify.is_some() {
            return Err(
                Error::caller("--verify is for host programs").help("--against-source compares tests of suites")
            );
        }
        Ok(())
    }

    pub(super) fn which(&self) -> Verify {
        match self.verify {
            None | Some(VerifyFlag::First) => Verify::First,
            Some(VerifyFlag::All) => Verify::All,
            Some(VerifyFlag::None) => Verify::None,
        }
    }
}

impl ProgramFlags {
    /// Refuses the flags where there is no program.
    ///
    /// # Errors
    /// `Caller` if one was given.
    pub(super) fn refuse(&self) -> Result<()> {
        if self.shown_as_gpu {
            return Err(Error::caller("--as-gpu is for host programs").help("give one after `--`, or leave it out"));
        }
        Ok(())
    }
}

/// Runs the program, writes the suites and the result, and tells what was captured. Returns the exit code.
///
/// # Errors
/// As [`capture`].
pub fn run(args: &CaptureArgs) -> Result<u8> {
    sandbox::refuse("host programs")?;
    let output = OutputFlags { output: None, format: args.format, quiet: args.quiet, verbose: args.verbose };
    let kernel = KernelFlags { cache: args.cache.clone(), no_cache: args.no_cache, ..KernelFlags::default() };
    let open = kernel.open_options(output.terminal()).timeout(Duration::from_secs_f64(args.timeout)).jobs(args.jobs);
    let result = capture(&args.command, &args.folder, &open, &args.options())?;
    match args.format {
        Format::Json => output.show(&result, |_| String::new())?,
        Format::Text => output.show_on_stderr(|style| text::capture(&result, &args.folder, args.verbose, style)),
    }
    result.complaints.iter().for_each(|text| complain(text));
    Ok(u8::from(!result.complaints.is_empty()))
}

impl CaptureArgs {
    pub(super) fn options(&self) -> CaptureOptions {
        CaptureOptions::new()
            .shown_as_gpu(self.program.shown_as_gpu)
            .max_launches(self.max_launches)
            .max_bytes(self.max_bytes)
            .kernels(self.kernels.clone())
            .all(self.all)
            .sample_by_coverage(self.sample_by_coverage)
            .verify(self.verified.which())
            .replay(!self.no_replay)
            .measure_native(self.measure_native)
    }
}

/// Parses a number of bytes: `1000`, `64k`, `500M`, `2GiB`. Units are powers of 1024.
pub(super) fn size(text: &str) -> std::result::Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| "it is no number of bytes, such as 500M or 2GiB".to_owned())?;
    let unit = unit.trim().to_ascii_lowercase();
    let shift = match unit.strip_suffix("ib").or(unit.strip_suffix('b')).unwrap_or(&unit) {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(format!("`{unit}` is no unit of bytes; there are k, M, G and T")),
    };
    number.checked_mul(1 << shift).ok_or_else(|| "it is larger than any memory".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(
            (size("1000"), size("64k"), size("2GiB"), size("3 MB")),
            (Ok(1000), Ok(65536), Ok(2 << 30), Ok(3 << 20))
        );
        for wrong in ["", "k", "-1", "1.5G", "4x", "99999999999T"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
