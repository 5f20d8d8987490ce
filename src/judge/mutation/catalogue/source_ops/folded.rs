//! Constant expressions of the source and the operands that hold their values.

use kassay_ir::instrument::mutants::{Expr, Float, Slot};
use kassay_ir::kernel::ast::{Ast, Node};
use kassay_ir::kernel::folding::{self, Value};

/// The largest constant expression around a node, and the operands that hold its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Folded<'a> {
    /// The operands of instructions that hold its value.
    pub slots: Vec<Slot>,
    /// The constant expression.
    pub constant: &'a Node,
    /// What it is evaluated to.
    pub value: Value,
    /// Whether the operands hold its negation (`p - 2` moves by -2).
    pub is_negated: bool,
    /// Whether the operands are floating-point numbers.
    pub is_float: bool,
}

impl Folded<'_> {
    /// Returns the operands' new value if `part`, a node of the constant expression, is changed; `None` if that has no
    /// value at compile time (a division by 0, an over-wide shift) or the same value as before.
    pub fn changed(&self, ast: &Ast, part: &Node, change: &dyn Fn(&mut Node)) -> Option<Expr> {
        let new = folding::value(ast, &with_changed(self.constant, part, change))?;
        let is_same = match (new, self.value) {
            (Value::Integer(a), Value::Integer(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        };
        (!is_same).then(|| self.expr(new))
    }

    /// Converts a value of the constant expression to the operands' form.
    pub fn expr(&self, value: Value) -> Expr {
        match (value, self.is_float) {
            (Value::Integer(value), false) => Expr::Integer(if self.is_negated { -value } else { value }),
            (Value::Integer(value), true) => Expr::Float(Float(value as f64)),
            (Value::Float(value), true) => Expr::Float(Float(value)),
            (Value::Float(value), false) => Expr::Integer(value as i128),
        }
    }
}

/// Returns a copy of `node` in which `part` is changed.
fn with_changed(node: &Node, part: &Node, change: &dyn Fn(&mut Node)) -> Node {
    if std::ptr::eq(node, part) {
        let mut copy = node.clone();
        change(&mut copy);
        return copy;
    }
    let children = node.children.iter().map(|child| with_changed(child, part, change)).collect();
    Node { children, ..shallow(node) }
}

/// Returns a copy of a node without its children.
fn shallow(node: &Node) -> Node {
    Node {
        kind: node.kind.clone(),
        range: node.range.clone(),
        opcode: node.opcode.clone(),
        is_postfix: node.is_postfix,
        name: node.name.clone(),
        builtin: node.builtin.clone(),
        referenced: node.referenced.clone(),
        referenced_kind: node.referenced_kind.clone(),
        ty: node.ty.clone(),
        desugared: node.desugared.clone(),
        argument_type: node.argument_type.clone(),
        cast_kind: node.cast_kind.clone(),
        value: node.value.clone(),
        has_else: node.has_else,
        is_range: node.is_range,
        children: Vec::new(),
    }
}
