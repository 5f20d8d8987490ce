//! Renders tables of aligned columns.

use std::borrow::Cow;

use super::style::{Paint, Style, visible, wrap_list};

/// The alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// A cell: its text and the role of the text.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    /// Returns a plain cell; control characters are escaped.
    pub(super) fn new(text: impl AsRef<str>) -> Self {
        Cell::painted(Paint::Plain, text)
    }

    /// Returns a cell with a role; control characters are escaped.
    pub(super) fn painted(paint: Paint, text: impl AsRef<str>) -> Self {
        Cell { text: visible(text.as_ref()).into_owned(), paint }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell::new(text)
    }
}

/// Rows of cells, with columns as wide as their widest cell. A left-aligned last column is wrapped to the terminal: at
/// commas if it is a list, otherwise at blanks.
pub(super) struct Table {
    indent: usize,
    aligns: Vec<Align>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Returns an empty table. `aligns` has one letter per column, `l` or `r`.
    pub(super) fn new(indent: usize, aligns: &str) -> Self {
        let align = |c| if c == 'r' { Align::Right } else { Align::Left };
        Table { indent, aligns: aligns.chars().map(align).collect(), rows: Vec::new() }
    }

    /// Appends a row; missing cells are empty.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().take(self.aligns.len()).collect());
    }

    /// Appends the row with the names of the columns.
    pub(super) fn head(&mut self, names: &[&str]) {
        self.row(names.iter().map(|n| Cell::painted(Paint::Dim, n)));
    }

    /// Returns the table as text, one line per row unless the last column is wrapped.
    pub(super) fn render(&self, style: &Style) -> String {
        const GAP: usize = 2;
        let widths: Vec<usize> = (0..self.aligns.len())
            .map(|i| self.rows.iter().filter_map(|row| row.get(i)).map(Cell::width).max().unwrap_or(0))
            .collect();
        // Empty columns are left out.
        let shown: Vec<usize> = (0..widths.len()).filter(|&i| widths[i] > 0).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = " ".repeat(self.indent);
            // Padding is only written once more text follows, so that no line ends in blanks.
            let mut pending = 0;
            let mut start = self.indent;
            for (n, &i) in shown.iter().enumerate() {
                let width = widths[i];
                if let Some(cell) = row.get(i).filter(|c| !c.text.is_empty()) {
                    let last = n + 1 == shown.len();
                    let left = self.aligns[i] == Align::Left;
                    let room = style.width.saturating_sub(start);
                    let parts: Vec<Cow<'_, str>> = if last && left && cell.width() > room && room >= 20 {
                        wrap_list(&cell.text, room).into_iter().map(Cow::Owned).collect()
                    } else {
                        vec![Cow::Borrowed(cell.text.as_str())]
                    };
                    let fill = width.saturating_sub(cell.width());
                    line.push_str(&" ".repeat(pending + if left { 0 } else { fill }));
                    for (k, part) in parts.iter().enumerate() {
                        if k > 0 {
                            line.push('\n');
                            line.push_str(&" ".repeat(start));
                        }
                        line.push_str(&style.paint(cell.paint, part.as_ref()));
                    }
                    pending = GAP + if left { fill } else { 0 };
                } else {
                    pending += width + GAP;
                }
                start += width + GAP;
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_without_blanks() {
        let mut table = Table::new(2, "lrl");
        table.head(&["name", "n", "what"]);
        table.row(["a".into(), "10".into(), "x".into()]);
        table.row(["longer".into(), "7".into()]);
        assert_eq!(table.render(&Style::default()), "  name     n  what\n  a       10  x\n  longer   7\n");
    }

    #[test]
    fn the_last_column_is_wrapped_to_the_terminal() {
        let mut table = Table::new(0, "ll");
        table.row(["k".into(), "some words that do not fit there".into()]);
        let text = table.render(&Style { color: false, width: 24 });
        assert_eq!(text, "k  some words that do\n   not fit there\n");
        let mut table = Table::new(0, "ll");
        table.row(["k".into(), "case 1, case 2, case 3, default".into()]);
        let text = table.render(&Style { color: false, width: 24 });
        assert_eq!(text, "k  case 1, case 2,\n   case 3, default\n");
    }

    #[test]
    fn colour_does_not_move_columns() {
        let mut table = Table::new(0, "ll");
        table.row([Cell::painted(Paint::Good, "a"), "b".into()]);
        table.row(["aaa".into(), "b".into()]);
        let text = table.render(&Style { color: true, width: 80 });
        assert_eq!(text, "\x1b[32ma\x1b[0m    b\naaa  b\n");
    }
}
