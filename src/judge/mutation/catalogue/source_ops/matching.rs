//! Finds the instructions of the operators in the syntax tree.
//!
//! An operator's instructions are those with its opcodes at its debug location. Operators in one macro's body share a
//! location: they are told apart by opcode, and those with the same opcode by their order, which clang preserves.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use kassay_ir::instrument::mutants::Slot;
use kassay_ir::kernel::ast::Node;
use kassay_ir::llvm::Opcode as Op;

use super::super::mutant::{SourceRange, TOO_WIDE};
use super::c_types::{is_pointer_type, is_unsigned, numbers};
use super::constants;
use super::context::Context;
use super::instances::{self, Candidate};
use super::instructions::{Class, Code, Instruction, Ty};
use super::kinds::{BinaryOp, OperationKind};
use super::negation;
use super::operation::{Implementation, Instance, Operation, Operations, Unmutable};
use super::syntax::{self, Emission, SourceOperator};
use super::tokens::Tokens;

/// Adds the operators of one function to `found`.
pub fn find<'a>(context: &Context<'a, '_>, tokens: &Tokens<'_>, found: &mut Operations<'a>) {
    let (written, unlocated, _) = syntax::operators(context.ast, context.function, tokens);
    for (range, node) in unlocated {
        if let Some(kind) = OperationKind::of(node) {
            let reason = "the operator's token is not found in the source".to_owned();
            found.unmutable.push(Unmutable {
                kind,
                function: context.code.name.clone(),
                range,
                in_macro: false,
                reason,
            });
        }
    }
    let mut instructions = assign_instructions(context, &written);
    let (mut list, mut known) = (Vec::new(), HashMap::new());
    for (i, operator) in written.iter().enumerate() {
        let own = std::mem::take(&mut instructions[i]);
        match implementation(context, &written, operator, own) {
            Ok((implementation, ty)) => add(context, (&mut list, &mut known), operator, implementation, ty),
            Err(reason) => found.unmutable.push(Unmutable {
                kind: operator.kind,
                function: context.code.name.clone(),
                range: operator.range.clone(),
                in_macro: operator.in_macro,
                reason: match &operator.emission {
                    Emission::Emitted | Emission::Folded if operator.range.is_too_wide() => TOO_WIDE.to_owned(),
                    _ => reason.to_owned(),
                },
            }),
        }
    }
    list.iter_mut().for_each(|operation| operation.implementation.name_each_once());
    // If one copy of a macro's argument is evaluated and another one folded, the operator can be mutated.
    let mutable: HashSet<(Option<&SourceRange>, OperationKind)> =
        list.iter().map(|o| (o.range.as_ref(), o.kind)).collect();
    found.unmutable.retain(|unmutable| !mutable.contains(&(Some(&unmutable.range), unmutable.kind)));
    list.sort_by(|a, b| (&a.range, &a.spelling).cmp(&(&b.range, &b.spelling)));
    found.list.append(&mut list);
}

/// What is one operation: the range of its token, where that is spelled, and its kind.
type Identity = (SourceRange, Option<SourceRange>, OperationKind);

/// Adds an operator, or adds its instructions to the operation at its place; `known`: the first of each in `list`.
fn add<'a>(
    context: &Context<'a, '_>,
    (list, known): (&mut Vec<Operation<'a>>, &mut HashMap<Identity, usize>),
    operator: &SourceOperator<'a>,
    implementation: Implementation<'a>,
    ty: Ty,
) {
    let identity = (operator.range.clone(), operator.spelling.clone(), operator.kind);
    let at = *known.entry(identity).or_insert(list.len());
    if let Some(known) = list.get_mut(at) {
        match (&mut known.implementation, implementation) {
            (Implementation::Computed(all), Implementation::Computed(more)) => return all.extend(more),
            (Implementation::Offset(all), Implementation::Offset(more))
            | (Implementation::Truth(all), Implementation::Truth(more)) => return all.extend(more),
            (Implementation::Folded(all), Implementation::Folded(more)) => return all.slots.extend(more.slots),
            // Implemented differently in each expansion, such as once as a pointer's index: each is an operation of
            // its own.
            (_, implementation) => return push(context, list, operator, implementation, ty),
        }
    }
    push(context, list, operator, implementation, ty);
}

fn push<'a>(
    context: &Context<'a, '_>,
    list: &mut Vec<Operation<'a>>,
    operator: &SourceOperator<'a>,
    implementation: Implementation<'a>,
    ty: Ty,
) {
    list.push(Operation {
        function: context.index,
        function_name: context.code.name.clone(),
        kind: operator.kind,
        range: Some(operator.range.clone()),
        spelling: operator.spelling.clone(),
        in_macro: operator.in_macro,
        in_barrier_argument: operator.in_barrier_argument,
        ty,
        implementation,
        expression: syntax::extent(context.function, operator.node),
        node: Some(operator.node),
    });
}

type Key<'w> = (&'w str, u32, u32);

fn key(range: &SourceRange) -> Key<'_> {
    (&range.file, range.start.line, range.start.column)
}

/// Returns the instructions of each operator.
fn assign_instructions(context: &Context<'_, '_>, written: &[SourceOperator<'_>]) -> Vec<Vec<Candidate>> {
    let mut all = vec![Vec::new(); written.len()];
    let mut places: BTreeMap<Key<'_>, Vec<usize>> = BTreeMap::new();
    for (i, operator) in written.iter().enumerate().filter(|(_, o)| o.emission == Emission::Emitted) {
        places.entry(key(&operator.range)).or_default().push(i);
    }
    for ((file, line, column), operators) in places {
        let here = context.code.at(file, line, column);
        // Expansions of a macro in a macro's body are many operators of few looks.
        let mut known: HashMap<Looks, Rc<[Candidate]>> = HashMap::new();
        let of: HashMap<usize, Rc<[Candidate]>> = (operators.iter())
            .map(|i| {
                let looks = Looks::of(context, &written[*i]);
                let found = known.entry(looks).or_insert_with_key(|looks| looks.candidates(context, &here).into());
                (*i, Rc::clone(found))
            })
            .collect();
        let mut rest = operators;
        while let Some(first) = rest.first().copied() {
            // Operators that may have the same instructions.
            let own: HashSet<usize> = of[&first].iter().map(|c| c.instruction).collect();
            let mut shared: HashMap<*const Candidate, bool> = HashMap::new();
            let (group, others): (Vec<usize>, Vec<usize>) = rest.iter().partition(|i| {
                let theirs = &of[*i];
                let shares = || theirs.iter().any(|c| own.contains(&c.instruction));
                **i == first || *shared.entry(theirs.as_ptr()).or_insert_with(shares)
            });
            rest = others;
            distribute(&group, written, &of, &mut all);
        }
    }
    all
}

/// Distributes the instructions at one location over the operators there.
fn distribute(
    group: &[usize],
    written: &[SourceOperator<'_>],
    of: &HashMap<usize, Rc<[Candidate]>>,
    all: &mut [Vec<Candidate>],
) {
    // Operators of one look share their list.
    let lists: HashMap<*const Candidate, &Rc<[Candidate]>> = group.iter().map(|i| (of[i].as_ptr(), &of[i])).collect();
    let mut union: Vec<usize> = lists.values().flat_map(|list| list.iter()).map(|c| c.instruction).collect();
    union.sort_unstable();
    union.dedup();
    let first = &written[group[0]];
    if group.len() == union.len() {
        for (i, instruction) in group.iter().zip(&union) {
            all[*i] = of[i].iter().filter(|c| c.instruction == *instruction).copied().collect();
        }
    } else if group.iter().all(|i| written[*i].kind == first.kind) {
        // They cannot be told apart: they are one site, assigned to the first of them.
        all[group[0]] = of[&group[0]].to_vec();
        for i in &group[1..] {
            if written[*i].spelling == first.spelling {
                all[*i] = of[i].to_vec();
            }
        }
    }
}

/// What decides which instructions at a location may implement an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Looks {
    kind: OperationKind,
    hints: instances::Hints,
    /// The numbers that it computes with, or stores.
    numbers: Option<(bool, u32, u32)>,
}

impl Looks {
    fn of(context: &Context<'_, '_>, operator: &SourceOperator<'_>) -> Looks {
        let sides = |i: usize| operator.node.children.get(i);
        let is_pointer = |node: Option<&Node>| node.and_then(Node::canonical_type).is_some_and(is_pointer_type);
        let moves_pointer = match operator.kind {
            OperationKind::Increment { .. } | OperationKind::Decrement { .. } => is_pointer(sides(0)),
            OperationKind::Binary(BinaryOp::Add | BinaryOp::Sub)
            | OperationKind::CompoundAssign(BinaryOp::Add | BinaryOp::Sub) => is_pointer(Some(operator.node)),
            _ => false,
        };
        let number = |i: usize| sides(i).and_then(|side| kassay_ir::kernel::folding::constant(context.ast, side));
        let hints = instances::Hints { moves_pointer, left: number(0), right: number(1) };
        let node = match operator.kind {
            OperationKind::Compare(_) => operator.node.children.first(),
            _ => Some(operator.node),
        };
        let numbers = node.and_then(Node::canonical_type).and_then(numbers);
        Looks { kind: operator.kind, hints, numbers }
    }

    /// Returns the instructions at `here` that may implement such an operator.
    fn candidates(&self, context: &Context<'_, '_>, here: &[usize]) -> Vec<Candidate> {
        let found = instances::candidates(context.code, self.kind, &self.hints, here);
        let of_type = |c: &&Candidate| self.has_type(&context.code.instructions[c.instruction]);
        if found.len() > 1 && found.iter().any(|c| of_type(&c)) {
            return found.iter().filter(of_type).copied().collect();
        }
        found
    }

    /// Whether an instruction computes with, or stores, numbers of the operator's type: a macro may have an assignment
    /// of a float where it initialises an integer.
    fn has_type(&self, instruction: &Instruction) -> bool {
        instruction.ty.is_some_and(|ty| self.numbers == Some((ty.class == Class::Float, ty.bits, ty.lanes)))
    }
}

/// Returns the implementation of an operator, given the instructions at its location.
fn implementation<'a>(
    context: &Context<'a, '_>,
    written: &[SourceOperator<'a>],
    operator: &SourceOperator<'a>,
    own: Vec<Candidate>,
) -> Result<(Implementation<'a>, Ty), &'static str> {
    let fallback = Ty { class: Class::Signed, bits: 32, lanes: 1 };
    match operator.emission {
        Emission::Omitted(reason) => return Err(reason),
        Emission::Folded => {
            if operator.in_barrier_argument {
                return Err("a barrier's flags are another operator's");
            }
            return constants::folded(context, written, operator.node, &operator.ancestors)
                .map(|folded| (Implementation::Folded(folded), signed_by(operator, fallback)));
        }
        Emission::Emitted => {}
    }
    let mut own = own;
    if own.is_empty() {
        own = instructions_elsewhere(context, operator);
    }
    if own.is_empty() {
        return match operator.kind {
            OperationKind::LogicalNot => negation::find(context, operator.node).map(|found| (found, fallback)),
            OperationKind::Binary(BinaryOp::Mul) => fused_product(context, operator)
                .map(|(instances, ty)| (Implementation::Computed(instances), ty))
                .ok_or(NO_INSTRUCTION),
            OperationKind::Assign if is_aggregate(operator.node) => Err("a whole structure is copied"),
            OperationKind::Increment { .. } | OperationKind::Decrement { .. } | OperationKind::CompoundAssign(_)
                if operator
                    .node
                    .children
                    .first()
                    .and_then(Node::canonical_type)
                    .is_some_and(|t| t.contains("_Atomic")) =>
            {
                Err("an atomic operation")
            }
            _ => Err(NO_INSTRUCTION),
        };
    }
    let is_difference = |side: &Node| side.canonical_type().is_some_and(is_pointer_type);
    if operator.kind == OperationKind::Binary(BinaryOp::Sub) && operator.node.children.iter().all(is_difference) {
        return Err("a difference of pointers has no other operator");
    }
    let type_of = |c: &Candidate| context.code.instructions[c.instruction].ty;
    if operator.kind == OperationKind::Assign && own.iter().any(|c| type_of(c).is_none()) {
        return Err("what is set is no number, but an event or the like");
    }
    let ty = own.iter().find_map(type_of).unwrap_or(fallback);
    let ty = signed_by(operator, ty);
    if own.iter().any(|c| c.is_offset) {
        let slots = own.iter().filter(|c| c.is_offset).filter_map(|c| index_slot(context.code, c.instruction));
        let ty = Ty { class: Class::Pointer, bits: 0, lanes: 1 };
        return Ok((Implementation::Offset(slots.collect()), ty));
    }
    let mut all = Vec::new();
    for candidate in &own {
        let own_ty = context.code.instructions[candidate.instruction].ty.unwrap_or(ty);
        all.push(instances::instance(context.code, candidate, Ty { class: ty.class, ..own_ty })?);
    }
    Ok((Implementation::Computed(all), ty))
}

const NO_INSTRUCTION: &str = "clang made no instruction of its own for it";

/// Returns the instructions of an operator that clang locates elsewhere: pointer arithmetic below `*`, `&` and `[]` has
/// the location of those.
fn instructions_elsewhere(context: &Context<'_, '_>, operator: &SourceOperator<'_>) -> Vec<Candidate> {
    if !operator.node.canonical_type().is_some_and(is_pointer_type) {
        return Vec::new();
    }
    for ancestor in operator.ancestors.iter().rev() {
        let is_transparent =
            ancestor.is("ParenExpr") || ancestor.is("ImplicitCastExpr") || ancestor.is("CStyleCastExpr");
        let Some(range) = &ancestor.range else { return Vec::new() };
        let at = context.function.place(&range.begin);
        let here = context.code.at(&at.file, at.line, at.column);
        let found: Vec<Candidate> = Looks::of(context, operator)
            .candidates(context, &here)
            .into_iter()
            .filter(|c| context.code.instructions[c.instruction].name.starts_with("add.ptr"))
            .collect();
        if !is_transparent {
            return if found.len() == 1 { found } else { Vec::new() };
        }
    }
    Vec::new()
}

/// Returns the index of a GEP that moves a pointer.
fn index_slot(code: &Code, gep: usize) -> Option<Slot> {
    let own: &Instruction = &code.instructions[gep];
    let last = own.operands.len().checked_sub(1)?;
    Some(Slot::Operand(own.place, last as u32))
}

/// Returns a multiplication that one instruction computes together with the sum of which it is an operand.
fn fused_product(context: &Context<'_, '_>, operator: &SourceOperator<'_>) -> Option<(Vec<Instance>, Ty)> {
    let extent = syntax::extent(context.function, operator.node)?;
    let mut found = Vec::new();
    for (i, own) in context.code.instructions.iter().enumerate() {
        let is_fused = own.opcode == Op::LLVMCall && instances::is_fused(own);
        if !is_fused || !own.is_reachable {
            continue;
        }
        // Its factors are the operands of this multiplication: their definitions are located within it.
        let within = (0..2).all(|factor| {
            let definition = context.code.definition(i, factor);
            definition
                .is_none_or(|d| context.code.instructions[d].location.as_ref().is_some_and(|at| extent.contains(at)))
        });
        let is_near =
            own.location.as_ref().is_some_and(|at| {
                operator.ancestors.iter().rev().take(4).any(|ancestor| {
                    syntax::extent(context.function, ancestor).is_some_and(|extent| extent.contains(at))
                })
            });
        if within && is_near {
            found.push(instances::product(context.code, i)?);
        }
    }
    let ty = found.first()?.ty;
    (found.len() == 1).then_some((found, ty))
}

/// Returns `ty` with the signedness that the syntax tree gives the operands.
fn signed_by(operator: &SourceOperator<'_>, ty: Ty) -> Ty {
    if ty.class == Class::Float || ty.class == Class::Pointer {
        return ty;
    }
    let side = |i: usize| operator.node.children.get(i).and_then(Node::canonical_type);
    let text = match operator.kind {
        OperationKind::Compare(_) => side(0),
        // The right operand has the type of the computation, except for shifts.
        OperationKind::CompoundAssign(op) if !op.is_shift() => side(1),
        OperationKind::CompoundAssign(_) => side(0).filter(|_| ty.bits >= 32 || ty.lanes > 1),
        _ => operator.node.canonical_type(),
    };
    let Some(text) = text else { return ty };
    if is_pointer_type(text) {
        return Ty { class: Class::Pointer, ..ty };
    }
    let is_small = |own: &str| matches!(own, "char" | "short" | "uchar" | "ushort" | "bool" | "_Bool");
    // A narrow left operand of a shift is promoted to `int`.
    let promoted = matches!(operator.kind, OperationKind::CompoundAssign(op) if op.is_shift())
        && is_small(text.trim_start_matches("unsigned "))
        && ty.bits == 32
        && ty.lanes == 1;
    let class = if is_unsigned(text) && !promoted { Class::Unsigned } else { Class::Signed };
    Ty { class, ..ty }
}

fn is_aggregate(node: &Node) -> bool {
    node.canonical_type().is_some_and(|ty| ty.contains("struct ") || ty.contains("union "))
}
