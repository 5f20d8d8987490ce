//! The commands that a project can ask for, with the flags that they have on the command line.

use std::path::Path;

use clap::{Parser, Subcommand};
use kassay_base::error::Result;

use super::super::check::CheckArgs;
use super::super::cover::CoverArgs;
use super::super::generate::GenerateArgs;
use super::super::mutate::MutateArgs;
use super::super::run::RunArgs;
use super::super::schedule::ScheduleArgs;
use crate::api::{Asked, Question};

/// A command line that a request stands for.
#[derive(Debug, Parser)]
#[command(name = "kassay")]
pub struct Line {
    #[command(subcommand)]
    pub command: Command,
}

/// A command with its flags.
#[derive(Debug, Subcommand)]
pub enum Command {
    Run(RunArgs),
    Cover(CoverArgs),
    Mutate(Box<MutateArgs>),
    Check(Box<CheckArgs>),
    Schedule(ScheduleArgs),
    Generate(Box<GenerateArgs>),
}

impl Command {
    /// Returns what the command asks of a suite.
    ///
    /// # Errors
    /// `Caller` if git does not know the revision of `since`, or the baseline is none; `Environment` if git is missing.
    pub fn asked(&self, suite: &Path) -> Result<Asked> {
        let (open, question) = match self {
            Command::Run(args) => (args.open(), Question::Run(args.options())),
            Command::Cover(args) => (args.open(), Question::Cover(args.options())),
            Command::Mutate(args) => {
                let options = args.options().changes(args.changes()?).baseline(args.baseline()?);
                (args.open(), Question::Mutate(options))
            }
            Command::Check(args) => (args.open(), Question::Check(args.options())),
            Command::Schedule(args) => (args.open(), Question::Schedule(args.options())),
            Command::Generate(args) => (args.open(), Question::Generate(args.folder.clone(), args.options())),
        };
        Ok(Asked { suite: suite.to_owned(), open, question })
    }
}
