//! `ARCHITECTURE.md` says what stands: its paths and symbols exist, every room has a section with invariants, and the
//! steps of "Adding things" lead to files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::sources::{module_path, sources};

fn page() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What stands between backticks, with the line it stands in.
fn quoted(text: &str) -> Vec<(usize, &str)> {
    let parts = text.split('`').scan(1, |line, part| {
        let at = *line;
        *line += part.matches('\n').count();
        Some((at, part))
    });
    parts.enumerate().filter(|(i, _)| i % 2 == 1).map(|(_, quoted)| quoted).collect()
}

/// A path of the repository, in the form that the page uses: it begins with a top-level folder.
fn is_path(quoted: &str) -> bool {
    ["src/", "tests/", "docs/", "testdata/", "runtime-cl/", "scripts/", "benches/"]
        .iter()
        .any(|top| quoted.starts_with(top))
}

/// The text outside of fenced blocks.
fn prose(text: &str) -> String {
    let mut is_fenced = false;
    let line = |line: &str| {
        let fence = line.starts_with("```");
        is_fenced ^= fence;
        if is_fenced || fence { String::new() } else { line.to_owned() }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn paths_that_the_page_names_exist() {
    let text = prose(&page());
    let missing: Vec<String> = (quoted(&text).into_iter())
        .filter(|(_, path)| is_path(path) && !path.contains(['*', '<']) && !root().join(path).exists())
        .map(|(line, path)| format!("  ARCHITECTURE.md:{line}: there is no {path}"))
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// "`SYMBOL` in `path`": the file has that word.
#[test]
fn symbols_that_the_page_names_stand_in_their_files() {
    let text = prose(&page());
    let mut checked = 0;
    let mut missing = Vec::new();
    let parts: Vec<&str> = text.split('`').collect();
    for i in (1..parts.len()).step_by(2) {
        let (Some(between), Some(path)) = (parts.get(i + 1), parts.get(i + 2)) else { continue };
        if between.split_whitespace().collect::<Vec<_>>() != ["in"] || !is_path(path) {
            continue;
        }
        checked += 1;
        let symbol = parts[i];
        let source = fs::read_to_string(root().join(path)).unwrap_or_default();
        if !source.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == symbol) {
            missing.push(format!("  {path} has no `{symbol}`"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(checked > 8, "only {checked} symbols found");
}

#[test]
fn every_room_has_a_section_with_invariants_and_reasons() {
    let text = page();
    let rooms: BTreeSet<String> = (sources().iter())
        .filter(|(path, _)| path.components().count() > 2)
        .map(|(path, _)| module_path(path)[0].clone())
        .collect();
    for room in rooms {
        let head = format!("### `src/{room}/`\n");
        let section =
            text.split(&head).nth(1).unwrap_or_else(|| panic!("ARCHITECTURE.md has no section of src/{room}"));
        let section = section.split("\n#").next().unwrap();
        let invariants: Vec<&str> = section.split("**Invariant:**").skip(1).collect();
        assert!(!invariants.is_empty(), "src/{room}: no invariant");
        for invariant in invariants {
            let sentence = invariant.split("\n- ").next().unwrap().split("\n\n").next().unwrap();
            assert!(sentence.contains("because"), "src/{room}: an invariant without its reason: {sentence}");
        }
    }
}

#[test]
fn every_step_of_adding_something_names_a_file() {
    let text = page();
    let adding = text.split("## Adding things").nth(1).expect("a chapter on adding things");
    let mut kinds = 0;
    for recipe in adding.split("\n### ").skip(1) {
        kinds += 1;
        let (name, steps) = recipe.split_once('\n').unwrap();
        let steps: Vec<&str> = steps.split("\n").filter(|l| l.starts_with(|c: char| c.is_ascii_digit())).collect();
        assert!(!steps.is_empty(), "{name}: no steps");
        for step in steps {
            assert!(quoted(step).iter().any(|(_, path)| is_path(path)), "{name}: this step names no file: {step}");
        }
    }
    assert!(kinds >= 5, "only {kinds} recipes");
}

/// A table is for what fits a cell.
#[test]
fn no_cell_of_a_table_is_long() {
    let text = page();
    let cells = text.lines().filter(|l| l.starts_with('|')).flat_map(|l| l.split('|'));
    let long: Vec<&str> = cells.filter(|cell| cell.len() > 200).collect();
    assert!(long.is_empty(), "cells of more than 200 characters:\n{}", long.join("\n"));
}

/// "PENG 4.2.1", "LIU, table 6.2": the key stands in the bibliography.
#[test]
fn what_comments_cite_stands_in_the_bibliography() {
    let bibliography = fs::read_to_string(root().join("docs/references.bib")).unwrap();
    let keys: BTreeSet<&str> = (bibliography.lines())
        .filter(|l| l.starts_with('@'))
        .filter_map(|l| l.split_once('{')?.1.strip_suffix(','))
        .collect();
    assert!(keys.contains("PENG") && keys.contains("LIU"), "{keys:?}");
    for key in ["PENG", "LIU", "LEUNG", "SIMULEE", "AGRAWAL", "UNTCH", "HOWDEN", "MCMINN", "REDQUEEN", "HOUDINI"] {
        assert!(keys.contains(key), "docs/references.bib has no {key}");
    }
    let mut unknown = Vec::new();
    for (path, text) in sources() {
        for (number, line) in text.lines().enumerate().filter(|(_, l)| l.trim_start().starts_with("//")) {
            let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || "()`[];:".contains(c)).collect();
            for pair in words.windows(2) {
                let key = pair[0].trim_end_matches([',', '.']).trim_end_matches("'s");
                let is_key = key.len() > 2
                    && !matches!(key, "API" | "ABI")
                    && key.chars().all(|c| c.is_ascii_uppercase() || c == '-');
                let is_section = pair[1].starts_with(|c: char| c.is_ascii_digit()) && pair[1].contains('.')
                    || matches!(pair[1], "section" | "sections" | "table" | "tables" | "algorithm");
                if is_key && is_section && !keys.contains(key) {
                    unknown.push(format!("  {}:{}: {key}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(unknown.is_empty(), "cited, but not in docs/references.bib:\n{}", unknown.join("\n"));
}
