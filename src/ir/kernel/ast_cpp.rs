//! Brings the nodes of C++ for OpenCL and CUDA into the shape of OpenCL C's, which all readers of the tree know.
//!
//! What only the compiler makes (temporaries, cleanups) gives way to what it wraps; casts and calls become those of C;
//! a range-`for` becomes a `for` whose hidden parts have no code of the source; what an `if`, `switch` or `while`
//! declares is evaluated with its condition. Bodies of lambdas and of local classes are functions of their own and not
//! part of the function that holds them. Operators of CUDA's types of numbers become operators of C, and members of
//! `threadIdx` and its kin calls of the builtins that read them.

use std::sync::Arc;

use super::ast::{HEAD, HIDDEN_CONDITION, Node};
use super::folding;

/// Returns whether a loop is a range-`for`.
pub fn is_range_for(node: &Node) -> bool {
    folding::condition(node).is_some_and(|condition| condition.is(HIDDEN_CONDITION))
}

/// The parts that an `if`, `switch` or `while` has before its condition.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HeadParts {
    /// Whether there is an initial statement.
    pub has_init: bool,
    /// Whether the condition declares a variable.
    pub has_variable: bool,
}

/// Returns the node in OpenCL C's shape. Its children already have it.
pub(super) fn normalised(mut node: Node, parts: HeadParts) -> Node {
    match &*node.kind {
        "ExprWithCleanups"
        | "MaterializeTemporaryExpr"
        | "CXXBindTemporaryExpr"
        | "CXXStdInitializerListExpr"
        | "CXXRewrittenBinaryOperator"
            if node.children.len() == 1 =>
        {
            node.children.remove(0)
        }
        "CXXStaticCastExpr"
        | "CXXFunctionalCastExpr"
        | "CXXConstCastExpr"
        | "CXXReinterpretCastExpr"
        | "CXXAddrspaceCastExpr"
            if node.children.len() == 1 =>
        {
            renamed(node, "CStyleCastExpr")
        }
        "CXXOperatorCallExpr" if node.opcode.is_some() && node.children.len() > 1 => operator(node),
        "CXXOperatorCallExpr" | "CXXMemberCallExpr" => renamed(node, "CallExpr"),
        "PseudoObjectExpr" => property(node),
        // No callee is written: its place is empty.
        "CXXConstructExpr" | "CXXTemporaryObjectExpr" if !node.children.is_empty() => {
            node.children.insert(0, Node::default());
            renamed(node, "CallExpr")
        }
        // A template's parameter is a constant, whatever expression stood for it.
        "SubstNonTypeTemplateParmExpr" => {
            // The declaration of the parameter precedes the value.
            node.children = node.children.pop().into_iter().collect();
            node.value = node.children.first().and_then(|child| child.value.clone());
            numbered(renamed(node, "ConstantExpr"))
        }
        "ConstantExpr" => numbered(node),
        "LambdaExpr" => {
            node.children.retain(|child| !child.is("CXXRecordDecl") && !child.is("CompoundStmt"));
            node
        }
        "CXXRecordDecl" => Node { children: Vec::new(), ..renamed(node, "RecordDecl") },
        "DecompositionDecl" => {
            node.children.retain(|child| !child.is("BindingDecl"));
            renamed(node, "VarDecl")
        }
        "IfStmt" | "SwitchStmt" | "WhileStmt" if parts.has_init || parts.has_variable => with_head(node, parts),
        "CXXForRangeStmt" if node.children.len() == 8 => range_for(node),
        _ => node,
    }
}

fn renamed(node: Node, kind: &str) -> Node {
    Node { kind: kind.into(), ..node }
}

/// An operator whose function the tree names first.
fn operator(mut node: Node) -> Node {
    node.children.remove(0);
    let kind = match (node.children.len(), node.opcode.as_deref()) {
        (1, _) => "UnaryOperator",
        (_, Some("<=" | ">=" | "==" | "!=")) => "BinaryOperator",
        (_, Some(assignment)) if assignment.ends_with('=') => "CompoundAssignOperator",
        _ => "BinaryOperator",
    };
    Node { name: None, ..renamed(node, kind) }
}

/// A property of an object: the call that reads it is the last child.
fn property(node: Node) -> Node {
    match node.children.last().filter(|last| last.builtin.is_some()) {
        Some(Node { builtin, name, .. }) => {
            let (builtin, name) = (builtin.clone(), name.clone());
            Node { builtin, name, children: vec![Node::default()], ..renamed(node, "CallExpr") }
        }
        None => node,
    }
}

/// Writes truth values as numbers, as C does.
fn numbered(mut node: Node) -> Node {
    node.value = node.value.map(|value| match value.as_str() {
        "true" => "1".to_owned(),
        "false" => "0".to_owned(),
        _ => value,
    });
    node
}

/// Joins initial statement, declared variable and condition to one child.
fn with_head(mut node: Node, parts: HeadParts) -> Node {
    let count = usize::from(parts.has_init) + usize::from(parts.has_variable) + 1;
    if node.children.len() < count {
        return node;
    }
    let children: Vec<Node> = node.children.drain(..count).collect();
    let condition = &children[count - 1];
    let (range, ty, desugared) = (condition.range.clone(), condition.ty.clone(), condition.desugared.clone());
    node.children.insert(0, Node { kind: HEAD.into(), range, ty, desugared, children, ..Node::default() });
    node
}

/// Children of clang's node: initial statement, range, begin, end, condition, increment, variable, body.
fn range_for(node: Node) -> Node {
    let range = node.range.clone();
    let mut children = node.children.into_iter();
    let mut next = || children.next().unwrap_or_default();
    let (init, over, _begin, _end) = (next(), next(), next(), next());
    let (_condition, _increment, variable, body) = (next(), next(), next(), next());
    let kind: Arc<str> = "CompoundStmt".into();
    // The whole range expression is evaluated once, before the loop.
    let head_range = over.range.clone();
    let before = vec![init, over].into_iter().filter(|part| !part.kind.is_empty()).collect();
    let initial = Node { kind: HEAD.into(), range: head_range.clone(), children: before, ..Node::default() };
    let condition = Node { kind: HIDDEN_CONDITION.into(), range: head_range, ..Node::default() };
    let body_range = body.range.clone();
    let body = Node { kind, range: body_range, children: vec![variable, body], ..Node::default() };
    let children = vec![initial, Node::default(), condition, Node::default(), body];
    Node { kind: "ForStmt".into(), range, children, ..Node::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(kind: &str, children: Vec<Node>) -> Node {
        Node { kind: kind.into(), children, ..Node::default() }
    }

    fn kinds(node: &Node) -> Vec<&str> {
        node.children.iter().map(|child| &*child.kind).collect()
    }

    #[test]
    fn a_declared_variable_belongs_to_the_condition() {
        let children = ["DeclStmt", "BinaryOperator", "CompoundStmt"].map(|kind| node(kind, vec![]));
        let parts = HeadParts { has_init: true, has_variable: false };
        let found = normalised(node("IfStmt", children.into()), parts);
        assert_eq!(kinds(&found), [HEAD, "CompoundStmt"]);
        assert_eq!(kinds(&found.children[0]), ["DeclStmt", "BinaryOperator"]);
    }

    #[test]
    fn a_range_for_has_the_five_children_of_a_for() {
        let names = ["", "DeclStmt", "DeclStmt", "DeclStmt", "BinaryOperator", "UnaryOperator", "DeclStmt", "CallExpr"];
        let children = names.map(|kind| node(kind, vec![]));
        let found = normalised(node("CXXForRangeStmt", children.into()), HeadParts::default());
        assert_eq!(kinds(&found), [HEAD, "", HIDDEN_CONDITION, "", "CompoundStmt"]);
        assert_eq!(kinds(&found.children[4]), ["DeclStmt", "CallExpr"]);
    }

    #[test]
    fn a_parameter_of_a_template_is_a_constant() {
        let value = Node { value: Some("true".into()), ..node("CXXBoolLiteralExpr", vec![]) };
        let children = vec![node("NonTypeTemplateParmDecl", vec![]), value];
        let found = normalised(node("SubstNonTypeTemplateParmExpr", children), HeadParts::default());
        assert_eq!((&*found.kind, found.value.as_deref()), ("ConstantExpr", Some("1")));
    }

    #[test]
    fn operators_of_types_of_numbers_are_operators() {
        let call = |opcode: &str, operands: usize| {
            let children = vec![node("DeclRefExpr", vec![]); operands + 1];
            normalised(
                Node { opcode: Some(opcode.into()), ..node("CXXOperatorCallExpr", children) },
                HeadParts::default(),
            )
        };
        let kinds = [("-", 1, "UnaryOperator"), ("<=", 2, "BinaryOperator"), ("*=", 2, "CompoundAssignOperator")];
        for (opcode, operands, kind) in kinds {
            assert_eq!((&*call(opcode, operands).kind, call(opcode, operands).children.len()), (kind, operands));
        }
    }

    #[test]
    fn a_property_is_the_call_that_reads_it() {
        let read = Node { builtin: Some("get_local_id".into()), ..node("CallExpr", vec![]) };
        let found = normalised(node("PseudoObjectExpr", vec![node("", vec![]), read]), HeadParts::default());
        assert_eq!((&*found.kind, found.callee()), ("CallExpr", Some("get_local_id")));
        assert!(
            normalised(node("PseudoObjectExpr", vec![node("", vec![])]), HeadParts::default()).is("PseudoObjectExpr")
        );
    }

    #[test]
    fn lambdas_and_temporaries_leave_what_is_evaluated_here() {
        let lambda =
            node("LambdaExpr", ["CXXRecordDecl", "DeclRefExpr", "CompoundStmt"].map(|k| node(k, vec![])).into());
        assert_eq!(kinds(&normalised(lambda, HeadParts::default())), ["DeclRefExpr"]);
        let temporary = node("ExprWithCleanups", vec![node("CallExpr", vec![])]);
        assert!(normalised(temporary, HeadParts::default()).is("CallExpr"));
        let truth = Node { value: Some("true".into()), ..node("ConstantExpr", vec![]) };
        assert_eq!(normalised(truth, HeadParts::default()).value.as_deref(), Some("1"));
    }
}
