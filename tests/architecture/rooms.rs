//! Checks that rooms use only rooms below them.

use crate::sources::{module_path, sources};
use crate::tokens::{Token, tokens};

/// The rooms by level. A room may use itself and rooms of lower levels, never another one of its own or a higher level.
const LEVELS: &[&[&str]] = &[
    &["error", "hash"],
    &["files", "llvm"],
    &["kernel"],
    &["cfg", "lower", "suite"],
    &["instrument", "program", "solve", "exec", "result"],
    &["compare", "coverage", "host", "report", "symbolic"],
    &["mutation"],
    &["generate"],
    &["sync"],
    &["api"],
    &["cli"],
];

/// The crate's roots: they connect the rooms and belong to none.
pub const ROOTS: &[&str] = &["lib", "main"];

fn level(room: &str) -> Option<usize> {
    LEVELS.iter().position(|rooms| rooms.contains(&room))
}

#[test]
fn imports_run_downwards_only() {
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let module = module_path(&path);
        if !ROOTS.contains(&module[0].as_str()) {
            complaints.extend(complaints_about(&path.display().to_string(), &module, &text));
        }
    }
    assert!(complaints.is_empty(), "imports against the direction of ARCHITECTURE.md:\n{}", complaints.join("\n"));
}

#[test]
fn the_checker_sees_every_form_of_import() {
    let module = ["exec".to_owned(), "opencl".to_owned()];
    let rooms = |text: &str| -> Vec<(usize, String)> { references(&tokens(text), module.len()) };
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
    let complaints = |room: &str, text: &str| complaints_about("src/x.rs", &[room.to_owned()], text);

    assert!(complaints("cli", "use crate::{coverage, exec, error::Error, cli::flags};").is_empty());
    assert!(complaints("report", "use crate::result::cover::CoverResult;").is_empty());
    assert_eq!(
        complaints("kernel", "\nuse crate::cfg::Site;"),
        ["  src/x.rs:2: `kernel` uses `crate::cfg`, which is above it"]
    );
    assert_eq!(
        complaints("cfg", "use crate::suite::Suite;"),
        ["  src/x.rs:1: `cfg` uses `crate::suite`, which is beside it"]
    );
    assert_eq!(
        complaints("cli", "use crate::helpers::x;"),
        ["  src/x.rs:1: `crate::helpers` is no room; name its level in tests/architecture/rooms.rs"]
    );
    assert_eq!(
        complaints("helpers", ""),
        ["  src/x.rs: `helpers` is no room; name its level in tests/architecture/rooms.rs"]
    );
}

/// Returns the violations in one file, one line each.
fn complaints_about(file: &str, module: &[String], text: &str) -> Vec<String> {
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
    references(&tokens(text), module.len()).into_iter().filter_map(judge).collect()
}

/// Returns the names directly under the crate's root that a file uses, with their lines, in order: in `crate::name`,
/// in `super::…::name` where the `super`s reach the root, and in groups after either. `depth` is the file's own
/// module depth.
fn references(tokens: &[Token<'_>], depth: usize) -> Vec<(usize, String)> {
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
            "crate" if text(i + 1) == "::" => under_root(tokens, i + 2, &mut found),
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
