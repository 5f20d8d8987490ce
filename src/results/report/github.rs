//! Writes problems as workflow commands of GitHub Actions, which it shows beside the lines.

use std::fmt::Write;

use kassay_base::error::Result;

use super::problems::{self, Level, Problem};
use super::style::{count, visible};
use super::texts::Texts;
use crate::result::store::ResultFile;

/// GitHub shows as many annotations of a level as this from a step, and drops the others.
const SHOWN: usize = 10;

/// Returns the commands for loaded results, one a line, gravest first; problems of one kind on one line share one. Then
/// a line for people who read the log.
pub(super) fn convert(results: &[ResultFile]) -> Result<String> {
    let problems = problems::collect(results, &Texts::of_files());
    let mut groups: Vec<Vec<&Problem>> = Vec::new();
    for problem in &problems {
        let shared = |group: &&mut Vec<&Problem>| {
            let first = group[0];
            let (a, b) = (&first.place, &problem.place);
            first.rule == problem.rule && first.level == problem.level && (&a.file, a.line) == (&b.file, b.line)
        };
        match groups.iter_mut().find(shared) {
            Some(group) if problem.place.line > 0 => group.push(problem),
            _ => groups.push(vec![problem]),
        }
    }
    let mut out = String::new();
    let mut left_out = 0;
    for level in [Level::Error, Level::Warning, Level::Note] {
        let of_level: Vec<_> = groups.iter().filter(|group| group[0].level == level).collect();
        for group in of_level.iter().take(SHOWN) {
            let _ = writeln!(out, "{}", command(group));
        }
        left_out += of_level.iter().skip(SHOWN).map(|group| group.len()).sum::<usize>();
    }
    let _ = write!(out, "kassay: {}", count(problems.len() as u64, "problem"));
    let _ = match left_out {
        0 => writeln!(out),
        n => writeln!(out, "; {n} without an annotation, because GitHub shows {SHOWN} of each level"),
    };
    Ok(out)
}

fn command(group: &[&Problem]) -> String {
    let first = group[0];
    let command = match first.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let title = match group.len() {
        1 => first.rule.title.to_owned(),
        n => format!("{} ({n} times)", first.rule.title),
    };
    let mut properties = Vec::new();
    if !first.place.file.is_empty() {
        properties.push(("file", first.place.file.clone()));
    }
    let [line, column, end_line, end_column] =
        [first.place.line, first.place.column, first.place.end_line, first.place.end_column];
    if line > 0 {
        properties.push(("line", line.to_string()));
        if end_line > line {
            properties.push(("endLine", end_line.to_string()));
        } else if column > 0 && group.len() == 1 {
            // Columns count within one line only.
            properties.push(("col", column.to_string()));
            if end_column > column {
                properties.push(("endColumn", end_column.to_string()));
            }
        }
    }
    properties.push(("title", title));
    let properties: Vec<String> =
        properties.into_iter().map(|(key, value)| format!("{key}={}", property(&value))).collect();
    let messages: Vec<&str> = group.iter().map(|problem| problem.message.as_str()).collect();
    format!("::{command} {}::{}", properties.join(","), data(&messages.join("\n")))
}

/// Escapes a message, as the runner undoes it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property, likewise.
fn property(text: &str) -> String {
    data(&visible(text)).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_end_neither_property_nor_command() {
        assert_eq!(property("a,b::c\n100%"), "a%2Cb%3A%3Ac\\n100%25");
        assert_eq!(data("x\r\n::error::y"), "x%0D%0A::error::y");
    }
}
