//! Runs the program unattended: with no input, its output kept for comparison, and a time limit.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_base::forked::{self, RunningProgram};

use super::command::cannot_run;

/// How an unattended run is done.
#[derive(Debug, Clone)]
pub struct Trial<'a> {
    /// The program and its arguments.
    pub command: &'a [OsString],
    /// Where it runs; `None`: in kassay's own working directory.
    pub directory: Option<&'a Path>,
    /// After this time, the program and what it has started are killed.
    pub limit: Duration,
    /// Bytes of output after which they are killed, too.
    pub most_output: u64,
}

/// How an unattended run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialEnd {
    /// With this exit code.
    Exited(i32),
    /// A signal of this number ended it.
    Signalled(i32),
    /// It was killed when the time was over.
    TimedOut,
    /// It was killed because it printed without end.
    TooMuchOutput,
}

/// What an unattended run has shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// How the host program ended.
    pub end: TrialEnd,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// The end of what it wrote to standard error.
    pub stderr: String,
}

/// Bytes of standard error that are kept.
const STDERR_TAIL: u64 = 4096;
/// The longest pause between two looks at the program.
const PAUSE: Duration = Duration::from_millis(10);

/// Runs a program until it ends or is killed, with all that it has started. `prepare` sets its environment.
///
/// # Errors
/// `Caller` if there is no such program or it cannot be executed; `Environment` if no process or file can be made.
pub fn run(trial: &Trial<'_>, prepare: impl FnOnce(&mut Command)) -> Result<Tried> {
    let Some((program, arguments)) = trial.command.split_first() else {
        return Err(Error::caller("there is no command to run").help("give it after `--`: kassay mutate -- ./program"));
    };
    let broken = |error: std::io::Error| {
        Error::environment(format!("cannot keep the program's output: {error}"))
            .help("free some space, or set TMPDIR to a folder in which files can be made")
    };
    // Files, because a process that the program leaves behind would keep pipes open.
    let (mut stdout, mut stderr) = (tempfile::tempfile().map_err(broken)?, tempfile::tempfile().map_err(broken)?);
    let mut command = Command::new(found(program, trial.directory));
    command.args(arguments);
    if let Some(directory) = trial.directory {
        command.current_dir(directory);
    }
    prepare(&mut command);
    let (out, err) = (stdout.try_clone().map_err(broken)?, stderr.try_clone().map_err(broken)?);
    let started = Instant::now();
    let child = forked::start_program(&command, out, err).map_err(|error| cannot_run(program, &error))?;
    let end = wait(child, trial, started, &stdout)?;
    let seconds = started.elapsed().as_secs_f64();
    let all = read_from(&mut stdout, 0, trial.most_output).map_err(broken)?;
    let written = stderr.metadata().map_err(broken)?.len();
    let tail = read_from(&mut stderr, written.saturating_sub(STDERR_TAIL), STDERR_TAIL).map_err(broken)?;
    Ok(Tried { end, seconds, stdout: all, stderr: String::from_utf8_lossy(&tail).trim().to_owned() })
}

/// A relative path of a program is meant from kassay's working directory, wherever the program then runs, unless the
/// directory has its own copy.
fn found(program: &OsStr, directory: Option<&Path>) -> PathBuf {
    let path = Path::new(program);
    let is_path = path.components().count() > 1 || program.to_string_lossy().starts_with("./");
    match directory {
        Some(directory) if is_path && path.is_relative() && !directory.join(path).exists() => {
            std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
        }
        _ => path.to_owned(),
    }
}

/// Waits until the program has ended, or has to be killed. What it has started is dead then, too.
fn wait(mut child: RunningProgram, trial: &Trial<'_>, started: Instant, stdout: &File) -> Result<TrialEnd> {
    let end = loop {
        let left = trial.limit.saturating_sub(started.elapsed());
        let ended = child.wait(left.min(PAUSE));
        let lost = |error: std::io::Error| Error::environment(format!("cannot wait for the program: {error}"));
        if let Some(status) = ended.map_err(lost)? {
            break end_of(status);
        }
        if started.elapsed() >= trial.limit {
            break TrialEnd::TimedOut;
        }
        if stdout.metadata().is_ok_and(|file| file.len() > trial.most_output) {
            break TrialEnd::TooMuchOutput;
        }
    };
    child.kill();
    Ok(end)
}

fn end_of(status: ExitStatus) -> TrialEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => TrialEnd::Exited(code),
        (None, signal) => TrialEnd::Signalled(signal.unwrap_or(0)),
    }
}

fn read_from(file: &mut File, from: u64, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(script: &str, limit: Duration) -> Tried {
        let command = ["sh", "-c", script].map(OsString::from);
        run(&Trial { command: &command, directory: None, limit, most_output: 1000 }, |_| ()).unwrap()
    }

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn what_a_program_shows_is_kept() {
        let shown = tried("cat; echo out; echo err >&2; exit 3", LONG);
        assert_eq!((shown.end, &shown.stdout[..], shown.stderr.as_str()), (TrialEnd::Exited(3), &b"out\n"[..], "err"));
        assert_eq!(tried("kill -SEGV $$", LONG).end, TrialEnd::Signalled(libc::SIGSEGV));
        let missing = ["/nonexistent/program".into()];
        let trial = Trial { command: &missing, directory: None, limit: LONG, most_output: 0 };
        assert_eq!(run(&trial, |_| ()).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn whoever_never_ends_is_killed_with_all_that_it_has_started() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        // The background process would hold the pipe open; reading it ends only when that is dead.
        let script = format!("mkfifo {0}; sleep 10000 > {0} & sleep 10000", pipe.display());
        assert_eq!(tried(&script, Duration::from_millis(300)).end, TrialEnd::TimedOut);
        assert_eq!(tried("while :; do echo again; done", LONG).end, TrialEnd::TooMuchOutput);
        // A process that stays behind is not waited for.
        assert_eq!(tried("sleep 10000 & exit 0", LONG).end, TrialEnd::Exited(0));
    }

    #[test]
    fn programs_are_found_from_both_folders() {
        let folder = tempfile::tempdir().unwrap();
        let of = |program: &str| found(OsStr::new(program), Some(folder.path()));
        assert_eq!((of("sh"), of("/bin/sh")), (PathBuf::from("sh"), PathBuf::from("/bin/sh")));
        assert_eq!(of("./prog"), std::env::current_dir().unwrap().join("prog"));
        std::fs::write(folder.path().join("prog"), "").unwrap();
        assert_eq!(of("./prog"), PathBuf::from("./prog"));
    }
}
