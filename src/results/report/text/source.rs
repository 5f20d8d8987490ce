//! Lists the source with hits per line; carets below a line point at what is not covered.

use std::fmt::Write;

use kassay_model::words::Words;

use super::super::by_file::{File, Site};
use super::super::style::{self, Paint, Style, visible};
use super::heading;
use crate::result::cover::{CoverResult, TestStatus};

/// Lists the files of one result.
pub(super) struct Listing<'a> {
    style: &'a Style,
    words: Words,
    /// Whether hits are numbers of work-items; otherwise numbers of tests.
    counts: bool,
    /// Number of work-groups launched by the tests that count; the divergent ones are given as a part of it.
    groups: u64,
}

/// A remark on one site.
struct Remark {
    paint: Paint,
    text: String,
}

impl<'a> Listing<'a> {
    pub(super) fn new(result: &CoverResult, style: &'a Style) -> Self {
        // A test whose worker was killed has no counts, and therefore no divergent groups.
        let counted = |status| matches!(status, TestStatus::Completed | TestStatus::OutputDiffers);
        let groups =
            result.tests.iter().filter(|t| counted(t.status)).map(|t| t.work_groups).fold(0, u64::saturating_add);
        Listing { style, words: result.header.words(), counts: result.coverage.average_statement.is_some(), groups }
    }

    /// Lists one file with its heading; without `text` only what is not covered, by location. Of a module without lines
    /// there is no source to list.
    pub(super) fn file(&self, file: &File<'_>, text: Option<&str>) -> String {
        let name = visible(if file.name.is_empty() { "(unknown file)" } else { file.name });
        if !file.has_lines() {
            return heading(self.style, &name) + &self.without_lines(file);
        }
        let title = format!("{name} ({} of {} lines)", file.lines_covered(), file.lines.len());
        let mut out = heading(self.style, &title);
        let lines: Vec<&str> = text.map(|t| t.lines().collect()).unwrap_or_default();
        if text.is_some() {
            out.push_str(&self.source(file, &lines));
        }
        out.push_str(&self.unlisted(file, lines.len() as u32, text.is_some()));
        out
    }

    /// Lists the lines of a file with their hits and remarks.
    fn source(&self, file: &File<'_>, lines: &[&str]) -> String {
        let hits: Vec<Option<u64>> = (1..=lines.len() as u32)
            .map(|n| {
                let line = file.lines.get(&n)?;
                let hits = line.hits.values();
                Some(if self.counts {
                    hits.copied().fold(0, u64::saturating_add)
                } else {
                    hits.filter(|h| **h > 0).count() as u64
                })
            })
            .collect();
        let unit = if self.counts { "items" } else { "tests" };
        let gutter = lines.len().to_string().len().max(4);
        let width = hits.iter().flatten().max().map_or(0, |n| n.to_string().len()).max(unit.len());
        let mut out = String::new();
        let head = format!("  {:>gutter$}  {unit:>width$}", "line");
        let _ = writeln!(out, "{}", self.style.paint(Paint::Dim, head));
        let mut sites = file.sites.iter().filter(|s| s.shared().location.line > 0).peekable();
        for ((number, text), hits) in (1_u32..).zip(lines).zip(hits) {
            let covered = file.lines.get(&number).is_none_or(|l| l.covered);
            let mut remarks = Vec::new();
            while let Some(site) = sites.next_if(|s| s.shared().location.line == number) {
                remarks.extend(self.remark(file, site, covered).map(|r| (site.shared().location.column, r)));
            }
            let partly = remarks.iter().any(|(_, r)| r.paint == Paint::Bad);
            let (mark, paint) = match hits {
                _ if !covered => ("!", Paint::Bad),
                Some(_) if partly => ("~", Paint::Warn),
                Some(_) => (" ", Paint::Good),
                None => (" ", Paint::Plain),
            };
            let hits = hits.map(|n| n.to_string()).unwrap_or_default();
            let code = visible(text);
            let code = if covered { code } else { self.style.paint(Paint::Bad, code) };
            let line = format!(
                "  {}  {} {} | {code}",
                self.style.paint(Paint::Dim, format!("{number:>gutter$}")),
                self.style.paint(paint, format!("{hits:>width$}")),
                self.style.paint(paint, mark),
            );
            let _ = writeln!(out, "{}", line.trim_end());
            for (column, remark) in remarks {
                let pad = format!("  {:gutter$}  {:width$}   | {}", "", "", pad(text, column));
                let _ = writeln!(out, "{pad}{}", self.style.paint(remark.paint, format!("^ {}", remark.text)));
            }
        }
        let legend = if self.counts {
            "items: work-items that executed the line, all tests together; ! not executed; ~ not fully covered"
        } else {
            "tests: how many executed the line; ! not executed; ~ not fully covered"
        };
        let _ = writeln!(out, "  {}", self.style.paint(Paint::Dim, self.words.say(legend)));
        out
    }

    /// Lists what is not covered beyond line `shown` or at an unknown line.
    fn unlisted(&self, file: &File<'_>, shown: u32, has_text: bool) -> String {
        let mut out = String::new();
        let unseen = file.lines.iter().filter(|(n, l)| **n > shown && !l.covered).map(|(n, _)| *n);
        let unseen = style::ranges(unseen);
        if !unseen.is_empty() {
            let _ = writeln!(out, "  not executed: {unseen}");
        }
        for site in &file.sites {
            let line = site.shared().location.line;
            if line == 0 || line > shown {
                out.push_str(&self.placed_remark(file, site));
            }
        }
        let beyond = |line: u32| has_text && line > shown;
        if file.lines.keys().any(|n| beyond(*n)) || file.sites.iter().any(|s| beyond(s.shared().location.line)) {
            out.push_str("  (the file has fewer lines now than when it was assayed)\n");
        } else if !has_text && out.is_empty() {
            out.push_str("  all covered\n");
        } else if !has_text {
            out.push_str("  (its text is not at hand)\n");
        }
        out
    }

    /// Lists what is not covered of a file without lines.
    fn without_lines(&self, file: &File<'_>) -> String {
        let remarks: String = file.sites.iter().map(|site| self.placed_remark(file, site)).collect();
        if remarks.is_empty() { "  all covered\n".to_owned() } else { remarks }
    }

    /// Returns a line with the remark on `site` after its place, if there is one.
    fn placed_remark(&self, file: &File<'_>, site: &Site<'_>) -> String {
        let at = &site.shared().location;
        let place = if at.line == 0 { site.shared().id.clone() } else { at.position().to_string() };
        let covered = file.lines.get(&at.line).is_none_or(|l| l.covered);
        let Some(remark) = self.remark(file, site, covered) else { return String::new() };
        format!("  {}: {}\n", visible(&place), self.style.paint(remark.paint, remark.text))
    }

    /// Returns the remark on `site`, if any; `on_covered_line`: whether its line was executed.
    fn remark(&self, file: &File<'_>, site: &Site<'_>, on_covered_line: bool) -> Option<Remark> {
        let what = site.shared();
        let kind = what.kind.as_str();
        let missing = site.missing();
        // A statement on a line that is not executed adds nothing, nor does a region, which its branch reports.
        if kind == "region" || kind == "statement" && !on_covered_line {
            return None;
        }
        let mut parts = Vec::new();
        let bad = !missing.is_empty();
        if bad {
            parts.push(match kind {
                "statement" => "not executed".to_owned(),
                "barrier" => self.words.say("in no work-group did every work-item arrive").into_owned(),
                _ => {
                    let outcomes: Vec<String> = missing.iter().map(|o| format!("`{o}`")).collect();
                    format!("{} not covered", outcomes.join(", "))
                }
            });
        }
        let diverged = site.divergent_groups();
        if diverged > 0 {
            let where_ = if diverged <= self.groups {
                format!("diverged in {diverged} of {}", style::count(self.groups, "work-group"))
            } else {
                format!("diverged in {}", style::count(diverged, "work-group"))
            };
            parts.push(self.words.say(&where_).into_owned());
        }
        if parts.is_empty() {
            return None;
        }
        let name = if what.construct.is_empty() || what.construct == what.kind {
            kind.to_owned()
        } else {
            format!("{kind} `{}`", what.construct)
        };
        // Instances of a template have sites at the same place.
        let is_other = |other: &&Site<'_>| {
            let other = other.shared();
            what.location.line > 0
                && other.kind == what.kind
                && other.location == what.location
                && other.function != what.function
        };
        let name = match file.sites.iter().find(is_other) {
            Some(_) => format!("{name} in `{}`", what.function),
            None => name,
        };
        let text = visible(&format!("{name}: {}", parts.join("; "))).into_owned();
        Some(Remark { paint: if bad { Paint::Bad } else { Paint::Warn }, text })
    }
}

/// Returns blanks as wide as the text before byte column `column` (from 1) of `text`, or before its first word if
/// `column` is 0. Tabs are kept, so that the caret is right whatever their width.
pub(super) fn pad(text: &str, column: u32) -> String {
    let bytes = match column {
        0 => text.len() - text.trim_start().len(),
        _ => (column as usize - 1).min(text.len()),
    };
    let before = text.char_indices().take_while(|(at, _)| *at < bytes).map(|(_, c)| c).collect::<String>();
    visible(&before).chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::pad;

    #[test]
    fn the_caret_stands_below_its_byte_column() {
        assert_eq!(pad("\tif (a)", 2), "\t");
        assert_eq!(pad("/* é */ if", 10), " ".repeat(8));
        assert_eq!(pad("  x", 0), "  ");
        assert_eq!(pad("x", 40), " ");
    }
}
