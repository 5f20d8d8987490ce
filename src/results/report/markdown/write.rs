//! Markdown as GitHub and GitLab read it: tables, folds, and text from results that must stay text.

use std::fmt::Write;

use super::super::style::visible;

/// Characters that mean something in Markdown or HTML, or in what services add to them: mentions, references, emoji,
/// formulas, links made of bare addresses.
const SPECIAL: &str = "&<>\"'\\`*_[]|~#@$:!^";

fn escaped(text: &str, is_code: bool) -> String {
    let mut out = String::new();
    for (n, line) in text.lines().enumerate() {
        if n > 0 {
            out.push_str("<br>");
        }
        for c in visible(line).chars() {
            if !SPECIAL.contains(c) {
                out.push(c);
                continue;
            }
            let _ = write!(out, "&#{};", u32::from(c));
            // Services look for mentions and references in what is shown, except in code.
            if !is_code && matches!(c, '@' | '#') {
                out.push_str("&#8203;");
            }
        }
    }
    // The other form of bare addresses that become links.
    out.replace("www.", "www&#46;").replace("WWW.", "WWW&#46;")
}

/// Text as it stands.
pub(super) fn prose(text: &str) -> String {
    escaped(text, false)
}

/// Text in a fixed-width font; nothing for an empty text. Backticks cannot quote all texts in tables, so this is HTML.
pub(super) fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<code>{}</code>", escaped(text, true)) }
}

/// Returns at most about this many characters of a text.
pub(super) fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} …", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// A table. Cells are Markdown already.
pub(super) struct Table {
    head: Vec<(String, bool)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Columns have their names, with a `>` in front if they are aligned to the right.
    pub(super) fn new(columns: &[&str]) -> Table {
        let column = |name: &&str| match name.strip_prefix('>') {
            Some(name) => (prose(name), true),
            None => (prose(name), false),
        };
        Table { head: columns.iter().map(column).collect(), rows: Vec::new() }
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Returns the table followed by an empty line; nothing without rows.
    pub(super) fn render(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let names: Vec<&str> = self.head.iter().map(|(name, _)| name.as_str()).collect();
        let rules: Vec<&str> = self.head.iter().map(|(_, right)| if *right { "---:" } else { "---" }).collect();
        let mut out = format!("| {} |\n| {} |\n", names.join(" | "), rules.join(" | "));
        for row in &self.rows {
            let _ = writeln!(out, "| {} |", row.join(" | "));
        }
        out + "\n"
    }
}

/// A block of code in a language, followed by an empty line; nothing without code.
pub(super) fn fenced(language: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = text.lines().map(|line| visible(line).to_string()).collect();
    // Longer than any row of backticks that the text has.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n\n", lines.join("\n"))
}

/// Folds a text away under a line.
pub(super) fn details(summary: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!("<details><summary>{summary}</summary>\n\n{}\n\n</details>\n\n", body.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(prose("a|b"), "a&#124;b");
        assert_eq!(prose("@me #1"), "&#64;&#8203;me &#35;&#8203;1");
        assert_eq!(code("`x`<b>"), "<code>&#96;x&#96;&#60;b&#62;</code>");
        assert_eq!(code("@me"), "<code>&#64;me</code>");
        assert_eq!(prose("one\ntwo"), "one<br>two");
        assert_eq!(prose("http://evil www.evil"), "http&#58;//evil www&#46;evil");
        assert_eq!(fenced("diff", "+ a\n- ```"), "````diff\n+ a\n- ```\n````\n\n");
        assert_eq!((code(""), clipped("äbc", 2)), (String::new(), "äb …".to_owned()));
    }
}
