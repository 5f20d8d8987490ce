//! `kassay completions` and `kassay man`: generate both from the definition of the command line.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;
use kassay_base::error::{Error, Result};

use super::options::print;

/// Print the completion script for a shell
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Print the manual page of kassay or of one command, or write all of them
#[derive(Debug, Args)]
pub struct ManArgs {
    /// A command, such as cover; the page is of kassay itself if left out
    pub command: Option<String>,
    /// Write the pages of kassay and of all commands into this folder, such as ~/.local/share/man/man1
    #[arg(short = 'o', long, value_name = "DIR", conflicts_with = "command")]
    pub output: Option<PathBuf>,
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

/// Prints the manual page in roff, or writes all pages. Returns the exit code.
///
/// # Errors
/// `Caller` if there is no such command; `Environment` if standard output or the folder cannot be written.
pub fn man(args: &ManArgs, command: Command) -> Result<u8> {
    // `kassay help` is no page of its own.
    let mut command = command.disable_help_subcommand(true);
    if let Some(folder) = &args.output {
        return write_pages(command, folder);
    }
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

/// Writes the manual pages of kassay and of its commands, `kassay.1` and `kassay-COMMAND.1`.
fn write_pages(command: Command, folder: &Path) -> Result<u8> {
    fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder)).map_err(|error| {
        Error::environment(format!("cannot write manual pages to {}: {error}", folder.display()))
            .help("name a folder that you may write to")
    })?;
    Ok(0)
}
