//! The edit of the source text that each mutant of the canonical form stands for.
//!
//! A token takes another's place with parentheses where precedence would otherwise make another expression of it.
//! Within a macro's body the body is edited, and with it every expansion.

use kassay_ir::kernel::ast::Ast;
use kassay_ir::kernel::builtins::{Operation, operation, operation_in_cuda};
use kassay_ir::kernel::source::Sources;

use super::super::control::text;
use super::super::mutant::{Mutant, SourceRange};
use super::super::operators::calls;
use super::operands::{self, Operands};
use super::text_edit::{TextEdit, text_at};

/// What is known of the source.
pub struct Source<'a> {
    pub ast: &'a Ast,
    pub sources: &'a Sources,
}

/// The edit of a mutant, and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    pub edit: TextEdit,
    /// The range of what the mutant changes: of a macro's body, if it is there.
    pub range: SourceRange,
    pub in_macro_body: bool,
}

/// Returns the edit that a mutant stands for.
///
/// # Errors
/// The reason why no edit of the text makes the mutant.
pub fn of(source: &Source<'_>, mutant: &Mutant) -> Result<Placed, &'static str> {
    let own = mutant.range.as_ref().ok_or("it has no place in the source")?;
    let body = mutant.spelling.as_ref().filter(|spelling| *spelling != own);
    let (range, in_macro_body) = (body.unwrap_or(own), body.is_some());
    let content = source.sources.read(range.file.as_ref()).map_err(|_| match in_macro_body {
        true => "its macro is not defined in a file",
        false => "the text of its file cannot be read",
    })?;
    let site = Site { source, mutant, range, in_macro_body, text: &content };
    let edit = site.edit()?;
    if edit.apply(&content).is_none() {
        return Err("its place is not in the text");
    }
    Ok(Placed { edit, range: range.clone(), in_macro_body })
}

/// The place of a mutant in the text of its file.
struct Site<'a> {
    source: &'a Source<'a>,
    mutant: &'a Mutant,
    range: &'a SourceRange,
    in_macro_body: bool,
    text: &'a [u8],
}

impl Site<'_> {
    fn edit(&self) -> Result<TextEdit, &'static str> {
        let Mutant { original, replacement, .. } = self.mutant;
        match self.mutant.operator {
            // What a pointer points to has no address space in CUDA: without its word, the variable is each thread's.
            "SHR" if !original.contains("__shared__") => {
                return Err("the declaration alone does not give each work-item memory of its own");
            }
            "AIU" => return self.negated_operand(),
            _ if !self.is_text(original) => return Err("its place holds other text, such as a macro that makes it"),
            _ => {}
        }
        let replaced = |by: &str| Ok(TextEdit::replace(self.range, by));
        match self.mutant.operator {
            "BOR" if replacement.starts_with("~(") => {
                let operands = self.operands().ok_or(NO_OPERANDS)?;
                let whole = operands.whole.ok_or(NO_PARENTHESES)?;
                Ok(TextEdit { file: whole.file.clone(), replacements: Vec::new() }.around(&whole, "(~(", "))"))
            }
            "CBR" | "ROR" | "NCR" | "AOR" | "MR" | "BOR" | "COR" => self.operator(replacement),
            "AOD" | "COD" => replaced(" "),
            "CSD" => replaced(if replacement == "true" { "1" } else { "0" }),
            // A loop without a condition is not entered.
            "LBR" if matches!(&**original, "for" | "while" | "do") => replaced(&format!("while (0) {original}")),
            "LBR" if replacement == "false" => replaced("0"),
            "LBR" | "LCR" | "GII" | "GID" => replaced(&format!("({replacement})")),
            "BFR" if name_of(original) != name_of(replacement) => Err("the call has no flags in the source"),
            "SDL" | "SYR" | "SCR" | "FR" if replacement.is_empty() => replaced("((void)0)"),
            "AR" => replaced(&plain_atomic(original)?),
            "ICR" => replaced(&changed_coordinate(original, replacement)?),
            "ARS" | "ASR" | "LVR" | "SDL" | "BFR" | "AOP" | "GIR" => replaced(replacement),
            // As in the canonical form, each copy is zero in the beginning.
            "SHR" => replaced(&format!("{replacement} = {{}}")),
            _ => Err("its operator has no edit of the text"),
        }
    }

    /// Returns whether the range holds this text, but for white space and spliced lines.
    fn is_text(&self, expected: &str) -> bool {
        let plain = |text: &[u8]| -> Vec<u8> {
            text.iter().copied().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'\\').collect()
        };
        text_at(self.text, self.range).is_some_and(|found| plain(found) == plain(expected.as_bytes()))
    }

    fn operands(&self) -> Option<Operands> {
        operands::of_token(self.source.ast, self.source.sources, self.range, self.in_macro_body)
    }

    /// Replaces the token of a binary operator; the operands stay the same expressions.
    fn operator(&self, by: &str) -> Result<TextEdit, &'static str> {
        let mut edit = TextEdit::replace(self.range, by);
        let Some(Operands { whole, sides, is_loose, is_operand }) = self.operands() else {
            return if self.in_macro_body { Ok(edit) } else { Err(NO_OPERANDS) };
        };
        let [left, right] = sides;
        for (range, is_needed) in [(left, is_loose[0]), (right, is_loose[1]), (whole, is_operand)] {
            match range.filter(|range| range.file == edit.file) {
                _ if !is_needed => {}
                Some(range) => edit = edit.around(&range, "(", ")"),
                // What a macro's arguments are made of is up to its expansions.
                None if self.in_macro_body => {}
                None => return Err(NO_PARENTHESES),
            }
        }
        Ok(edit)
    }

    /// Negates an operand, or the value that is assigned.
    fn negated_operand(&self) -> Result<TextEdit, &'static str> {
        let original = &*self.mutant.original;
        let side = ["left of ", "right of "].iter().position(|side| original.starts_with(side));
        let range = match side {
            Some(side) => {
                let [left, right] = self.operands().ok_or(NO_OPERANDS)?.sides;
                let operand = if side == 0 { left } else { right };
                operand
                    .filter(|range| range.file == self.range.file)
                    .ok_or("its operand is an argument of the macro")?
            }
            None if self.is_text(original) => self.range.clone(),
            None => return Err("its place holds other text, such as a macro that makes it"),
        };
        let lines = self.source.sources.lines(&range.file).ok_or(NO_OPERANDS)?;
        let range = SourceRange { end: text::after_literal(&lines, range.start, range.end), ..range };
        let empty = TextEdit { file: range.file.clone(), replacements: Vec::new() };
        Ok(empty.around(&range, "(-(", "))"))
    }
}

const NO_OPERANDS: &str = "the operands of its operator are not found in the text";
const NO_PARENTHESES: &str = "its operands are no pieces of the text that parentheses could be put around";

/// Returns the name of what a text calls.
fn name_of(call: &str) -> &str {
    call.split('(').next().unwrap_or_default().trim()
}

/// Returns an expression that does what an atomic of OpenCL C 1.x does, with a load and a store, and has its value.
fn plain_atomic(call: &str) -> Result<String, &'static str> {
    let name = name_of(call);
    if ["atomic_fetch", "atomic_exchange", "atomic_compare"].iter().any(|prefix| name.starts_with(prefix)) {
        return Err("C computes with atomic types only atomically");
    }
    let arguments = calls::arguments(call);
    let argument = |position: usize| arguments.get(position).ok_or("the arguments of its call are not found");
    let place = format!("(*({}))", argument(0)?);
    let old = "kassay_old";
    let operation = operation(name).or_else(|| operation_in_cuda(name)).ok_or("its call is no atomic")?;
    let given = match operation {
        Operation::Inc | Operation::Dec => "1",
        _ => argument(1)?,
    };
    let new = match operation {
        Operation::Add | Operation::Inc => format!("{old} + kassay_given"),
        Operation::Sub | Operation::Dec => format!("{old} - kassay_given"),
        Operation::And => format!("{old} & kassay_given"),
        Operation::Or => format!("{old} | kassay_given"),
        Operation::Xor => format!("{old} ^ kassay_given"),
        Operation::Min => format!("{old} < kassay_given ? {old} : kassay_given"),
        Operation::Max => format!("{old} > kassay_given ? {old} : kassay_given"),
        Operation::Exchange => "kassay_given".to_owned(),
        Operation::CompareExchange => format!("{old} == kassay_given ? ({}) : {old}", argument(2)?),
        _ => return Err("C has no plain form of it"),
    };
    // The sum has the type of the value, without the address space and the qualifiers of its place.
    let ty = format!("__typeof__({place} + {place})");
    Ok(format!("({{ {ty} kassay_given = ({given}); {ty} {old} = {place}; {place} = {new}; {old}; }})"))
}

/// Returns a call with the coordinate that the description of the mutant names changed.
fn changed_coordinate(call: &str, replacement: &str) -> Result<String, &'static str> {
    const UNREADABLE: &str = "the arguments of its call are not found";
    let name = call.split('(').next().unwrap_or_default();
    let (mut arguments, new) = (calls::arguments(call), calls::arguments(replacement));
    if arguments.len() != new.len() {
        return Err(UNREADABLE);
    }
    let position = (0..new.len()).find(|i| arguments[*i] != new[*i]).ok_or(UNREADABLE)?;
    let old = &arguments[position];
    let change = new[position].strip_prefix(old.as_str()).ok_or(UNREADABLE)?;
    let copy =
        |change: String| format!("({{ __typeof__(({old}) + ({old})) kassay_at = ({old}); {change}; kassay_at; }})");
    arguments[position] = match change.split_whitespace().collect::<Vec<_>>()[..] {
        [sign @ ("+" | "-"), "1"] => format!("(({old}) {sign} 1)"),
        ["with", lane, sign, "1"] => copy(format!("kassay_at{lane} = kassay_at{lane} {sign} 1")),
        ["with", a, "and", b, "exchanged"] => {
            let b = b.trim_start_matches('.');
            let a = a.trim_start_matches('.');
            copy(format!("kassay_at.{a}{b} = kassay_at.{b}{a}"))
        }
        _ => return Err(UNREADABLE),
    };
    Ok(format!("{name}({})", arguments.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_atomic_has_the_old_value() {
        let plain = plain_atomic("atomic_add(&bins[b], 2)").unwrap();
        let expected = "({ __typeof__((*(&bins[b])) + (*(&bins[b]))) kassay_given = (2); \
                        __typeof__((*(&bins[b])) + (*(&bins[b]))) kassay_old = (*(&bins[b])); \
                        (*(&bins[b])) = kassay_old + kassay_given; kassay_old; })";
        assert_eq!(plain, expected);
        assert!(plain_atomic("atomic_inc(p)").unwrap().contains("kassay_given = (1)"));
        assert!(plain_atomic("atomic_fetch_add(p, 1)").is_err());
        assert!(plain_atomic("atomic_add(p").is_err());
    }

    #[test]
    fn coordinates_are_changed_by_lanes() {
        let call = "read_imagei(src, smp, (int2)(x, y))";
        let changed = |new: &str| changed_coordinate(call, &format!("read_imagei(src, smp, {new})"));
        let copy = |change: &str| {
            let c = "((int2)(x, y))";
            format!("read_imagei(src, smp, ({{ __typeof__({c} + {c}) kassay_at = {c}; {change}; kassay_at; }}))")
        };
        assert_eq!(changed("(int2)(x, y) with .y - 1"), Ok(copy("kassay_at.y = kassay_at.y - 1")));
        assert_eq!(changed("(int2)(x, y) with .x and .y exchanged"), Ok(copy("kassay_at.xy = kassay_at.yx")));
        assert_eq!(changed("(int2)(x, y) + 1"), Ok("read_imagei(src, smp, (((int2)(x, y)) + 1))".to_owned()));
    }
}
