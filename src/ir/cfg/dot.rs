//! Writes the control-flow graph as Graphviz text with source lines.

use std::fmt::Write as _;

use super::decisions::Event;
use super::graph::{Edge, Terminator};
use super::indices::{BlockIndex, FunctionIndex};
use super::sites::{Fact, FunctionSites, Sites};
use crate::kernel::source::Sources;

/// Draws one cluster per function. Blocks show their source lines, edges their meaning: an outcome, or a loop's body,
/// boundary or repetition.
pub fn draw(sites: &Sites, sources: &Sources) -> String {
    let mut out = String::from("digraph kernel {\n  node [shape=box, fontname=monospace, fontsize=10];\n");
    for (f, function) in FunctionIndex::enumerate(&sites.functions) {
        let _ = writeln!(out, "  subgraph cluster_{f} {{\n    label=\"{}\";", escape(&function.cfg.function));
        for (b, block) in BlockIndex::enumerate(&function.cfg.blocks).filter(|(b, _)| function.cfg.reachable[*b]) {
            let barrier = if function.barriers.iter().any(|x| x.0 == b) { ", peripheries=2" } else { "" };
            let title = if block.label.is_empty() { format!("block {b}") } else { block.label.clone() };
            let _ = writeln!(
                out,
                "    f{f}b{b} [label=\"{}\\l{}\"{barrier}];",
                escape(&title),
                source_of(function, b, sources)
            );
        }
        for b in function.cfg.indices().filter(|b| function.cfg.reachable[*b]) {
            for edge in function.cfg.edges_out(b) {
                let target = function.cfg.target(edge);
                let _ = writeln!(out, "    f{f}b{b} -> f{f}b{target} [{}];", label_of(sites, f, function, edge));
            }
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn source_of(function: &FunctionSites, block: BlockIndex, sources: &Sources) -> String {
    let mut shown = Vec::new();
    let mut text = String::new();
    for at in function.cfg.blocks[block].instructions.iter().filter_map(|i| i.location.as_ref()) {
        let key = (at.file.clone(), at.line);
        if at.line == 0 || shown.contains(&key) {
            continue;
        }
        let line = sources.at(&at.file, at.line, 1).unwrap_or_default();
        let _ = write!(text, "{:>4}  {}\\l", at.line, escape(line.trim()));
        shown.push(key);
    }
    text
}

fn label_of(sites: &Sites, f: FunctionIndex, function: &FunctionSites, edge: Edge) -> String {
    let fact = (f, Fact::Event(Event::Edge(edge)));
    let outcomes: Vec<String> = sites
        .sites
        .iter()
        .filter(|s| s.outcomes.iter().any(|o| o.facts.contains(&fact)) && s.kind.name() != "condition")
        .flat_map(|s| s.outcomes.iter().filter(|o| o.facts.contains(&fact)).map(|o| o.label.clone()))
        .collect();
    let l = function.loops.iter();
    if l.clone().any(|l| l.back_edges.contains(&edge)) {
        return "label=\"again\", style=dashed".into();
    }
    if l.clone().any(|l| l.boundary() == Some(edge)) {
        return "label=\"boundary\"".into();
    }
    if l.clone().any(|l| l.body_entry() == Some(edge)) {
        return "label=\"body\"".into();
    }
    if outcomes.is_empty() && function.cfg.blocks[edge.block].terminator == Terminator::Branch {
        return format!("label=\"{}\"", edge.successor == 0);
    }
    format!("label=\"{}\"", escape(&outcomes.join(", ")))
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
