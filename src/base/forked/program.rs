//! Programs that must not outlive kassay: the server starts them, in process groups of their own, and kills these when
//! they end, when their handles are dropped, or when kassay ends.

use crate::json;
use std::fs::File;
use std::io::{Error, Read as _, Result};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use super::order::{Kind, Program, REFUSAL};
use super::started::Started;

/// A program that runs, or has ended. Dropping this kills it and what it has started in its process group.
#[derive(Debug)]
pub struct RunningProgram(Started);

/// Starts a program without input, with these files for its output. Of the command, the program, its arguments, its
/// environment and its working directory count.
///
/// # Errors
/// Errors of the system, if the program cannot be executed or no process can be made.
pub fn start(command: &Command, stdout: File, stderr: File) -> Result<RunningProgram> {
    let text = |text: &std::ffi::OsStr| text.to_owned();
    let program = Program {
        program: text(command.get_program()),
        arguments: command.get_args().map(text).collect(),
        environment: command.get_envs().map(|(name, value)| (text(name), value.map(text))).collect(),
        directory: command.get_current_dir().map(|directory| text(directory.as_os_str())),
    };
    let input = json::bytes(&program)?;
    fn nothing(_: usize, _: &[u8], _: &[u8]) -> std::result::Result<Vec<u8>, String> {
        Ok(Vec::new())
    }
    let other = |why: String| Error::other(why);
    let started =
        Started::order(Kind::Program, (nothing, 0), &input, &[], stderr, Some(stdout.into())).map_err(other)?;
    // It is closed when the program begins.
    let mut answer = Vec::new();
    File::from(started.answer().try_clone()?).read_to_end(&mut answer)?;
    match answer.split_first() {
        None => Ok(RunningProgram(started)),
        Some((&REFUSAL, number)) => {
            let number = number.try_into().map(i32::from_ne_bytes).unwrap_or(libc::EINVAL);
            Err(Error::from_raw_os_error(number))
        }
        Some(_) => Err(Error::other("the process that was to become a program answered something else")),
    }
}

impl RunningProgram {
    /// Waits, at most for so long, until the program has ended, and then returns how. What it had started in its group
    /// is dead then.
    ///
    /// # Errors
    /// If that is no longer known, or was returned already.
    pub fn wait(&mut self, patience: Duration) -> Result<Option<ExitStatus>> {
        let status = self.0.status(Instant::now() + patience).map_err(Error::other)?;
        Ok(status.map(ExitStatus::from_raw))
    }

    /// Kills the program with what it has started in its group, and waits until they are dead.
    pub fn kill(self) {
        drop(self.0);
    }
}
