//! Formulas of short-circuit decisions: which operands `&&`, `||` and `!` combine, and how.

use kassay_ir::kernel::ast::{Ast, Node};
use kassay_ir::kernel::folding;

/// A formula over leaves (by position) and operators (by position); mutants are other formulas over the same leaves.
#[derive(Debug, Clone, PartialEq)]
pub enum Formula {
    /// Always this.
    Constant(bool),
    /// The leaf at this position.
    Leaf(usize),
    /// The opposite.
    Not(Box<Formula>),
    /// An operator with its operands.
    Pair {
        /// Position of the operator.
        operator: usize,
        /// Whether it is `&&`, not `||`.
        is_and: bool,
        /// Its first operand.
        left: Box<Formula>,
        /// Its second operand.
        right: Box<Formula>,
    },
}

/// A change of one operator of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Exchanges `&&` and `||`.
    Exchange,
    /// Replaces the operation by its left operand.
    Left,
    /// Replaces the operation by its right operand.
    Right,
    /// Negates the operation.
    Negate,
}

impl Formula {
    /// Returns the formula with `change` applied to operator `at`.
    pub fn changed(&self, at: usize, change: Change) -> Formula {
        match self {
            Formula::Constant(_) | Formula::Leaf(_) => self.clone(),
            Formula::Not(inner) => Formula::Not(Box::new(inner.changed(at, change))),
            Formula::Pair { operator, is_and, left, right } if *operator == at => match change {
                Change::Exchange => {
                    Formula::Pair { operator: at, is_and: !is_and, left: left.clone(), right: right.clone() }
                }
                Change::Left => (**left).clone(),
                Change::Right => (**right).clone(),
                Change::Negate => Formula::Not(Box::new(self.clone())),
            },
            Formula::Pair { operator, is_and, left, right } => Formula::Pair {
                operator: *operator,
                is_and: *is_and,
                left: Box::new(left.changed(at, change)),
                right: Box::new(right.changed(at, change)),
            },
        }
    }

    /// Evaluates the formula for given leaves.
    pub fn evaluate(&self, leaf: &dyn Fn(usize) -> bool) -> bool {
        match self {
            Formula::Constant(value) => *value,
            Formula::Leaf(i) => leaf(*i),
            Formula::Not(inner) => !inner.evaluate(leaf),
            Formula::Pair { is_and: true, left, right, .. } => left.evaluate(leaf) && right.evaluate(leaf),
            Formula::Pair { is_and: false, left, right, .. } => left.evaluate(leaf) || right.evaluate(leaf),
        }
    }

    /// Returns the positions of its leaves, in the order of evaluation.
    pub fn leaves(&self) -> Vec<usize> {
        match self {
            Formula::Constant(_) => Vec::new(),
            Formula::Leaf(i) => vec![*i],
            Formula::Not(inner) => inner.leaves(),
            Formula::Pair { left, right, .. } => [left.leaves(), right.leaves()].concat(),
        }
    }
}

/// A formula with the nodes that its leaves and operators stand for.
#[derive(Debug, Clone)]
pub struct SourceFormula<'a> {
    /// The formula as it is written.
    pub formula: Formula,
    /// By position: the operands that are no `&&`, `||` or `!`.
    pub leaves: Vec<&'a Node>,
    /// By position: the expressions whose operators are `&&` or `||`.
    pub operators: Vec<&'a Node>,
}

impl<'a> SourceFormula<'a> {
    /// Returns the position of the outermost operator.
    pub fn root(&self) -> Option<usize> {
        let mut formula = &self.formula;
        loop {
            match formula {
                Formula::Not(inner) => formula = inner,
                Formula::Pair { operator, .. } => return Some(*operator),
                _ => return None,
            }
        }
    }

    /// Reads a condition that clang branches on operand by operand.
    pub fn of_branch(ast: &Ast, node: &'a Node) -> SourceFormula<'a> {
        let mut written =
            SourceFormula { formula: Formula::Constant(false), leaves: Vec::new(), operators: Vec::new() };
        written.formula = written.read(ast, node);
        written
    }

    /// Reads an operator whose value is used: clang branches on the left operand and computes the right one as a value.
    pub fn of_value(ast: &Ast, node: &'a Node) -> Option<SourceFormula<'a>> {
        let [left, right] = &node.children[..] else { return None };
        let mut written =
            SourceFormula { formula: Formula::Constant(false), leaves: Vec::new(), operators: vec![node] };
        let left = written.read(ast, left);
        written.leaves.push(right);
        let right = Formula::Leaf(written.leaves.len() - 1);
        let is_and = node.opcode.as_deref() == Some("&&");
        written.formula = Formula::Pair { operator: 0, is_and, left: Box::new(left), right: Box::new(right) };
        Some(written)
    }

    fn read(&mut self, ast: &Ast, node: &'a Node) -> Formula {
        let inner = node.without_parentheses();
        if let Some(value) = folding::constant(ast, inner) {
            return Formula::Constant(value != 0);
        }
        match &inner.children[..] {
            [operand] if is_not(inner) => Formula::Not(Box::new(self.read(ast, operand))),
            [left, right] if inner.is_short_circuit() => {
                let operator = self.operators.len();
                self.operators.push(inner);
                let left = Box::new(self.read(ast, left));
                let right = Box::new(self.read(ast, right));
                let is_and = inner.opcode.as_deref() == Some("&&");
                Formula::Pair { operator, is_and, left, right }
            }
            _ => {
                self.leaves.push(inner);
                Formula::Leaf(self.leaves.len() - 1)
            }
        }
    }
}

/// Returns whether a node is `!` on a scalar.
pub fn is_not(node: &Node) -> bool {
    node.is("UnaryOperator") && node.opcode.as_deref() == Some("!") && !node.is_vector()
}
