//! Pieces of markup that all pages share.

use std::borrow::Cow;

use maud::{Markup, html};

use super::super::style;
use crate::result::Ratio;

/// Spells out what would not be seen as it is: control characters, and those that change the direction of text or have
/// no width, with which a source can look different from what compilers read.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    let hides = |c: char| {
        c.is_control() && c != '\t' && c != '\n'
            || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if !text.chars().any(hides) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if hides(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out.into()
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A state, shown by a mark and a colour beside its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Warn,
    Bad,
    Quiet,
}

impl Tone {
    /// The class of elements in this state.
    pub(super) fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Warn => "warn",
            Tone::Bad => "bad",
            Tone::Quiet => "quiet",
        }
    }

    /// The state of a share: only all is good.
    pub(super) fn of_percent(percent: f64) -> Tone {
        match percent {
            p if p >= 100.0 => Tone::Good,
            p if p > 0.0 => Tone::Warn,
            _ => Tone::Bad,
        }
    }
}

/// A word with a state.
pub(super) fn badge(tone: Tone, text: &str) -> Markup {
    html! { span.badge.(tone.class()) { (shown(text)) } }
}

/// A percentage, rounded down, with a bar; a dash for `None`.
pub(super) fn percent_bar(percent: Option<f64>) -> Markup {
    let Some(p) = percent else { return html! { span.none title="nothing to cover, or not measured" { "–" } } };
    let width = format!("{:.1}", p.clamp(0.0, 100.0));
    html! {
        span.meter.(Tone::of_percent(p).class()) {
            svg.bar viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
                rect.track width="100" height="8" {}
                rect.fill width=(width) height="8" {}
            }
            span.num { (style::percent(p)) }
        }
    }
}

/// Numbers of covered items with a bar; a dash if there are none.
pub(super) fn ratio_bar(ratio: Ratio) -> Markup {
    html! {
        (percent_bar(ratio.percent()))
        @if ratio.total > 0 { " " span.of { (ratio.covered) "/" (ratio.total) } }
    }
}

/// A cell with a number by which rows are sorted; without a number it comes last.
pub(super) fn sort_key(value: Option<f64>) -> String {
    value.map_or(String::new(), |v| format!("{v:.4}"))
}

/// Remarks of a result.
pub(super) fn notes(notes: &[String]) -> Markup {
    html! {
        @if !notes.is_empty() {
            ul.notes aria-label="Notes" { @for note in notes { li { (shown(note)) } } }
        }
    }
}

/// Names, joined by commas; of many only some.
pub(super) fn names<T: AsRef<str>>(all: &[T], most: usize) -> String {
    let mut text = all.iter().take(most).map(|name| shown(name.as_ref())).collect::<Vec<_>>().join(", ");
    if all.len() > most {
        text.push_str(&format!(" and {} more", all.len() - most));
    }
    text
}

/// A time, or a dash.
pub(super) fn time(seconds: Option<f64>) -> String {
    seconds.map_or("–".to_owned(), style::seconds)
}

/// Names a command whose output is shown, the device and the time that it took.
pub(super) fn facts(file: &std::path::Path, header: &crate::result::Header, elapsed_s: f64) -> Markup {
    let file = file.display().to_string();
    html! {
        p.facts {
            span { (shown(&file)) }
            @if let Some(device) = &header.device { span { (shown(&device.name)) " (" (shown(&device.kind)) ")" } }
            span { "seed " (header.seed) }
            span { (style::seconds(elapsed_s)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_in_text_is_spelled_out() {
        assert_eq!(shown("a\tb"), "a\tb");
        assert_eq!(shown("a\u{202e}b\u{0}"), "a\\u{202e}b\\u{0}");
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(names(&["a", "b", "c"], 2), "a, b and 1 more");
    }
}
