//! The operators of C that mutation knows.

use crate::kernel::ast::Node;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

impl BinaryOp {
    pub const ARITHMETIC: [BinaryOp; 5] = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Rem];
    pub const BITWISE: [BinaryOp; 5] = [BinaryOp::And, BinaryOp::Or, BinaryOp::Xor, BinaryOp::Shl, BinaryOp::Shr];

    pub fn spelling(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::And => "&",
            BinaryOp::Or => "|",
            BinaryOp::Xor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
        }
    }

    pub fn assigning(self) -> &'static str {
        match self {
            BinaryOp::Add => "+=",
            BinaryOp::Sub => "-=",
            BinaryOp::Mul => "*=",
            BinaryOp::Div => "/=",
            BinaryOp::Rem => "%=",
            BinaryOp::And => "&=",
            BinaryOp::Or => "|=",
            BinaryOp::Xor => "^=",
            BinaryOp::Shl => "<<=",
            BinaryOp::Shr => ">>=",
        }
    }

    fn all() -> impl Iterator<Item = BinaryOp> {
        Self::ARITHMETIC.into_iter().chain(Self::BITWISE)
    }

    pub fn is_shift(self) -> bool {
        matches!(self, BinaryOp::Shl | BinaryOp::Shr)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOp {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl CompareOp {
    pub const ALL: [CompareOp; 6] =
        [CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge, CompareOp::Eq, CompareOp::Ne];

    pub fn spelling(self) -> &'static str {
        match self {
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationKind {
    Binary(BinaryOp),
    Compare(CompareOp),
    Assign,
    CompoundAssign(BinaryOp),
    /// `++`, before (`is_postfix` false) or behind.
    Increment {
        is_postfix: bool,
    },
    /// `--`.
    Decrement {
        is_postfix: bool,
    },
    /// Unary `-`.
    Minus,
    /// `~`.
    BitNot,
    /// `!`.
    LogicalNot,
}

impl OperationKind {
    /// What a node of the syntax tree is, if it is such an operator.
    pub fn of(node: &Node) -> Option<OperationKind> {
        let opcode = node.opcode.as_deref()?;
        let is_postfix = node.is_postfix;
        match &*node.kind {
            "BinaryOperator" if opcode == "=" => Some(OperationKind::Assign),
            "BinaryOperator" | "CompoundAssignOperator" => Self::of_token(opcode),
            "UnaryOperator" => match opcode {
                "++" => Some(OperationKind::Increment { is_postfix }),
                "--" => Some(OperationKind::Decrement { is_postfix }),
                "-" => Some(OperationKind::Minus),
                "~" => Some(OperationKind::BitNot),
                "!" => Some(OperationKind::LogicalNot),
                _ => None,
            },
            _ => None,
        }
    }

    /// What a token with two operands is.
    pub fn of_token(text: &str) -> Option<OperationKind> {
        let compare = || CompareOp::ALL.into_iter().find(|op| op.spelling() == text).map(OperationKind::Compare);
        let compound = || BinaryOp::all().find(|op| op.assigning() == text).map(OperationKind::CompoundAssign);
        let binary = BinaryOp::all().find(|op| op.spelling() == text).map(OperationKind::Binary);
        binary.or_else(compare).or_else(compound).or((text == "=").then_some(OperationKind::Assign))
    }

    /// As in the source.
    pub fn spelling(self) -> &'static str {
        match self {
            OperationKind::Binary(op) => op.spelling(),
            OperationKind::Compare(op) => op.spelling(),
            OperationKind::Assign => "=",
            OperationKind::CompoundAssign(op) => op.assigning(),
            OperationKind::Increment { .. } => "++",
            OperationKind::Decrement { .. } => "--",
            OperationKind::Minus => "-",
            OperationKind::BitNot => "~",
            OperationKind::LogicalNot => "!",
        }
    }

    /// Whether it changes its left operand, so that the right one is evaluated first.
    pub fn assigns(self) -> bool {
        matches!(
            self,
            OperationKind::Assign
                | OperationKind::CompoundAssign(_)
                | OperationKind::Increment { .. }
                | OperationKind::Decrement { .. }
        )
    }
}
