//! Finds operators without a syntax tree: by the token at an instruction's location, or by the opcode alone.

use std::collections::{BTreeMap, HashMap};

use kassay_ir::cfg::indices::FunctionIndex;
use kassay_ir::instrument::mutants::{Predicate, Slot};
use kassay_ir::llvm::Opcode as Op;

use super::super::mutant::{SourceRange, Spot};
use super::instances::{self, Candidate, Hints};
use super::instructions::{Class, Code, Constant, Ty};
use super::kinds::{BinaryOp, OperationKind};
use super::operation::{Implementation, Operation, Operations, Unmutable};
use super::tokens::{Token, Tokens};

/// The operator that an instruction was recognised to implement.
struct RecognisedOperator {
    candidate: Candidate,
    range: Option<SourceRange>,
    in_macro: bool,
}

/// Adds the operations of one function; returns whether some were recognised by their opcodes alone.
pub fn find<'a>(index: FunctionIndex, code: &Code, tokens: &Tokens<'_>, found: &mut Operations<'a>) -> bool {
    let mut by_opcode = false;
    let mut arguments: HashMap<String, Vec<(Spot, Spot)>> = HashMap::new();
    let mut sites: BTreeMap<(Option<SourceRange>, &'static str, usize), Vec<RecognisedOperator>> = BTreeMap::new();
    for (i, own) in code.instructions.iter().enumerate().filter(|(_, own)| own.is_reachable) {
        let place = own.location.as_ref().filter(|at| at.line > 0 && !tokens.of(&at.file).is_empty());
        let recognised = match place {
            Some(at) => {
                let spot = Spot { line: at.line, column: at.column };
                let mut recognised = by_token(code, i, tokens, &at.file, spot);
                if let Some(operator) = &mut recognised {
                    let own = arguments.entry(at.file.clone()).or_insert_with(|| macro_arguments(&tokens.of(&at.file)));
                    operator.in_macro |= own.iter().any(|(from, to)| *from <= spot && spot < *to);
                }
                recognised
            }
            None => {
                let kind = of_opcode(code, i);
                by_opcode |= kind.is_some();
                let candidate =
                    kind.map(|kind| Candidate { instruction: i, kind, is_offset: is_pointer_step(code, i) });
                candidate.map(|candidate| RecognisedOperator { candidate, range: None, in_macro: false })
            }
        };
        if let Some(operator) = recognised {
            // Without a location, every instruction is an operation of its own.
            let apart = if operator.range.is_none() { i } else { 0 };
            sites
                .entry((operator.range.clone(), operator.candidate.kind.spelling(), apart))
                .or_default()
                .push(operator);
        }
    }
    let mut list: Vec<Operation<'a>> =
        sites.into_values().filter_map(|same_site| operation(index, code, same_site, found)).collect();
    found.list.append(&mut list);
    by_opcode
}

/// Merges the instructions of one operator into an operation.
fn operation<'a>(
    index: FunctionIndex,
    code: &Code,
    mut same_site: Vec<RecognisedOperator>,
    found: &mut Operations<'_>,
) -> Option<Operation<'a>> {
    if same_site.iter().any(|s| s.candidate.is_offset) {
        same_site.retain(|s| s.candidate.is_offset);
    }
    let first = same_site.first()?;
    let kind = first.candidate.kind;
    let ty = code.instructions[first.candidate.instruction].ty?;
    let ty = sign(code, first.candidate.instruction, ty);
    let unmutable = |reason: &str| {
        let range = first.range.clone()?;
        Some(Unmutable {
            kind,
            function: code.name.clone(),
            range,
            in_macro: first.in_macro,
            reason: reason.to_owned(),
        })
    };
    let implementation = if first.candidate.is_offset {
        let slot = |s: &RecognisedOperator| {
            let own = &code.instructions[s.candidate.instruction];
            Slot::Operand(own.place, own.operands.len().saturating_sub(1) as u32)
        };
        Implementation::Offset(same_site.iter().map(slot).collect())
    } else if is_pointer_difference(code, first.candidate.instruction) {
        found.unmutable.extend(unmutable("a difference of pointers has no other operator"));
        return None;
    } else {
        let instances: Result<Vec<_>, _> = same_site
            .iter()
            .map(|s| instances::instance(code, &s.candidate, own_type(code, s.candidate.instruction, ty)))
            .collect();
        match instances {
            Ok(instances) => Implementation::Computed(instances),
            Err(reason) => {
                found.unmutable.extend(unmutable(reason));
                return None;
            }
        }
    };
    Some(Operation {
        function: index,
        function_name: code.name.clone(),
        kind,
        range: first.range.clone(),
        spelling: None,
        in_macro: first.in_macro,
        in_barrier_argument: false,
        ty,
        implementation,
        expression: None,
        node: None,
    })
}

fn own_type(code: &Code, i: usize, ty: Ty) -> Ty {
    Ty { class: ty.class, ..code.instructions[i].ty.unwrap_or(ty) }
}

/// Returns `ty` with the signedness that the flags suggest: clang marks signed arithmetic as `nsw`.
fn sign(code: &Code, i: usize, ty: Ty) -> Ty {
    let own = &code.instructions[i];
    let wraps = matches!(own.opcode, Op::LLVMAdd | Op::LLVMSub | Op::LLVMMul);
    let is_marked = code.instructions.iter().any(|other| other.no_signed_wrap);
    match ty.class {
        Class::Signed if wraps && is_marked && !own.no_signed_wrap && ty.bits >= 32 && ty.lanes == 1 => {
            Ty { class: Class::Unsigned, ..ty }
        }
        _ => ty,
    }
}

/// Returns the operator named by the token at an instruction's location.
fn by_token(code: &Code, i: usize, tokens: &Tokens<'_>, file: &str, at: Spot) -> Option<RecognisedOperator> {
    let token = tokens.at(file, at)?;
    let range = Some(token.range(file));
    if token.is_name() {
        // From a macro's body. Pointer steps and truth tests are excluded: they are located at names even without
        // an operator.
        let own = &code.instructions[i];
        let is_zero = matches!(code.constant(i, 1), Some(c) if c.is_integer(0));
        let is_test = own.opcode == Op::LLVMICmp && own.predicate == Some(Predicate::Ne) && is_zero;
        let kind = of_opcode(code, i).filter(|_| own.opcode != Op::LLVMGetElementPtr && !is_test)?;
        return Some(RecognisedOperator {
            candidate: Candidate { instruction: i, kind, is_offset: false },
            range,
            in_macro: true,
        });
    }
    let kind = of_token(&token, tokens.before(file, at).as_ref())?;
    let hints = Hints { moves_pointer: is_pointer_step(code, i), ..Hints::default() };
    let candidate = instances::candidates(code, kind, &hints, &[i]).into_iter().next()?;
    Some(RecognisedOperator { candidate, range, in_macro: false })
}

fn of_token(token: &Token, before: Option<&Token>) -> Option<OperationKind> {
    let has_left = before.is_some_and(Token::ends_operand);
    Some(match token.text.as_str() {
        "-" if !has_left => OperationKind::Minus,
        "~" => OperationKind::BitNot,
        "!" => OperationKind::LogicalNot,
        "++" => OperationKind::Increment { is_postfix: has_left },
        "--" => OperationKind::Decrement { is_postfix: has_left },
        text => return OperationKind::of_token(text),
    })
}

/// Returns whether an instruction moves a pointer by a number of elements.
fn is_pointer_step(code: &Code, i: usize) -> bool {
    let own = &code.instructions[i];
    own.opcode == Op::LLVMGetElementPtr && own.operands.len() == 2
}

/// Returns whether an instruction subtracts two pointers converted to integers.
fn is_pointer_difference(code: &Code, i: usize) -> bool {
    let is_address =
        |operand| code.definition(i, operand).is_some_and(|d| code.instructions[d].opcode == Op::LLVMPtrToInt);
    code.instructions[i].opcode == Op::LLVMSub && is_address(0) && is_address(1)
}

/// Returns the operator that an opcode alone identifies. Instructions that clang adds itself are excluded: masks of
/// shift amounts, truth tests, negated indices, scaling of pointer differences.
fn of_opcode(code: &Code, i: usize) -> Option<OperationKind> {
    let own = &code.instructions[i];
    let constant = |operand| code.constant(i, operand);
    let is_zero = |operand| matches!(constant(operand), Some(c) if c.is_integer(0));
    let is_bool = own.ty.is_some_and(|ty| ty.bits == 1);
    let binary = |op| Some(OperationKind::Binary(op));
    match own.opcode {
        Op::LLVMSub if is_zero(0) => {
            let is_index = own.users.iter().any(|u| code.instructions[*u].opcode == Op::LLVMGetElementPtr);
            (!is_index).then_some(OperationKind::Minus)
        }
        Op::LLVMSub if is_pointer_difference(code, i) => None,
        Op::LLVMSDiv if code.definition(i, 0).is_some_and(|d| is_pointer_difference(code, d)) => None,
        Op::LLVMAdd | Op::LLVMFAdd => binary(BinaryOp::Add),
        Op::LLVMCall if instances::is_fused(own) => binary(BinaryOp::Add),
        Op::LLVMSub | Op::LLVMFSub => binary(BinaryOp::Sub),
        Op::LLVMMul | Op::LLVMFMul => binary(BinaryOp::Mul),
        Op::LLVMSDiv | Op::LLVMUDiv | Op::LLVMFDiv => binary(BinaryOp::Div),
        Op::LLVMSRem | Op::LLVMURem => binary(BinaryOp::Rem),
        Op::LLVMAnd if !is_bool && !code.is_shift_mask(i) => binary(BinaryOp::And),
        Op::LLVMOr if !is_bool => binary(BinaryOp::Or),
        Op::LLVMXor => match constant(1) {
            Some(Constant::Integer(-1, _)) if is_bool => Some(OperationKind::LogicalNot),
            Some(Constant::Integer(-1, _)) => Some(OperationKind::BitNot),
            _ if is_bool => None,
            _ => binary(BinaryOp::Xor),
        },
        Op::LLVMShl => binary(BinaryOp::Shl),
        Op::LLVMLShr | Op::LLVMAShr => binary(BinaryOp::Shr),
        Op::LLVMFNeg => Some(OperationKind::Minus),
        Op::LLVMICmp | Op::LLVMFCmp if own.name.starts_with("tobool") => None,
        Op::LLVMICmp | Op::LLVMFCmp => own.predicate.and_then(instances::compare_op).map(OperationKind::Compare),
        Op::LLVMGetElementPtr if own.name.starts_with("add.ptr") => binary(BinaryOp::Add),
        _ => None,
    }
}

/// Returns the ranges of the arguments of function-like macros that the file itself defines.
fn macro_arguments(tokens: &[Token]) -> Vec<(Spot, Spot)> {
    let are_adjacent =
        |a: &Token, b: &Token| a.at.line == b.at.line && a.at.column + a.text.len() as u32 == b.at.column;
    let names: Vec<&str> = tokens
        .windows(4)
        .filter(|w| w[0].text == "#" && w[1].text == "define" && w[3].text == "(" && are_adjacent(&w[2], &w[3]))
        .map(|w| w[2].text.as_str())
        .collect();
    let mut all = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let is_definition = i >= 1 && tokens[i - 1].text == "define";
        if is_definition || !names.contains(&token.text.as_str()) || tokens.get(i + 1).is_none_or(|t| t.text != "(") {
            continue;
        }
        let mut depth = 0;
        for inner in &tokens[i + 1..] {
            match inner.text.as_str() {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                all.push((token.at, inner.at));
                break;
            }
        }
    }
    all
}
