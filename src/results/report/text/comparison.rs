//! Renders how the mutants of a result compare with those of an earlier one.

use std::collections::HashMap;
use std::fmt::Write;

use super::super::style::{self, Paint, Style, visible, wrap};
use super::heading;
use super::mutants::change;
use crate::result::mutate::{Comparison, Mutant, MutateResult};

/// Renders what was taken over, and the new survivors with the line that each changes; nothing without an earlier
/// result.
pub(super) fn comparison(result: &MutateResult, sources: &dyn Fn(&str) -> Option<String>, style: &Style) -> String {
    let Some(Comparison { file, taken_over, why_not, new_survivors }) = &result.baseline else { return String::new() };
    let mut out = String::new();
    if !new_survivors.is_empty() {
        let title = style::count(new_survivors.len() as u64, "new survivor");
        out.push_str(&heading(style, &format!("{title}, compared with {}", visible(file))));
    }
    let rows: HashMap<&str, &Mutant> = result.mutants.iter().map(|mutant| (mutant.id.as_str(), mutant)).collect();
    for new in new_survivors {
        let Some(mutant) = rows.get(new.id.as_str()) else { continue };
        let before = if new.before.is_some() { "detected before" } else { "not there before" };
        let at = &mutant.location;
        let place = match at.start.line {
            0 => mutant.id.clone(),
            _ => format!("{}:{} in {}", at.file, at.start, mutant.function),
        };
        let _ = writeln!(out, "  {}", style.paint(Paint::Bold, visible(&place)));
        let _ = writeln!(out, "    {}  {before}", style.paint(Paint::Warn, visible(&mutant.operator)));
        match changed_lines(mutant, sources) {
            Some((original, changed)) => {
                original.iter().for_each(|line| out.push_str(&format!("    - {}\n", visible(line))));
                changed.iter().for_each(|line| out.push_str(&format!("    + {}\n", visible(line))));
            }
            None => out.push_str(&format!("    {}\n", visible(&change(mutant)))),
        }
    }
    let taken = format!("{} taken over from {}", style::count(*taken_over, "fate"), visible(file));
    let text = why_not.as_ref().map_or(taken.clone(), |why| format!("{taken}: {why}"));
    out.push('\n');
    wrap(&text, style.width).iter().for_each(|line| out.push_str(&format!("{line}\n")));
    out
}

/// Returns the lines that a mutant changes, and what they would be; nothing if the source does not have there what it
/// changes.
fn changed_lines(mutant: &Mutant, sources: &dyn Fn(&str) -> Option<String>) -> Option<(Vec<String>, Vec<String>)> {
    let at = mutant.spelling.as_ref().unwrap_or(&mutant.location);
    let text = sources(&at.file)?;
    let first = (at.start.line as usize).checked_sub(1)?;
    let lines: Vec<&str> = text.lines().skip(first).take((at.end.line as usize).checked_sub(first)?).collect();
    let (head, tail) = (lines.first()?, lines.last()?);
    let before = head.get(..(at.start.column as usize).checked_sub(1)?)?;
    let after = tail.get((at.end.column as usize).checked_sub(1)?..)?;
    let original = lines.join("\n");
    let middle = original.get(before.len()..original.len() - after.len())?;
    if mutant.original.is_empty() || middle.trim() != mutant.original.trim() {
        return None;
    }
    let owned = |text: &str| text.lines().map(str::to_owned).collect::<Vec<String>>();
    Some((owned(&original), owned(&format!("{before}{}{after}", mutant.replacement))))
}
