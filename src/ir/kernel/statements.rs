//! Counts the statements of a function as LIU 5.2 does, and splits them into regions between branch points.
//!
//! Declarations do not count; a control head counts once; blocks, labels and empty statements do not count. Not for
//! what executes them.

use super::ast::{Ast, Function, Node, Position, Range};
use super::constant_switch::{self, Nodes};
use super::folding;

/// The statements of one function in source order, and the regions that they form.
#[derive(Debug, Clone, PartialEq)]
pub struct Statements {
    /// Name of the function.
    pub function: String,
    /// Whether the function is a kernel.
    pub is_kernel: bool,
    /// The counted statements, including folded ones.
    pub statements: Vec<Statement>,
    /// The first one is the beginning of the function. A region may have no statement: an empty arm,
    /// or only declarations.
    pub regions: Vec<Region>,
}

/// A counted statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The kind of the statement.
    pub kind: StatementKind,
    /// The statement; for a control head, from its keyword to its condition's last token.
    pub range: Range,
    /// Index of the region that contains it.
    pub region: usize,
    /// Whether clang emits nothing for it, because a condition is constant or a jump precedes it.
    pub is_folded: bool,
}

/// The kind of a statement; for control statements, that of the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are C's keywords, and `Expression`")]
pub enum StatementKind {
    If,
    Switch,
    For,
    While,
    Do,
    Return,
    Break,
    Continue,
    Goto,
    Expression,
}

impl StatementKind {
    /// Returns whether this is the head of a control statement.
    pub fn is_control(self) -> bool {
        matches!(
            self,
            StatementKind::If | StatementKind::Switch | StatementKind::For | StatementKind::While | StatementKind::Do
        )
    }
}

/// A run of statements of one list that are executed together: a control statement ends it, and a label begins
/// a new one.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// The part of a control statement that it lies in.
    pub arm: Arm,
    /// Index of the region that contains the arm's control statement.
    pub parent: Option<usize>,
    /// Index of the control statement that the arm belongs to; `None` in the function's own list.
    pub head: Option<usize>,
    /// Index of the control statement that directly precedes it in the same list.
    pub after: Option<usize>,
    /// Indices of its statements; only the last one can be a control statement.
    pub statements: Vec<usize>,
}

/// The part of a control statement that a region lies in.
#[derive(Debug, Clone, PartialEq)]
pub enum Arm {
    /// The body of a function.
    Function,
    /// What an `if` executes if its condition is true.
    Then,
    /// What follows `else`.
    Else,
    /// The body of a loop.
    LoopBody,
    /// A switch's body before any label.
    SwitchBody,
    /// The part after these labels of a switch, first to last.
    Case(Vec<Label>),
}

/// A `case` or `default` label.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// Position of the keyword.
    pub at: Position,
    /// Whether it is `default`, and not a `case`.
    pub is_default: bool,
}

/// The statements of every function, in the order of their definitions.
pub fn all(ast: &Ast) -> Vec<Statements> {
    ast.functions.iter().map(|function| of(ast, function)).collect()
}

/// The statements of one function.
pub fn of(ast: &Ast, function: &Function) -> Statements {
    let result = Statements {
        function: function.name.clone(),
        is_kernel: function.is_kernel,
        statements: Vec::new(),
        regions: Vec::new(),
    };
    let dropped = constant_switch::dropped(ast, &function.body);
    let mut walk = Walk { ast, dropped, result, current: 0 };
    walk.arm(&function.body, Arm::Function, None, false);
    walk.result
}

struct Walk<'a> {
    ast: &'a Ast,
    dropped: Nodes,
    result: Statements,
    /// Index of the region that the next statement belongs to.
    current: usize,
}

impl Walk<'_> {
    /// Begins a new arm: a list, or a single statement in place of one.
    fn arm(&mut self, node: &Node, arm: Arm, head: Option<usize>, dead: bool) {
        let outer = self.current;
        let parent = head.map(|_| outer);
        self.region(Region { arm, parent, head, after: None, statements: Vec::new() });
        self.statement(node, dead && !folding::contains_label(node));
        self.current = outer;
    }

    fn region(&mut self, region: Region) {
        self.current = self.result.regions.len();
        self.result.regions.push(region);
    }

    /// Begins a new region in the list of the current one.
    fn split(&mut self, arm: Option<Arm>, after: Option<usize>) {
        let Region { arm: old, parent, head, .. } = self.result.regions[self.current].clone();
        self.region(Region { arm: arm.unwrap_or(old), parent, head, after, statements: Vec::new() });
    }

    fn statement(&mut self, node: &Node, dead: bool) {
        let dead = dead || self.dropped.contains(&std::ptr::from_ref(node));
        let kind = match &*node.kind {
            "" | "NullStmt" | "DeclStmt" | "CXXCtorInitializer" => return,
            "CompoundStmt" => return self.list(node, dead),
            "AttributedStmt" => {
                if let Some(inner) = node.children.last() {
                    self.statement(inner, dead);
                }
                return;
            }
            "LabelStmt" => {
                self.split(None, None);
                return self.last_child(node);
            }
            "CaseStmt" | "DefaultStmt" => return self.labelled(node),
            // `do { … } while (0)` is not a loop: its body replaces it.
            "DoStmt" | "ForStmt" | "WhileStmt" if folding::runs_once(self.ast, node) => {
                let body = if node.is("DoStmt") { node.children.first() } else { node.children.last() };
                if let Some(body) = body {
                    self.statement(body, dead);
                }
                return;
            }
            "IfStmt" => StatementKind::If,
            "SwitchStmt" => StatementKind::Switch,
            "ForStmt" => StatementKind::For,
            "WhileStmt" => StatementKind::While,
            "DoStmt" => StatementKind::Do,
            "ReturnStmt" => StatementKind::Return,
            "BreakStmt" => StatementKind::Break,
            "ContinueStmt" => StatementKind::Continue,
            "GotoStmt" | "IndirectGotoStmt" => StatementKind::Goto,
            _ => StatementKind::Expression,
        };
        let Some(range) = head_range(node, kind) else { return };
        let index = self.result.statements.len();
        self.result.statements.push(Statement { kind, range, region: self.current, is_folded: dead });
        self.result.regions[self.current].statements.push(index);
        if kind.is_control() {
            self.arms(node, kind, index, dead);
            self.split(None, Some(index));
        }
    }

    fn arms(&mut self, node: &Node, kind: StatementKind, head: usize, dead: bool) {
        let ruled_out = |i: usize| dead || folding::is_ruled_out(self.ast, node, i);
        let arms: Vec<(usize, Arm)> = match kind {
            StatementKind::If => vec![(1, Arm::Then), (2, Arm::Else)],
            StatementKind::Switch => vec![(1, Arm::SwitchBody)],
            StatementKind::For => vec![(4, Arm::LoopBody)],
            StatementKind::While => vec![(1, Arm::LoopBody)],
            _ => vec![(0, Arm::LoopBody)],
        };
        let arms: Vec<_> = arms.into_iter().map(|(i, arm)| (i, arm, ruled_out(i))).collect();
        for (i, arm, dead) in arms {
            if let Some(body) = node.children.get(i) {
                self.arm(body, arm, Some(head), dead);
            }
        }
    }

    fn list(&mut self, list: &Node, dead: bool) {
        let mut dead = dead;
        for child in &list.children {
            dead &= !folding::contains_label(child);
            self.statement(child, dead);
            dead |= folding::ends_flow(child);
        }
    }

    /// Adjacent labels share one region.
    fn labelled(&mut self, node: &Node) {
        let (mut labels, mut inner) = (Vec::new(), node);
        while inner.is("CaseStmt") || inner.is("DefaultStmt") {
            let at = inner.range.as_ref().map(|range| range.begin.clone());
            labels.extend(at.map(|at| Label { at, is_default: inner.is("DefaultStmt") }));
            match inner.children.last() {
                Some(next) => inner = next,
                None => break,
            }
        }
        self.split(Some(Arm::Case(labels)), None);
        self.statement(inner, false);
    }

    fn last_child(&mut self, node: &Node) {
        if let Some(inner) = node.children.last() {
            self.statement(inner, false);
        }
    }
}

fn head_range(node: &Node, kind: StatementKind) -> Option<Range> {
    let full_range = node.range.clone()?;
    let parts = match kind {
        StatementKind::If | StatementKind::Switch | StatementKind::While => {
            &node.children[..1.min(node.children.len())]
        }
        StatementKind::For => &node.children[..4.min(node.children.len())],
        // The condition of a do-while follows its body: the head is the keyword alone.
        StatementKind::Do => &[],
        _ => return Some(full_range),
    };
    let end = parts.iter().rev().find_map(|part| part.range.as_ref()).map(|range| range.end.clone());
    Some(Range { end: end.unwrap_or_else(|| full_range.begin.clone()), begin: full_range.begin })
}
