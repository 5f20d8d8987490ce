//! Puts code between statements and takes statements away, as a person would lay it out.

use super::expressions::is_pure;
use super::lexer;
use super::outline::{Item, List, Outline, Span, Step};
use crate::mutation::catalogue::mutant::Spot;
use crate::mutation::catalogue::source_level::text_edit::TextEdit;

/// What stands between two offsets, and what takes its place.
pub type Piece = (Span, String);

/// A place between statements: before the statement with this index, or behind the last one.
#[derive(Clone, Copy)]
pub struct Gap<'o, 'a> {
    pub list: &'o List<'a>,
    pub index: usize,
}

impl Outline<'_> {
    /// The edit that pieces make.
    pub fn edit(&self, pieces: &[Piece]) -> TextEdit {
        let spot = |at: usize| Spot { line: self.line(at), column: self.column(at) };
        let replacement = |(span, by): &Piece| (spot(span.start), spot(span.end), by.clone());
        TextEdit { file: self.file.to_owned(), replacements: pieces.iter().map(replacement).collect() }
    }

    /// The white space with which a line begins.
    fn indent(&self, at: usize) -> String {
        let start = self.line_start(at);
        let line = &self.text[start..self.line_end(start)];
        let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        String::from_utf8_lossy(&line[..blanks]).into_owned()
    }

    pub fn newline(&self) -> &'static str {
        if self.text.windows(2).any(|two| two == b"\r\n") { "\r\n" } else { "\n" }
    }

    /// Whether a statement begins its line.
    pub fn begins_line(&self, item: &Item<'_>) -> bool {
        self.text[self.line_start(item.span.start)..item.span.start].iter().all(u8::is_ascii_whitespace)
    }

    /// Whether only comments follow it in its line.
    pub fn ends_line(&self, item: &Item<'_>) -> bool {
        lexer::is_without_code(&self.text[item.span.end..self.line_end(item.span.end)])
    }

    /// Puts lines of code into a gap.
    pub fn insertion(&self, gap: Gap<'_, '_>, code: &[String]) -> Vec<Piece> {
        let Gap { list, index } = gap;
        if !list.has_braces {
            return self.with_braces(list, index, code);
        }
        let newline = self.newline();
        let at = |at: usize| Span { start: at, end: at };
        let before = index.checked_sub(1).map(|before| &list.items[before]);
        if let Some(before) = before {
            if self.ends_line(before) && self.begins_line(before) {
                let indent = self.indent(before.span.start);
                let lines = code.iter().map(|line| format!("{newline}{indent}{line}")).collect();
                return vec![(at(self.line_end(before.span.end)), lines)];
            }
            return vec![(at(before.span.end), format!(" {}", code.join(" ")))];
        }
        match list.items.first() {
            Some(first) if self.begins_line(first) => {
                let indent = self.indent(first.span.start);
                let lines = code.iter().map(|line| format!("{line}{newline}{indent}")).collect();
                vec![(at(first.span.start), lines)]
            }
            _ => vec![(at(list.span.start), format!(" {}", code.join(" ")))],
        }
    }

    /// Puts code before or behind the only statement of a list without braces, which gets some.
    fn with_braces(&self, list: &List<'_>, index: usize, code: &[String]) -> Vec<Piece> {
        let (first, last) = if index == 0 { (code, &[][..]) } else { (&[][..], code) };
        self.in_braces(&list.items[0], first, last)
    }

    /// Puts a statement into braces, with code before and behind it.
    pub fn in_braces(&self, item: &Item<'_>, first: &[String], last: &[String]) -> Vec<Piece> {
        let newline = self.newline();
        let at = |at: usize| Span { start: at, end: at };
        let line_start = self.line_start(item.span.start);
        let head = self.text[..item.span.start].trim_ascii_end();
        let head_line = &head[self.line_start(head.len())..];
        let is_comment = head_line.windows(2).any(|two| two == b"//") || head.ends_with(b"*/");
        if !self.begins_line(item) || !self.ends_line(item) || head.len() >= line_start || is_comment {
            let before: String = first.iter().map(|line| format!("{line} ")).collect();
            let behind: String = last.iter().map(|line| format!(" {line}")).collect();
            return vec![(at(item.span.start), format!("{{ {before}")), (at(item.span.end), format!("{behind} }}"))];
        }
        let (indent, outer) = (self.indent(item.span.start), self.indent(head.len()));
        let before: String = first.iter().map(|line| format!("{line}{newline}{indent}")).collect();
        let behind: String = last.iter().map(|line| format!("{newline}{indent}{line}")).collect();
        let mut pieces = vec![(at(head.len()), " {".to_owned())];
        if !before.is_empty() {
            pieces.push((at(item.span.start), before));
        }
        pieces.push((at(self.line_end(item.span.end)), format!("{behind}{newline}{outer}}}")));
        pieces
    }

    /// Takes a statement away, and the `if` that does nothing without it.
    pub fn removal(&self, path: &[Step<'_, '_>]) -> Vec<Piece> {
        let Some((step, outer)) = path.split_last() else { return Vec::new() };
        if step.list.items.len() == 1
            && let Some(above) = outer.last()
            && above.item().node.is("IfStmt")
            && above.item().lists.len() == 1
            && above.item().node.children.first().is_some_and(is_pure)
        {
            return self.removal(outer);
        }
        if !step.list.has_braces {
            return vec![(step.item().span, ";".to_owned())];
        }
        vec![(self.whole_lines(step.item()), String::new())]
    }

    /// A statement with its lines, if it has them to itself.
    fn whole_lines(&self, item: &Item<'_>) -> Span {
        if self.begins_line(item) && self.ends_line(item) {
            let end = self.line_end(item.span.end);
            let rest = &self.text[end..];
            let line_break = if rest.starts_with(b"\r\n") { 2 } else { usize::from(!rest.is_empty()) };
            return Span { start: self.line_start(item.span.start), end: end + line_break };
        }
        let blanks = self.text[..item.span.start].iter().rev().take_while(|byte| **byte == b' ').count();
        Span { start: item.span.start - blanks, end: item.span.end }
    }

    /// Replaces a statement by lines of code, laid out in its place.
    pub fn replacement(&self, step: Step<'_, '_>, code: &[String]) -> Vec<Piece> {
        let item = step.item();
        let indent = self.indent(item.span.start);
        let inside = self.newline().to_owned() + &indent;
        if step.list.has_braces {
            let by = if self.begins_line(item) { code.join(&inside) } else { code.join(" ") };
            return vec![(item.span, by)];
        }
        vec![(item.span, format!("{{ {} }}", code.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")))]
    }
}
