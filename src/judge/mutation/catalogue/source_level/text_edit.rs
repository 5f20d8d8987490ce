//! Edits of a file's text, as plain data.

use kassay_ir::kernel::source::line_ends;

use super::super::mutant::{SourceRange, Spot};

/// Replaces pieces of a file's text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextEdit {
    /// As clang names it.
    pub file: String,
    /// What stands between two positions, and what takes its place. None overlap; insertions at one position are in
    /// their order.
    pub replacements: Vec<(Spot, Spot, String)>,
}

impl TextEdit {
    /// Replaces the text of a range.
    pub fn replace(range: &SourceRange, by: impl Into<String>) -> TextEdit {
        TextEdit { file: range.file.clone(), replacements: vec![(range.start, range.end, by.into())] }
    }

    /// Puts `before` and `after` around a range as well.
    #[must_use]
    pub fn around(mut self, range: &SourceRange, before: &str, after: &str) -> TextEdit {
        self.replacements.push((range.start, range.start, before.to_owned()));
        self.replacements.push((range.end, range.end, after.to_owned()));
        self
    }

    /// Applies the edit to the file's text. Lines keep their numbers: a replacement gets the line breaks of what it
    /// replaces. `None` if a position is not in the text.
    pub fn apply(&self, text: &[u8]) -> Option<Vec<u8>> {
        self.applied(text, true)
    }

    /// Applies the edit, and keeps no line breaks of what is replaced.
    pub fn apply_exactly(&self, text: &[u8]) -> Option<Vec<u8>> {
        self.applied(text, false)
    }

    fn applied(&self, text: &[u8], keeps_lines: bool) -> Option<Vec<u8>> {
        let mut pieces: Vec<(usize, usize, &str)> = Vec::new();
        for (start, end, by) in &self.replacements {
            pieces.push((offset(text, *start)?, offset(text, *end)?, by));
        }
        pieces.sort_by_key(|(start, end, _)| (*start, *end));
        let (mut edited, mut from) = (Vec::with_capacity(text.len() + 64), 0);
        for (start, end, by) in pieces {
            if start < from || end < start {
                return None;
            }
            edited.extend_from_slice(&text[from..start]);
            edited.extend_from_slice(by.as_bytes());
            if keeps_lines {
                edited.extend(line_breaks(&text[start..end]));
            }
            from = end;
        }
        edited.extend_from_slice(&text[from..]);
        Some(edited)
    }
}

/// Returns the offset of a position; that after a line's last character is in it.
fn offset(text: &[u8], at: Spot) -> Option<usize> {
    let before = (at.line as usize).checked_sub(1)?;
    let begin = match before.checked_sub(1) {
        Some(last) => line_ends(text).nth(last)?.1,
        None => 0,
    };
    let offset = begin + (at.column as usize).checked_sub(1)?;
    let is_in_line = line_ends(text.get(begin..offset)?).next().is_none();
    is_in_line.then_some(offset)
}

/// Returns the line breaks in a text, each with the backslash that splices its lines.
fn line_breaks(text: &[u8]) -> Vec<u8> {
    let (mut breaks, mut begin) = (Vec::new(), 0);
    for (end, next) in line_ends(text) {
        let is_spliced = text[begin..end].trim_ascii_end().ends_with(b"\\");
        breaks.extend_from_slice(if is_spliced { b" \\\n" } else { b"\n" });
        begin = next;
    }
    breaks
}

/// Returns the text of a range; `None` if it is not in the text.
pub fn text_at<'t>(text: &'t [u8], range: &SourceRange) -> Option<&'t [u8]> {
    text.get(offset(text, range.start)?..offset(text, range.end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: (u32, u32), end: (u32, u32)) -> SourceRange {
        let spot = |(line, column)| Spot { line, column };
        SourceRange { file: "k.cl".into(), start: spot(start), end: spot(end) }
    }

    fn edited(edit: &TextEdit, text: &str) -> Option<String> {
        edit.apply(text.as_bytes()).map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn pieces_are_replaced_and_parentheses_put_around_others() {
        let edit = TextEdit::replace(&range((2, 3), (2, 4)), "*")
            .around(&range((2, 1), (2, 2)), "(", ")")
            .around(&range((2, 5), (2, 6)), "(", ")")
            .around(&range((2, 1), (2, 6)), "(", ")");
        assert_eq!(edited(&edit, "x\na + b;\n").as_deref(), Some("x\n((a) * (b));\n"));
    }

    #[test]
    fn lines_keep_their_numbers() {
        let edit = TextEdit::replace(&range((1, 1), (3, 2)), "0");
        assert_eq!(edited(&edit, "f(a, \\\n  b\n);\n").as_deref(), Some("0 \\\n\n;\n"));
    }

    #[test]
    fn an_exact_edit_takes_lines_away() {
        let edit = TextEdit::replace(&range((2, 1), (3, 1)), "");
        let exactly = |text: &str| edit.apply_exactly(text.as_bytes()).map(|text| String::from_utf8(text).unwrap());
        assert_eq!(exactly("a\nb\nc\n").as_deref(), Some("a\nc\n"));
        assert_eq!(edited(&edit, "a\nb\nc\n").as_deref(), Some("a\n\nc\n"));
    }

    #[test]
    fn lines_end_as_for_clang() {
        let edit = TextEdit::replace(&range((3, 3), (3, 4)), "-");
        assert_eq!(edited(&edit, "x\r\ny\ra + b;\r").as_deref(), Some("x\r\ny\ra - b;\r"));
        let edit = TextEdit::replace(&range((1, 1), (4, 1)), "0");
        assert_eq!(edited(&edit, "a \\\n\rb\n;").as_deref(), Some("0 \\\n\n\n;"));
    }

    #[test]
    fn positions_outside_the_text_make_no_edit() {
        assert_eq!(edited(&TextEdit::replace(&range((1, 2), (1, 9)), ""), "ab\ncd\n"), None);
        assert_eq!(edited(&TextEdit::replace(&range((4, 1), (4, 1)), "x"), "ab\n"), None);
        assert_eq!(edited(&TextEdit::replace(&range((1, 3), (1, 3)), "x"), "ab\ncd").as_deref(), Some("abx\ncd"));
    }
}
