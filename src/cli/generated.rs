//! `kassay completions` and `kassay man`: generate both from the definition of the command line.

use clap::{Args, Command};
use clap_complete::Shell;

use super::options::print;
use crate::error::{Error, Result};

/// Print the completion script for a shell
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Print the manual page of kassay or of one command
#[derive(Debug, Args)]
pub struct ManArgs {
    /// A command, such as cover; the page is of kassay itself if left out
    pub command: Option<String>,
}

/// Prints the completion script. Returns the exit code.
///
/// # Errors
/// `Environment` if standard output cannot be written.
pub fn completions(args: &CompletionsArgs, mut command: Command) -> Result<u8> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "kassay", &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(0)
}

/// Prints the manual page in roff. Returns the exit code.
///
/// # Errors
/// `Caller` if there is no such command; `Environment` if standard output cannot be written.
pub fn man(args: &ManArgs, mut command: Command) -> Result<u8> {
    command.build();
    let page = match &args.command {
        None => command,
        Some(name) => command
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| Error::caller(format!("there is no command `{name}`")).help("see kassay --help"))?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .map_err(|e| Error::internal(format!("the manual page cannot be made: {e}")))?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(0)
}
