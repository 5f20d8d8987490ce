//! Says what of a result a project complains of: what makes the command's exit code 1.

use kassay_results::result::any::Part;

use super::super::cover::missed;
use super::command::Command;

/// Returns what is wrong with a result of a command, a sentence each.
pub fn complaints(command: &Command, result: Part<'_>) -> Vec<String> {
    let mut complaints = result.findings();
    if let (Command::Cover(args), Part::Cover(result)) = (command, result) {
        complaints.extend(missed(&args.fail_under, &result.coverage));
    }
    complaints
}
