//! Checks that files do not import each other in cycles.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::rooms::ROOTS;
use crate::sources::{layer_sources, module_path, package_of, sources};
use crate::tokens::{Token, tokens, without_tests};

#[test]
fn files_import_each_other_in_one_direction() {
    let mut packages: BTreeMap<&str, Vec<(PathBuf, String)>> = BTreeMap::new();
    for (path, text) in sources().into_iter().chain(layer_sources()) {
        packages.entry(package_of(&path)).or_default().push((path, text));
    }
    let found: Vec<String> = (packages.values().flat_map(|files| circles(files)))
        .map(|circle| format!("  {}", circle.into_iter().collect::<Vec<_>>().join(", ")))
        .collect();
    assert!(found.is_empty(), "files that import each other in a circle:\n{}", found.join("\n"));
}

/// Finds the import cycles of several files of one package. A name that a file takes from a `mod.rs` which re-exports
/// it by `pub use` counts as taken from where it is defined; a `pub use` itself, and what tests in a file use, do not
/// count.
fn circles(sources: &[(PathBuf, String)]) -> Vec<BTreeSet<String>> {
    type Module = Vec<String>;
    let modules: BTreeMap<Module, usize> = sources.iter().enumerate().map(|(i, (p, _))| (module_path(p), i)).collect();
    // The paths that each file names, from the crate's root, and whether they are in a `pub use`.
    let mut paths: Vec<Vec<(Module, bool)>> = Vec::new();
    for (path, text) in sources {
        let mut own = module_path(path);
        if ROOTS.contains(&own[0].as_str()) {
            own.clear();
        }
        let tokens = without_tests(&tokens(text));
        let children: BTreeSet<&str> = modules
            .keys()
            .filter(|m| m.len() == own.len() + 1 && m.starts_with(&own))
            .map(|m| m[own.len()].as_str())
            .collect();
        paths.push(named_paths(&tokens, &own, &children));
    }
    let longest = |path: &[String]| (1..=path.len()).rev().find(|n| modules.contains_key(&path[..*n]));
    // Re-exports: (module, name) to the module that defines it.
    let mut handed: BTreeMap<(Module, String), Module> = BTreeMap::new();
    for ((file, _), named) in sources.iter().zip(&paths) {
        for (path, _) in named.iter().filter(|(_, is_public)| *is_public) {
            if let (Some(n), Some(last)) = (longest(path), path.last()) {
                handed.insert((module_path(file), last.clone()), path[..n].to_vec());
            }
        }
    }
    let edges: Vec<BTreeSet<usize>> = (sources.iter().enumerate())
        .map(|(here, _)| {
            let mut out = BTreeSet::new();
            for (path, _) in paths[here].iter().filter(|(_, is_public)| !*is_public) {
                let Some(n) = longest(path) else { continue };
                let mut module = path[..n].to_vec();
                let item = path.get(n).cloned();
                while let Some(next) = item.as_ref().and_then(|i| handed.get(&(module.clone(), i.clone()))) {
                    if *next == module {
                        break;
                    }
                    module = next.clone();
                }
                if let Some(there) = modules.get(&module).filter(|there| **there != here) {
                    out.insert(*there);
                }
            }
            out
        })
        .collect();
    let name = |i: usize| {
        let file = sources[i].0.with_extension("").display().to_string();
        file.trim_start_matches("src/").to_owned()
    };
    components(&edges).into_iter().filter(|c| c.len() > 1).map(|c| c.into_iter().map(name).collect()).collect()
}

/// Strongly connected components.
fn components(edges: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let reach = |from: usize| {
        let mut seen = BTreeSet::new();
        let mut todo: Vec<usize> = edges[from].iter().copied().collect();
        while let Some(node) = todo.pop() {
            if seen.insert(node) {
                todo.extend(&edges[node]);
            }
        }
        seen
    };
    let all: Vec<BTreeSet<usize>> = (0..edges.len()).map(reach).collect();
    let mut placed = vec![false; edges.len()];
    let mut found = Vec::new();
    for i in 0..edges.len() {
        if !placed[i] {
            let component: Vec<usize> =
                (i..edges.len()).filter(|j| *j == i || all[i].contains(j) && all[*j].contains(&i)).collect();
            component.iter().for_each(|j| placed[*j] = true);
            found.push(component);
        }
    }
    found
}

/// Returns all paths that begin with `crate`, `super`, `self` or a child module, from the crate's root, with
/// groups expanded.
fn named_paths(tokens: &[Token<'_>], own: &[String], children: &BTreeSet<&str>) -> Vec<(Vec<String>, bool)> {
    let text = |i: usize| tokens.get(i).map_or("", |t| t.1);
    let mut found = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        let is_use = text(i) == "use";
        let at = if is_use { i + 1 } else { i };
        let is_path = is_use || (text(at + 1) == "::" && (at == 0 || !matches!(text(at - 1), "::" | ".")));
        if !is_path {
            i += 1;
            continue;
        }
        let (base, next) = match text(at) {
            "crate" => (Some(Vec::new()), at + 1),
            "self" => (Some(own.to_vec()), at + 1),
            "super" => {
                let mut up = 1;
                while text(at + 2 * up - 1) == "::" && text(at + 2 * up) == "super" {
                    up += 1;
                }
                (own.len().checked_sub(up).map(|n| own[..n].to_vec()), at + 2 * up - 1)
            }
            child if children.contains(child) => (Some([own, &[child.to_owned()]].concat()), at + 1),
            _ => (None, at + 1),
        };
        let public = is_use
            && (i > 0
                && (text(i - 1) == "pub"
                    || (text(i - 1) == ")" && tokens[..i].iter().rev().take(8).any(|t| t.1 == "pub"))));
        i = next;
        if let Some(base) = base {
            i = spread(tokens, next, base, public, &mut found);
        }
    }
    found
}

/// Expands the rest of a path whose first names are `base`, from `i`, into every name that it leads to. Returns where
/// the path ends.
fn spread(
    tokens: &[Token<'_>],
    mut i: usize,
    mut base: Vec<String>,
    public: bool,
    found: &mut Vec<(Vec<String>, bool)>,
) -> usize {
    let text = |i: usize| tokens.get(i).map_or("", |t| t.1);
    while text(i) == "::" {
        match text(i + 1) {
            "{" => {
                i += 2;
                while i < tokens.len() && text(i) != "}" {
                    match text(i) {
                        "," => i += 1,
                        "self" => {
                            found.push((base.clone(), public));
                            i += 1;
                            while !matches!(text(i), "," | "}") {
                                i += 1;
                            }
                        }
                        first => i = spread(tokens, i + 1, [&base[..], &[first.to_owned()]].concat(), public, found),
                    }
                }
                return i + 1;
            }
            "<" => break,
            name => {
                base.push(name.to_owned());
                i += 2;
            }
        }
    }
    found.push((base, public));
    if text(i) == "as" { i + 2 } else { i }
}

#[test]
fn circles_are_seen_through_re_exports() {
    let files = |all: &[(&str, &str)]| -> Vec<(PathBuf, String)> {
        all.iter().map(|(p, t)| (PathBuf::from(p), (*t).to_owned())).collect()
    };
    let found = |all: &[(&str, &str)]| -> Vec<Vec<String>> {
        circles(&files(all)).into_iter().map(|c| c.into_iter().collect()).collect()
    };
    let parent = ("src/a/mod.rs", "mod b; mod c; pub use b::B; pub use self::c::{C, D as E};");
    assert_eq!(found(&[parent, ("src/a/b.rs", "use super::C;"), ("src/a/c.rs", "")]), [[""; 0]; 0]);
    assert_eq!(
        found(&[parent, ("src/a/b.rs", "use super::C;"), ("src/a/c.rs", "fn f() { super::b::g() }")]),
        [["a/b", "a/c"]]
    );
    assert_eq!(
        found(&[
            parent,
            ("src/a/b.rs", "use super::c;"),
            ("src/a/c.rs", "#[cfg(test)] mod tests { use crate::a::b; }")
        ]),
        [[""; 0]; 0]
    );
    assert_eq!(found(&[("src/a/mod.rs", "fn f() { c::g() }"), ("src/a/c.rs", "use super::f;")]), [["a/c", "a/mod"]]);
}
