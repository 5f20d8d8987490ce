//! The instructions that operators of the IR change, and their words.

use kassay_ir::instrument::mutants::{Edit, Expr, Place, Slot};
use kassay_ir::kernel::builtins::demangle;
use kassay_ir::kernel::inlined::LIBRARY;
use kassay_ir::llvm::{Inst, IntPredicate, Opcode, RealPredicate, Type, Value};

use super::super::super::control::effects::bodies;
use super::super::super::control::text;
use super::super::super::mutant::{Excluded, Mutant, SourceRange};
use super::super::super::subject::{OperatorOutput, Subject};
use super::atomic_words;

/// An instruction that an operator may change.
pub struct Site<'a> {
    pub place: Place,
    pub inst: Inst<'a>,
    function: &'a str,
    /// Where debug information places the instruction; an empty range.
    range: Option<SourceRange>,
}

/// Returns the reachable instructions that an operator `wants`, in order of function and place.
pub fn sites<'a>(subject: &Subject<'a>, wants: impl Fn(Inst<'a>) -> bool) -> Vec<Site<'a>> {
    let mut all = Vec::new();
    for body in bodies(subject) {
        let is_of_library = |inst: Inst<'_>| inst.metadata(inst.function().view().metadata_kind(LIBRARY)).is_some();
        for (place, inst) in body.instructions().filter(|(_, inst)| wants(*inst) && !is_of_library(*inst)) {
            let range = text::spot(body.location(place), 0);
            all.push(Site { place, inst, function: &body.sites.cfg.function, range });
        }
    }
    all
}

impl Site<'_> {
    /// The result of the instruction.
    pub fn result(&self) -> Slot {
        Slot::Result(self.place)
    }

    /// An operand of the instruction.
    pub fn operand(&self, index: u32) -> Slot {
        Slot::Operand(self.place, index)
    }

    /// Adds the mutant in which the slot has the value `by`.
    pub fn replace(
        &self,
        operator: &'static str,
        slot: Slot,
        by: Expr,
        replacement: impl Into<String>,
        found: &mut OperatorOutput,
    ) {
        let edit = Edit::Value { at: vec![slot], by };
        self.add(operator, shown_whole(self.inst), replacement, edit, false, found);
    }

    /// Adds a mutant with the text of what is replaced.
    pub fn add(
        &self,
        operator: &'static str,
        original: String,
        replacement: impl Into<String>,
        edit: Edit,
        is_structural: bool,
        found: &mut OperatorOutput,
    ) {
        found.mutants.push(Mutant {
            id: String::new(),
            operator,
            function: self.function.to_owned(),
            original,
            replacement: replacement.into(),
            range: self.range.clone(),
            spelling: None,
            edit,
            is_structural,
        });
    }

    /// Records that an operator does not change this instruction, or not in this way.
    pub fn exclude(&self, operator: &'static str, reason: impl Into<String>, found: &mut OperatorOutput) {
        found.excluded.push(Excluded {
            operator,
            function: self.function.to_owned(),
            range: self.range.clone(),
            reason: format!("`{}`: {}", shown_whole(self.inst), reason.into()),
        });
    }
}

/// Returns whether values of the type are integers or floats that edits compute with, or vectors of them.
pub fn is_number(ty: Type<'_>) -> bool {
    let scalar = ty.scalar();
    scalar.is_float() || scalar.int_width().is_some_and(|width| width <= 64)
}

/// Returns LLVM's words for an opcode.
pub fn word(opcode: Opcode) -> &'static str {
    use Opcode::*;
    match opcode {
        LLVMAdd => "add",
        LLVMSub => "sub",
        LLVMMul => "mul",
        LLVMUDiv => "udiv",
        LLVMSDiv => "sdiv",
        LLVMURem => "urem",
        LLVMSRem => "srem",
        LLVMFAdd => "fadd",
        LLVMFSub => "fsub",
        LLVMFMul => "fmul",
        LLVMFDiv => "fdiv",
        LLVMFRem => "frem",
        LLVMFNeg => "fneg",
        LLVMAnd => "and",
        LLVMOr => "or",
        LLVMXor => "xor",
        LLVMShl => "shl",
        LLVMLShr => "lshr",
        LLVMAShr => "ashr",
        LLVMICmp => "icmp",
        LLVMFCmp => "fcmp",
        LLVMSelect => "select",
        LLVMPHI => "phi",
        LLVMBr => "br",
        LLVMSwitch => "switch",
        LLVMRet => "ret",
        LLVMStore => "store",
        LLVMLoad => "load",
        LLVMCall => "call",
        LLVMGetElementPtr => "getelementptr",
        LLVMSExt => "sext",
        LLVMZExt => "zext",
        LLVMTrunc => "trunc",
        LLVMSIToFP => "sitofp",
        LLVMUIToFP => "uitofp",
        LLVMFPToSI => "fptosi",
        LLVMFPToUI => "fptoui",
        LLVMFPExt => "fpext",
        LLVMFPTrunc => "fptrunc",
        LLVMShuffleVector => "shufflevector",
        LLVMInsertElement => "insertelement",
        LLVMExtractElement => "extractelement",
        LLVMInsertValue => "insertvalue",
        LLVMFreeze => "freeze",
        LLVMAtomicRMW => "atomicrmw",
        LLVMAtomicCmpXchg => "cmpxchg",
        LLVMFence => "fence",
        _ => "instruction",
    }
}

/// Returns the opcode with its flags and its predicate: `add nsw`, `icmp slt`.
pub fn words(inst: Inst<'_>) -> String {
    let mut all = vec![word(inst.opcode())];
    all.extend(inst.flag_words());
    all.extend(access_words(inst));
    all.extend(inst.int_predicate().map(int_word));
    all.extend(inst.real_predicate().map(real_word));
    all.join(" ")
}

/// Returns what stands between the opcode of an atomic access and its operands: `atomic`, or what an `atomicrmw` does.
fn access_words(inst: Inst<'_>) -> Option<&'static str> {
    let is_access = matches!(inst.opcode(), Opcode::LLVMLoad | Opcode::LLVMStore) && inst.is_atomic();
    is_access.then_some("atomic").or_else(|| inst.rmw_operation().map(atomic_words::operation_word))
}

/// Returns LLVM's word for a predicate of `icmp`.
pub fn int_word(predicate: IntPredicate) -> &'static str {
    use IntPredicate::*;
    match predicate {
        LLVMIntEQ => "eq",
        LLVMIntNE => "ne",
        LLVMIntSLT => "slt",
        LLVMIntSLE => "sle",
        LLVMIntSGT => "sgt",
        LLVMIntSGE => "sge",
        LLVMIntULT => "ult",
        LLVMIntULE => "ule",
        LLVMIntUGT => "ugt",
        LLVMIntUGE => "uge",
    }
}

/// Returns LLVM's word for a predicate of `fcmp`.
pub fn real_word(predicate: RealPredicate) -> &'static str {
    use RealPredicate::*;
    match predicate {
        LLVMRealPredicateFalse => "false",
        LLVMRealOEQ => "oeq",
        LLVMRealOGT => "ogt",
        LLVMRealOGE => "oge",
        LLVMRealOLT => "olt",
        LLVMRealOLE => "ole",
        LLVMRealONE => "one",
        LLVMRealORD => "ord",
        LLVMRealUNO => "uno",
        LLVMRealUEQ => "ueq",
        LLVMRealUGT => "ugt",
        LLVMRealUGE => "uge",
        LLVMRealULT => "ult",
        LLVMRealULE => "ule",
        LLVMRealUNE => "une",
        LLVMRealPredicateTrue => "true",
    }
}

/// Returns the instruction without its types: `add nsw %a, 3`, `max(%a, 3)`.
pub fn shown_whole(inst: Inst<'_>) -> String {
    assembled(inst, &words(inst), &|_| None)
}

/// Returns the instruction with other words for some operands. Flags are left out: they were true of the old operands.
pub fn shown_with(inst: Inst<'_>, other: &dyn Fn(u32) -> Option<String>) -> String {
    let predicate = inst.int_predicate().map(int_word).or_else(|| inst.real_predicate().map(real_word));
    let head: Vec<&str> = std::iter::once(word(inst.opcode())).chain(predicate).chain(access_words(inst)).collect();
    assembled(inst, &head.join(" "), other)
}

fn assembled(inst: Inst<'_>, head: &str, other: &dyn Fn(u32) -> Option<String>) -> String {
    let operands = if inst.is_call() {
        inst.args()
    } else if inst.is(Opcode::LLVMBr) {
        inst.condition().into_iter().collect()
    } else if inst.is(Opcode::LLVMPHI) {
        inst.incoming().into_iter().map(|(value, _)| value).collect()
    } else {
        inst.operands()
    };
    let operands: Vec<String> =
        (0..).zip(operands).map(|(i, operand)| other(i).unwrap_or_else(|| shown(operand))).collect();
    let operands = operands.join(", ");
    let operands = [operands, atomic_words::order_words(inst)].into_iter().filter(|words| !words.is_empty());
    let operands = operands.collect::<Vec<_>>().join(" ");
    match inst.callee() {
        Some(callee) => format!("{}({operands})", demangle(&callee).map_or(callee.as_str(), |(name, _)| name)),
        None if operands.is_empty() => head.to_owned(),
        None => format!("{head} {operands}"),
    }
}

/// Returns a value as an operand: `%name`, `@global`, a constant, or `_` if it has no name.
pub fn shown(value: Value<'_>) -> String {
    if let Some(truth) = value.as_bool() {
        return truth.to_string();
    }
    if let Some(number) = value.as_i64() {
        return number.to_string();
    }
    if let Some((number, _)) = value.as_f64() {
        return format!("{number:?}");
    }
    let name = value.name();
    if !name.is_empty() {
        return format!("{}{name}", if value.is_global() { '@' } else { '%' });
    }
    if value.is_null_pointer() {
        return "null".to_owned();
    }
    match value.ty().lanes().filter(|_| value.is_constant_vector()) {
        Some(lanes) => {
            let lanes = (0..lanes).map(|i| value.element(i).map_or_else(|| "_".to_owned(), shown));
            format!("<{}>", lanes.collect::<Vec<_>>().join(", "))
        }
        None => "_".to_owned(),
    }
}
