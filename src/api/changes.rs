//! Asks git which lines changed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use kassay_base::error::{Error, Result};
use kassay_judge::mutation::catalogue::changed_lines::ChangedLines;

/// Returns the lines that changed since a revision, in the working tree of the git repository that holds a folder;
/// files that git does not know yet are new.
///
/// # Errors
/// `Caller` if the folder is in no repository or there is no such revision; `Environment` if git is missing or fails.
pub fn changes_since(revision: &str, folder: impl AsRef<Path>) -> Result<ChangedLines> {
    let folder = folder.as_ref();
    let root = git(folder, ["rev-parse", "--show-toplevel"])
        .map_err(|e| e.help("name a diff with --in-diff, or run kassay in a git repository"))?;
    let root = PathBuf::from(root.trim_end_matches('\n'));
    // A name that begins with a dash is no option.
    let commit =
        git(folder, ["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{commit}}")])
            .map_err(|_| {
                Error::caller(format!("git knows no revision `{revision}`")).help("give a commit, a branch or a tag")
            })?;
    // Not as the user's settings would have it.
    let flags = [
        "-c",
        "core.quotePath=false",
        "diff",
        "--unified=0",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--src-prefix=a/",
        "--dst-prefix=b/",
    ];
    let diff = git(folder, flags.into_iter().chain([commit.trim(), "--"]))?;
    let mut changed = ChangedLines::of_diff(&diff, &format!("`git diff {revision}`"), std::slice::from_ref(&root))?;
    let others = git(&root, ["-c", "core.quotePath=false", "ls-files", "-z", "--others", "--exclude-standard"])?;
    others.split('\0').filter(|path| !path.is_empty()).for_each(|path| changed.add_whole(&root.join(path)));
    Ok(changed)
}

/// Returns the folders to which paths of a diff may be relative: a folder, and the git repository that holds it, if
/// any.
pub fn roots_of_diffs(folder: &Path) -> Vec<PathBuf> {
    let repository = git(folder, ["rev-parse", "--show-toplevel"]).ok();
    std::iter::once(folder.to_owned())
        .chain(repository.map(|root| PathBuf::from(root.trim_end_matches('\n'))))
        .collect()
}

/// Runs git in a folder and returns what it prints.
fn git<S: AsRef<OsStr>>(folder: &Path, args: impl IntoIterator<Item = S>) -> Result<String> {
    let done = Command::new("git").arg("-C").arg(folder).args(args).output().map_err(|e| {
        Error::environment(format!("git cannot be run: {e}")).help("install git, or name a diff with --in-diff")
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match done.status.success() {
        true => Ok(text(&done.stdout)),
        false => Err(Error::caller("git does not answer").details(text(&done.stderr))),
    }
}
