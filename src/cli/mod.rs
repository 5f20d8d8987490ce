//! One file a command: flags to a request, result to a writer, errors to exit codes.

mod devices;
mod worker;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "kassay", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Devices(devices::DevicesArgs),
    #[command(hide = true)]
    Worker(worker::WorkerArgs),
}

/// Runs the program and gives its exit code (`contract.md`, exit codes).
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Devices(args) => devices::run(&args),
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
