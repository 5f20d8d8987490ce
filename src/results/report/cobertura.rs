//! Converts coverage results to Cobertura's XML (coverage-04.dtd): lines with hits, branches with the share of their
//! outcomes.
//!
//! A file is a class, a folder a package, a branch a condition of its line. The format has nothing for loops, barriers
//! and conditions of decisions.

use std::collections::BTreeMap;
use std::io;
use std::time::UNIX_EPOCH;

use kassay_base::error::{Error, Result};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::by_file;
use super::parts;
use super::style::visible;
use super::texts::Texts;
use crate::result::Ratio;
use crate::result::any::Part;
use crate::result::cover::CoverResult;
use crate::result::store::ResultFile;

/// Returns the report of loaded results. Its time is that of the newest result.
pub(super) fn convert(results: &[ResultFile]) -> Result<String> {
    let covers = parts::parts(results).into_iter().filter_map(|part| match part {
        Part::Cover(cover) => Some(cover),
        _ => None,
    });
    let times = results.iter().filter_map(|(path, _)| path.metadata().and_then(|meta| meta.modified()).ok());
    let newest = times.max().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |time| time.as_millis());
    let packages = packages(&covers.collect::<Vec<_>>(), &Texts::of_files());
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let written = write(&mut writer, &packages, newest);
    let bytes = written.map(|()| writer.into_inner());
    bytes
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .map(|text| text + "\n")
        .ok_or_else(|| Error::internal("cannot turn the report into XML"))
}

/// What is known of a line.
#[derive(Default)]
struct Line {
    /// Tests, or work-items, that executed it.
    hits: u64,
    /// By the id of a branch: whether each outcome is covered.
    branches: BTreeMap<String, BTreeMap<String, bool>>,
}

impl Line {
    /// Returns the outcomes of all its branches.
    fn outcomes(&self) -> Ratio {
        self.branches.values().map(of_branch).fold(Ratio::default(), add)
    }
}

fn of_branch(outcomes: &BTreeMap<String, bool>) -> Ratio {
    Ratio { covered: outcomes.values().filter(|covered| **covered).count() as u64, total: outcomes.len() as u64 }
}

fn add(a: Ratio, b: Ratio) -> Ratio {
    a.plus(b)
}

/// A source file.
#[derive(Default)]
struct File {
    /// By number, from 1.
    lines: BTreeMap<u32, Line>,
    /// By function: its lines.
    functions: BTreeMap<String, Vec<u32>>,
}

impl File {
    fn rates(&self) -> Rates {
        rates(self.lines.values())
    }
}

/// Lines and branch outcomes that are covered.
#[derive(Clone, Copy, Default)]
struct Rates {
    lines: Ratio,
    branches: Ratio,
}

impl Rates {
    fn and(self, other: Rates) -> Rates {
        Rates { lines: add(self.lines, other.lines), branches: add(self.branches, other.branches) }
    }

    fn attributes(self) -> [(&'static str, String); 3] {
        [("line-rate", rate(self.lines)), ("branch-rate", rate(self.branches)), ("complexity", "0".to_owned())]
    }
}

fn rates<'a>(lines: impl Iterator<Item = &'a Line>) -> Rates {
    lines.fold(Rates::default(), |sum, line| {
        let own = Ratio { covered: u64::from(line.hits > 0), total: 1 };
        sum.and(Rates { lines: own, branches: line.outcomes() })
    })
}

/// A share from 0 to 1, rounded down; 1 if there is nothing to cover.
fn rate(ratio: Ratio) -> String {
    let share = ratio.percent().map_or(1.0, |percent| (percent * 100.0 + 1e-9).floor() / 10_000.0);
    format!("{share}")
}

/// Returns the files by folder and name, with what some result covers.
fn packages(results: &[&CoverResult], texts: &Texts) -> BTreeMap<String, BTreeMap<String, File>> {
    let mut packages: BTreeMap<String, BTreeMap<String, File>> = BTreeMap::new();
    for result in results {
        for file in by_file::files(result) {
            if file.name.is_empty() || !file.has_lines() {
                continue;
            }
            let name = texts.shown(file.name);
            let folder = name.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned();
            let known = packages.entry(folder).or_default().entry(name).or_default();
            for (number, line) in &file.lines {
                let hits = line.hits.values().fold(0, |sum: u64, hits| sum.saturating_add(*hits));
                let known = known.lines.entry(*number).or_default();
                known.hits = known.hits.saturating_add(hits.max(u64::from(line.covered)));
            }
            for site in file.sites.iter().filter(|site| site.is("branch") && site.shared().location.line > 0) {
                let line = known.lines.entry(site.shared().location.line).or_default();
                let outcomes = line.branches.entry(site.shared().id.clone()).or_default();
                for outcome in &site.outcomes {
                    *outcomes.entry(outcome.outcome.clone()).or_default() |= outcome.covered;
                    line.hits = line.hits.max(u64::from(outcome.covered));
                }
            }
        }
        for site in result.sites.iter().filter(|site| site.kind == "line" && site.location.line > 0) {
            let name = texts.shown(&site.location.file);
            let folder = name.rsplit_once('/').map_or(".", |(folder, _)| folder);
            let file = packages.get_mut(folder).and_then(|files| files.get_mut(&name));
            let lines = file.map(|file| file.functions.entry(site.function.clone()).or_default());
            if let Some(lines) = lines.filter(|lines| !lines.contains(&site.location.line)) {
                lines.push(site.location.line);
            }
        }
    }
    packages
}

/// Text without characters that XML cannot hold.
fn shown(text: &str) -> String {
    visible(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

type Xml = Writer<Vec<u8>>;

fn write(xml: &mut Xml, packages: &BTreeMap<String, BTreeMap<String, File>>, millis: u128) -> io::Result<()> {
    let of_package =
        |files: &BTreeMap<String, File>| files.values().map(File::rates).fold(Rates::default(), Rates::and);
    let all = packages.values().map(of_package).fold(Rates::default(), Rates::and);
    let mut attributes = all.attributes().to_vec();
    attributes.extend([
        ("lines-covered", all.lines.covered.to_string()),
        ("lines-valid", all.lines.total.to_string()),
        ("branches-covered", all.branches.covered.to_string()),
        ("branches-valid", all.branches.total.to_string()),
        ("version", concat!("kassay ", env!("CARGO_PKG_VERSION")).to_owned()),
        ("timestamp", millis.to_string()),
    ]);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    xml.write_event(Event::DocType(BytesText::from_escaped(
        "coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\"",
    )))?;
    element(xml, "coverage", &attributes, |xml| {
        // File names are relative to this folder.
        element(xml, "sources", &[], |xml| {
            xml.create_element("source").write_text_content(BytesText::new(".")).map(drop)
        })?;
        element(xml, "packages", &[], |xml| {
            packages.iter().try_for_each(|(folder, files)| {
                let mut attributes = vec![("name", shown(folder))];
                attributes.extend(of_package(files).attributes());
                element(xml, "package", &attributes, |xml| {
                    element(xml, "classes", &[], |xml| files.iter().try_for_each(|(name, file)| class(xml, name, file)))
                })
            })
        })
    })
}

fn class(xml: &mut Xml, name: &str, file: &File) -> io::Result<()> {
    let short = name.rsplit('/').next().unwrap_or(name);
    let mut attributes = vec![("name", shown(short)), ("filename", shown(name))];
    attributes.extend(file.rates().attributes());
    element(xml, "class", &attributes, |xml| {
        element(xml, "methods", &[], |xml| {
            file.functions.iter().try_for_each(|(function, numbers)| {
                let own: BTreeMap<u32, &Line> = numbers.iter().filter_map(|n| Some((*n, file.lines.get(n)?))).collect();
                let mut attributes = vec![("name", shown(function)), ("signature", String::new())];
                attributes.extend(rates(own.values().copied()).attributes());
                element(xml, "method", &attributes, |xml| lines(xml, own.into_iter()))
            })
        })?;
        lines(xml, file.lines.iter().map(|(number, line)| (*number, line)))
    })
}

fn lines<'a>(xml: &mut Xml, mut list: impl Iterator<Item = (u32, &'a Line)>) -> io::Result<()> {
    element(xml, "lines", &[], |xml| {
        list.try_for_each(|(number, line)| {
            let mut attributes = vec![("number", number.to_string()), ("hits", line.hits.to_string())];
            let outcomes = line.outcomes();
            if outcomes.total == 0 {
                attributes.push(("branch", "false".to_owned()));
                return xml.create_element("line").with_attributes(pairs(&attributes)).write_empty().map(drop);
            }
            let share = |ratio: Ratio| format!("{}%", ratio.percent().unwrap_or(100.0).floor());
            let of_all = format!("{} ({}/{})", share(outcomes), outcomes.covered, outcomes.total);
            attributes.extend([("branch", "true".to_owned()), ("condition-coverage", of_all)]);
            element(xml, "line", &attributes, |xml| {
                element(xml, "conditions", &[], |xml| {
                    (0..).zip(line.branches.values()).try_for_each(|(number, branch): (u32, _)| {
                        let kind = if branch.len() > 2 { "switch" } else { "jump" };
                        let attributes = [
                            ("number", number.to_string()),
                            ("type", kind.to_owned()),
                            ("coverage", share(of_branch(branch))),
                        ];
                        xml.create_element("condition").with_attributes(pairs(&attributes)).write_empty().map(drop)
                    })
                })
            })
        })
    })
}

fn pairs<'a>(attributes: &'a [(&'static str, String)]) -> impl Iterator<Item = (&'a str, &'a str)> {
    attributes.iter().map(|(key, value)| (*key, value.as_str()))
}

fn element(
    xml: &mut Xml,
    name: &'static str,
    attributes: &[(&'static str, String)],
    content: impl FnOnce(&mut Xml) -> io::Result<()>,
) -> io::Result<()> {
    xml.create_element(name).with_attributes(pairs(attributes)).write_inner_content(content).map(drop)
}
