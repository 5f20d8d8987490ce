//! Writes problems as SARIF (its version 2.1.0 is an OASIS Standard), for code scanning and editors.

use std::path::Path;

use kassay_base::error::{Error, Result};
use kassay_base::json::{self, Layout};
use kassay_model::kernel_files::KernelFile;
use serde_json::{Map, Value, json};

use super::parts;
use super::problems::rules::{Rule, home};
use super::problems::{self, Fix, Flow, Level, Place, Problem, Step};
use super::style::visible;
use super::texts::Texts;
use crate::result::any::Part;
use crate::result::check::CheckResult;
use crate::result::proofs::{Proof, Status};
use crate::result::store::ResultFile;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Returns the log of loaded results: one run, because services take no more of a tool.
pub(super) fn convert(results: &[ResultFile]) -> Result<String> {
    let problems = problems::collect(results, &Texts::of_files());
    let mut run = Run::default();
    let list: Vec<Value> = problems.iter().map(|problem| run.result(problem)).collect();
    let mut commands: Vec<&str> = results.iter().map(|(_, r)| r.command()).collect();
    commands.sort_unstable();
    commands.dedup();
    let notes = parts::notes(results).into_iter().map(|note| json!({ "level": "note", "message": text(note) }));
    let gaps = parts::gaps(results);
    let failed = gaps.iter().map(|gap| {
        let what = format!("{}: {}", gap.name(), gap.failed.error);
        json!({ "level": "error", "message": text(&what) })
    });
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "kassay",
                "fullName": concat!("kassay ", env!("CARGO_PKG_VERSION")),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": home(),
                "shortDescription": { "text": "Assays OpenCL kernels and their tests." },
                "rules": run.rules.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            } },
            // The part before the last slash is the category in which services replace earlier alerts.
            "automationDetails": { "id": format!("kassay/{}/", commands.join("+")) },
            "invocations": [{
                "executionSuccessful": gaps.is_empty(),
                "toolExecutionNotifications": failed.chain(notes).collect::<Vec<_>>(),
            }],
            "columnKind": "utf16CodeUnits",
            "language": "en",
            "artifacts": run.artifacts(),
            "results": list,
            "properties": { "proofs": proofs(results) },
        }],
    });
    json::text(&log, Layout::Indented)
        .map(|text| text + "\n")
        .map_err(|e| Error::internal(format!("cannot turn the report into JSON: {e}")))
}

/// What `check` proved. These are no results of the kind `pass`, which services show as alerts.
fn proofs(results: &[ResultFile]) -> Vec<Value> {
    let checks = parts::parts(results).into_iter().filter_map(|part| match part {
        Part::Check(result) => Some(result),
        _ => None,
    });
    let of_kernel = |result: &'_ CheckResult| {
        let words = result.header.words();
        let entry = |proof: &Proof| {
            json!({
                "kernel": result.header.kernel,
                "file": result.header.source,
                "property": words.say(proof.subject()),
                "holds": visible(&proof.known(words)),
                "assuming": proof.assumed(words).map(visible).collect::<Vec<_>>(),
            })
        };
        result.proofs.iter().filter(|proof| proof.status == Status::Proved).map(entry).collect::<Vec<_>>()
    };
    checks.flat_map(of_kernel).collect()
}

/// Rules and files in the order in which results name them.
#[derive(Default)]
struct Run {
    rules: Vec<&'static Rule>,
    files: Vec<String>,
}

impl Run {
    fn result(&mut self, problem: &Problem) -> Value {
        let rule = position(&mut self.rules, &problem.rule);
        let mut location = self.location(&problem.place, None);
        if !problem.function.is_empty() {
            location["logicalLocations"] = json!([{ "name": visible(&problem.function), "kind": "function" }]);
        }
        let mut result = json!({
            "ruleId": problem.rule.id,
            "ruleIndex": rule,
            "level": problem.level.name(),
            "message": text(&problem.message),
            "locations": [location],
            "partialFingerprints": { "kassay/v1": problem.fingerprint },
            "properties": { "kernel": problem.kernel },
        });
        if !problem.related.is_empty() {
            let related = (1..).zip(&problem.related).map(|(id, (place, what))| {
                let mut location = self.location(place, Some(what));
                location["id"] = json!(id);
                location
            });
            result["relatedLocations"] = related.collect();
        }
        if !problem.flows.is_empty() {
            result["codeFlows"] = problem.flows.iter().map(|flow| self.flow(flow)).collect();
        }
        if let Some(fix) = &problem.fix {
            result["fixes"] = json!([self.fix(fix)]);
        }
        result
    }

    fn flow(&mut self, flow: &Flow) -> Value {
        let mut step = |step: &Step| {
            let location = match &step.place {
                Some(place) => self.location(place, Some(&step.what)),
                None => json!({ "message": text(&step.what) }),
            };
            json!({ "location": location })
        };
        let threads: Vec<Value> = flow
            .threads
            .iter()
            .map(|(name, steps)| {
                let steps: Vec<Value> = steps.iter().map(&mut step).collect();
                json!({ "id": visible(name), "message": text(name), "locations": steps })
            })
            .collect();
        json!({ "message": text(&flow.what), "threadFlows": threads })
    }

    /// A fix; an insertion's region is empty, which has to be said.
    fn fix(&mut self, fix: &Fix) -> Value {
        let file = fix.pieces.first().map(|(place, _)| place.file.clone()).unwrap_or_default();
        let replacements = fix.pieces.iter().map(|(place, by)| {
            let region = json!({
                "startLine": place.line,
                "startColumn": place.column.max(1),
                "endLine": place.end_line,
                "endColumn": place.end_column.max(1),
            });
            match by.is_empty() {
                true => json!({ "deletedRegion": region }),
                false => json!({ "deletedRegion": region, "insertedContent": { "text": by } }),
            }
        });
        let replacements: Vec<Value> = replacements.collect();
        let index = position(&mut self.files, &file);
        json!({
            "description": text(&fix.what),
            "artifactChanges": [{
                "artifactLocation": { "uri": uri(&file), "index": index },
                "replacements": replacements,
            }],
        })
    }

    fn location(&mut self, place: &Place, what: Option<&str>) -> Value {
        let index = position(&mut self.files, &place.file);
        let mut physical = json!({ "artifactLocation": { "uri": uri(&place.file), "index": index } });
        if place.line > 0 {
            let mut region = Map::new();
            let is_range = place.end_line > place.line || place.end_column > place.column;
            let mut put = |key: &str, number: u32| (number > 0).then(|| region.insert(key.to_owned(), number.into()));
            put("startLine", place.line);
            put("startColumn", place.column);
            if is_range {
                put("endLine", place.end_line);
                put("endColumn", place.end_column);
            }
            physical["region"] = region.into();
        }
        let mut location = json!({ "physicalLocation": physical });
        if let Some(what) = what {
            location["message"] = text(what);
        }
        location
    }

    fn artifacts(&self) -> Vec<Value> {
        let artifact = |file: &String| {
            let mut artifact = json!({ "location": { "uri": uri(file) }, "roles": ["analysisTarget"] });
            if KernelFile::of(Path::new(file)).is_some_and(KernelFile::is_source) {
                artifact["sourceLanguage"] = json!("opencl");
            }
            artifact
        };
        self.files.iter().map(artifact).collect()
    }
}

/// Returns the position of an item in a list, to which it is added if it is new.
fn position<T: PartialEq + Clone>(list: &mut Vec<T>, item: &T) -> usize {
    list.iter().position(|known| known == item).unwrap_or_else(|| {
        list.push(item.clone());
        list.len() - 1
    })
}

fn descriptor(rule: &Rule) -> Value {
    let severity = match rule.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "recommendation",
    };
    json!({
        "id": rule.id,
        "name": rule.name(),
        "shortDescription": { "text": format!("{}.", rule.title) },
        "fullDescription": { "text": rule.help },
        "help": { "text": rule.help, "markdown": format!("{}\n\nMore in [docs/{}]({}).", rule.help, rule.page, rule.uri()) },
        "helpUri": rule.uri(),
        "defaultConfiguration": { "level": rule.level.name() },
        "properties": { "tags": rule.tags, "problem.severity": severity },
    })
}

/// A message. Text that looks like a link must not become one.
fn text(text: &str) -> Value {
    let lines: Vec<_> = text.lines().map(visible).collect();
    json!({ "text": lines.join("\n").replace("](", "] (") })
}

/// Returns a path as a URI reference (RFC 3986): relative, or with the scheme `file`.
fn uri(file: &str) -> String {
    let mut out = String::from(if file.starts_with('/') { "file://" } else { "" });
    for byte in file.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'+' | b',' | b'=' | b'@' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("a b/é:1?#.cl"), "a%20b/%C3%A9%3A1%3F%23.cl");
        assert_eq!(uri("/tmp/a.cl"), "file:///tmp/a.cl");
    }

    #[test]
    fn messages_hold_no_links_and_no_control_characters() {
        assert_eq!(text("x[0](http://evil)\x1b")["text"], "x[0] (http://evil)\\u{1b}");
    }
}
