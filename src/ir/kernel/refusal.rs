//! The error for a source that clang refuses.

use std::path::Path;

use kassay_base::error::{Error, Place, Report};

/// The error for a source that clang refuses. `version`: the flag that chooses the version of its language.
pub fn of(source: &Path, diagnostics: String, version: &str) -> Error {
    let mut report = Report::new(format!("{} does not compile", source.display()));
    report.place = first_error(&diagnostics);
    report.details = Some(shortened(diagnostics));
    report.help = Some(format!("correct the kernel, or give what it needs with -D, -I, {version} or --clang-arg"));
    Error::Caller(Box::new(report))
}

/// The most errors that a message shows. clang itself has no limit, so that attempts can be compared by their errors.
const MOST_ERRORS: usize = 20;

/// Leaves out what comes after the first errors, and says how many they are.
fn shortened(diagnostics: String) -> String {
    let mut starts =
        diagnostics.match_indices(" error: ").map(|(at, _)| diagnostics[..at].rfind('\n').map_or(0, |n| n + 1));
    let Some(end) = starts.by_ref().nth(MOST_ERRORS) else { return diagnostics };
    let more = starts.count() + 1;
    // What leads to the first that is left out.
    let kept = diagnostics[..end].lines().collect::<Vec<_>>();
    let last = kept.iter().rposition(|line| !line.starts_with("In file included from")).map_or(0, |last| last + 1);
    let count = if more == 1 { "1 more error".to_owned() } else { format!("{more} more errors") };
    format!("{}\n... and {count}\n", kept[..last].join("\n"))
}

/// The position in the first `file:line:column: error:` line. No line text: clang's diagnostics show it.
fn first_error(diagnostics: &str) -> Option<Place> {
    let line = diagnostics.lines().find(|line| line.contains(" error: "))?;
    let place = line.split(": ").next()?;
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some(Place { file: parts.next()?.into(), line, column, text: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_errors_are_shown_and_the_others_counted() {
        let error = |n: usize| format!("In file included from a:1:\nb.h:{n}:1: error: wrong\n    {n} | x\n      | ^\n");
        let of = |n: usize| (1..=n).map(error).collect::<String>();
        assert_eq!(shortened(of(20)), of(20));
        assert_eq!(shortened(of(21)), of(20) + "... and 1 more error\n");
        assert_eq!(shortened(of(40)), of(20) + "... and 20 more errors\n");
    }
}
