//! The table of contents, links, and lists of what there is.

use std::path::{Component, Path, PathBuf};

use crate::common::testdata::{entries, name, repository};
use crate::pages::page;

/// Pages that are no page of the book by themselves: the table of contents, and what pages of the book include.
const NO_PAGES: &[&str] = &["docs/SUMMARY.md", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"];

#[test]
fn every_page_is_in_the_table_of_contents_once() {
    let summary = page::read("docs/SUMMARY.md");
    let mut listed: Vec<String> = summary.links.iter().map(|(_, link)| format!("docs/{link}")).collect();
    listed.sort();
    let mut pages: Vec<String> =
        page::all().into_iter().map(|page| page.path).filter(|path| !NO_PAGES.contains(&path.as_str())).collect();
    pages.sort();
    assert_eq!(listed, pages, "docs/SUMMARY.md and the pages of docs/ differ");
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    for page in page::all() {
        let folder = Path::new(&page.path).parent().unwrap();
        for (line, link) in &page.links {
            if link.contains("://") {
                continue;
            }
            let place = format!("{}:{line}: {link}", page.path);
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { PathBuf::from(&page.path) } else { plain(&folder.join(path)) };
            if page.path.starts_with("docs/") && !target.starts_with("docs") {
                wrong.push(format!("{place}: leads out of the book"));
            } else if page.path.starts_with("docs/") && repository(&target).is_dir() {
                wrong.push(format!("{place}: the book has no page for a folder"));
            } else if !repository(&target).exists() {
                wrong.push(format!("{place}: there is no {}", target.display()));
            } else if !anchor.is_empty() && !page::read(target.to_str().unwrap()).anchors.contains(anchor) {
                wrong.push(format!("{place}: no heading of {} is #{anchor}", target.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Takes `.` and `..` out of a path.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[test]
fn every_schema_is_listed() {
    let page = page::read("docs/results.md");
    for schema in entries(&repository("docs/schema")) {
        // The page about versions; the schemas are beside it.
        if name(&schema) == "README.md" {
            continue;
        }
        let link = format!("schema/{}", name(&schema));
        assert!(page.links.iter().any(|(_, l)| *l == link), "docs/results.md does not list {link}");
    }
}

#[test]
fn benchmarks_that_are_shown_exist() {
    let manifest: toml::Table = toml::from_str(&std::fs::read_to_string(repository("Cargo.toml")).unwrap()).unwrap();
    let benches: Vec<&str> = manifest["bench"].as_array().unwrap().iter().filter_map(|b| b["name"].as_str()).collect();
    let page = page::read("docs/benchmarks.md");
    let shown = page
        .blocks
        .iter()
        .flat_map(|block| block.text.lines())
        .filter_map(|line| line.strip_prefix("cargo bench --bench "));
    let shown: Vec<&str> = shown.map(|rest| rest.split(' ').next().unwrap()).collect();
    assert!(!shown.is_empty());
    assert!(shown.iter().all(|name| benches.contains(name)), "{shown:?}, of {benches:?}");
}

#[test]
fn scripts_that_are_named_exist() {
    let script = regex::Regex::new(r"scripts/[a-z][a-z-]*").unwrap();
    for page in page::all() {
        let text = std::fs::read_to_string(repository(&page.path)).unwrap();
        for named in script.find_iter(&text).map(|found| found.as_str()) {
            assert!(repository(named).exists(), "{}: there is no {named}", page.path);
        }
    }
}
