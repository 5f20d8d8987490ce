//! Locates the statements and regions of LIU 5.2 in the CFG.
//!
//! What counts as a statement or region is read from the syntax tree (`kernel::statements`). Here each gets the block
//! in which it begins: that of its first instruction, by debug location, in the order in which clang emits code.

use std::collections::HashMap;

use super::graph::Cfg;
use super::indices::BlockIndex;
use crate::kernel::ast::{Ast, Function, Loc};
use crate::kernel::statements::{self as syntax, StatementKind, Statements};
use crate::llvm::{DebugLocation, LAST_COLUMN};

/// A counted statement.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Where the statement begins.
    pub location: DebugLocation,
    /// The kind of the statement, such as `if` or `expression`.
    pub construct: &'static str,
    /// The block in which the statement begins.
    pub block: BlockIndex,
    /// Whether it is the first statement of a region between branch points.
    pub starts_region: bool,
}

/// The statements of a function.
#[derive(Debug, Default)]
pub struct Found {
    /// Those for which code was found.
    pub statements: Vec<Statement>,
    /// Whether some end beyond the last column that debug locations have.
    pub are_too_wide: bool,
    /// The number of those for which no code was found because they begin there.
    pub left_out: usize,
}

/// Finds the statements of a function; none if the syntax tree lacks the function.
pub fn find(cfg: &Cfg, ast: &Ast) -> Found {
    let Some(function) = ast.function(&cfg.function) else { return Found::default() };
    let counted = syntax::of(ast, function);
    let has_control = counted.statements.iter().any(|s| s.kind.is_control());
    let code = InstructionPositions::of(cfg);
    let mut located: Vec<Option<BlockIndex>> = Vec::with_capacity(counted.statements.len());
    // For each place, the last statement there that was located.
    let mut last: HashMap<(&str, u32, u32), usize> = HashMap::new();
    let mut found = Found::default();
    let mut region_started = vec![false; counted.regions.len()];
    for (i, statement) in counted.statements.iter().enumerate() {
        let begin = function.place(&statement.range.begin);
        let place = (&*begin.file, begin.line, begin.column);
        let previous = last.get(&place).copied();
        let block = if statement.is_folded { None } else { locate(&code, function, &counted, (i, previous), &located) };
        located.push(block);
        found.are_too_wide |= function.place(&statement.range.end).column > LAST_COLUMN;
        let Some(block) = block else {
            found.left_out += usize::from(!statement.is_folded && begin.column > LAST_COLUMN);
            continue;
        };
        last.insert(place, i);
        let counts = statement.region != 0 || (counted.is_kernel && !has_control);
        found.statements.push(Statement {
            location: location(begin),
            construct: name(statement.kind),
            block,
            starts_region: counts && !std::mem::replace(&mut region_started[statement.region], true),
        });
    }
    found
}

/// The source positions of a function's reachable instructions.
struct InstructionPositions<'a> {
    /// For each file name without its folder (debug information and syntax tree may spell folders differently): line,
    /// column and block, sorted.
    places: HashMap<&'a str, Vec<(u32, u32, BlockIndex)>>,
}

impl<'a> InstructionPositions<'a> {
    fn of(cfg: &'a Cfg) -> InstructionPositions<'a> {
        let mut places: HashMap<&str, Vec<(u32, u32, BlockIndex)>> = HashMap::new();
        for b in cfg.indices().filter(|b| cfg.reachable[*b]) {
            for at in cfg.blocks[b].instructions.iter().filter_map(|i| i.location.as_ref()).filter(|at| at.line > 0) {
                places.entry(file_name(&at.file)).or_default().push((at.line, at.column, b));
            }
        }
        for all in places.values_mut() {
            all.sort_unstable();
            all.dedup();
        }
        InstructionPositions { places }
    }

    /// The first block, not before `from`, with an instruction between two places of a file (both inclusive).
    fn first(&self, file: &str, begin: (u32, u32), end: (u32, u32), from: BlockIndex) -> Option<BlockIndex> {
        let all = self.places.get(file_name(file))?;
        let inside = &all[all.partition_point(|(line, column, _)| (*line, *column) < begin)..];
        let inside = inside.iter().take_while(|(line, column, _)| (*line, *column) <= end);
        inside.map(|(_, _, block)| *block).filter(|block| *block >= from).min()
    }
}

/// The block of statement `i`, given those of the statements before it. `previous` is the last of these that begins at
/// the same place.
fn locate(
    code: &InstructionPositions<'_>,
    function: &Function,
    counted: &Statements,
    (i, previous): (usize, Option<usize>),
    located: &[Option<BlockIndex>],
) -> Option<BlockIndex> {
    let statement = &counted.statements[i];
    let (begin, end) = (function.place(&statement.range.begin), function.place(&statement.range.end));
    let last = (end.line, end.column + end.tok_len.max(1));
    let first_from = |from: BlockIndex| code.first(&begin.file, (begin.line, begin.column), last, from);
    // All statements of a macro's body share one place: the order of the code distinguishes them.
    if let Some(p) = previous {
        let before = &counted.statements[p];
        let moved_on = before.region != statement.region && before.kind != StatementKind::Do;
        let from = BlockIndex(located[p]?.0 + usize::from(moved_on));
        return first_from(from).or(located[p]);
    }
    first_from(BlockIndex::ENTRY).or_else(|| {
        // The statement has no code of its own (such as a `return` at the end): it is executed together with its
        // neighbour in the region.
        let neighbours = &counted.regions[statement.region].statements;
        neighbours.iter().rev().find(|n| **n < i).and_then(|n| located[*n])
    })
}

fn location(at: &Loc) -> DebugLocation {
    DebugLocation { file: at.file.to_string(), line: at.line, column: at.column }
}

fn file_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
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
