//! Predicts which statements of a `switch` on a constant clang leaves out.
//!
//! If the statements of the chosen label are easy to extract, clang emits only these; otherwise the complete switch
//! stays, with a constant as its condition. The rules follow clang's code generator (`FindCaseStatementsForValue`).

use std::collections::HashSet;

use super::ast::{Ast, Node};
use super::folding;

/// A set of nodes, by their addresses in one tree.
pub type Nodes = HashSet<*const Node>;

/// All nodes of `function` that clang leaves out because a switch on a constant does not choose them.
pub fn dropped(ast: &Ast, function: &Node) -> Nodes {
    let mut all = Nodes::new();
    function.walk(&mut |node| {
        if node.is("SwitchStmt")
            && let Some(value) = folding::condition(node).and_then(|c| folding::constant(ast, c))
            && let Some(unchosen) = unchosen(ast, node, value)
        {
            for node in unchosen {
                node.walk(&mut |inner| {
                    all.insert(std::ptr::from_ref(inner));
                });
            }
        }
    });
    all
}

/// The statements that `value` does not choose; `None` if clang keeps the complete switch.
fn unchosen<'a>(ast: &Ast, switch: &'a Node, value: i128) -> Option<Vec<&'a Node>> {
    let body = switch.children.get(1)?;
    let mut labels = Vec::new();
    own_labels(body, &mut labels);
    if labels.iter().any(|label| label.is_range) {
        return None;
    }
    let first = |label: &&&Node| label.children.first().and_then(|child| folding::constant(ast, child)) == Some(value);
    let chosen = labels.iter().find(|label| label.is("CaseStmt") && first(label));
    let Some(chosen) = chosen.or_else(|| labels.iter().find(|label| label.is("DefaultStmt"))) else {
        return (!contains_goto_label(switch)).then(|| vec![body]);
    };
    let mut selector = Selector { chosen, found: false, unchosen: Vec::new() };
    let end = selector.statement(body, true);
    (end != Flow::Failed && selector.found).then_some(selector.unchosen)
}

/// The `case` and `default` labels of a switch, without those of nested switches.
fn own_labels<'a>(node: &'a Node, labels: &mut Vec<&'a Node>) {
    if node.is("CaseStmt") || node.is("DefaultStmt") {
        labels.push(node);
    }
    if !node.is("SwitchStmt") {
        node.children.iter().for_each(|child| own_labels(child, labels));
    }
}

/// How a statement of the switch ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// The statement is skipped, or leaves the switch by `break`.
    Done,
    FallsThrough,
    Failed,
}

struct Selector<'a, 'c> {
    chosen: &'c Node,
    found: bool,
    unchosen: Vec<&'a Node>,
}

impl<'a> Selector<'a, '_> {
    /// `searching`: the chosen label has not been reached yet.
    fn statement(&mut self, node: &'a Node, searching: bool) -> Flow {
        match &*node.kind {
            "" if searching => Flow::Done,
            "" => Flow::FallsThrough,
            "CaseStmt" | "DefaultStmt" => {
                let is_chosen = searching && std::ptr::eq(node, self.chosen);
                self.found |= is_chosen;
                match node.children.last() {
                    Some(inner) => self.statement(inner, searching && !is_chosen),
                    None => Flow::Failed,
                }
            }
            "BreakStmt" if !searching => Flow::Done,
            "CompoundStmt" => self.list(node, searching),
            _ if contains_goto_label(node) && searching => Flow::Failed,
            _ if searching => {
                self.unchosen.push(node);
                Flow::Done
            }
            _ if contains_break(node) => Flow::Failed,
            _ => Flow::FallsThrough,
        }
    }

    fn list(&mut self, list: &'a Node, searching: bool) -> Flow {
        let began_chosen = self.found;
        let mut rest = list.children.iter();
        if searching {
            let mut skipped_declaration = false;
            while !self.found {
                let Some(node) = rest.next() else { return Flow::Done };
                skipped_declaration |= declares(node);
                let end = self.statement(node, true);
                if end == Flow::Failed || (self.found && skipped_declaration) {
                    return Flow::Failed;
                }
                if self.found && end == Flow::Done {
                    return self.leave(rest);
                }
            }
        }
        let mut has_declaration = false;
        while let Some(node) = rest.next() {
            has_declaration |= declares(node);
            match self.statement(node, false) {
                Flow::Failed => return Flow::Failed,
                Flow::FallsThrough => {}
                Flow::Done => return self.leave(rest),
            }
        }
        if has_declaration && !began_chosen { Flow::Failed } else { Flow::FallsThrough }
    }

    /// Handles the statements after the switch's `break`.
    fn leave(&mut self, rest: impl Iterator<Item = &'a Node>) -> Flow {
        for node in rest {
            if contains_goto_label(node) {
                return Flow::Failed;
            }
            self.unchosen.push(node);
        }
        Flow::Done
    }
}

fn declares(node: &Node) -> bool {
    match &*node.kind {
        "DeclStmt" => true,
        "CaseStmt" | "DefaultStmt" | "LabelStmt" | "AttributedStmt" => node.children.last().is_some_and(declares),
        _ => false,
    }
}

fn contains_goto_label(node: &Node) -> bool {
    let mut found = false;
    node.walk(&mut |inner| found |= inner.is("LabelStmt"));
    found
}

/// Returns whether `node` contains a `break` that would leave the switch.
fn contains_break(node: &Node) -> bool {
    match &*node.kind {
        "BreakStmt" => true,
        "SwitchStmt" | "ForStmt" | "WhileStmt" | "DoStmt" => false,
        _ => node.children.iter().any(contains_break),
    }
}
