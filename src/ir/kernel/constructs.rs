//! Collects the constructs of a function that coverage measures from clang's syntax tree: decisions, loops, barriers.
//!
//! Definitions: PENG 4.2.1 for branches, loops and barriers. A `?:` on a vector is data; a loop condition belongs to
//! its loop. Not for statements (`statements`), nor for finding a construct's instructions in the IR.

use std::sync::Arc;

use super::ast::{Ast, Function, HEAD, Node, Position, Range};
use super::builtins::{self, Family};
use super::constant_switch::{self, Nodes};
use super::folding;

/// The constructs of one function, in source order.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionConstructs {
    /// The function's name.
    pub function: String,
    /// Whether it is declared `__kernel`.
    pub is_kernel: bool,
    /// In source order.
    pub constructs: Vec<Construct>,
}

/// A construct and its position.
#[derive(Debug, Clone, PartialEq)]
pub struct Construct {
    /// What it is.
    pub kind: Kind,
    /// The complete construct; a `?:` begins at its condition.
    pub range: Range,
    /// The condition, if there is one.
    pub condition: Option<Range>,
    /// Whether clang emits no branch, loop or call for it, because a condition is constant or a jump precedes it.
    pub is_folded: bool,
}

/// The kind of a construct.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// An `if`.
    If {
        /// Whether it has an `else`.
        has_else: bool,
    },
    /// A `switch`.
    Switch {
        /// Its `case` labels, in order.
        cases: Vec<Case>,
        /// Whether it has a `default`.
        has_default: bool,
    },
    /// `?:` on a scalar condition.
    Ternary,
    /// A `for`, `while` or `do`.
    Loop {
        /// Its keyword.
        form: LoopForm,
        /// `false` where the body runs exactly once: `do {} while (0)`, `for (;;) { break; }`.
        is_loop: bool,
        /// Whether it has a condition that is not constant.
        has_boundary: bool,
    },
    /// A call of a barrier.
    Barrier {
        /// The name of the builtin.
        callee: Arc<str>,
    },
    /// A maximal tree of `&&` and `||`, looking through parentheses, `!` and implicit casts.
    ShortCircuit {
        /// Its operands, in order of evaluation.
        leaves: Vec<Leaf>,
        /// What its value decides.
        context: Context,
    },
}

/// A `case` label.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Where the keyword is.
    pub at: Position,
    /// First and last value, which differ only for a range; `None` if they cannot be evaluated here.
    pub values: Option<(i128, i128)>,
}

/// The keyword of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are C's keywords")]
pub enum LoopForm {
    For,
    While,
    Do,
}

/// An operand of a short-circuit decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// From its first to its last token.
    pub range: Range,
    /// Whether it has no branch: it is constant, or a constant before it keeps it from being evaluated.
    pub is_folded: bool,
}

/// What the result of a short-circuit decision is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// The whole condition of an `if` or `?:`.
    Branch,
    /// The whole condition of a loop.
    Loop,
    /// A value, which may be part of a larger condition.
    Value,
}

/// The number of constructs of each kind, without the folded ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// `if` statements.
    pub ifs: usize,
    /// `switch` statements.
    pub switches: usize,
    /// `case` labels.
    pub cases: usize,
    /// `?:` on scalar conditions.
    pub ternaries: usize,
    /// `for`, `while` and `do` loops that may repeat their bodies.
    pub loops: usize,
    /// Calls of barriers.
    pub barriers: usize,
    /// Trees of `&&` and `||`.
    pub short_circuits: usize,
    /// Operands of short-circuit decisions.
    pub leaves: usize,
}

/// The constructs of every function, in the order of their definitions.
pub fn all(ast: &Ast) -> Vec<FunctionConstructs> {
    ast.functions.iter().map(|function| of(ast, function)).collect()
}

/// The constructs of one function.
pub fn of(ast: &Ast, function: &Function) -> FunctionConstructs {
    let dropped = constant_switch::dropped(ast, &function.body);
    let mut walk = Walk { ast, dropped, constructs: Vec::new() };
    walk.node(&function.body, Context::Value, false);
    FunctionConstructs { function: function.name.clone(), is_kernel: function.is_kernel, constructs: walk.constructs }
}

impl FunctionConstructs {
    /// Counts the constructs that are not folded.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for construct in self.constructs.iter().filter(|construct| !construct.is_folded) {
            match &construct.kind {
                Kind::If { .. } => counts.ifs += 1,
                Kind::Switch { cases, .. } => {
                    counts.switches += 1;
                    counts.cases += cases.len();
                }
                Kind::Ternary => counts.ternaries += 1,
                Kind::Loop { is_loop, .. } => counts.loops += usize::from(*is_loop),
                Kind::Barrier { .. } => counts.barriers += 1,
                Kind::ShortCircuit { leaves, .. } => {
                    counts.short_circuits += 1;
                    counts.leaves += leaves.iter().filter(|leaf| !leaf.is_folded).count();
                }
            }
        }
        counts
    }
}

struct Walk<'a> {
    ast: &'a Ast,
    dropped: Nodes,
    constructs: Vec<Construct>,
}

impl Walk<'_> {
    /// `context` applies if `node` as a whole is a decision; `dead` means that clang emits nothing here.
    fn node(&mut self, node: &Node, context: Context, dead: bool) {
        let dead = dead || self.dropped.contains(&std::ptr::from_ref(node));
        match &*node.kind {
            // Not evaluated, or evaluated at compile time.
            "" | "UnaryExprOrTypeTraitExpr" | "ConstantExpr" | "OpaqueValueExpr" | "RecordDecl" => return,
            "VarDecl" if node.ty.as_deref().is_some_and(|ty| ty.contains("__constant ") && !ty.contains('*')) => return,
            "CompoundStmt" => return self.list(node, dead),
            "ParenExpr" | "ImplicitCastExpr" | HEAD => {}
            "UnaryOperator" if node.opcode.as_deref() == Some("!") => {}
            _ if node.is_short_circuit() => return self.short_circuit(node, context, dead),
            _ => {
                if let (Some(kind), Some(range)) = (self.kind(node), &node.range) {
                    let condition = folding::condition(node).and_then(|condition| condition.range.clone());
                    let is_folded = dead || folding::is_folded(self.ast, node);
                    self.constructs.push(Construct { kind, range: range.clone(), condition, is_folded });
                }
                return self.children(node, dead);
            }
        }
        for child in &node.children {
            self.node(child, context, dead);
        }
    }

    fn children(&mut self, node: &Node, dead: bool) {
        let condition = folding::condition(node);
        for (i, child) in node.children.iter().enumerate() {
            let context = match (&*node.kind, condition) {
                (kind, Some(condition)) if std::ptr::eq(condition, child) => match kind {
                    "IfStmt" | "ConditionalOperator" => Context::Branch,
                    "ForStmt" | "WhileStmt" | "DoStmt" => Context::Loop,
                    _ => Context::Value,
                },
                _ => Context::Value,
            };
            let dead = (dead || folding::is_ruled_out(self.ast, node, i)) && !folding::contains_label(child);
            self.node(child, context, dead);
        }
    }

    fn list(&mut self, list: &Node, dead: bool) {
        let mut dead = dead;
        for child in &list.children {
            dead &= !folding::contains_label(child);
            self.node(child, Context::Value, dead);
            dead |= folding::ends_flow(child);
        }
    }

    fn short_circuit(&mut self, node: &Node, context: Context, dead: bool) {
        let is_folded = dead || folding::is_folded(self.ast, node);
        let mut leaves = Vec::new();
        self.leaves(node, is_folded, &mut leaves);
        if let Some(range) = &node.range {
            let kind = Kind::ShortCircuit {
                leaves: (leaves.iter())
                    .filter_map(|(leaf, dead)| {
                        let is_folded = *dead || folding::constant(self.ast, leaf).is_some();
                        Some(Leaf { range: leaf.range.clone()?, is_folded })
                    })
                    .collect(),
                context,
            };
            let condition = Some(range.clone());
            self.constructs.push(Construct { kind, range: range.clone(), condition, is_folded });
        }
        for (leaf, leaf_dead) in leaves {
            self.node(leaf, Context::Value, leaf_dead);
        }
    }

    fn leaves<'n>(&self, node: &'n Node, dead: bool, leaves: &mut Vec<(&'n Node, bool)>) {
        let inner = strip_wrappers(node);
        if !inner.is_short_circuit() {
            leaves.push((node, dead));
            return;
        }
        for (i, child) in inner.children.iter().enumerate() {
            self.leaves(child, dead || folding::is_ruled_out(self.ast, inner, i), leaves);
        }
    }

    fn kind(&self, node: &Node) -> Option<Kind> {
        let condition = folding::condition(node);
        let value = condition.and_then(|condition| folding::constant(self.ast, condition));
        let has_boundary = condition.is_some() && value.is_none();
        Some(match &*node.kind {
            "IfStmt" => Kind::If { has_else: node.has_else },
            "SwitchStmt" => {
                let (mut cases, mut has_default) = (Vec::new(), false);
                labels(self.ast, node, &mut cases, &mut has_default);
                Kind::Switch { cases, has_default }
            }
            "ConditionalOperator" | "BinaryConditionalOperator" if !condition?.is_vector() => Kind::Ternary,
            "ForStmt" => Kind::Loop { form: LoopForm::For, is_loop: !folding::runs_once(self.ast, node), has_boundary },
            "WhileStmt" => {
                Kind::Loop { form: LoopForm::While, is_loop: !folding::runs_once(self.ast, node), has_boundary }
            }
            "DoStmt" => Kind::Loop { form: LoopForm::Do, is_loop: !folding::runs_once(self.ast, node), has_boundary },
            "CallExpr" => {
                let callee = node.name.clone()?;
                (builtins::family(&callee) == Some(Family::Barrier)).then_some(Kind::Barrier { callee })?
            }
            _ => return None,
        })
    }
}

/// Looks through parentheses, `!` and implicit casts.
fn strip_wrappers(mut node: &Node) -> &Node {
    loop {
        let is_not = node.is("UnaryOperator") && node.opcode.as_deref() == Some("!") && !node.is_vector();
        match node.children.first() {
            Some(inner) if is_not || node.is("ParenExpr") || node.is("ImplicitCastExpr") => node = inner,
            _ => return node,
        }
    }
}

/// The labels of a switch, without those of nested switches.
fn labels(ast: &Ast, node: &Node, cases: &mut Vec<Case>, has_default: &mut bool) {
    for child in &node.children {
        match &*child.kind {
            "SwitchStmt" => continue,
            "CaseStmt" => {
                let value = |i: usize| child.children.get(i).and_then(|child| folding::constant(ast, child));
                let values = value(0).zip(value(usize::from(child.is_range)));
                cases.extend(child.range.as_ref().map(|range| Case { at: range.begin.clone(), values }));
            }
            "DefaultStmt" => *has_default = true,
            _ => {}
        }
        labels(ast, child, cases, has_default);
    }
}
