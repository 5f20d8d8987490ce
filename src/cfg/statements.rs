//! LIU's statements and regions (5.2), located in the CFG.
//!
//! What counts as a statement or region is read from the syntax tree (`kernel::statements`); here each gets the block in
//! which it begins: that of its first instruction, by debug location, in the order in which clang lays code out.

use super::graph::{BlockIndex, Cfg};
use crate::kernel::ast::{Ast, Function, Loc};
use crate::kernel::ir::DebugLocation;
use crate::kernel::statements::{self as syntax, StatementKind, Statements};

/// A counted statement.
#[derive(Debug, Clone)]
pub struct Statement {
    pub location: DebugLocation,
    pub construct: &'static str,
    /// The block in which it begins.
    pub block: BlockIndex,
    /// Whether a region of code between branch points begins with it.
    pub starts_region: bool,
}

/// clang's prefix of a kernel's body, which debug information does not show in names but the AST does.
pub fn find(cfg: &Cfg, ast: &Ast) -> Vec<Statement> {
    let Some(function) = ast.function(&cfg.function) else { return Vec::new() };
    let read = syntax::of(ast, function);
    let has_control = read.statements.iter().any(|s| s.kind.is_control());
    let mut located: Vec<Option<BlockIndex>> = Vec::with_capacity(read.statements.len());
    let mut found = Vec::new();
    let mut begun = vec![false; read.regions.len()];
    for (i, statement) in read.statements.iter().enumerate() {
        let block = if statement.is_folded { None } else { locate(cfg, function, &read, i, &located) };
        located.push(block);
        let Some(block) = block else { continue };
        let counts = statement.region != 0 || (read.is_kernel && !has_control);
        found.push(Statement {
            location: location(function.place(&statement.range.begin)),
            construct: name(statement.kind),
            block,
            starts_region: counts && !std::mem::replace(&mut begun[statement.region], true),
        });
    }
    found
}

/// The block of statement `i`, given those of the statements before it.
fn locate(
    cfg: &Cfg,
    function: &Function,
    read: &Statements,
    i: usize,
    located: &[Option<BlockIndex>],
) -> Option<BlockIndex> {
    let statement = &read.statements[i];
    let (begin, end) = (function.place(&statement.range.begin), function.place(&statement.range.end));
    let inside = |at: &DebugLocation| {
        at.line > 0
            && same_file(&at.file, &begin.file)
            && (at.line, at.column) >= (begin.line, begin.column)
            && (at.line, at.column) <= (end.line, end.column + end.tok_len.max(1))
    };
    let first_from = |from: BlockIndex| {
        (from..cfg.len())
            .filter(|b| cfg.reachable[*b])
            .find(|b| cfg.blocks[*b].instructions.iter().any(|inst| inst.location.as_ref().is_some_and(inside)))
    };
    // All statements of a macro's body lie at one place: there, the order of the code tells them apart.
    let previous = (0..i).rev().find(|p| {
        let other = function.place(&read.statements[*p].range.begin);
        located[*p].is_some() && (&other.file, other.line, other.column) == (&begin.file, begin.line, begin.column)
    });
    if let Some(p) = previous {
        let before = &read.statements[p];
        let moved_on = before.region != statement.region && before.kind != StatementKind::Do;
        let from = located[p]? + usize::from(moved_on);
        return first_from(from).or(located[p]);
    }
    first_from(0).or_else(|| {
        // Nothing of it is left, such as of a `return` at the end: it is executed with its neighbour in the region.
        let neighbours = &read.regions[statement.region].statements;
        neighbours.iter().rev().find(|n| **n < i).and_then(|n| located[*n])
    })
}

fn location(at: &Loc) -> DebugLocation {
    DebugLocation { file: at.file.to_string(), line: at.line, column: at.column }
}

/// Debug information and syntax tree may spell one file's folder differently.
fn same_file(a: &str, b: &str) -> bool {
    let base = |f: &str| f.rsplit('/').next().unwrap_or(f).to_owned();
    a == b || base(a) == base(b)
}

fn name(kind: StatementKind) -> &'static str {
    match kind {
        StatementKind::If => "if",
        StatementKind::Switch => "switch",
        StatementKind::For => "for",
        StatementKind::While => "while",
        StatementKind::Do => "do",
        StatementKind::Return => "return",
        StatementKind::Break => "break",
        StatementKind::Continue => "continue",
        StatementKind::Goto => "goto",
        StatementKind::Expression => "expression",
    }
}
