//! Renders def-use coverage: the kinds of pairs, and the pairs that no test exercises.

use std::fmt::Write;

use super::super::style::{Style, visible};
use super::super::table::{Cell, Table};
use super::{heading, percent};
use crate::result::def_use::{AccessPlace, DefUse, DefUsePair};

/// Most pairs that are listed.
const MOST_PAIRS: usize = 20;

/// Renders the table of kinds and, unless `summary_only`, the first pairs that are not covered.
pub(super) fn def_use(result: &DefUse, summary_only: bool, style: &Style) -> String {
    let mut out = heading(style, "def-use");
    let mut table = Table::new(2, "lrrr");
    table.head(&["kind", "covered", "pairs", "percent"]);
    for kind in &result.summary {
        table.row([
            Cell::new(kind.kind.label()),
            kind.covered.to_string().into(),
            kind.pairs.to_string().into(),
            percent(kind.percent),
        ]);
    }
    out.push_str(&table.render(style));
    if let Some(overhead) = result.overhead {
        let _ = writeln!(
            out,
            "\n  following definitions took {overhead:.1} times the original kernel time (median over the tests)"
        );
    }
    let missing: Vec<&DefUsePair> = result.pairs.iter().filter(|pair| !pair.covered).collect();
    if !summary_only && !missing.is_empty() {
        let _ = writeln!(out, "\n  not covered");
        let mut table = Table::new(4, "llll");
        table.head(&["variable", "kind", "definition", "use"]);
        for pair in missing.iter().take(MOST_PAIRS) {
            let definition = pair.definition.as_ref().map_or_else(|| "the host".to_owned(), place);
            table.row([
                Cell::new(&pair.variable),
                Cell::new(pair.kind.label()),
                Cell::new(definition),
                Cell::new(place(&pair.usage)),
            ]);
        }
        out.push_str(&table.render(style));
        if missing.len() > MOST_PAIRS {
            let more = missing.len() - MOST_PAIRS;
            let _ = writeln!(out, "    … and {more} more: the result (-o FILE) lists all under `def_use.pairs`");
        }
    }
    out
}

/// Returns a place as `line:column operation`, in front of which stands the function.
fn place(place: &AccessPlace) -> String {
    let at = match place.location.line {
        0 => "?".to_owned(),
        _ => place.location.position().to_string(),
    };
    visible(&format!("{at} {} in {}", place.operation, place.function)).into_owned()
}
