//! Finds calls of builtins to mutate: which instructions belong to one call in the source, and how the source
//! spells it.
//!
//! Instructions with the same debug location and callee belong to one call in the source (a macro's argument that is
//! used twice, an unrolled loop), unless the syntax tree tells them apart (two barriers in a macro's body). Operators
//! of the IR see each instruction as a call of its own.

use std::collections::BTreeMap;

use kassay_ir::cfg::graph::InstKind;
use kassay_ir::cfg::indices::{BlockIndex, FunctionIndex};
use kassay_ir::instrument::mutants::edit::{Edit, Place};
use kassay_ir::kernel::ast::{Function, Loc, Node};
use kassay_ir::kernel::builtins::{self, Operation, demangle};
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::{DebugLocation, Inst, Opcode, Value};

use super::super::control::text;
use super::super::level::OperatorLevel;
use super::super::mutant::{Excluded, Mutant, SourceRange, Spot, same_file};
use super::super::subject::{OperatorOutput, Subject};
use super::ir::shown;

/// A call in the source.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its instructions, in order; at least one.
    pub places: Vec<Place>,
    /// The arguments' values, where they are constant integers.
    pub constants: Vec<Option<i64>>,
    /// The builtin's name: `atomic_add`.
    pub name: String,
    /// The parameter part of the mangled name: `PU3AS1Vjj`.
    pub params: String,
    /// The mangled name.
    pub callee: String,
    /// The function that contains it.
    pub function: String,
    /// Source text: `barrier(CLK_LOCAL_MEM_FENCE)`; the name where there is no source.
    pub text: String,
    /// Source text of the arguments; empty where there is no source.
    pub args: Vec<String>,
    /// Where it is in the source; `None` without debug information.
    pub range: Option<SourceRange>,
    /// Where it is spelled, if that is in a macro's body.
    pub spelling: Option<SourceRange>,
    /// Whether it comes from a macro's body or argument.
    pub is_in_macro: bool,
    /// Whether the source has CUDA's words for the builtin.
    pub is_of_cuda: bool,
}

impl Call {
    /// Returns the source text of the argument at a position, or `argument N`.
    pub fn arg(&self, position: usize) -> String {
        self.args.get(position).cloned().unwrap_or_else(|| format!("argument {position}"))
    }

    /// Returns the source text of the argument at a position, or its value.
    pub fn arg_or(&self, position: usize, value: i64) -> String {
        self.args.get(position).cloned().unwrap_or_else(|| value.to_string())
    }

    /// Returns the text of a call of `name` with these arguments.
    pub fn call_text(&self, name: &str, args: &[String]) -> String {
        format!("{name}({})", args.join(", "))
    }

    /// Returns the text of all arguments of the instruction.
    pub fn all_args(&self) -> Vec<String> {
        (0..self.operand_count()).map(|i| self.arg(i)).collect()
    }

    /// Returns the number of arguments of the instruction.
    pub fn operand_count(&self) -> usize {
        self.constants.len()
    }

    /// Returns the argument's value, if it is a constant integer.
    pub fn constant(&self, position: usize) -> Option<i64> {
        self.constants.get(position).copied().flatten()
    }

    /// Creates a mutant of this call.
    pub fn mutant(&self, operator: &'static str, replacement: String, edit: Edit, is_structural: bool) -> Mutant {
        Mutant {
            id: String::new(),
            operator,
            function: self.function.clone(),
            original: self.text.clone(),
            replacement,
            range: self.range.clone(),
            spelling: self.spelling.clone(),
            edit,
            is_structural,
        }
    }

    /// Records that an operator does not mutate this call.
    pub fn exclude(&self, operator: &'static str, reason: impl Into<String>, found: &mut OperatorOutput) {
        found.excluded.push(Excluded {
            operator,
            function: self.function.clone(),
            range: self.range.clone(),
            reason: format!("{}: {}", self.text, reason.into()),
        });
    }
}

/// Finds the reachable calls of builtins whose names are `wanted`, in order of function and place.
pub fn find(subject: &Subject<'_>, wanted: impl Fn(&str) -> bool) -> Vec<Call> {
    let mut calls = Vec::new();
    for (f, function) in FunctionIndex::enumerate(&subject.sites.functions) {
        let cfg = &function.cfg;
        let Some(insts) = subject.module.function(&cfg.function).map(|f| f.instructions_by_block()) else { continue };
        let build = |callee, places: Vec<Place>, source| {
            let inst = *insts.get(places[0].block.0)?.get(places[0].instruction)?;
            build_call(&cfg.function, inst, callee, places, source)
        };
        let mut groups: BTreeMap<(Option<DebugLocation>, &str), Vec<Place>> = BTreeMap::new();
        for (b, block) in BlockIndex::enumerate(&cfg.blocks).filter(|(b, _)| cfg.reachable[*b]) {
            for (i, inst) in block.instructions.iter().enumerate() {
                let InstKind::Call(callee) = &inst.kind else { continue };
                if !demangle(callee).is_some_and(|(name, _)| wanted(name)) {
                    continue;
                }
                let place = Place { function: f, block: b, instruction: i };
                if subject.level == OperatorLevel::Ir {
                    let inst_of = insts.get(b.0).and_then(|insts| insts.get(i));
                    let at = inst.location.as_ref();
                    calls.extend(inst_of.and_then(|inst| build_ir_call(&cfg.function, *inst, callee, place, at)));
                    continue;
                }
                match inst.location.clone().filter(|l| l.line > 0) {
                    Some(location) if location.column > 0 => {
                        groups.entry((Some(location), callee)).or_default().push(place);
                    }
                    // Calls at unknown columns of a line are not one call.
                    Some(location) => {
                        let name = demangle(callee).map_or("", |(name, _)| name);
                        let source = from_text(subject.sources, &location, name);
                        calls.extend(build(callee, vec![place], Some(source)));
                    }
                    // Without a location, each instruction counts as a call of its own.
                    None => calls.extend(build(callee, vec![place], None)),
                }
            }
        }
        let function_ast = subject.ast.and_then(|ast| ast.function(&cfg.function));
        for ((location, callee), places) in groups {
            let Some(location) = location else { continue };
            let name = demangle(callee).map_or("", |(name, _)| name);
            let is_it = |node: &Node| node.callee().is_some_and(|callee| builtins::is_same(callee, name));
            let nodes = function_ast.map(|f| nodes_at(f, &location, &is_it)).unwrap_or_default();
            let pairs: Vec<(Vec<Place>, Option<&Node>)> = match nodes.len() == places.len() {
                true => by_spelling(&nodes, &places),
                false => vec![(places, nodes.first().copied())],
            };
            for (places, node) in pairs {
                let source = match (function_ast, node) {
                    (Some(function), Some(node)) => from_ast(subject.sources, function, node),
                    _ => from_text(subject.sources, &location, name),
                };
                calls.extend(build(callee, places, Some(source)));
            }
        }
    }
    calls.sort_by_key(|call| call.places[0]);
    calls
}

/// Finds the calls of CUDA's atomics that are no builtins but atomic instructions, such as those of floats, each with
/// the operation and its instruction.
pub fn atomic_instructions<'a>(subject: &Subject<'a>) -> Vec<(Call, Operation, Inst<'a>)> {
    let mut found = Vec::new();
    for (f, function) in FunctionIndex::enumerate(&subject.sites.functions) {
        let name = &function.cfg.function;
        let Some(tree) = subject.ast.and_then(|ast| ast.function(name)) else { continue };
        let Some(code) = subject.module.function(name) else { continue };
        for (b, insts) in BlockIndex::enumerate(code.instructions_by_block()) {
            for (i, inst) in insts.into_iter().enumerate() {
                let Some(location) = inst.location().filter(|_| inst.is(Opcode::LLVMAtomicRMW)) else { continue };
                let operation = |node: &Node| node.name.as_deref().and_then(builtins::operation_in_cuda);
                let nodes = nodes_at(tree, &location, &|node: &Node| operation(node).is_some());
                let [node] = nodes[..] else { continue };
                let Some(operation) = operation(node).filter(|_| function.cfg.reachable[b]) else { continue };
                let place = Place { function: f, block: b, instruction: i };
                found.push((call_of_instruction(subject.sources, tree, node, place), operation, inst));
            }
        }
    }
    found
}

/// Builds the call that one instruction is.
fn call_of_instruction(sources: &Sources, function: &Function, node: &Node, place: Place) -> Call {
    let source = from_ast(sources, function, node);
    let args = arguments(&source.text);
    Call {
        places: vec![place],
        constants: vec![None; args.len()],
        name: node.name.as_deref().unwrap_or_default().to_owned(),
        params: String::new(),
        callee: String::new(),
        function: function.name.clone(),
        text: source.text,
        args,
        range: Some(source.range),
        spelling: source.spelling,
        is_in_macro: source.is_in_macro,
        is_of_cuda: true,
    }
}

/// Returns the calls in the syntax tree at a location, in source order.
fn nodes_at<'a>(function: &'a Function, at: &DebugLocation, is_wanted: &dyn Fn(&Node) -> bool) -> Vec<&'a Node> {
    let mut nodes = Vec::new();
    function.body.walk(&mut |node| {
        let Some(range) = node.range.as_ref().filter(|_| node.is("CallExpr") && is_wanted(node)) else { return };
        // Calls of members are at the member's name.
        let callee =
            node.children.first().filter(|callee| matches!(&*callee.without_parentheses().kind, "" | "MemberExpr"));
        let member = callee.and_then(|callee| callee.range.as_ref()).map(|range| &range.end);
        let is_there = |token| {
            let place = function.place(token);
            (place.line, place.column) == (at.line, at.column) && same_file(&place.file, &at.file)
        };
        if is_there(&range.begin) || member.is_some_and(is_there) {
            nodes.push(node);
        }
    });
    nodes
}

/// Pairs calls of the tree with as many instructions, in order. Calls that are spelled at the same place are merged.
fn by_spelling<'a>(nodes: &[&'a Node], places: &[Place]) -> Vec<(Vec<Place>, Option<&'a Node>)> {
    let mut groups: Vec<(Loc, Vec<Place>, &'a Node)> = Vec::new();
    for (node, place) in nodes.iter().zip(places) {
        let Some(begin) = node.range.as_ref().map(|range| &range.begin) else { continue };
        let spelt = begin.spelling.as_ref().unwrap_or(&begin.expansion).clone();
        match groups.iter_mut().find(|(other, _, _)| *other == spelt) {
            Some(group) => group.1.push(*place),
            None => groups.push((spelt, vec![*place], node)),
        }
    }
    groups.into_iter().map(|(_, places, node)| (places, Some(node))).collect()
}

/// The source text and ranges of a call.
struct SourceCall {
    text: String,
    range: SourceRange,
    spelling: Option<SourceRange>,
    is_in_macro: bool,
    is_of_cuda: bool,
}

/// Builds a call of a function, whose first instruction is given.
fn build_call(
    function: &str,
    inst: Inst<'_>,
    callee: &str,
    places: Vec<Place>,
    source: Option<SourceCall>,
) -> Option<Call> {
    let (name, params) = demangle(callee)?;
    let (text, range, spelling, is_in_macro, is_of_cuda) = match source {
        Some(w) => (w.text, Some(w.range), w.spelling, w.is_in_macro, w.is_of_cuda),
        None => (name.to_owned(), None, None, false, false),
    };
    let args = arguments(&text);
    let constants = inst.args().into_iter().map(Value::as_i64).collect();
    let (name, params, callee, function) = (name.to_owned(), params.to_owned(), callee.to_owned(), function.to_owned());
    Some(Call {
        places,
        constants,
        name,
        params,
        callee,
        function,
        text,
        args,
        range,
        spelling,
        is_in_macro,
        is_of_cuda,
    })
}

/// Builds a call as the IR shows it: constants, and names of values.
fn build_ir_call(
    function: &str,
    inst: Inst<'_>,
    callee: &str,
    place: Place,
    at: Option<&DebugLocation>,
) -> Option<Call> {
    let call = build_call(function, inst, callee, vec![place], None)?;
    let args: Vec<String> = inst.args().into_iter().map(shown).collect();
    Some(Call { text: call.call_text(&call.name, &args), args, range: text::spot(at, 0), ..call })
}

/// Reads a call's text and ranges from the syntax tree.
fn from_ast(sources: &Sources, function: &Function, node: &Node) -> SourceCall {
    let name = node.name.as_deref().unwrap_or_default();
    let is_of_cuda = node.builtin.is_some();
    let text = node.range.as_ref().and_then(|range| {
        // Within one macro expansion, the text as spelled in the macro; otherwise the text in the function.
        let (begin, end) = match (&range.begin.spelling, &range.end.spelling) {
            (Some(begin), Some(end)) if range.begin.expansion == range.end.expansion => (begin, end),
            _ => (function.place(&range.begin), function.place(&range.end)),
        };
        between(sources, &range_of(begin, end))
    });
    // CUDA's may be members of objects.
    let text = text.filter(|text| is_of_cuda || text.starts_with(name)).unwrap_or_else(|| name.to_owned());
    let is_in_macro = node.range.as_ref().is_some_and(|range| range.begin.spelling.is_some());
    let (range, spelling) = match &node.range {
        Some(range) => {
            let place = function.place(&range.begin);
            let spelt = range.begin.spelling.as_ref().filter(|spelt| *spelt != place);
            let spelling = spelt.map(|begin| range_of(begin, range.end.spelling.as_ref().unwrap_or(begin)));
            (range_of(place, function.place(&range.end)), spelling)
        }
        None => (SourceRange { file: String::new(), start: spot(0, 0), end: spot(0, 0) }, None),
    };
    SourceCall { text, range, spelling, is_in_macro, is_of_cuda }
}

/// Reads a call's text from the source at a debug location.
fn from_text(sources: &Sources, at: &DebugLocation, name: &str) -> SourceCall {
    let len = |text: &str| text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count() as u32;
    let is_known = at.column > 0;
    let rest = sources.at(&at.file, at.line, at.column).filter(|_| is_known);
    let token = rest.as_deref().map_or(name.len() as u32, |rest| len(rest).max(1)) * u32::from(is_known);
    let call = rest.as_deref().filter(|rest| rest.starts_with(name)).and_then(closed);
    SourceCall {
        text: call.unwrap_or(name).to_owned(),
        range: SourceRange {
            file: at.file.clone(),
            start: spot(at.line, at.column),
            end: spot(at.line, at.column + token),
        },
        spelling: None,
        is_in_macro: rest.is_some_and(|rest| !rest.starts_with(name)),
        is_of_cuda: false,
    }
}

/// Returns the text up to the parenthesis that closes its first one.
fn closed(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(&text[..=i]),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Splits a call's text into its arguments, at commas outside nested parentheses, brackets and braces.
pub fn arguments(call: &str) -> Vec<String> {
    let Some((_, inner)) = call.strip_suffix(')').and_then(|call| call.split_once('(')) else { return Vec::new() };
    let (mut depth, mut from, mut all) = (0, 0, Vec::new());
    for (i, c) in inner.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                all.push(inner[from..i].trim().to_owned());
                from = i + 1;
            }
            _ => {}
        }
    }
    all.push(inner[from..].trim().to_owned());
    all
}

fn spot(line: u32, column: u32) -> Spot {
    Spot { line, column }
}

/// Returns the range from the start of token `begin` to the end of token `end`, or of `begin` alone if `end`
/// precedes it.
fn range_of(begin: &Loc, end: &Loc) -> SourceRange {
    let end = if begin.file == end.file && end.offset >= begin.offset { end } else { begin };
    SourceRange {
        file: begin.file.to_string(),
        start: spot(begin.line, begin.column),
        end: spot(end.line, end.column + end.tok_len),
    }
}

/// Returns the text of a range, its lines trimmed and joined by blanks.
pub fn between(sources: &Sources, range: &SourceRange) -> Option<String> {
    let lines = sources.lines(&range.file)?;
    let mut out = Vec::new();
    for line in range.start.line..=range.end.line {
        let text = lines.get((line as usize).checked_sub(1)?)?;
        let from = if line == range.start.line { (range.start.column as usize).saturating_sub(1) } else { 0 };
        let to = if line == range.end.line { (range.end.column as usize).saturating_sub(1) } else { text.len() };
        out.push(text.get(from..to.min(text.len()))?.trim());
    }
    Some(out.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_ends_where_its_parenthesis_closes() {
        assert_eq!(closed("f(g(1), (2)) + h(3)"), Some("f(g(1), (2))"));
        assert_eq!(closed("f(g(1),"), None);
    }

    #[test]
    fn arguments_are_split_at_top_level_commas() {
        assert_eq!(arguments("f(a[g(1, 2)], (int2)(3, 4), c)"), ["a[g(1, 2)]", "(int2)(3, 4)", "c"]);
        assert!(arguments("f").is_empty());
    }
}
