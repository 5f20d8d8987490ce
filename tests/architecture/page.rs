//! `ARCHITECTURE.md`, the chapters of the packages and `docs/internals.md` say what stands: the paths and names that
//! they have exist, every package has a chapter with its rooms, every invariant has its reason, the map fits the
//! manifests, the steps of "Adding things" lead to files, and the pages stay short.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::rooms::{levels, rooms_of};
use crate::sources::{PACKAGES, layer_sources, package_of, sources};

const MAP: &str = "ARCHITECTURE.md";

/// How many words the map and a chapter may have.
const LONGEST_MAP: usize = 1800;
const LONGEST_CHAPTER: usize = 1200;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The folder of a package; the root package is "".
fn folder(package: &str) -> String {
    if package.is_empty() { "src/".to_owned() } else { format!("src/{package}/") }
}

/// All packages: those in folders of `src/`, and the root package.
fn packages() -> impl Iterator<Item = &'static str> {
    PACKAGES.iter().copied().chain([""])
}

/// The chapters, by package and path.
fn chapters() -> Vec<(&'static str, String, String)> {
    let chapter = |package| {
        let path = format!("{}README.md", folder(package));
        let text = read(&path);
        (package, path, text)
    };
    packages().map(chapter).collect()
}

/// All pages that speak of the code, by path.
fn pages() -> Vec<(String, String)> {
    let others = [MAP, "docs/internals.md"].map(|path| (path.to_owned(), read(path)));
    chapters().into_iter().map(|(_, path, text)| (path, text)).chain(others).collect()
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

/// A path of the repository, in the form that the pages use: it begins with a top-level folder.
fn is_path(quoted: &str) -> bool {
    ["src/", "tests/", "docs/", "testdata/", "runtime-cl/", "scripts/", "benches/", "layer/"]
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

/// The words of a text that may be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[test]
fn the_layers_table_of_levels_is_the_one_that_is_enforced() {
    let text = fs::read_to_string(root().join("layer/README.md")).unwrap();
    let table = text.split("| level | rooms |\n").nth(1).unwrap();
    let rows = table.lines().skip_while(|line| line.starts_with("| ---")).take_while(|line| line.starts_with('|'));
    let written: Vec<BTreeSet<&str>> =
        rows.map(|row| quoted(row).into_iter().map(|(_, room)| room).collect()).collect();
    let enforced: Vec<BTreeSet<&str>> =
        levels("layer").unwrap().iter().rev().map(|rooms| rooms.iter().copied().collect()).collect();
    assert_eq!(written, enforced);
}

#[test]
fn paths_that_pages_name_exist() {
    let mut missing = Vec::new();
    for (page, text) in pages() {
        let text = prose(&text);
        let lost = (quoted(&text).into_iter())
            .filter(|(_, path)| is_path(path) && !path.contains(['*', '<']) && !root().join(path).exists());
        missing.extend(lost.map(|(line, path)| format!("  {page}:{line}: there is no {path}")));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// "`SYMBOL` in `path`": the file has that word.
#[test]
fn symbols_that_pages_name_stand_in_their_files() {
    let mut checked = 0;
    let mut missing = Vec::new();
    for (page, text) in pages() {
        let text = prose(&text);
        let parts: Vec<&str> = text.split('`').collect();
        for i in (1..parts.len()).step_by(2) {
            let (Some(between), Some(path)) = (parts.get(i + 1), parts.get(i + 2)) else { continue };
            if between.split_whitespace().collect::<Vec<_>>() != ["in"] || !is_path(path) {
                continue;
            }
            checked += 1;
            let symbol = parts[i];
            let source = fs::read_to_string(root().join(path)).unwrap_or_default();
            if !words(&source).any(|word| word == symbol) {
                missing.push(format!("  {page}: {path} has no `{symbol}`"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(checked > 8, "only {checked} symbols found");
}

/// Names that chapters have of others' code.
const FOREIGN: &[&str] = &["cdylib", "run_passes"];

/// `a`, `a/`: the sources have that file, folder or word. `a::b`: a file or folder `a` has it.
#[test]
fn names_that_chapters_have_are_names_of_the_code() {
    let sources = sources();
    let parts = |path: &Path| -> Vec<String> {
        path.iter().map(|part| part.to_string_lossy().trim_end_matches(".rs").to_owned()).collect()
    };
    // The words of each file, with the names of folders that it is in.
    let files: Vec<(Vec<String>, BTreeSet<&str>)> =
        sources.iter().map(|(path, text)| (parts(path), words(text).collect())).collect();
    let is_known = |name: &str| {
        let names: Vec<&str> = words(name).collect();
        let has = |(path, words): &(Vec<String>, BTreeSet<&str>), name: &str| {
            words.contains(name) || path.iter().any(|part| part == name)
        };
        match names[..] {
            [one] => FOREIGN.contains(&one) || files.iter().any(|file| has(file, one)),
            // A type's function or variant, which its file has, too.
            [.., owner, item] if owner.starts_with(char::is_uppercase) => {
                files.iter().any(|file| has(file, owner) && has(file, item))
            }
            [.., owner, item] => files.iter().any(|file| file.0.iter().any(|part| part == owner) && has(file, item)),
            [] => true,
        }
    };
    let is_name = |quoted: &str| {
        quoted.starts_with(|c: char| c.is_alphabetic())
            && quoted.chars().all(|c| c.is_ascii_alphanumeric() || "_:/".contains(c))
    };
    let mut unknown = Vec::new();
    for (page, text) in pages().into_iter().filter(|(page, _)| page != MAP) {
        let text = prose(&text);
        for (line, name) in quoted(&text).into_iter().filter(|(_, name)| is_name(name) && !is_path(name)) {
            if !is_known(name) {
                unknown.push(format!("  {page}:{line}: the code has no `{name}`"));
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

#[test]
fn every_package_shows_its_chapter() {
    for package in PACKAGES {
        let root = read(&format!("src/{package}/lib.rs"));
        assert!(root.starts_with("#![doc = include_str!(\"README.md\")]\n"), "src/{package}/lib.rs");
    }
}

#[test]
fn every_room_is_in_the_chapter_of_its_package() {
    let mut missing = Vec::new();
    for (package, path, text) in chapters() {
        for room in rooms_of(package) {
            let is_folder = root().join(folder(package)).join(room).is_dir();
            let found = if is_folder {
                text.contains(&format!("\n## `{room}/`\n"))
            } else {
                quoted(&text).iter().any(|(_, name)| *name == room)
            };
            if !found {
                missing.push(format!("  {path}: {}`{room}`", if is_folder { "a section of " } else { "" }));
            }
        }
    }
    assert!(missing.is_empty(), "missing:\n{}", missing.join("\n"));
}

#[test]
fn every_section_of_a_room_has_invariants_and_every_invariant_its_reason() {
    let map = [("", MAP.to_owned(), read(MAP))];
    for (_, path, text) in chapters().into_iter().chain(map) {
        assert!(text.contains("**Invariant:**"), "{path}: no invariant");
        for section in text.split("\n## `").skip(1) {
            let (name, section) = section.split_once('\n').unwrap();
            assert!(section.contains("**Invariant:**"), "{path}: `{name}: no invariant");
        }
        for invariant in text.split("**Invariant:**").skip(1) {
            let sentence = invariant.split("\n- ").next().unwrap().split("\n\n").next().unwrap();
            assert!(sentence.contains("because"), "{path}: an invariant without its reason: {sentence}");
        }
    }
}

#[test]
fn no_page_is_too_long() {
    let limits = chapters().into_iter().map(|(_, path, text)| (path, text, LONGEST_CHAPTER));
    for (path, text, most) in limits.chain([(MAP.to_owned(), read(MAP), LONGEST_MAP)]) {
        let words = text.split_whitespace().count();
        assert!(
            words <= most,
            "{path} has {words} words, more than {most}: details belong to a room's mod.rs or to docs/"
        );
    }
}

/// The packages of kassay that a manifest names, without the prefix.
fn used(manifest: &str) -> BTreeSet<String> {
    let own = manifest.split("\n[dependencies]").nth(1).unwrap_or_default().split("\n[").next().unwrap();
    let names = own.lines().filter_map(|line| line.strip_prefix("kassay-")?.split_once('.'));
    names.map(|(name, _)| name.to_owned()).collect()
}

/// What packages use, directly and by others.
fn closure(names: &BTreeSet<String>, uses: &BTreeMap<&str, BTreeSet<String>>) -> BTreeSet<String> {
    let mut all = names.clone();
    for name in names {
        all.extend(closure(&uses[name.as_str()], uses));
    }
    all
}

/// The packages with their rooms, what they use, and how large they are, within a fifth.
#[test]
fn the_map_fits_the_code() {
    let manifest = |package: &'static str| {
        let path = if package.is_empty() { String::new() } else { folder(package) };
        (package, used(&read(&format!("{path}Cargo.toml"))))
    };
    let uses: BTreeMap<&str, BTreeSet<String>> = packages().map(manifest).collect();
    let (text, sources) = (read(MAP), sources());
    for package in packages() {
        let head = format!("| `{}` |", folder(package));
        let row = text.lines().find(|line| line.starts_with(&head));
        let row = row.unwrap_or_else(|| panic!("{MAP}: no row of {}", folder(package)));
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, _, _, rooms, shown, _, size, _] = cells[..] else { panic!("{MAP}: {row}") };
        let rooms: Vec<&str> = quoted(rooms).into_iter().map(|(_, room)| room).collect();
        assert_eq!(rooms, rooms_of(package), "{MAP}: the rooms of {}", folder(package));

        let shown: BTreeSet<String> = match shown {
            "all" => PACKAGES.iter().map(|name| (*name).to_owned()).collect(),
            "–" => BTreeSet::new(),
            names => names.split(", ").map(str::to_owned).collect(),
        };
        let (shown, real) = (closure(&shown, &uses), closure(&uses[package], &uses));
        assert_eq!(shown, real, "{MAP}: what {} uses", folder(package));

        let own = sources.iter().filter(|(path, _)| package_of(path) == package);
        let lines = own.map(|(_, text)| text.lines().count()).sum::<usize>() as f64;
        let size = size.parse::<f64>().unwrap() * 1000.0;
        assert!((lines - size).abs() < lines / 5.0, "{MAP}: {} has {lines} lines, not {size}", folder(package));
    }
}

#[test]
fn every_step_of_adding_something_names_a_file() {
    let text = read(MAP);
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
    for (path, text) in pages() {
        let cells = text.lines().filter(|l| l.starts_with('|')).flat_map(|l| l.split('|'));
        let long: Vec<&str> = cells.filter(|cell| cell.len() > 200).collect();
        assert!(long.is_empty(), "{path}: cells of more than 200 characters:\n{}", long.join("\n"));
    }
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
    for (path, text) in sources().into_iter().chain(layer_sources()) {
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
