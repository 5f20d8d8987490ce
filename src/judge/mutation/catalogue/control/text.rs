//! Source text by clang's positions, and its position as users see it.

use kassay_ir::kernel::ast::{Function, Loc, Node, Position, Range};
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::DebugLocation;

use super::super::mutant::{SourceRange, Spot, same_file};

/// A piece of source: its text, its range, and where it is spelled if it comes from a macro.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// As it is in the source.
    pub text: String,
    /// Where it is; of a macro, where it is expanded.
    pub range: SourceRange,
    /// Where it is spelled, if that is in a macro's body.
    pub spelling: Option<SourceRange>,
}

impl Piece {
    /// Returns whether it comes from a macro, either from the body or from an argument.
    pub fn is_of_macro(&self) -> bool {
        self.spelling.is_some()
    }
}

/// Returns the piece that `range` covers. In a macro's body: the text as spelled in the body, at the range of
/// the expansion.
pub fn piece(sources: &Sources, function: &Function, range: &Range) -> Option<Piece> {
    let (begin, end) = (&range.begin, &range.end);
    let expanded = between(sources, &begin.expansion, &end.expansion, end.spelling.is_some())?;
    let place = function.place(begin);
    if place == &begin.expansion {
        // Begin and end in the same macro: the text at the expansion is the macro's call, not the code itself.
        let one_macro = begin.spelling.is_some() && begin.expansion.offset == end.expansion.offset;
        let spelt = match (&begin.spelling, &end.spelling) {
            (Some(b), Some(e)) if one_macro && b.file == e.file && b.offset <= e.offset => {
                between(sources, b, e, false)
            }
            _ => None,
        };
        return Some(match spelt {
            Some(spelt) => Piece { text: spelt.text, range: expanded.range, spelling: Some(spelt.range) },
            None if one_macro => Piece { spelling: Some(expanded.range.clone()), ..expanded },
            None => expanded,
        });
    }
    // A macro's argument is located where it is spelled.
    let last = function.place(end);
    between(sources, place, if last.offset >= place.offset { last } else { place }, false)
}

/// Returns the text from the start of the first token to the end of the last one; with `is_macro` the last token may be
/// a macro's name, whose arguments are then included.
fn between(sources: &Sources, begin: &Loc, end: &Loc, is_macro: bool) -> Option<Piece> {
    if begin.file != end.file || (end.line, end.column) < (begin.line, begin.column) {
        return None;
    }
    let lines = sources.lines(&begin.file)?;
    let start = Spot { line: begin.line, column: begin.column };
    let mut stop = Spot { line: end.line, column: end.column + end.tok_len };
    if is_macro {
        stop = after_arguments(&lines, stop);
    }
    stop = after_literal(&lines, start, stop);
    Some(Piece {
        text: slice(&lines, start, stop)?,
        range: SourceRange { file: begin.file.to_string(), start, end: stop },
        spelling: None,
    })
}

/// Returns the end of an expression that clang lets end before the parenthesis that closes a vector literal
/// (`(int4)(x)`): after as many closing parentheses as the text opens and does not close, if they follow directly.
pub fn after_literal(lines: &[String], start: Spot, end: Spot) -> Spot {
    let Some(text) = slice(lines, start, end) else { return end };
    let count = |wanted: char| text.chars().filter(|c| *c == wanted).count();
    let missing = count('(').saturating_sub(count(')'));
    let Some(rest) = lines.get(end.line as usize - 1).and_then(|line| line.get(end.column as usize - 1..)) else {
        return end;
    };
    let closing = rest.bytes().take(missing).take_while(|byte| *byte == b')').count();
    if closing == missing { Spot { column: end.column + missing as u32, ..end } } else { end }
}

/// Returns the text between two positions; each line break, with the white space and backslash around it, becomes
/// one blank.
fn slice(lines: &[String], start: Spot, end: Spot) -> Option<String> {
    let line = |number: u32| lines.get((number as usize).checked_sub(1)?);
    if start.line == end.line {
        return line(start.line)?.get(start.column as usize - 1..end.column as usize - 1).map(str::to_owned);
    }
    let mut parts = vec![line(start.line)?.get(start.column as usize - 1..)?];
    for number in start.line + 1..end.line {
        parts.push(line(number)?);
    }
    parts.push(line(end.line)?.get(..end.column as usize - 1)?);
    let trimmed: Vec<&str> = parts.iter().map(|p| p.trim_end_matches('\\').trim()).filter(|p| !p.is_empty()).collect();
    Some(trimmed.join(" "))
}

/// Returns the position after the closing parenthesis, if one opens at `from`, else `from`.
fn after_arguments(lines: &[String], from: Spot) -> Spot {
    let mut depth = 0;
    for number in from.line..=(lines.len() as u32).min(from.line + 50) {
        let Some(line) = lines.get(number as usize - 1) else { return from };
        let first = if number == from.line { from.column as usize - 1 } else { 0 };
        for (i, c) in line.bytes().enumerate().skip(first) {
            match c {
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        return Spot { line: number, column: i as u32 + 2 };
                    }
                    if depth < 0 {
                        return from;
                    }
                }
                c if depth == 0 && !c.is_ascii_whitespace() => return from,
                _ => {}
            }
        }
    }
    from
}

/// Returns the operator's token between two operands, where debug information locates it too. Searches backwards from
/// the right operand: white space, comments, then the token.
pub fn operator(sources: &Sources, function: &Function, node: &Node, token: &str) -> Option<Piece> {
    let [left, right] = &node.children[..] else { return None };
    let (left, right) = (&left.range.as_ref()?.end, &right.range.as_ref()?.begin);
    let found = |from: &Loc, to: &Loc| {
        let lines = sources.lines(&from.file).filter(|_| from.file == to.file)?;
        let start = Spot { line: from.line, column: from.column + from.tok_len };
        last_token(&lines, start, Spot { line: to.line, column: to.column }, token).map(|at| Piece {
            text: token.to_owned(),
            range: SourceRange {
                file: from.file.to_string(),
                start: at,
                end: Spot { line: at.line, column: at.column + token.len() as u32 },
            },
            spelling: None,
        })
    };
    if left.expansion.offset != right.expansion.offset || left.expansion.file != right.expansion.file {
        return found(&left.expansion, &right.expansion);
    }
    let spelt = match (&left.spelling, &right.spelling) {
        (Some(left), Some(right)) => found(left, right),
        _ => None,
    };
    let is_own = |position: &Position| position.is_macro_arg && function.place(position) != &position.expansion;
    if let Some(piece) = spelt.as_ref().filter(|_| is_own(left) && is_own(right)) {
        return Some(Piece { spelling: Some(piece.range.clone()), ..piece.clone() });
    }
    let whole = between(sources, &left.expansion, &right.expansion, true)?;
    let spelling = spelt.map_or_else(|| whole.range.clone(), |p| p.range);
    Some(Piece { text: token.to_owned(), range: whole.range, spelling: Some(spelling) })
}

/// Returns the last `token` between two positions that only white space and comments follow.
fn last_token(lines: &[String], start: Spot, end: Spot, token: &str) -> Option<Spot> {
    let mut found = None;
    let mut in_comment = false;
    for number in start.line..=end.line {
        let line = lines.get((number as usize).checked_sub(1)?)?.as_bytes();
        let mut i = if number == start.line { start.column as usize - 1 } else { 0 };
        let stop = if number == end.line { (end.column as usize - 1).min(line.len()) } else { line.len() };
        while i < stop {
            let rest = &line[i..stop];
            if in_comment {
                in_comment = !rest.starts_with(b"*/");
                i += if in_comment { 1 } else { 2 };
            } else if rest.starts_with(b"//") {
                break;
            } else if rest.starts_with(b"/*") {
                in_comment = true;
                i += 2;
            } else if rest.starts_with(token.as_bytes()) {
                found = Some(Spot { line: number, column: i as u32 + 1 });
                i += token.len();
            } else {
                if !rest[0].is_ascii_whitespace() && rest[0] != b'\\' {
                    found = None;
                }
                i += 1;
            }
        }
    }
    found
}

/// Returns whether `at` lies in `range`, as debug information places it.
pub fn contains(function: &Function, range: &Range, at: &DebugLocation) -> bool {
    let (begin, end) = (function.place(&range.begin), function.place(&range.end));
    at.line > 0
        && (at.line, at.column) >= (begin.line, begin.column)
        && (at.line, at.column) < (end.line, end.column + end.tok_len.max(1))
        && same_file(&at.file, &begin.file)
}

/// Returns whether a piece begins at a debug location.
pub fn begins_at(piece: &Piece, at: &DebugLocation) -> bool {
    same_file(&piece.range.file, &at.file) && (piece.range.start.line, piece.range.start.column) == (at.line, at.column)
}

/// Returns a range of `len` bytes at a debug location: all that is known where there is no syntax tree.
pub fn spot(at: Option<&DebugLocation>, len: usize) -> Option<SourceRange> {
    let at = at.filter(|l| l.line > 0)?;
    let start = Spot { line: at.line, column: at.column };
    Some(SourceRange { file: at.file.clone(), start, end: Spot { column: at.column + len as u32, ..start } })
}
