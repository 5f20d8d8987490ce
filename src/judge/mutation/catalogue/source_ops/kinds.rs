//! The C operators that can be mutated.

use kassay_ir::kernel::ast::Node;

/// A binary operator on numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`.
    Div,
    /// `%`.
    Rem,
    /// `&`.
    And,
    /// `|`.
    Or,
    /// `^`.
    Xor,
    /// `<<`.
    Shl,
    /// `>>`.
    Shr,
}

impl BinaryOp {
    /// Arithmetic operators.
    pub const ARITHMETIC: [BinaryOp; 5] = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Rem];
    /// Bitwise operators and shifts.
    pub const BITWISE: [BinaryOp; 5] = [BinaryOp::And, BinaryOp::Or, BinaryOp::Xor, BinaryOp::Shl, BinaryOp::Shr];

    /// Returns the token: `+`.
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

    /// Returns the token of the compound assignment: `+=`.
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

    /// Returns whether it is `<<` or `>>`.
    pub fn is_shift(self) -> bool {
        matches!(self, BinaryOp::Shl | BinaryOp::Shr)
    }
}

/// A relational or equality operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `==`.
    Eq,
    /// `!=`.
    Ne,
}

impl CompareOp {
    /// All six operators.
    pub const ALL: [CompareOp; 6] =
        [CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge, CompareOp::Eq, CompareOp::Ne];

    /// Returns the token: `<`.
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

/// The kind of an operator in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// A binary operator, such as `+`.
    Binary(BinaryOp),
    /// A comparison, such as `<`.
    Compare(CompareOp),
    /// `=`.
    Assign,
    /// An assignment that computes, such as `+=`.
    CompoundAssign(BinaryOp),
    /// `++`, prefix or postfix.
    Increment {
        /// Whether it follows its operand.
        is_postfix: bool,
    },
    /// `--`.
    Decrement {
        /// Whether it follows its operand.
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
    /// Returns the operator that a node of the syntax tree is, if any.
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

    /// Returns the operator that a token with two operands is.
    pub fn of_token(text: &str) -> Option<OperationKind> {
        let compare = || CompareOp::ALL.into_iter().find(|op| op.spelling() == text).map(OperationKind::Compare);
        let compound = || BinaryOp::all().find(|op| op.assigning() == text).map(OperationKind::CompoundAssign);
        let binary = BinaryOp::all().find(|op| op.spelling() == text).map(OperationKind::Binary);
        binary.or_else(compare).or_else(compound).or((text == "=").then_some(OperationKind::Assign))
    }

    /// Returns the token as in the source.
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

    /// Returns whether it changes its left operand, so that the right one is evaluated first.
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
