//! Implements the command line, one file per command: turns flags into a request, writes the result, and turns errors
//! into exit codes.

mod capture;
mod check;
mod ci;
mod compare;
mod cover;
mod devices;
mod generate;
mod generated;
mod inspect;
mod interrupt;
mod lower;
mod merge;
mod mutate;
mod options;
mod report;
mod run;
mod sandbox;
mod schedule;
mod several;
mod tally;
mod terminal;
mod worker;

pub use ci::check_project;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Measure coverage, mutation scores and races of OpenCL kernels at the level of LLVM IR
#[derive(Debug, Parser)]
#[command(name = "kassay", version, after_help = EXIT_CODES)]
struct Cli {
    /// Read files only in a suite's own folder (and those of -I): for suites that are not trusted. Kernels still run
    #[arg(long, global = true)]
    sandbox: bool,
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 nothing to complain about; 1 findings: a test failed, a threshold was missed; \
                          2 the caller's mistake; 3 the environment lacks something; 4 a fault of kassay or of a tool it calls.";

#[derive(Debug, Subcommand)]
enum Command {
    Devices(devices::DevicesArgs),
    Inspect(inspect::InspectArgs),
    Run(run::RunArgs),
    Cover(cover::CoverArgs),
    Mutate(mutate::MutateArgs),
    Generate(generate::GenerateArgs),
    Schedule(schedule::ScheduleArgs),
    Check(check::CheckArgs),
    Compare(compare::CompareArgs),
    Capture(capture::CaptureArgs),
    Lower(lower::LowerArgs),
    Tally(tally::TallyArgs),
    Merge(merge::MergeArgs),
    Report(report::ReportArgs),
    Ci(ci::CiArgs),
    Completions(generated::CompletionsArgs),
    Man(generated::ManArgs),
    #[command(hide = true)]
    Worker(worker::WorkerArgs),
}

/// Runs the program and returns its exit code.
pub fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    if matches.subcommand().is_some_and(|(_, flags)| matches!(flags.try_get_one("quiet"), Ok(Some(true)))) {
        terminal::silence_notes();
    }
    let parsed = Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    if !matches!(parsed.command, Command::Worker(_)) {
        kassay_base::files::private::remove_abandoned(&std::env::temp_dir());
    }
    if parsed.sandbox {
        sandbox::turn_on();
    }
    let done = match parsed.command {
        Command::Devices(args) => devices::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Cover(args) => cover::run(&args),
        Command::Mutate(args) => mutate::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Schedule(args) => schedule::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Capture(args) => capture::run(&args),
        Command::Lower(args) => lower::run(&args),
        Command::Tally(args) => tally::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Ci(args) => ci::run(&args),
        Command::Completions(args) => generated::completions(&args, Cli::command()),
        Command::Man(args) => generated::man(&args, Cli::command()),
        Command::Worker(args) => worker::run(&args),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(e) => {
            eprintln!("kassay: {e}");
            ExitCode::from(e.exit_code())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api;

    /// Parses a command line without flags.
    fn parse(command: &[&str]) -> Command {
        Cli::try_parse_from(std::iter::once(&"kassay").chain(command)).unwrap().command
    }

    #[test]
    fn the_librarys_defaults_are_those_of_the_flags() {
        let same = |flags: &dyn std::fmt::Debug, library: &dyn std::fmt::Debug| {
            assert_eq!(format!("{flags:#?}"), format!("{library:#?}"));
        };
        let Command::Cover(cover) = parse(&["cover", "s.toml"]) else { panic!() };
        same(&cover.options(), &api::CoverOptions::new());
        let Command::Cover(cover) = parse(&["cover", "--", "p"]) else { panic!() };
        same(&cover.program_options(), &api::CoverProgramOptions::new());
        let Command::Run(run) = parse(&["run", "s.toml"]) else { panic!() };
        same(&run.options(), &api::RunOptions::new());
        let Command::Mutate(mutate) = parse(&["mutate", "s.toml"]) else { panic!() };
        same(&mutate.options(), &api::MutateOptions::new());
        let Command::Mutate(mutate) = parse(&["mutate", "--", "p"]) else { panic!() };
        same(&mutate.program_options(), &api::MutateProgramOptions::new());
        let Command::Schedule(schedule) = parse(&["schedule", "s.toml"]) else { panic!() };
        same(&schedule.options(), &api::ScheduleOptions::new());
        let Command::Check(check) = parse(&["check", "k.cl"]) else { panic!() };
        same(&check.options(), &api::CheckOptions::new());
        let Command::Check(check) = parse(&["check", "--", "p"]) else { panic!() };
        same(&check.program_options(), &api::CheckProgramOptions::new());
        let Command::Generate(generate) = parse(&["generate", "k.cl", "-o", "d"]) else { panic!() };
        same(&generate.options(), &api::GenerateOptions::new());
        let Command::Capture(capture) = parse(&["capture", "-o", "d", "--", "p"]) else { panic!() };
        same(&capture.options(), &api::CaptureOptions::new());
        let Command::Inspect(inspect) = parse(&["inspect", "k.cl"]) else { panic!() };
        same(&inspect.options(), &api::InspectOptions::new());
        let Command::Lower(lower) = parse(&["lower", "k.cl"]) else { panic!() };
        same(&lower.options(), &api::LowerOptions::new());
        // Flags that several commands share.
        let open = api::OpenOptions::new();
        same(&run.execution.apply(open.clone()), &open);
        let compiled = api::OpenOptions {
            observer: open.observer.clone(),
            worker: None,
            ..run.kernel.open_options(run.output.terminal())
        };
        same(&compiled, &open);
    }
}
