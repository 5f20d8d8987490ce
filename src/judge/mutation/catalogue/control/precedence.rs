//! Decides whether source text needs parentheses before an operator is appended to it.

use kassay_ir::kernel::ast::Node;

/// Returns whether `+ 1` after an expression would bind to a part of it.
pub fn needs_parentheses(node: &Node) -> bool {
    let node = without_casts(node);
    match &*node.kind {
        "BinaryOperator" => !matches!(node.opcode.as_deref(), Some("+" | "-" | "*" | "/" | "%")),
        "ConditionalOperator" | "BinaryConditionalOperator" | "CompoundAssignOperator" => true,
        _ => false,
    }
}

/// Returns whether `!=` after an expression binds to all of it.
pub fn binds_tightly(node: &Node) -> bool {
    let node = without_casts(node);
    let is_loose = matches!(node.opcode.as_deref(), Some("&" | "^" | "|" | "&&" | "||" | "," | "=" | "==" | "!="));
    !(node.is("BinaryOperator") && is_loose || node.is("ConditionalOperator") || node.is("CompoundAssignOperator"))
}

/// Strips implicit casts.
fn without_casts(mut node: &Node) -> &Node {
    while let ("ImplicitCastExpr", Some(inner)) = (&*node.kind, node.children.first()) {
        node = inner;
    }
    node
}
