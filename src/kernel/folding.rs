//! What clang folds away without any pass: conditions that are constant, the arms they rule out, and code after a jump.
//!
//! Best effort on integers: what it calls constant, clang does too. Not for optimisation by LLVM.

use super::ast::{Ast, Node};

/// How deep constants may refer to constants.
const MAX_DEPTH: u32 = 256;

/// The value of an integer constant expression.
pub fn constant(ast: &Ast, node: &Node) -> Option<i128> {
    evaluate(ast, node, MAX_DEPTH)
}

fn evaluate(ast: &Ast, node: &Node, depth: u32) -> Option<i128> {
    let depth = depth.checked_sub(1)?;
    let child = |i: usize| node.children.get(i).and_then(|child| evaluate(ast, child, depth));
    let value = match &*node.kind {
        "IntegerLiteral" | "CharacterLiteral" => node.value.as_ref()?.parse().ok()?,
        "ConstantExpr" => node.value.as_ref().and_then(|value| value.parse().ok()).or_else(|| child(0))?,
        "ParenExpr" => child(0)?,
        "ImplicitCastExpr" | "CStyleCastExpr" => match node.cast_kind.as_deref()? {
            "LValueToRValue" | "NoOp" | "IntegralCast" => child(0)?,
            "IntegralToBoolean" => i128::from(child(0)? != 0),
            _ => return None,
        },
        "DeclRefExpr" => {
            let id = node.referenced.as_ref()?;
            match node.referenced_kind.as_deref()? {
                "EnumConstantDecl" => i128::from(*ast.enum_values.get(id)?),
                "VarDecl" if integer_type(node.canonical_type()?).is_some() => {
                    evaluate(ast, ast.initializers.get(id)?, depth)?
                }
                _ => return None,
            }
        }
        "UnaryOperator" => {
            let operand = child(0)?;
            match node.opcode.as_deref()? {
                "+" | "__extension__" => operand,
                "-" => operand.checked_neg()?,
                "~" => !operand,
                "!" => i128::from(operand == 0),
                _ => return None,
            }
        }
        "BinaryOperator" if node.is_short_circuit() => {
            let is_and = node.opcode.as_deref() == Some("&&");
            let left = child(0)? != 0;
            i128::from(if left == is_and { child(1)? != 0 } else { left })
        }
        "BinaryOperator" => binary(node.opcode.as_deref()?, child(0)?, child(1)?)?,
        "ConditionalOperator" => child(if child(0)? != 0 { 1 } else { 2 })?,
        "UnaryExprOrTypeTraitExpr" if node.name.as_deref() == Some("sizeof") => {
            let operand = || node.children.first().and_then(Node::canonical_type);
            size_of(node.argument_type.as_deref().or_else(operand)?)?
        }
        _ => return None,
    };
    Some(match node.canonical_type().and_then(integer_type) {
        Some((bits, is_signed)) => wrap(value, bits, is_signed),
        None => value,
    })
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

fn wrap(value: i128, bits: u32, is_signed: bool) -> i128 {
    let unused = 128 - bits;
    if is_signed { (value << unused) >> unused } else { ((value << unused).cast_unsigned() >> unused).cast_signed() }
}

/// A type's spelling without qualifiers and address spaces.
fn bare(ty: &str) -> String {
    let is_qualifier = |word: &&str| {
        matches!(*word, "const" | "volatile" | "restrict") || (word.starts_with("__") && !word.contains('('))
    };
    ty.split_whitespace().filter(|word| !is_qualifier(word)).collect::<Vec<_>>().join(" ")
}

/// Bits and sign.
fn integer_type(ty: &str) -> Option<(u32, bool)> {
    Some(match bare(ty).as_str() {
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

fn size_of(ty: &str) -> Option<i128> {
    let ty = bare(ty);
    if let Some((bits, _)) = integer_type(&ty) {
        return Some(i128::from(bits / 8));
    }
    if let Some((element, lanes)) = ty.split_once(" __attribute__((ext_vector_type(") {
        let lanes: i128 = lanes.strip_suffix(")))")?.parse().ok()?;
        return Some(size_of(element)? * if lanes == 3 { 4 } else { lanes });
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

/// The condition of an `if`, `switch`, `?:` or loop. `None` where there is none.
pub fn condition(node: &Node) -> Option<&Node> {
    let slot = match &*node.kind {
        "ForStmt" => 2,
        "DoStmt" => 1,
        "IfStmt" | "SwitchStmt" | "WhileStmt" | "ConditionalOperator" | "BinaryConditionalOperator" => 0,
        _ => return None,
    };
    node.children.get(slot).filter(|condition| !condition.kind.is_empty())
}

/// Whether clang makes no branch of this `if`, `switch`, `?:`, `&&` or `||`. Loops always stay.
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

/// Whether clang emits nothing for this child, because its parent's condition rules it out.
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

/// Whether a label of `goto` or of an enclosing `switch` stands in it, so that code can be reached past what is before.
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

/// Whether control never goes on behind this statement.
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
