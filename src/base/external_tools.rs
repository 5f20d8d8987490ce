//! Finds and runs external programs, and interprets a missing program, a crash or a rejected input.
//!
//! Not for what the programs are asked to do.

use std::ffi::OsString;
use std::io::{self, Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::forked::{LONGEST_ON_PROCESSORS, MOST_MEMORY};
use crate::error::{Error, Result};
use crate::files::private::temporary_file;

/// A program and the Debian package that provides it.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Its name, which is looked up on `PATH`.
    pub program: &'static str,
    /// Where the package installs it, for when it is not on `PATH`.
    pub fallback: &'static str,
    /// The Debian package, for the message that it is missing.
    pub package: &'static str,
}

/// The compiler for OpenCL C. Only its path is used, see `clang`.
pub const CLANG: Tool = Tool { program: "clang-22", fallback: "/usr/lib/llvm-22/bin/clang", package: "clang-22" };
/// The translator from SPIR-V to LLVM IR that Debian has; kassay's set-up installs a newer one (`spirv::translator`).
pub const LLVM_SPIRV: Tool =
    Tool { program: "llvm-spirv-15", fallback: "/usr/bin/llvm-spirv-15", package: "llvm-spirv-15" };
/// The assembler of SPIR-V text.
pub const SPIRV_AS: Tool = Tool { program: "spirv-as", fallback: "/usr/bin/spirv-as", package: "spirv-tools" };
/// The validator of SPIR-V modules. Optional.
pub const SPIRV_VAL: Tool = Tool { program: "spirv-val", fallback: "/usr/bin/spirv-val", package: "spirv-tools" };

impl Tool {
    /// The path of the program: on `PATH`, or else `fallback`; symbolic links are resolved.
    pub fn find(&self) -> Result<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let candidates = std::env::split_paths(&path).map(|folder| folder.join(self.program));
        candidates
            .chain(std::iter::once(PathBuf::from(self.fallback)))
            .find_map(|candidate| candidate.canonicalize().ok().filter(|file| file.is_file()))
            .ok_or_else(|| self.missing(&io::Error::from(io::ErrorKind::NotFound)))
    }

    /// The error for a crash of the program.
    pub fn crash(&self, stderr: &str) -> Error {
        Error::internal(format!("{} crashed", self.program))
            .details(stderr)
            .help("this is a bug of that tool; a smaller kernel that still crashes it helps to report it")
    }

    fn missing(&self, error: &io::Error) -> Error {
        Error::environment(format!("{} cannot be run: {error}", self.program))
            .help(format!("install the Debian package {} (apt-get install {0})", self.package))
    }
}

/// Who put what kassay found where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The user: a variable of the environment names it.
    User,
    /// kassay's set-up.
    Kassay,
    /// The system, such as a Debian package.
    System,
}

impl Origin {
    /// The name in results: `user`, `kassay` or `system`.
    pub fn name(self) -> &'static str {
        match self {
            Origin::User => "user",
            Origin::Kassay => "kassay",
            Origin::System => "system",
        }
    }
}

/// The folder in which kassay's set-up installs what Debian does not have: `$XDG_DATA_HOME/kassay`, by default under
/// `$HOME/.local/share`. A relative `XDG_DATA_HOME` is ignored.
pub fn data_folder() -> Option<PathBuf> {
    let data = match std::env::var_os("XDG_DATA_HOME") {
        Some(dir) if Path::new(&dir).is_absolute() => PathBuf::from(dir),
        _ => PathBuf::from(std::env::var_os("HOME")?).join(".local/share"),
    };
    Some(data.join("kassay"))
}

/// The longest time that a program may take on the clock.
const LONGEST: Duration = Duration::from_secs(60);

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// Whether it succeeded, or what ended it.
    pub how: How,
    /// What it wrote to standard output and standard error.
    pub output: String,
}

/// The ways in which a program can end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// With exit code 0.
    Succeeded,
    /// It rejected its input.
    Refused,
    /// It died of a signal or failed an assertion. Says which.
    Crashed(String),
}

/// Runs a program to its end, within limits of time and memory.
///
/// # Errors
/// `Environment` if it cannot be run; [`Error::late`] at the caller's deadline.
pub fn run(program: &Path, arguments: &[OsString], deadline: Option<Instant>) -> Result<Ended> {
    let failed = |error: io::Error| Error::environment(format!("{} cannot be run: {error}", program.display()));
    let mut output = temporary_file().map_err(failed)?;
    let (out, err) = (output.try_clone().map_err(failed)?, output.try_clone().map_err(failed)?);
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(out).stderr(err);
    let mut child = Running(command.spawn().map_err(failed)?);
    child.limit();
    let end = Instant::now() + LONGEST;
    let mut pause = Duration::from_micros(200);
    let status = loop {
        if let Some(status) = child.0.try_wait().map_err(failed)? {
            break Some(status);
        }
        let now = Instant::now();
        if deadline.is_some_and(|deadline| now >= deadline) {
            return Err(Error::late("the translation of the kernel"));
        }
        if now >= end {
            break None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    };
    let mut bytes = Vec::new();
    output.rewind().and_then(|()| output.read_to_end(&mut bytes)).map_err(failed)?;
    let output = String::from_utf8_lossy(&bytes).into_owned();
    let how = match status {
        Some(status) => how(status, &output),
        None => How::Crashed(format!("was not done after {} s", LONGEST.as_secs())),
    };
    Ok(Ended { how, output })
}

fn how(status: ExitStatus, output: &str) -> How {
    if status.success() {
        return How::Succeeded;
    }
    match (status.signal(), status.code()) {
        (Some(signal), _) => How::Crashed(format!("died of signal {signal}")),
        // A shell that runs the program adds the signal to 128. SPIR-V's tools give small negative numbers.
        (None, Some(code)) if (128..=192).contains(&code) => How::Crashed(format!("exited with code {code}")),
        (None, _) if output.contains("PLEASE submit a bug report") => How::Crashed("crashed".to_owned()),
        (None, _) => How::Refused,
    }
}

/// A running program, killed when this value is dropped.
struct Running(Child);

impl Running {
    /// Limits its time on processors and its memory; it leaves no core. It has run for some microseconds by then.
    fn limit(&self) {
        for (resource, most) in
            [(Resource::Cpu, LONGEST_ON_PROCESSORS), (Resource::As, MOST_MEMORY), (Resource::Core, 0)]
        {
            let _ =
                prlimit(Some(Pid::from_child(&self.0)), resource, Rlimit { current: Some(most), maximum: Some(most) });
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail if it has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, deadline: Option<Instant>) -> Result<Ended> {
        run(Path::new("/bin/sh"), &["-c".into(), script.into()], deadline)
    }

    #[test]
    fn programs_end_in_one_of_three_ways() {
        assert_eq!(shell("echo fine", None).unwrap().how, How::Succeeded);
        let refused = shell("echo out; echo no >&2; exit 251", None).unwrap();
        assert_eq!((refused.how, refused.output.as_str()), (How::Refused, "out\nno\n"));
        assert_eq!(shell("kill -ABRT $$", None).unwrap().how, How::Crashed("died of signal 6".to_owned()));
        assert!(matches!(run(Path::new("/nonexistent/program"), &[], None), Err(Error::Environment(_))));
    }

    #[test]
    fn a_program_is_killed_at_the_deadline_and_kept_from_memory() {
        let started = Instant::now();
        let late = shell("sleep 50", Some(started + Duration::from_millis(50))).unwrap_err();
        assert!(late.is_late() && started.elapsed() < Duration::from_secs(20), "{late}");
        // The limit counts from a moment after the start.
        let limited = shell("sleep 0.2; ulimit -v", None).unwrap();
        assert_eq!(limited.output.trim(), (MOST_MEMORY >> 10).to_string());
    }
}
