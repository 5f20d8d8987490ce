//! Which program a worker is: `kassay-worker` where it lies beside kassay. It links neither LLVM nor Z3, so that it
//! starts in a tenth of the time, and drivers that bring an LLVM of their own meet no other. Else it is kassay itself.

use std::ffi::OsStr;
use std::io::{Error as IoError, ErrorKind};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::worker;

/// The name of the small program.
const NAME: &str = "kassay-worker";

/// What both programs say about the sources of what they say to each other (`build.rs`).
const BUILD: &str = env!("KASSAY_WORKER_BUILD");

/// The word that makes a worker of kassay.
const WORKER: &str = "worker";

/// Returns the command that starts a worker of the program `kassay`.
pub fn command(kassay: &Path) -> Command {
    // Where the running program lies, and a link to it that is the same in another process.
    let (place, name) = if kassay == Path::new("/proc/self/exe") {
        (
            std::env::current_exe().unwrap_or_else(|_| kassay.to_owned()),
            format!("/proc/{}/exe", std::process::id()).into(),
        )
    } else {
        (kassay.to_owned(), kassay.to_owned())
    };
    let small = beside(&place).filter(|path| path.is_file());
    let mut command = Command::new(small.as_deref().unwrap_or(kassay));
    command.arg0("kassay").arg(WORKER);
    if small.is_some() {
        command.arg(BUILD).arg(name);
    }
    command
}

/// Returns where the small program may lie. A name that is looked for in `PATH` lies nowhere yet: what has the small
/// one's name in the working directory is not kassay's.
fn beside(kassay: &Path) -> Option<PathBuf> {
    let folder = kassay.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    Some(folder.join(NAME))
}

/// The program `kassay-worker BUILD KASSAY`: serves the parent ([`worker::serve`]). If its parent is of another build,
/// it becomes the program `KASSAY worker`.
pub fn main(joint_ptx: &'static str) -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let failed = match arguments.as_slice() {
        [word, build, kassay] if word == WORKER && build != BUILD => become_kassay(kassay).to_string(),
        [word, _, _] if word == WORKER => match worker::serve(joint_ptx) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => error.to_string(),
        },
        _ => format!("`{NAME}` is started by kassay itself, not by hand"),
    };
    eprintln!("{NAME}: {failed}");
    ExitCode::from(4)
}

fn become_kassay(kassay: &OsStr) -> IoError {
    if kassay.is_empty() {
        return IoError::from(ErrorKind::NotFound);
    }
    Command::new(kassay).arg0("kassay").arg(WORKER).exec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_working_directory_takes_the_place_of_a_program_in_path() {
        assert_eq!(beside(Path::new("kassay")), None);
        assert_eq!(beside(Path::new("/usr/bin/kassay")), Some("/usr/bin/kassay-worker".into()));
        assert_eq!(beside(Path::new("./kassay")), Some("./kassay-worker".into()));
    }
}
