//! Checks that rooms use only rooms below them.

use crate::sources::{layer_sources, module_path, package_of, sources};
use crate::tokens::{Token, tokens};

type Levels = &'static [&'static [&'static str]];

/// By package, its rooms by level. A room may use itself and rooms of lower levels, never another one of its own or a
/// higher level. Which package may use which is in their manifests. Packages that are one room are not here.
pub const LEVELS: &[(&str, Levels)] = &[
    ("base", &[&["error", "hash", "json"], &["files"], &["cache"], &["forked"], &["external_tools"]]),
    ("results", &[&["result"], &["report"]]),
    ("run", &[&["exec"], &["host"]]),
    ("ir", &[&["llvm"], &["kernel"], &["cfg", "lower"], &["instrument"]]),
    ("prove", &[&["program", "solve"], &["symbolic"]]),
    ("judge", &[&["coverage"], &["mutation"], &["generate"], &["sync"]]),
    ("", &[&["api"], &["cli"]]),
    (
        "layer",
        &[
            &["generation", "lock"],
            &["driver", "spool"],
            &["boundary", "program"],
            &["platforms", "shadow"],
            &["launch"],
            &["live"],
            &["capture"],
            &["lifecycle", "wrappers"],
            &["entry"],
        ],
    ),
];

/// The rooms of `src/judge/mutation/`, by level.
const MUTATION: Levels = &[&["catalogue"], &["build"], &["equivalence", "run"], &["campaign"]];

/// The roots of packages: they connect the rooms and belong to none.
pub const ROOTS: &[&str] = &["lib", "main", "worker", "build"];

/// Returns the rooms of a package, lowest first; none if it is one room.
pub fn rooms_of(package: &str) -> Vec<&'static str> {
    levels(package).unwrap_or_default().concat()
}

/// Returns the levels of a package that has rooms.
pub fn levels(package: &str) -> Option<Levels> {
    LEVELS.iter().find(|(name, _)| *name == package).map(|(_, levels)| *levels)
}

#[test]
fn imports_run_downwards_only() {
    let mut complaints = Vec::new();
    for (path, text) in sources().into_iter().chain(layer_sources()) {
        let module = module_path(&path);
        let Some(levels) = levels(package_of(&path)) else { continue };
        if !ROOTS.contains(&module[0].as_str()) {
            complaints.extend(complaints_about(levels, &path.display().to_string(), &module, &text));
        }
    }
    for (path, text) in sources() {
        let module = module_path(&path);
        if path.starts_with("src/judge/mutation") && module.len() > 1 {
            let file = path.display().to_string();
            complaints.extend(complaints_within(MUTATION, &file, &module[1..], Some("mutation"), &text));
        }
    }
    assert!(complaints.is_empty(), "imports against the direction of ARCHITECTURE.md:\n{}", complaints.join("\n"));
}

#[test]
fn the_checker_sees_every_form_of_import() {
    let module = ["exec".to_owned(), "opencl".to_owned()];
    let rooms = |text: &str| -> Vec<(usize, String)> { references(&tokens(text), module.len(), None) };
    let found = |text: &str| -> Vec<String> { rooms(text).into_iter().map(|(_, room)| room).collect() };

    assert_eq!(found("use crate::cli::main;"), ["cli"]);
    assert_eq!(found("use crate::{error::{Error, Result}, suite::launch as l, cfg};"), ["error", "suite", "cfg"]);
    assert_eq!(found("fn f() -> crate::error::Result<crate::report::Text> {}"), ["error", "report"]);
    assert_eq!(found("pub(crate) fn f() {} pub(in crate::exec) fn g() {}"), ["exec"]);
    assert_eq!(found("use super::{lane, code};"), [""; 0]);
    assert_eq!(found("use super::super::cli::run;"), ["cli"]);
    assert_eq!(found("mod tests { use super::super::cli; } use super::super::cfg;"), ["cfg"]);
    assert_eq!(found("mod tests { use super::super::super::cli; }"), ["cli"]);
    assert_eq!(found("use crate::*;"), ["*"]);
    assert_eq!(found("crate::shout!(1);"), [""; 0]);
    assert_eq!(found("// crate::cli\n/* /* crate::cli */ crate::cli */ fn f<'a>() {}"), [""; 0]);
    assert_eq!(
        found(r##"let s = "crate::cli \" crate::cli"; let r = r#"" crate::cli"#; let c = '"'; crate::cfg::x();"##),
        ["cfg"]
    );
    assert_eq!(rooms("fn f() {\n    \"a\n b\";\n    crate::\n        cfg::f()\n}"), [(5, "cfg".to_owned())]);
}

#[test]
fn the_checker_complains_upwards_sideways_and_about_unknown_rooms() {
    let levels: &[&[&str]] = &[&["low", "beside"], &["high"]];
    let complaints = |room: &str, text: &str| complaints_about(levels, "src/x.rs", &[room.to_owned()], text);

    assert!(complaints("high", "use crate::{low, beside::x, high::flags};").is_empty());
    assert_eq!(
        complaints("low", "\nuse crate::high::Site;"),
        ["  src/x.rs:2: `low` uses `crate::high`, which is above it"]
    );
    assert_eq!(
        complaints("low", "use crate::beside::Suite;"),
        ["  src/x.rs:1: `low` uses `crate::beside`, which is beside it"]
    );
    assert_eq!(
        complaints("high", "use crate::helpers::x;"),
        ["  src/x.rs:1: `crate::helpers` is no room; name its level in tests/architecture/rooms.rs"]
    );
    assert_eq!(
        complaints("helpers", ""),
        ["  src/x.rs: `helpers` is no room; name its level in tests/architecture/rooms.rs"]
    );
}

/// Returns the violations in one file of a package with these levels, one line each.
fn complaints_about(levels: &[&[&str]], file: &str, module: &[String], text: &str) -> Vec<String> {
    complaints_within(levels, file, module, None, text)
}

/// The same in a module `parent` of the package, whose rooms these are; `module` counts from there.
fn complaints_within(
    levels: &[&[&str]],
    file: &str,
    module: &[String],
    parent: Option<&str>,
    text: &str,
) -> Vec<String> {
    let level = |room: &str| levels.iter().position(|rooms| rooms.contains(&room));
    let room = &module[0];
    let Some(own) = level(room) else {
        return vec![format!("  {file}: `{room}` is no room; name its level in tests/architecture/rooms.rs")];
    };
    let judge = |(line, used): (usize, String)| match level(&used) {
        None => {
            Some(format!("  {file}:{line}: `crate::{used}` is no room; name its level in tests/architecture/rooms.rs"))
        }
        Some(other) if used == *room || other < own => None,
        Some(other) => {
            let place = if other == own { "beside" } else { "above" };
            Some(format!("  {file}:{line}: `{room}` uses `crate::{used}`, which is {place} it"))
        }
    };
    references(&tokens(text), module.len(), parent).into_iter().filter_map(judge).collect()
}

/// Returns the names directly under the crate's root that a file uses, with their lines, in order: in `crate::name`,
/// in `super::…::name` where the `super`s reach the root, and in groups after either. `depth` is the file's own
/// module depth. With a `parent`, the same of that module, from which `depth` counts.
fn references(tokens: &[Token<'_>], depth: usize, parent: Option<&str>) -> Vec<(usize, String)> {
    let text = |i: usize| tokens.get(i).map_or("", |t| t.1);
    let mut found = Vec::new();
    // For each open brace, whether it opens an inline module.
    let mut braces = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        let mut next = i + 1;
        match text(i) {
            "{" => braces.push(i >= 2 && text(i - 2) == "mod"),
            "}" => {
                braces.pop();
            }
            "crate" if text(i + 1) == "::" => match parent {
                None => under_root(tokens, i + 2, &mut found),
                Some(parent) if text(i + 2) == parent && text(i + 3) == "::" => under_root(tokens, i + 4, &mut found),
                Some(_) => {}
            },
            "super" if text(i + 1) == "::" => {
                let mut supers = 1;
                while text(next) == "::" && text(next + 1) == "super" {
                    supers += 1;
                    next += 2;
                }
                if supers == depth + braces.iter().filter(|inline| **inline).count() {
                    under_root(tokens, next + 1, &mut found);
                }
            }
            _ => {}
        }
        i = next;
    }
    found
}

/// Appends the name, or the first names of the group, at `start`. A macro's name does not count.
fn under_root(tokens: &[Token<'_>], start: usize, found: &mut Vec<(usize, String)>) {
    let Some(&(line, first)) = tokens.get(start) else { return };
    if first != "{" {
        if tokens.get(start + 1).is_none_or(|t| t.1 != "!") {
            found.push((line, first.to_owned()));
        }
        return;
    }
    let mut open = 0;
    let mut expects_name = false;
    for &(line, token) in &tokens[start..] {
        match token {
            "{" => {
                open += 1;
                expects_name = open == 1;
            }
            "}" => {
                open -= 1;
                if open == 0 {
                    return;
                }
            }
            "," if open == 1 => expects_name = true,
            "self" => expects_name = false,
            name if expects_name => {
                found.push((line, name.to_owned()));
                expects_name = false;
            }
            _ => {}
        }
    }
}
