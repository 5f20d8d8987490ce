//! Compares sites read from the IR with the constructs of clang's syntax tree, as two lists that must be equal.
//!
//! The rule that maps one to the other:
//! - an `if`, `?:` or `switch` is where its condition begins, a loop at its keyword, a barrier at the call's name, an
//!   operand of `&&` and `||` where it begins;
//! - a token of a macro's argument is where it is spelt, one of a macro's body where the macro is expanded (if that is
//!   within another macro's argument, the syntax tree has only the place where the outermost one begins: there the
//!   line decides);
//! - code that clang folds away is on neither list, nor is `do … while (0)`; a short-circuit that folding leaves with
//!   one operand has no operands;
//! - constructs are equal if their kind (for a switch also its number of labels, for a loop its classes), the file and
//!   the line are. An IR site may be on a later line of the same condition, as far as the condition reaches: constants
//!   and `sizeof` at its beginning leave no instruction.

use std::fmt;
use std::path::Path;

use kassay_base::error::Result;
use kassay_ir::cfg::indices::FunctionIndex;
use kassay_ir::cfg::sites::{Site, SiteKind, Sites};
use kassay_ir::kernel::ast::{Ast, Function, Position};
use kassay_ir::kernel::compile;
use kassay_ir::kernel::constructs::{self, Construct, Kind, LoopForm};
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::{self, KernelFile};
use kassay_model::options::{KernelOptions, Language};

/// A construct and its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub what: String,
    /// The last line of the condition, for an entry of the syntax tree.
    pub last_line: u32,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{} {}", self.file, self.line, self.column, self.what)
    }
}

/// How the two lists of one function agree and differ.
#[derive(Debug, Default)]
pub struct Agreement {
    /// Pairs at one line and column.
    pub exact: usize,
    /// Pairs at one place by the rule.
    pub equal: usize,
    pub only_ir: Vec<Entry>,
    pub only_syntax: Vec<Entry>,
}

impl Agreement {
    pub fn is_full(&self) -> bool {
        self.only_ir.is_empty() && self.only_syntax.is_empty()
    }
}

/// Compares every function of every kernel of a file; returns the agreement by kernel and function.
pub fn file(path: &Path, options: &KernelOptions) -> Result<Vec<(String, Agreement)>> {
    let loaded = compile::load(path, options, true)?;
    let ast = loaded.ast.as_ref().expect("a file that compiles has a syntax tree");
    let context = Context::create();
    let parsed = KernelFile::parse(&context, &loaded)?;
    let sources = build::sources_of(path);
    let mut all = Vec::new();
    for kernel in &parsed.kernels {
        let under_test = parsed.under_test(kernel, &loaded, &sources)?;
        for (f, function) in FunctionIndex::enumerate(&under_test.sites.functions) {
            let name = &function.cfg.function;
            let mut found = compare(of_ir(&under_test.sites, f), of_syntax(ast, name));
            if options.language(path) == Language::Cuda {
                let text = std::fs::read_to_string(path).unwrap_or_default();
                found.only_ir.retain(|entry| !is_call(&text, entry));
            }
            all.push((format!("{kernel}/{name}"), found));
        }
    }
    Ok(all)
}

/// Returns whether a function is called, or PTX stands, at the place of an entry.
fn is_call(text: &str, entry: &Entry) -> bool {
    let line = text.lines().nth(entry.line.saturating_sub(1) as usize).unwrap_or_default();
    let rest = line.get(entry.column.saturating_sub(1) as usize..).unwrap_or_default();
    // A static function may be called through an object, whose place the call then has.
    let name = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or_default();
    let is_keyword = ["if", "for", "while", "switch"].contains(&&rest[..name]);
    &rest[..name] == "asm" || name > 0 && !is_keyword && rest[name..].starts_with('(')
}

fn of_ir(sites: &Sites, function: FunctionIndex) -> Vec<Entry> {
    let kinds = [SiteKind::Branch, SiteKind::Condition, SiteKind::Loop, SiteKind::Barrier];
    let own = sites.sites.iter().filter(|site| site.function == function && kinds.contains(&site.kind));
    own.map(ir_entry).collect()
}

fn ir_entry(site: &Site) -> Entry {
    let labels = || site.outcomes.iter().map(|o| o.label.as_str());
    let what = match site.kind {
        SiteKind::Branch if site.construct == "switch" => format!("switch {}", labels().count() - 1),
        SiteKind::Loop => format!("{} {}", site.construct, labels().collect::<Vec<_>>().join("+")),
        _ => site.construct.clone(),
    };
    let (file, line, column) = match &site.location {
        Some(at) => (base(&at.file), at.line, at.column),
        None => (String::new(), 0, 0),
    };
    Entry { file, line, column, what, last_line: line }
}

fn of_syntax(ast: &Ast, function: &str) -> Vec<Entry> {
    let Some(function) = ast.function(function) else { return Vec::new() };
    let found = constructs::of(ast, function);
    let alive = found.constructs.iter().filter(|construct| !construct.is_folded);
    alive.flat_map(|construct| syntax_entries(construct, function)).collect()
}

fn syntax_entries(construct: &Construct, function: &Function) -> Vec<Entry> {
    let entry = |begin, end, what| entry(function, begin, end, what);
    let at_condition = |what: String| {
        let range = construct.condition.as_ref().unwrap_or(&construct.range);
        vec![entry(&range.begin, &range.end, what)]
    };
    let at_keyword = |what: String| vec![entry(&construct.range.begin, &construct.range.begin, what)];
    match &construct.kind {
        Kind::If { .. } => at_condition("if".into()),
        Kind::Ternary => at_condition("?:".into()),
        Kind::Switch { cases, .. } => at_condition(format!("switch {}", cases.len())),
        Kind::Loop { is_loop: false, .. } => Vec::new(),
        Kind::Loop { form, has_boundary, .. } => at_keyword(match (form, has_boundary) {
            (LoopForm::Do, true) => "do one+many+boundary".into(),
            (LoopForm::Do, false) => "do one+many".into(),
            (LoopForm::For, true) => "for zero+one+many+boundary".into(),
            (LoopForm::For, false) => "for one+many".into(),
            (LoopForm::While, true) => "while zero+one+many+boundary".into(),
            (LoopForm::While, false) => "while one+many".into(),
        }),
        Kind::Barrier { callee } => at_keyword(callee.to_string()),
        Kind::ShortCircuit { leaves, .. } => {
            let alive: Vec<_> = leaves.iter().filter(|leaf| !leaf.is_folded).collect();
            match alive.len() {
                0 | 1 => Vec::new(),
                _ => alive.iter().map(|l| entry(&l.range.begin, &l.range.end, "operand".into())).collect(),
            }
        }
    }
}

fn entry(function: &Function, begin: &Position, end: &Position, what: String) -> Entry {
    let (begin, end) = (function.place(begin), function.place(end));
    let last_line = end.line.max(begin.line);
    Entry { file: base(&begin.file), line: begin.line, column: begin.column, what, last_line }
}

fn base(file: &str) -> String {
    file.rsplit('/').next().unwrap_or(file).to_owned()
}

/// Pairs the entries: those at the same line and column first, then those that the rule makes equal.
fn compare(ir: Vec<Entry>, syntax: Vec<Entry>) -> Agreement {
    let mut result = Agreement { only_ir: ir, only_syntax: Vec::new(), ..Agreement::default() };
    let mut rest = Vec::new();
    for entry in syntax {
        match take(&mut result.only_ir, |e| same(e, &entry) && (e.line, e.column) == (entry.line, entry.column)) {
            true => result.exact += 1,
            false => rest.push(entry),
        }
    }
    for entry in rest {
        match take(&mut result.only_ir, |e| same(e, &entry) && (entry.line..=entry.last_line).contains(&e.line)) {
            true => result.equal += 1,
            false => result.only_syntax.push(entry),
        }
    }
    result.equal += result.exact;
    result.only_ir.sort();
    result.only_syntax.sort();
    result
}

fn same(a: &Entry, b: &Entry) -> bool {
    a.what == b.what && a.file == b.file
}

fn take(entries: &mut Vec<Entry>, wanted: impl Fn(&Entry) -> bool) -> bool {
    let found = entries.iter().position(wanted);
    found.map(|i| entries.remove(i)).is_some()
}
