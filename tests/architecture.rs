//! Keeps the walls between the rooms of `src/`: imports run downwards only, and no file grows beyond one concern.
//!
//! It reads the sources as text, as tokens without comments and literals. What a macro would expand to it does not see.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms by level. A room may use itself and rooms of lower levels, never one beside or above it.
const LEVELS: &[&[&str]] = &[
    &["error"],
    &["kernel"],
    &["cfg", "lower", "suite"],
    &["instrument", "program", "solve", "exec", "result"],
    &["coverage", "report", "symbolic"],
    &["mutation"],
    &["generate"],
    &["sync"],
    &["cli"],
];

/// The crate's roots: they hold the rooms together and belong to none.
const ROOTS: &[&str] = &["lib", "main"];

const MAX_LINES: usize = 600;

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
fn no_source_file_is_longer_than_600_lines() {
    let long: Vec<String> = sources()
        .iter()
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(path, lines)| format!("  {}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "files of more than {MAX_LINES} lines; split them by concern:\n{}", long.join("\n"));
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
        ["  src/x.rs:1: `crate::helpers` is no room; name its level in tests/architecture.rs"]
    );
    assert_eq!(
        complaints("helpers", ""),
        ["  src/x.rs: `helpers` is no room; name its level in tests/architecture.rs"]
    );
}

/// What is wrong in one file, a line each.
fn complaints_about(file: &str, module: &[String], text: &str) -> Vec<String> {
    let room = &module[0];
    let Some(own) = level(room) else {
        return vec![format!("  {file}: `{room}` is no room; name its level in tests/architecture.rs")];
    };
    let judge = |(line, used): (usize, String)| match level(&used) {
        None => Some(format!("  {file}:{line}: `crate::{used}` is no room; name its level in tests/architecture.rs")),
        Some(other) if used == *room || other < own => None,
        Some(other) => {
            let place = if other == own { "beside" } else { "above" };
            Some(format!("  {file}:{line}: `{room}` uses `crate::{used}`, which is {place} it"))
        }
    };
    references(&tokens(text), module.len()).into_iter().filter_map(judge).collect()
}

/// Every Rust file under `src/`, by its path from the project's root.
fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    walk(&root.join("src"), &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "no sources found");
    paths.into_iter().map(|p| (p.strip_prefix(root).unwrap().to_owned(), fs::read_to_string(&p).unwrap())).collect()
}

/// `src/exec/mod.rs` is `[exec]`, `src/exec/opencl.rs` is `[exec, opencl]`.
fn module_path(file: &Path) -> Vec<String> {
    let inside = file.strip_prefix("src").unwrap().with_extension("");
    let mut parts: Vec<String> = inside.iter().map(|p| p.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// A token and its line. Literals and comments are left out; of punctuation, `::` is one token.
type Token<'a> = (usize, &'a str);

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(len) = literal(rest) {
            len
        } else if first.is_alphanumeric() || first == '_' {
            let len = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push((line, &rest[..len]));
            len
        } else if rest.starts_with("::") {
            found.push((line, "::"));
            2
        } else {
            if !first.is_whitespace() {
                found.push((line, &rest[..first.len_utf8()]));
            }
            first.len_utf8()
        };
        line += rest[..len].matches('\n').count();
        at += len;
    }
    found
}

/// The length of the block comment, with those nested in it, that `rest` begins with.
fn block_comment(rest: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < rest.len() {
        let (step, change) = match &rest.as_bytes()[at..] {
            [b'/', b'*', ..] => (2, 1),
            [b'*', b'/', ..] => (2, -1),
            _ => (1, 0),
        };
        at += step;
        depth += change;
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of the string, character or lifetime that `rest` begins with.
fn literal(rest: &str) -> Option<usize> {
    let escaped = |open: usize, quote: char| {
        let mut skip = false;
        let end = rest[open..].char_indices().find(|&(_, c)| {
            let ends = c == quote && !skip;
            skip = c == '\\' && !skip;
            ends
        });
        end.map_or(rest.len(), |(at, _)| open + at + 1)
    };
    let prefix = ["br", "cr", "b", "c", "r"].into_iter().find(|p| rest.starts_with(p)).map_or(0, str::len);
    let after = &rest[prefix..];
    if rest[..prefix].ends_with('r') {
        let hashes = after.len() - after.trim_start_matches('#').len();
        let body = after[hashes..].strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(hashes));
        return Some(body.find(&close).map_or(rest.len(), |at| prefix + hashes + 1 + at + close.len()));
    }
    if after.starts_with('"') {
        return Some(escaped(prefix + 1, '"'));
    }
    let inside = after.strip_prefix('\'')?;
    let mut chars = inside.chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => Some(escaped(prefix + 1, '\'')),
        _ if prefix == 0 => Some(1),
        _ => None,
    }
}

/// The names directly under the crate's root that a file uses, with their lines, in order: of `crate::name`, of
/// `super::…::name` where the `super`s reach the root, and of groups after either. `depth`: the file's own module depth.
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

/// The name, or the first names of the group, at `start`. A macro's name is none.
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
