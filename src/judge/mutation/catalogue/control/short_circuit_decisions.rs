//! Finds the short-circuit decisions of a function: formulas of the source with the circuits that compute them.

use kassay_ir::kernel::ast::{Ast, Function, HEAD, Node};
use kassay_ir::kernel::constant_switch;
use kassay_ir::kernel::folding;
use kassay_ir::kernel::source::Sources;

use super::effects::Body;
use super::formula::SourceFormula;
use super::short_circuits::{Circuit, UnmatchedCircuits};
use super::text::{self, Piece};

/// A short-circuit decision of the source.
pub struct Decision<'a> {
    /// Its formula, with the nodes of the syntax tree.
    pub written: SourceFormula<'a>,
    /// The token of each operator.
    pub tokens: Vec<Piece>,
    /// `None` where clang folds it or emits different edges.
    pub circuit: Option<Circuit>,
}

/// Returns the short-circuit decisions of a function, in source order.
pub fn find<'a>(body: &'a Body<'a>, ast: &'a Ast, sources: &'a Sources) -> Vec<Decision<'a>> {
    let Some(function) = body.written else { return Vec::new() };
    let candidates = UnmatchedCircuits::of(&body.sites.cfg, &body.sites.dominance);
    let dropped = constant_switch::dropped(ast, &function.body);
    let mut walk = Walk { ast, function, sources, dropped, candidates, found: Vec::new() };
    walk.node(&function.body, false, false);
    walk.found
}

struct Walk<'a> {
    ast: &'a Ast,
    function: &'a Function,
    sources: &'a Sources,
    dropped: constant_switch::Nodes,
    candidates: UnmatchedCircuits<'a>,
    found: Vec<Decision<'a>>,
}

impl<'a> Walk<'a> {
    /// Visits a node. `is_branch`: it is the entire condition of an `if` or `?:`; `dead`: clang emits nothing for it.
    fn node(&mut self, node: &'a Node, is_branch: bool, dead: bool) {
        let dead = dead || self.dropped.contains(&std::ptr::from_ref(node));
        match &*node.kind {
            // Not evaluated, or a compile-time constant.
            "" | "UnaryExprOrTypeTraitExpr" | "ConstantExpr" | "OpaqueValueExpr" | "RecordDecl" => return,
            "VarDecl" if node.ty.as_deref().is_some_and(|ty| ty.contains("__constant ") && !ty.contains('*')) => return,
            _ => {}
        }
        if let (HEAD, Some((condition, before))) = (&*node.kind, node.children.split_last()) {
            before.iter().for_each(|part| self.node(part, false, dead));
            return self.node(condition, is_branch, dead);
        }
        if is_branch {
            let written = SourceFormula::of_branch(self.ast, node);
            if !written.operators.is_empty() {
                return self.decision(node, written, true, dead);
            }
        }
        if node.is_short_circuit()
            && let Some(written) = SourceFormula::of_value(self.ast, node)
        {
            return self.decision(node, written, false, dead);
        }
        let condition = folding::condition(node);
        let mut unreached = false;
        for (i, child) in node.children.iter().enumerate() {
            let is_condition = condition.is_some_and(|c| std::ptr::eq(c, child));
            let is_branch = is_condition && matches!(&*node.kind, "IfStmt" | "ConditionalOperator");
            unreached &= node.is("CompoundStmt") && !folding::contains_label(child);
            let ruled_out = folding::is_ruled_out(self.ast, node, i) && !folding::contains_label(child);
            self.node(child, is_branch, dead || ruled_out || unreached);
            unreached |= node.is("CompoundStmt") && folding::ends_flow(child);
        }
    }

    fn decision(&mut self, node: &'a Node, written: SourceFormula<'a>, is_branch: bool, dead: bool) {
        let token = |operator: &&Node| {
            text::operator(self.sources, self.function, operator, operator.opcode.as_deref().unwrap_or_default())
        };
        let tokens: Option<Vec<Piece>> = written.operators.iter().map(token).collect();
        let Some((tokens, root)) = tokens.zip(written.root()) else {
            return self.leaves(&written.leaves, dead);
        };
        let is_at = |at: &kassay_ir::llvm::DebugLocation| text::begins_at(&tokens[root], at);
        let is_live = !dead && folding::constant(self.ast, node).is_none();
        let is_inside = |at: &kassay_ir::llvm::DebugLocation| {
            node.range.as_ref().is_some_and(|range| text::contains(self.function, range, at))
        };
        let circuit = match is_live {
            true => self.candidates.take(&written.formula, !is_branch, &is_at, &is_inside),
            false => None,
        };
        if circuit.is_none() && is_branch && is_live {
            // A ternary with cheap arms is a `select`: its condition is a value.
            return self.value(node.without_parentheses(), dead);
        }
        let leaves = written.leaves.clone();
        self.found.push(Decision { written, tokens, circuit });
        self.leaves(&leaves, dead);
    }

    fn value(&mut self, node: &'a Node, dead: bool) {
        if super::formula::is_not(node) {
            return node.children.iter().for_each(|child| self.value(child.without_parentheses(), dead));
        }
        self.node(node, false, dead);
    }

    fn leaves(&mut self, leaves: &[&'a Node], dead: bool) {
        leaves.iter().for_each(|leaf| self.node(leaf, false, dead));
    }
}
