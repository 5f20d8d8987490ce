//! Expressions of statements: what they are, and whether they change anything.

use kassay_ir::kernel::ast::Node;

/// Returns whether an expression changes nothing: it neither assigns nor calls what is not known to only compute.
pub fn is_pure(node: &Node) -> bool {
    let mut pure = true;
    node.walk(&mut |inner| {
        let opcode = inner.opcode.as_deref().unwrap_or_default();
        let computes = |name: &str| {
            name.starts_with("get_") || matches!(name, "min" | "max" | "abs" | "isequal" | "all" | "any" | "select")
        };
        pure &= match &*inner.kind {
            "CompoundAssignOperator" => false,
            "BinaryOperator" => opcode != "=",
            "UnaryOperator" => !matches!(opcode, "++" | "--"),
            "CallExpr" => inner.callee().is_some_and(computes),
            "DeclStmt" | "StmtExpr" => false,
            _ => true,
        };
    });
    pure
}

/// The expression of a statement, without what clang puts around it.
pub fn expression(node: &Node) -> &Node {
    let mut node = node;
    while let ("ParenExpr" | "ImplicitCastExpr" | "ExprWithCleanups", Some(inner)) =
        (&*node.kind, node.children.first())
    {
        node = inner;
    }
    node
}
