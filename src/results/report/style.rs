//! Formats text: colours, line width, and the spelling of quantities.

use std::borrow::Cow;

use kassay_model::demangle;

/// Properties of the terminal; the caller determines them (and reads `NO_COLOR`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to colour text, by ANSI escape sequences.
    pub color: bool,
    /// Width in columns. Prose and the last column of tables are wrapped to it; source lines never are.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style { color: false, width: 100 }
    }
}

/// The role of a piece of text, shown by colour only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Plain,
    Good,
    Bad,
    Warn,
    Dim,
    Bold,
}

impl Style {
    /// Returns `text` in the colour of its role, if colours are on.
    pub(super) fn paint<'a>(&self, paint: Paint, text: impl Into<Cow<'a, str>>) -> Cow<'a, str> {
        let text = text.into();
        let code = match paint {
            Paint::Plain => return text,
            Paint::Good => "32",
            Paint::Bad => "31",
            Paint::Warn => "33",
            Paint::Dim => "2",
            Paint::Bold => "1",
        };
        if self.color && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m").into() } else { text }
    }
}

/// Escapes control characters except tabs, so that output of a kernel cannot control the terminal.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| c == '\t' || !c.is_control()) {
        return text.into();
    }
    text.chars()
        .fold(String::with_capacity(text.len() + 8), |mut out, c| {
            if c == '\t' || !c.is_control() {
                out.push(c);
            } else {
                out.extend(c.escape_default());
            }
            out
        })
        .into()
}

/// Characters of a kernel's name in a table, at most.
const NAME: usize = 60;

/// A kernel's name in a table: demangled, and cut where it is long; results have it whole.
pub(super) fn kernel_name(name: &str) -> String {
    let name = demangle::kernel(name);
    match name.char_indices().nth(NAME) {
        Some((end, _)) if name.chars().count() > NAME + 1 => format!("{}…", &name[..end]),
        _ => name,
    }
}

/// Formats a time with three digits in a fitting unit.
pub(super) fn seconds(s: f64) -> String {
    // The bounds are where three digits would round up to 1000 of the smaller unit.
    let (value, unit) = if s < 999.5e-9 {
        (s * 1e9, "ns")
    } else if s < 999.5e-6 {
        (s * 1e6, "us")
    } else if s < 999.5e-3 {
        (s * 1e3, "ms")
    } else {
        (s, "s")
    };
    let digits = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

/// Formats a percentage with one decimal, rounded down, so that only complete coverage reads 100.0 %.
pub(super) fn percent(p: f64) -> String {
    // The small term keeps 33.3 from becoming 33.2 because of its binary representation.
    format!("{:.1} %", (p * 10.0 + 1e-9).floor() / 10.0)
}

/// Formats the size of an error: up to four decimals, or scientific notation for very small and very large values.
pub(super) fn magnitude(x: f64) -> String {
    if x != 0.0 && x.is_finite() && !(1e-2..1e6).contains(&x.abs()) {
        return format!("{x:.3e}");
    }
    let text = format!("{x:.4}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats a number with its noun: `1 test`, `3 tests`.
pub(super) fn count(n: u64, noun: &str) -> String {
    let plural = match noun {
        _ if n == 1 => noun.to_owned(),
        _ if noun.ends_with("ch") => format!("{noun}es"),
        _ => format!("{noun}s"),
    };
    format!("{n} {plural}")
}

/// Formats ascending numbers with runs joined: `3-9, 12`.
pub(super) fn ranges(numbers: impl IntoIterator<Item = u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for n in numbers {
        match runs.last_mut() {
            Some((_, end)) if *end == n || end.checked_add(1) == Some(n) => *end = n,
            _ => runs.push((n, n)),
        }
    }
    let run = |&(a, b): &(u32, u32)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

/// Wraps `text` at `width` columns; longer words get a line of their own. Returns at least one line.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    fill(text.split_whitespace(), width)
}

/// Like [`wrap`], but breaks comma-separated lists only after commas.
pub(super) fn wrap_list(text: &str, width: usize) -> Vec<String> {
    if text.contains(", ") { fill(text.split_inclusive(", ").map(str::trim_end), width) } else { wrap(text, width) }
}

/// Fills lines with pieces separated by single blanks.
fn fill<'a>(pieces: impl Iterator<Item = &'a str>, width: usize) -> Vec<String> {
    let mut lines = vec![];
    let mut line = String::new();
    for piece in pieces {
        if !line.is_empty() && line.chars().count() + 1 + piece.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(piece);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_in_the_unit_that_fits() {
        for (s, text) in [
            (0.0, "0.00 ns"),
            (12.34e-6, "12.3 us"),
            (999.6e-6, "1.00 ms"),
            (0.5, "500 ms"),
            (61.25, "61.2 s"),
            (1234.0, "1234 s"),
        ] {
            assert_eq!(seconds(s), text);
        }
    }

    #[test]
    fn only_complete_coverage_reads_100_percent() {
        assert_eq!(percent(100.0 * 9_999.0 / 10_000.0), "99.9 %");
        assert_eq!(percent(100.0), "100.0 %");
        assert_eq!(percent(33.3), "33.3 %");
    }

    #[test]
    fn magnitudes_are_short() {
        let texts = [0.0, 2.5, 100.0, 0.1 + 0.2, 1.5e-7, 3e38, f64::INFINITY].map(magnitude);
        assert_eq!(texts, ["0", "2.5", "100", "0.3", "1.500e-7", "3.000e38", "inf"]);
    }

    #[test]
    fn runs_of_numbers_are_joined() {
        assert_eq!(ranges([3, 4, 4, 5, 9, 11, 12]), "3-5, 9, 11-12");
        assert_eq!(ranges([]), "");
    }

    #[test]
    fn words_are_wrapped_and_never_cut() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("incomprehensible a", 4), ["incomprehensible", "a"]);
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(visible("a\tb\x1b[31m"), "a\tb\\u{1b}[31m");
    }
}
