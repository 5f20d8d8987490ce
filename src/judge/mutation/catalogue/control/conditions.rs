//! Pairs the conditions of the source with the decisions and loops of the CFG that they control.

use kassay_ir::cfg::sites::{Fact, Site, SiteKind};
use kassay_ir::kernel::ast::{Ast, Function, HIDDEN_CONDITION, Node, Range};
use kassay_ir::kernel::constant_switch;
use kassay_ir::kernel::folding;
use kassay_ir::llvm::DebugLocation;

use super::super::mutant::same_file;
use super::super::subject::Subject;
use super::effects::Body;
use super::text;

/// What a condition controls, by position in `FunctionSites`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controls {
    /// A decision.
    Decision(usize),
    /// A loop.
    Loop(usize),
}

/// A condition of the source.
pub struct Condition<'a> {
    /// What it controls.
    pub controls: Controls,
    /// The expression.
    pub node: &'a Node,
    /// The statement or expression whose condition it is.
    pub owner: &'a Node,
}

/// Returns the conditions of a function that control something in the canonical form.
pub fn find<'a>(subject: &Subject<'a>, body: &Body<'a>) -> Vec<Condition<'a>> {
    let (Some(ast), Some(function)) = (subject.ast, body.written) else { return Vec::new() };
    let mut walk = Walk::new(ast, function, body, subject);
    walk.node(&function.body, false);
    walk.found
}

/// Returns the conditions that clang folds, with the reason.
pub fn folded_conditions<'a>(subject: &Subject<'a>, body: &Body<'a>) -> Vec<(&'a Node, &'static str)> {
    let (Some(ast), Some(function)) = (subject.ast, body.written) else { return Vec::new() };
    let mut walk = Walk::new(ast, function, body, subject);
    walk.node(&function.body, false);
    walk.folded
}

/// Returns the source loop of each loop of the CFG, including those without a condition.
pub fn loops<'a>(subject: &Subject<'a>, body: &Body<'a>) -> Vec<Option<&'a Node>> {
    let mut found = vec![None; body.sites.loops.len()];
    if let (Some(ast), Some(function)) = (subject.ast, body.written) {
        let mut walk = Walk::new(ast, function, body, subject);
        walk.node(&function.body, false);
        for (i, node) in walk.loops {
            found[i] = Some(node);
        }
    }
    found
}

struct Walk<'a, 'b> {
    ast: &'a Ast,
    function: &'a Function,
    body: &'b Body<'a>,
    dropped: constant_switch::Nodes,
    /// Location at which each loop of the CFG begins.
    starts: Vec<Option<DebugLocation>>,
    used: Vec<usize>,
    loops: Vec<(usize, &'a Node)>,
    found: Vec<Condition<'a>>,
    folded: Vec<(&'a Node, &'static str)>,
}

impl<'a, 'b> Walk<'a, 'b> {
    fn new(ast: &'a Ast, function: &'a Function, body: &'b Body<'a>, subject: &Subject<'a>) -> Walk<'a, 'b> {
        let start = |i: usize| {
            let is_it = |site: &&Site| {
                let facts = site.outcomes.iter().flat_map(|o| &o.facts);
                facts.into_iter().any(|(f, fact)| *f == body.function && matches!(fact, Fact::Loop(l, _) if *l == i))
            };
            subject.sites.of_kind(SiteKind::Loop).find(is_it)?.location.clone()
        };
        Walk {
            ast,
            function,
            body,
            dropped: constant_switch::dropped(ast, &function.body),
            starts: (0..body.sites.loops.len()).map(start).collect(),
            used: Vec::new(),
            loops: Vec::new(),
            found: Vec::new(),
            folded: Vec::new(),
        }
    }

    /// Visits operands before what they control: clang emits them in that order, and locations within a condition's
    /// range are assigned in order.
    fn node(&mut self, node: &'a Node, dead: bool) {
        let dead = dead || self.dropped.contains(&std::ptr::from_ref(node));
        match &*node.kind {
            "" | "UnaryExprOrTypeTraitExpr" | "ConstantExpr" | "OpaqueValueExpr" | "RecordDecl" => return,
            _ => {}
        }
        let condition = folding::condition(node);
        if let Some(condition) = condition {
            self.node(condition, dead);
        }
        let is_loop = matches!(&*node.kind, "ForStmt" | "WhileStmt" | "DoStmt");
        if is_loop && !dead && !folding::runs_once(self.ast, node) {
            self.loop_of(node, condition);
        } else if let (Some(condition), "IfStmt" | "ConditionalOperator" | "BinaryConditionalOperator") =
            (condition, &*node.kind)
            && !condition.is_vector()
        {
            match !dead && !folding::is_folded(self.ast, node) {
                true => self.decision_of(node, condition),
                false => self.folded.push((condition, "clang folds this condition away")),
            }
        }
        let mut unreached = false;
        for (i, child) in node.children.iter().enumerate() {
            if condition.is_some_and(|c| std::ptr::eq(c, child)) {
                continue;
            }
            unreached &= node.is("CompoundStmt") && !folding::contains_label(child);
            let ruled_out = folding::is_ruled_out(self.ast, node, i) && !folding::contains_label(child);
            self.node(child, dead || ruled_out || unreached);
            unreached |= node.is("CompoundStmt") && folding::ends_flow(child);
        }
    }

    fn loop_of(&mut self, node: &'a Node, condition: Option<&'a Node>) {
        let Some(range) = &node.range else { return };
        let begin = self.function.place(&range.begin);
        let form = match &*node.kind {
            "ForStmt" => "for",
            "WhileStmt" => "while",
            _ => "do",
        };
        let is_it = |i: &usize| {
            let l = &self.body.sites.loops[*i];
            let at = self.starts[*i].as_ref();
            !self.loops.iter().any(|(used, _)| used == i)
                && (l.construct == form || l.construct == "loop")
                && at.is_some_and(|at| {
                    same_file(&at.file, &begin.file) && (at.line, at.column) == (begin.line, begin.column)
                })
        };
        let Some(i) = (0..self.starts.len()).find(is_it) else { return };
        self.loops.push((i, node));
        let condition = condition.filter(|condition| !condition.is(HIDDEN_CONDITION));
        if let (Some(condition), Some(_)) = (condition, self.body.sites.loops[i].condition) {
            self.found.push(Condition { controls: Controls::Loop(i), node: condition, owner: node });
        }
    }

    fn decision_of(&mut self, node: &'a Node, condition: &'a Node) {
        let Some(range) = condition.range.clone() else { return };
        let is_if = node.is("IfStmt");
        let candidate = |i: &usize| {
            let decision = &self.body.sites.decisions[*i];
            let fits = match decision.construct {
                "if" => is_if,
                "?:" => !is_if,
                "branch" => true,
                _ => false,
            };
            fits && !self.used.contains(i)
        };
        let at = |i: &usize| self.body.sites.decisions[*i].location.as_ref();
        let all: Vec<usize> = (0..self.body.sites.decisions.len()).filter(candidate).collect();
        let inside = |range: &Range, i: &usize| at(i).is_some_and(|at| text::contains(self.function, range, at));
        if let Some(i) = all.into_iter().find(|i| inside(&range, i)) {
            self.used.push(i);
            self.found.push(Condition { controls: Controls::Decision(i), node: condition, owner: node });
        }
    }
}
