//! Predicts what clang folds away without any optimisation pass: constant conditions, the arms they rule out, and code
//! after a jump.
//!
//! Sound for numbers but incomplete: what it calls constant, clang does too. Not for optimisation by LLVM.

use super::ast::{Ast, HEAD, Node};

/// Limit on the nesting of expressions, and of constants that refer to constants.
const MAX_DEPTH: u32 = 256;

/// The value of a constant expression; for floating-point ones only their truth value, 0 or 1.
pub fn constant(ast: &Ast, node: &Node) -> Option<i128> {
    evaluate(ast, node, MAX_DEPTH).map(|value| match value {
        Value::Integer(value) => value,
        Value::Float(value) => i128::from(value != 0.0),
    })
}

/// The value of a constant expression, after C's conversions.
pub fn value(ast: &Ast, node: &Node) -> Option<Value> {
    evaluate(ast, node, MAX_DEPTH)
}

/// A number in C's arithmetic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// Of an integer type.
    Integer(i128),
    /// Of a floating-point type.
    Float(f64),
}

impl Value {
    fn truth(self) -> bool {
        match self {
            Value::Integer(value) => value != 0,
            Value::Float(value) => value != 0.0,
        }
    }

    fn float(self) -> f64 {
        match self {
            Value::Integer(value) => value as f64,
            Value::Float(value) => value,
        }
    }
}

fn evaluate(ast: &Ast, node: &Node, depth: u32) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let child = |i: usize| node.children.get(i).and_then(|child| evaluate(ast, child, depth));
    let truth = |value: bool| Value::Integer(i128::from(value));
    let value = match &*node.kind {
        "IntegerLiteral" | "CharacterLiteral" => Value::Integer(node.value.as_ref()?.parse().ok()?),
        "CXXBoolLiteralExpr" => truth(node.value.as_deref()? == "true"),
        "FloatingLiteral" => Value::Float(node.value.as_ref()?.parse().ok()?),
        "ConstantExpr" => {
            let known = node.value.as_ref().and_then(|value| value.parse().ok());
            known.map(Value::Integer).or_else(|| child(0))?
        }
        "ParenExpr" => child(0)?,
        HEAD => child(node.children.len().checked_sub(1)?)?,
        // A call of a constexpr function, evaluated by clang.
        "CallExpr" => Value::Integer(node.value.as_ref()?.parse().ok()?),
        "ImplicitCastExpr" | "CStyleCastExpr" => match node.cast_kind.as_deref()? {
            "LValueToRValue" | "NoOp" | "IntegralCast" | "FloatingCast" => child(0)?,
            "IntegralToBoolean" | "FloatingToBoolean" => truth(child(0)?.truth()),
            "IntegralToFloating" => Value::Float(child(0)?.float()),
            "FloatingToIntegral" => Value::Integer(truncated(child(0)?.float())?),
            _ => return None,
        },
        "DeclRefExpr" => {
            let id = node.referenced.as_ref()?;
            match node.referenced_kind.as_deref()? {
                "EnumConstantDecl" => Value::Integer(i128::from(*ast.enum_values.get(id)?)),
                "VarDecl" if is_number(node.canonical_type()?) => evaluate(ast, ast.initializers.get(id)?, depth)?,
                _ => return None,
            }
        }
        "UnaryOperator" => match (node.opcode.as_deref()?, child(0)?) {
            ("+" | "__extension__", operand) => operand,
            ("-", Value::Integer(operand)) => Value::Integer(operand.checked_neg()?),
            ("-", Value::Float(operand)) => Value::Float(-operand),
            ("~", Value::Integer(operand)) => Value::Integer(!operand),
            ("!", operand) => truth(!operand.truth()),
            _ => return None,
        },
        "BinaryOperator" if node.is_short_circuit() => {
            let is_and = node.opcode.as_deref() == Some("&&");
            let left = child(0)?.truth();
            truth(if left == is_and { child(1)?.truth() } else { left })
        }
        "BinaryOperator" => match (child(0)?, child(1)?) {
            (Value::Integer(a), Value::Integer(b)) => Value::Integer(binary(node.opcode.as_deref()?, a, b)?),
            (a, b) => float_binary(node.opcode.as_deref()?, a.float(), b.float())?,
        },
        "ConditionalOperator" => child(if child(0)?.truth() { 1 } else { 2 })?,
        "UnaryExprOrTypeTraitExpr" if node.name.as_deref() == Some("sizeof") => {
            let operand = || node.children.first().and_then(Node::canonical_type);
            Value::Integer(size_of(node.argument_type.as_deref().or_else(operand)?)?)
        }
        _ => return None,
    };
    Some(match (value, node.canonical_type().map(unqualified)) {
        (Value::Float(value), Some(ty)) if ty == "float" => Value::Float(f64::from(value as f32)),
        // Rounding to half is not modelled.
        (Value::Float(_), Some(ty)) if ty == "half" => return None,
        (Value::Integer(value), Some(ty)) => match integer_type(&ty) {
            Some((bits, is_signed)) => Value::Integer(wrap(value, bits, is_signed)),
            None => Value::Integer(value),
        },
        _ => value,
    })
}

/// The integer part of a floating-point value, if it fits 64 bits.
fn truncated(value: f64) -> Option<i128> {
    (value.abs() < 2f64.powi(63)).then_some(value as i128)
}

fn float_binary(opcode: &str, a: f64, b: f64) -> Option<Value> {
    let truth = |value: bool| Some(Value::Integer(i128::from(value)));
    match opcode {
        "+" => Some(Value::Float(a + b)),
        "-" => Some(Value::Float(a - b)),
        "*" => Some(Value::Float(a * b)),
        "/" if b != 0.0 => Some(Value::Float(a / b)),
        "<" => truth(a < b),
        ">" => truth(a > b),
        "<=" => truth(a <= b),
        ">=" => truth(a >= b),
        "==" => truth(a == b),
        "!=" => truth(a != b),
        _ => None,
    }
}

fn binary(opcode: &str, a: i128, b: i128) -> Option<i128> {
    let shift = || u32::try_from(b).ok().filter(|&by| by < 64);
    Some(match opcode {
        "+" => a.checked_add(b)?,
        "-" => a.checked_sub(b)?,
        "*" => a.checked_mul(b)?,
        "/" => a.checked_div(b)?,
        "%" => a.checked_rem(b)?,
        "<<" => a << shift()?,
        ">>" => a >> shift()?,
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        "<" => i128::from(a < b),
        ">" => i128::from(a > b),
        "<=" => i128::from(a <= b),
        ">=" => i128::from(a >= b),
        "==" => i128::from(a == b),
        "!=" => i128::from(a != b),
        "," => b,
        _ => return None,
    })
}

/// Returns whether clang can fold a `const` variable of this type.
fn is_number(ty: &str) -> bool {
    let unqualified = unqualified(ty);
    integer_type(&unqualified).is_some()
        || unqualified.starts_with("enum ")
        || matches!(unqualified.as_str(), "half" | "float" | "double")
}

fn wrap(value: i128, bits: u32, is_signed: bool) -> i128 {
    let unused = 128 - bits;
    if is_signed { (value << unused) >> unused } else { ((value << unused).cast_unsigned() >> unused).cast_signed() }
}

/// A type's spelling without qualifiers and address spaces.
fn unqualified(ty: &str) -> String {
    let is_qualifier = |word: &&str| {
        matches!(*word, "const" | "volatile" | "restrict") || (word.starts_with("__") && !word.contains('('))
    };
    ty.split_whitespace().filter(|word| !is_qualifier(word)).collect::<Vec<_>>().join(" ")
}

/// Width in bits and signedness.
fn integer_type(ty: &str) -> Option<(u32, bool)> {
    Some(match ty {
        "char" | "signed char" => (8, true),
        "uchar" | "unsigned char" | "bool" | "_Bool" => (8, false),
        "short" => (16, true),
        "ushort" | "unsigned short" => (16, false),
        "int" => (32, true),
        "uint" | "unsigned int" => (32, false),
        "long" => (64, true),
        "ulong" | "unsigned long" => (64, false),
        _ => return None,
    })
}

/// The size in bytes of a pointer type's pointee, if that is a number, a vector or an array of them.
pub fn pointee_size(ty: &str) -> Option<i128> {
    size_of(unqualified(ty).strip_suffix('*')?)
}

fn size_of(ty: &str) -> Option<i128> {
    let ty = unqualified(ty);
    if let Some((bits, _)) = integer_type(&ty) {
        return Some(i128::from(bits / 8));
    }
    let vector_size = |element: &str, lanes: i128| Some(size_of(element)? * if lanes == 3 { 4 } else { lanes });
    if let Some((element, lanes)) = ty.split_once(" __attribute__((ext_vector_type(") {
        return vector_size(element, lanes.strip_suffix(")))")?.parse().ok()?);
    }
    // clang writes a vector inside another type by its typedef name.
    let element = ty.trim_end_matches(|c: char| c.is_ascii_digit());
    if let Ok(lanes @ (2 | 3 | 4 | 8 | 16)) = ty[element.len()..].parse() {
        return vector_size(element, lanes);
    }
    if let Some((element, rest)) = ty.rsplit_once('[').filter(|(element, _)| !element.contains(['(', '['])) {
        return Some(size_of(element)? * rest.strip_suffix(']')?.parse::<i128>().ok()?);
    }
    match ty.as_str() {
        "half" => Some(2),
        "float" => Some(4),
        "double" => Some(8),
        pointer if pointer.ends_with('*') => Some(8),
        _ => None,
    }
}

/// The condition of an `if`, `switch`, `?:` or loop, if it has one.
pub fn condition(node: &Node) -> Option<&Node> {
    let slot = match &*node.kind {
        "ForStmt" => 2,
        "DoStmt" => 1,
        "IfStmt" | "SwitchStmt" | "WhileStmt" | "ConditionalOperator" | "BinaryConditionalOperator" => 0,
        _ => return None,
    };
    node.children.get(slot).filter(|condition| !condition.kind.is_empty())
}

/// Returns whether clang emits no branch for this `if`, `switch`, `?:`, `&&` or `||`. Loops are never folded.
pub fn is_folded(ast: &Ast, node: &Node) -> bool {
    match &*node.kind {
        "IfStmt" | "ConditionalOperator" => {
            let Some(value) = condition(node).and_then(|condition| constant(ast, condition)) else { return false };
            let ruled_out = node.children.get(if value != 0 { 2 } else { 1 });
            !ruled_out.is_some_and(contains_label)
        }
        "SwitchStmt" | "BinaryConditionalOperator" => {
            condition(node).is_some_and(|condition| constant(ast, condition).is_some())
        }
        _ => node.is_short_circuit() && constant(ast, node).is_some(),
    }
}

/// Returns whether clang emits nothing for this child, because its parent's condition rules it out.
pub fn is_ruled_out(ast: &Ast, parent: &Node, child: usize) -> bool {
    let first = || parent.children.first().and_then(|first| constant(ast, first));
    match &*parent.kind {
        "IfStmt" | "ConditionalOperator" if child > 0 && is_folded(ast, parent) => {
            first().is_some_and(|value| (value != 0) != (child == 1))
        }
        _ if child == 1 && parent.is_short_circuit() => {
            first().is_some_and(|value| (value != 0) != (parent.opcode.as_deref() == Some("&&")))
        }
        _ => false,
    }
}

/// Returns whether this loop's body runs exactly once and is indistinguishable from a plain block: the condition of a
/// `do` is false or never reached, or the body of a loop with no condition or a true one never reaches its end.
pub fn runs_once(ast: &Ast, node: &Node) -> bool {
    let value = condition(node).map(|condition| constant(ast, condition));
    let body = match &*node.kind {
        "DoStmt" => node.children.first(),
        "ForStmt" | "WhileStmt" if value.is_none_or(|value| value.is_some_and(|value| value != 0)) => {
            node.children.last()
        }
        _ => return false,
    };
    let is_false = node.is("DoStmt") && value == Some(Some(0));
    is_false || body.is_some_and(|body| ends_flow(body) && !contains_continue(body) && !contains_label(body))
}

/// Returns whether `node` contains a `continue` that belongs to the enclosing loop.
fn contains_continue(node: &Node) -> bool {
    match &*node.kind {
        "ContinueStmt" => true,
        "ForStmt" | "WhileStmt" | "DoStmt" => false,
        _ => node.children.iter().any(contains_continue),
    }
}

/// Returns whether `node` contains a label of a `goto` or of an enclosing `switch`, through which it can be
/// entered from elsewhere.
pub fn contains_label(node: &Node) -> bool {
    fn within(node: &Node, in_switch: bool) -> bool {
        match &*node.kind {
            "LabelStmt" => true,
            "CaseStmt" | "DefaultStmt" if !in_switch => true,
            kind => {
                let in_switch = in_switch || kind == "SwitchStmt";
                node.children.iter().any(|child| within(child, in_switch))
            }
        }
    }
    within(node, false)
}

/// Returns whether control never continues after this statement.
pub fn ends_flow(node: &Node) -> bool {
    match &*node.kind {
        "ReturnStmt" | "BreakStmt" | "ContinueStmt" | "GotoStmt" => true,
        "CompoundStmt" => {
            node.children.iter().fold(false, |ended, child| ends_flow(child) || (ended && !contains_label(child)))
        }
        "LabelStmt" | "CaseStmt" | "DefaultStmt" | "AttributedStmt" => node.children.last().is_some_and(ends_flow),
        "IfStmt" => node.children.len() == 3 && node.children[1..].iter().all(ends_flow),
        _ => false,
    }
}
