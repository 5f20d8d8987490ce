//! Statements that assign: what they read and write as text, and the forms of them that do not race.

use super::expressions::{expression, is_pure};
use super::layout::Piece;
use super::lexer;
use super::outline::{Item, ListKind, Outline, Span, Step};

/// A statement `X = E;` or `X op= E;`.
pub struct Assignment {
    /// The place that is written.
    pub left: String,
    /// What is assigned, with the operator's old value.
    pub value: String,
    /// The operator of `X op= E`.
    pub operator: Option<String>,
    /// `E` alone.
    pub operand: String,
    /// The type of the place, without address space and qualifiers.
    pub ty: String,
}

/// Reads a statement that assigns; `None` if a macro makes it.
pub fn assignment(outline: &Outline<'_>, item: &Item<'_>) -> Option<Assignment> {
    let node = expression(item.node);
    let opcode = node.opcode.as_deref()?;
    let is_plain = node.is("BinaryOperator") && opcode == "=";
    if !is_plain && !node.is("CompoundAssignOperator") {
        return None;
    }
    let [left, _] = &node.children[..] else { return None };
    let text = outline.slice(item.span);
    let at = operator_in(&text, opcode)?;
    let (place, rest) = (text[..at].trim().to_owned(), &text[at + opcode.len()..]);
    let operand = rest.trim().strip_suffix(';')?.trim().to_owned();
    let written = left.range.as_ref()?;
    if written.begin.spelling.is_some() || place.is_empty() || operand.is_empty() {
        return None;
    }
    let ty = plain_type(node.ty.as_deref().or(left.ty.as_deref())?)?;
    let operator = (!is_plain).then(|| opcode.trim_end_matches('=').to_owned());
    let value = match &operator {
        None => operand.clone(),
        Some(operator) => format!("{place} {operator} {}", in_parentheses(&operand)),
    };
    Some(Assignment { left: place, value, operator, operand, ty })
}

/// Finds an assignment's operator outside parentheses and brackets.
fn operator_in(text: &str, operator: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_u32, 0);
    while at < bytes.len() {
        let next = lexer::skip_blank(bytes, at);
        if next > at {
            at = next;
            continue;
        }
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ if depth == 0 && text.get(at..)?.starts_with(operator) => {
                let is_equality = operator == "=" && text[at + 1..].starts_with('=');
                return (!is_equality).then_some(at);
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Puts an operand into parentheses if it is more than one term.
pub fn in_parentheses(operand: &str) -> String {
    let mut depth = 0;
    let is_loose = operand.char_indices().any(|(at, c)| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        depth == 0 && at > 0 && matches!(c, '+' | '-' | '*' | '/' | '%' | '<' | '>' | '&' | '|' | '^' | '?' | '=' | ',')
    });
    if is_loose { format!("({operand})") } else { operand.to_owned() }
}

/// A type without address space and qualifiers, if a variable can have it.
pub fn plain_type(ty: &str) -> Option<String> {
    const DROPPED: [&str; 11] = [
        "__local",
        "__global",
        "__private",
        "__constant",
        "__generic",
        "local",
        "global",
        "private",
        "volatile",
        "const",
        "__shared__",
    ];
    let words: Vec<&str> = ty.split_whitespace().filter(|word| !DROPPED.contains(word)).collect();
    let plain = words.join(" ");
    (!plain.is_empty() && !plain.contains(['*', '[', '(', '&'])).then_some(plain)
}

/// A name that the text does not use.
pub fn free_name(text: &str) -> String {
    let is_used = |name: &str| text.contains(name);
    let names = ["next", "value", "updated"].map(str::to_owned).into_iter();
    let numbered = (2..).map(|n| format!("next_{n}"));
    names.chain(numbered).find(|name| !is_used(name)).unwrap_or_default()
}

/// Splits `X = E;` into a part that reads and one that writes, with a barrier between them: that of the list which the
/// `if`s around it are in.
pub fn split(outline: &Outline<'_>, path: &[Step<'_, '_>], barrier: &str) -> Option<Vec<Piece>> {
    let (step, outer) = path.split_last()?;
    let Assignment { left, value, ty, .. } = assignment(outline, step.item())?;
    let name = free_name(&String::from_utf8_lossy(outline.text));
    if step.list.kind != ListKind::Branch {
        let code = [format!("{ty} {name} = {value};"), barrier.to_owned(), format!("{left} = {name};")];
        return Some(outline.replacement(*step, &code));
    }
    let above = outer.last()?;
    let (branch, condition) = (above.item(), above.item().node.children.first()?);
    if step.list.items.len() != 1 || branch.lists.len() != 1 || !is_pure(condition) {
        return None;
    }
    let head = outline.slice(Span { start: branch.span.start, end: step.list.items[0].span.start });
    let condition = head.trim().trim_end_matches('{').trim().to_owned();
    if !condition.starts_with("if") || !condition.ends_with(')') || head.contains("//") || head.contains("/*") {
        return None;
    }
    let condition = condition.split_whitespace().collect::<Vec<_>>().join(" ");
    // One level of indentation, as the branch has it.
    let deeper = if outline.begins_line(&step.list.items[0]) {
        let column = outline.column(step.item().span.start).saturating_sub(outline.column(branch.span.start));
        let is_tab = outline.text.get(step.item().span.start.wrapping_sub(1)) == Some(&b'\t');
        if is_tab { "\t".repeat(column as usize) } else { " ".repeat(column as usize) }
    } else {
        "    ".to_owned()
    };
    let code = [
        format!("{ty} {name} = 0;"),
        condition.clone(),
        format!("{deeper}{name} = {value};"),
        barrier.to_owned(),
        condition,
        format!("{deeper}{left} = {name};"),
    ];
    Some(outline.replacement(*above, &code))
}

/// Which atomics a type has in a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    OpenCl,
    Cuda,
}

impl Dialect {
    /// The name of the atomic that does an operation on a type; `None` if there is none.
    pub fn atomic(self, operation: &str, ty: &str) -> Option<&'static str> {
        let is_int = matches!(ty, "int" | "uint" | "unsigned int" | "unsigned" | "int32_t" | "uint32_t");
        let is_wide = matches!(ty, "unsigned long long" | "unsigned long long int" | "uint64_t");
        let is_float = matches!(ty, "float" | "double");
        match (self, operation) {
            (Dialect::OpenCl, _) if !is_int => None,
            (Dialect::OpenCl, "+") => Some("atomic_add"),
            (Dialect::OpenCl, "-") => Some("atomic_sub"),
            (Dialect::OpenCl, "&") => Some("atomic_and"),
            (Dialect::OpenCl, "|") => Some("atomic_or"),
            (Dialect::OpenCl, "^") => Some("atomic_xor"),
            (Dialect::OpenCl, "min") => Some("atomic_min"),
            (Dialect::OpenCl, "max") => Some("atomic_max"),
            (Dialect::Cuda, "+") if is_int || is_wide || is_float => Some("atomicAdd"),
            (Dialect::Cuda, "-") if is_int => Some("atomicSub"),
            (Dialect::Cuda, _) if !(is_int || is_wide) => None,
            (Dialect::Cuda, "&") => Some("atomicAnd"),
            (Dialect::Cuda, "|") => Some("atomicOr"),
            (Dialect::Cuda, "^") => Some("atomicXor"),
            (Dialect::Cuda, "min") => Some("atomicMin"),
            (Dialect::Cuda, "max") => Some("atomicMax"),
            _ => None,
        }
    }
}

/// The call of an atomic that does what a statement does which updates one place.
pub fn atomic(outline: &Outline<'_>, step: Step<'_, '_>, dialect: Dialect) -> Option<String> {
    let item = step.item();
    let node = expression(item.node);
    let pointer = |place: &str| match place.strip_prefix('*') {
        Some(pointer) if !pointer.contains([' ', '+', '-', '[']) => pointer.trim().to_owned(),
        _ => format!("&{place}"),
    };
    if node.is("UnaryOperator") {
        let operation = match node.opcode.as_deref()? {
            "++" => "+",
            "--" => "-",
            _ => return None,
        };
        let place = node.children.first().filter(|place| place.range.is_some())?;
        if place.range.as_ref()?.begin.spelling.is_some() {
            return None;
        }
        let text = outline.slice(item.span);
        let text = text.trim().strip_suffix(';')?.trim();
        let sign = if operation == "+" { "++" } else { "--" };
        let place_text = text.strip_prefix(sign).or_else(|| text.strip_suffix(sign))?.trim();
        let place_text = place_text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(place_text);
        let name = dialect.atomic(operation, &plain_type(node.ty.as_deref()?)?)?;
        return Some(match dialect {
            Dialect::OpenCl => {
                format!("{}({});", name.replace("add", "inc").replace("sub", "dec"), pointer(place_text))
            }
            Dialect::Cuda => format!("{name}({}, 1);", pointer(place_text)),
        });
    }
    let found = assignment(outline, item)?;
    let call = |operation: &str, operand: &str| {
        let name = dialect.atomic(operation, &found.ty)?;
        Some(format!("{name}({}, {operand});", pointer(&found.left)))
    };
    if let Some(operator) = &found.operator {
        return call(operator, &found.operand);
    }
    let same = |text: &str| {
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        plain(text) == plain(&found.left)
    };
    // `X = min(X, E)`, `X = X + E` and `X = E + X`.
    for function in ["min", "max"] {
        let inner = found.operand.strip_prefix(function).map(str::trim_start);
        if let Some(inner) = inner.and_then(|inner| inner.strip_prefix('(')?.strip_suffix(')')) {
            let arguments = top_level(inner, &[',']);
            if let [(a, _), (b, _)] = &arguments[..] {
                return if same(a) {
                    call(function, b.trim())
                } else if same(b) {
                    call(function, a.trim())
                } else {
                    None
                };
            }
        }
    }
    // The tree says which operator is applied last.
    let [_, right] = &node.children[..] else { return None };
    let mut last = right;
    while let ("ImplicitCastExpr", Some(inner)) = (&*last.kind, last.children.first()) {
        last = inner;
    }
    let operator = last.opcode.as_deref().filter(|_| last.is("BinaryOperator"))?;
    let mut letters = operator.chars();
    let letter = letters.next().filter(|c| letters.next().is_none() && matches!(c, '+' | '-' | '&' | '|' | '^'))?;
    match &top_level(&found.operand, &[letter])[..] {
        [(a, _), (b, _)] if same(a) => call(operator, b.trim()),
        [(a, _), (b, _)] if same(b) && letter != '-' => call(operator, a.trim()),
        _ => None,
    }
}

/// Divides a text at characters outside parentheses and brackets; each part with the character before it.
fn top_level(text: &str, at: &[char]) -> Vec<(String, Option<char>)> {
    let (mut depth, mut parts) = (0_i32, vec![(String::new(), None)]);
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        match parts.last_mut() {
            Some((part, _)) if depth != 0 || !at.contains(&c) || part.trim().is_empty() => part.push(c),
            _ => parts.push((String::new(), Some(c))),
        }
    }
    parts
}

/// The operation of `if (E > X) X = E;` as an atomic, in place of the whole `if`.
pub fn guarded_atomic(outline: &Outline<'_>, path: &[Step<'_, '_>], dialect: Dialect) -> Option<String> {
    let [.., above, step] = path else { return None };
    let branch = above.item();
    if step.list.kind != ListKind::Branch || step.list.items.len() != 1 || branch.lists.len() != 1 {
        return None;
    }
    let found = assignment(outline, step.item()).filter(|found| found.operator.is_none())?;
    let head = outline.slice(Span { start: branch.span.start, end: step.item().span.start });
    let condition = head.trim().trim_end_matches('{').trim().strip_prefix("if")?.trim();
    let condition = condition.strip_prefix('(')?.strip_suffix(')')?;
    let [(a, _), (b, Some(operator))] = &top_level(condition, &['<', '>'])[..] else { return None };
    let plain = |text: &str| text.trim_start_matches('=').split_whitespace().collect::<String>();
    let (left, operand) = (plain(&found.left), plain(&found.operand));
    // What is assigned is the greater one if the condition says so.
    let assigns_greater = match (plain(a), plain(b)) {
        (a, b) if a == operand && b == left => *operator == '>',
        (a, b) if a == left && b == operand => *operator == '<',
        _ => return None,
    };
    let name = dialect.atomic(if assigns_greater { "max" } else { "min" }, &found.ty)?;
    Some(format!("{name}(&{}, {});", found.left, found.operand))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_of_assignments_are_outside_parentheses() {
        assert_eq!(operator_in("a[i == 1] = b", "="), Some(10));
        assert_eq!(operator_in("a /* = */ += b", "+="), Some(10));
        assert_eq!(operator_in("a == b", "="), None);
    }

    #[test]
    fn operands_of_several_terms_get_parentheses() {
        assert_eq!(in_parentheses("f(a + b)"), "f(a + b)");
        assert_eq!(in_parentheses("-a"), "-a");
        assert_eq!(in_parentheses("a + b"), "(a + b)");
    }

    #[test]
    fn types_lose_their_address_space() {
        assert_eq!(plain_type("__local volatile float").as_deref(), Some("float"));
        assert_eq!(plain_type("__global unsigned int").as_deref(), Some("unsigned int"));
        assert_eq!(plain_type("__local int *"), None);
    }

    #[test]
    fn atomics_are_those_of_the_type() {
        assert_eq!(Dialect::OpenCl.atomic("+", "float"), None);
        assert_eq!(Dialect::Cuda.atomic("+", "float"), Some("atomicAdd"));
        assert_eq!(Dialect::Cuda.atomic("-", "float"), None);
        assert_eq!(Dialect::OpenCl.atomic("max", "uint"), Some("atomic_max"));
    }
}
