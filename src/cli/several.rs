//! Delivers results of several files, and turns them into exit codes.

use kassay_base::error::{Error, Result};
use kassay_base::files;
use kassay_results::report::Style;
use kassay_results::result::set::{Failed, Fault, InSet, SetResult};
use serde::Serialize;

use super::options::OutputFlags;
use super::sandbox;
use super::terminal::complain;

/// Writes the result of several files, if requested, and prints the text or the JSON.
///
/// # Errors
/// As [`OutputFlags::deliver`].
pub fn deliver<T: Serialize>(
    output: &OutputFlags,
    set: &T,
    text: impl FnOnce(&dyn Fn(&str) -> Option<String>, &Style) -> String,
) -> Result<()> {
    output.deliver(set, |style| text(&source, style))
}

/// Returns the text of a file by its name in a result.
pub fn source(file: &str) -> Option<String> {
    // Names in results come from debug information, which may say anything.
    if sandbox::is_on() {
        return None;
    }
    files::read_text(file.as_ref(), None).ok()
}

/// Returns the exit code of a result of several files: that of the worst failure; if nothing failed, 1 with findings.
/// With `--quiet`, which leaves the text out, says on standard error what failed.
pub fn exit_code(output: &OutputFlags, failed: &[Failed], findings: bool) -> u8 {
    if output.quiet {
        for Failed { suite, error, .. } in failed {
            eprintln!("kassay: {}: {error}", suite.as_deref().unwrap_or("a kernel"));
        }
    }
    code_of(failed).unwrap_or(u8::from(findings))
}

/// Returns the exit code of the worst failure; nothing if none failed.
pub fn code_of(failed: &[Failed]) -> Option<u8> {
    failed.iter().filter_map(|failed| failed.fault).max().map(|fault| match fault {
        Fault::Kassay => 4,
        Fault::Environment => 3,
        Fault::Caller => 2,
    })
}

/// Returns the exit code of a host program's result: 1 if there are complaints.
///
/// # Errors
/// `Environment` if nothing was measured, because the program's device takes no SPIR-V.
pub fn exit_code_of_program<R: InSet>(set: &SetResult<R, R::Total>) -> Result<u8> {
    set.complaints.iter().for_each(|text| complain(text));
    if set.lacks_il() {
        return Err(Error::environment("nothing was measured: the device that the program uses takes no SPIR-V").help(
            "have it use another device (`kassay devices` lists them; OCL_ICD_VENDORS can name a folder with one driver alone), \
             or run `kassay check -- PROGRAM`, which takes the simulator",
        ));
    }
    Ok(u8::from(!set.complaints.is_empty()))
}

/// Refuses flags that are for one file.
///
/// # Errors
/// `Caller` if one is given.
pub fn refuse(flags: &[(&str, bool)]) -> Result<()> {
    match flags.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(Error::caller(format!("{flag} is for one file, and several are given"))
            .help(format!("name one file, or leave out {flag}"))),
        None => Ok(()),
    }
}
