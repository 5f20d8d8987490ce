//! Splits source files into tokens, accessible by position.
//!
//! Does only what finding operators requires: comments and white space are skipped, lines spliced by a backslash stay
//! separate, and nothing is expanded.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use kassay_ir::kernel::source::{self, Sources};

use super::super::mutant::{SourceRange, Spot};

/// A token; line and column count from 1, the column in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its first character.
    pub at: Spot,
    /// As it is in the source.
    pub text: String,
}

impl Token {
    /// Returns the token's range in `file`.
    pub fn range(&self, file: &str) -> SourceRange {
        let end = Spot { line: self.at.line, column: self.at.column + self.text.len() as u32 };
        SourceRange { file: file.to_owned(), start: self.at, end }
    }

    /// Returns whether it is an identifier or keyword.
    pub fn is_name(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    /// Returns whether an expression may end with it, so that a following `-` is binary.
    pub fn ends_operand(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ')' | ']' | '.' | '\'' | '"'))
            && self.text != "return"
            && self.text != "case"
    }
}

/// The tokens of the files read so far, by name.
pub type TokenCache = RefCell<HashMap<String, Rc<Vec<Token>>>>;

/// The tokens of the requested files, each read once.
pub struct Tokens<'a> {
    sources: &'a Sources,
    files: &'a TokenCache,
}

impl<'a> Tokens<'a> {
    /// Reads files from `sources` and keeps their tokens in `files`.
    pub fn new(sources: &'a Sources, files: &'a TokenCache) -> Tokens<'a> {
        Tokens { sources, files }
    }

    /// Returns all tokens of a file, in order; none if it is not available.
    pub fn of(&self, file: &str) -> Rc<Vec<Token>> {
        if let Some(known) = self.files.borrow().get(file) {
            return known.clone();
        }
        let tokens = Rc::new(self.sources.lines(file).map(|lines| read(&lines)).unwrap_or_default());
        self.files.borrow_mut().insert(file.to_owned(), tokens.clone());
        tokens
    }

    /// Returns the token that begins at a position.
    pub fn at(&self, file: &str, at: Spot) -> Option<Token> {
        let tokens = self.of(file);
        tokens.binary_search_by_key(&at, |token| token.at).ok().map(|i| tokens[i].clone())
    }

    /// Returns the last token that begins before a position.
    pub fn before(&self, file: &str, at: Spot) -> Option<Token> {
        let tokens = self.of(file);
        let first = tokens.partition_point(|token| token.at < at);
        first.checked_sub(1).map(|i| tokens[i].clone())
    }

    /// Returns the first token that begins after a position.
    pub fn after(&self, file: &str, at: Spot) -> Option<Token> {
        let tokens = self.of(file);
        tokens.get(tokens.partition_point(|token| token.at <= at)).cloned()
    }
}

/// Operators of C, longest first.
const OPERATORS: [&str; 24] = [
    "<<=", ">>=", "...", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "->", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "##", "::",
];

fn read(lines: &[String]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut in_comment = false;
    for (number, line) in lines.iter().enumerate() {
        let mut column = 0;
        while let Some(rest) = line.get(column..).filter(|rest| !rest.is_empty()) {
            if in_comment {
                match rest.find("*/") {
                    Some(end) => (in_comment, column) = (false, column + end + 2),
                    None => break,
                }
                continue;
            }
            if rest.starts_with("//") {
                break;
            }
            if rest.starts_with("/*") {
                (in_comment, column) = (true, column + 2);
                continue;
            }
            let length = token_length(rest);
            if !rest.starts_with(char::is_whitespace) {
                let at = Spot { line: number as u32 + 1, column: column as u32 + 1 };
                tokens.push(Token { at, text: rest[..length].to_owned() });
            }
            column += length;
        }
    }
    tokens
}

/// Returns the length of the token (or blank) at the text's beginning.
fn token_length(text: &str) -> usize {
    let Some(first) = text.chars().next() else { return 0 };
    let second_is_digit = text.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    if first.is_ascii_digit() || (first == '.' && second_is_digit) {
        return number_length(text);
    }
    if first.is_ascii_alphabetic() || first == '_' {
        return text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    }
    if first == '"' || first == '\'' {
        return source::quoted_length(text).unwrap_or(text.len());
    }
    OPERATORS.iter().find(|operator| text.starts_with(**operator)).map_or(first.len_utf8(), |operator| operator.len())
}

/// Returns the length of a preprocessing number: a sign belongs to it after an exponent's letter, and in C++ a quote
/// between digits.
fn number_length(text: &str) -> usize {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let mut previous = ' ';
    for (i, c) in text.char_indices() {
        let is_exponent = if is_hex { matches!(previous, 'p' | 'P') } else { matches!(previous, 'e' | 'E') };
        let separates = c == '\'' && text[i + 1..].starts_with(|c: char| c.is_ascii_alphanumeric());
        if !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.') || separates || is_exponent && matches!(c, '+' | '-'))
        {
            return i;
        }
        previous = c;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_numbers_do_not_hide_operators() {
        let lines = ["a /* - */ <<= 1e+3f // +", "/* two", "lines */ -0x1p-2+.5e-1;"].map(str::to_owned);
        let texts: Vec<(u32, u32, String)> =
            read(&lines).into_iter().map(|t| (t.at.line, t.at.column, t.text)).collect();
        let expected = [
            (1, 1, "a"),
            (1, 11, "<<="),
            (1, 15, "1e+3f"),
            (3, 10, "-"),
            (3, 11, "0x1p-2"),
            (3, 17, "+"),
            (3, 18, ".5e-1"),
            (3, 23, ";"),
        ];
        assert_eq!(texts, expected.map(|(line, column, text)| (line, column, text.to_owned())));
    }

    #[test]
    fn quotes_between_digits_begin_no_literal() {
        let texts: Vec<String> =
            read(&["x = 1'000'000 - 'a' + \"b\\\"-\";".to_owned()]).into_iter().map(|t| t.text).collect();
        assert_eq!(texts, ["x", "=", "1'000'000", "-", "'a'", "+", "\"b\\\"-\"", ";"]);
    }
}
