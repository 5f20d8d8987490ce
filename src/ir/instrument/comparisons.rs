//! Reports the operands of comparisons: before every comparison and `switch`, a call passes them to the simulator, so
//! that an input search can compute the branch distance of decisions that have only gone one way.
//!
//! A comparison is identified by its number in the canonical form; each case of a `switch` counts as one.

use inkwell::module::Module;
use kassay_base::error::Result;
use kassay_model::native::abi::{comparison, placeholder};

use crate::kernel::canonical;
use crate::llvm::IntPredicate::{self, *};
use crate::llvm::RealPredicate::{self, *};
use crate::llvm::{Inst, Type, Value, View};

/// Maximum number of cases reported per `switch`; one with more is considered a table, and only its first
/// cases are reported.
const MAX_CASES: usize = 64;
/// Maximum number of vector components reported per comparison.
const MAX_COMPONENTS: u32 = 16;

/// Comparisons of a module in canonical form, found before anything is woven into it.
pub struct Comparisons<'m>(Vec<Comparison<'m>>);

struct Comparison<'m> {
    inst: Inst<'m>,
    kind: u32,
    swapped: bool,
    /// For a `switch`: the value of the case.
    case: Option<Value<'m>>,
}

impl<'m> Comparisons<'m> {
    /// Finds all comparisons in functions with a body, in the module's order.
    pub fn find(module: &'m Module<'_>) -> Comparisons<'m> {
        Comparisons(View::of(module).instructions().into_iter().flat_map(comparisons_of).collect())
    }

    /// Number of comparisons; they are numbered from 0.
    pub fn count(&self) -> u32 {
        self.0.len() as u32
    }

    /// Inserts the calls into the module in which they were found. Other passes may have run since
    /// [`find`](Comparisons::find) if they left the comparisons themselves in place.
    ///
    /// # Errors
    /// `Internal` if the woven module does not verify.
    pub fn weave(&self, module: &'m Module<'_>) -> Result<()> {
        let view = View::of(module);
        let builder = view.builder();
        let (int, long) = (view.int_type(32), view.int_type(64));
        let ty = view.void_type().function(&[int, int, long, long], false);
        let callee = view.add_function(placeholder::COMPARISON, ty);
        for (number, comparison) in (0u64..).zip(&self.0) {
            let inst = comparison.inst;
            builder.before(inst);
            builder.set_location(inst.debug_location().or_else(|| inst.function().line_zero()));
            let (mut a, mut b) = (inst.operand(0), comparison.case.unwrap_or_else(|| inst.operand(1)));
            if comparison.swapped {
                std::mem::swap(&mut a, &mut b);
            }
            let lanes = a.ty().lanes();
            for lane in 0..lanes.unwrap_or(1).min(MAX_COMPONENTS) {
                let bits = |value: Value<'m>| {
                    let value = if lanes.is_some() { builder.lane(value, lane) } else { value };
                    let width = comparison.kind >> comparison::WIDTH;
                    let value = builder.bit_cast(value, view.int_type(width), "");
                    builder.int_cast(value, long, false, "")
                };
                builder.call(callee, &[int.int(number), int.int(comparison.kind.into()), bits(a), bits(b)], "");
            }
        }
        canonical::verify(module, "weaving comparisons")
    }
}

fn comparisons_of(inst: Inst<'_>) -> Vec<Comparison<'_>> {
    let one = |kind, swapped| vec![Comparison { inst, kind, swapped, case: None }];
    if let Some((relation, swapped)) = inst.int_predicate().map(integers) {
        // Comparisons of `i1` only test the result of another one.
        let width = int_width(inst.operand(0).ty()).filter(|width| *width > 1);
        return width.map_or_else(Vec::new, |width| one(relation | width << comparison::WIDTH, swapped));
    }
    if let Some((relation, swapped)) = inst.real_predicate().and_then(floats) {
        let ty = inst.operand(0).ty().scalar();
        let width = ty.bits().filter(|_| ty.is_float()).map(|bits| bits as u32);
        let kind = |width| relation | comparison::FLOAT | width << comparison::WIDTH;
        return width.map_or_else(Vec::new, |width| one(kind(width), swapped));
    }
    let cases = inst.switch_cases();
    let Some(width) = cases.first().and_then(|(case, _)| int_width(case.ty())) else { return Vec::new() };
    let kind = comparison::EQUAL | width << comparison::WIDTH;
    let of = |(case, _)| Comparison { inst, kind, swapped: false, case: Some(case) };
    cases.into_iter().take(MAX_CASES).map(of).collect()
}

/// Returns the width in bits of an integer, or of a vector's components; `None` above 64, and for other types.
fn int_width(ty: Type<'_>) -> Option<u32> {
    ty.scalar().int_width().filter(|width| *width <= 64)
}

/// Returns the relation, and whether the operands are to be swapped.
fn integers(predicate: IntPredicate) -> (u32, bool) {
    use comparison::{EQUAL, LESS, NOT_LESS, SIGNED, UNEQUAL};
    match predicate {
        LLVMIntEQ => (EQUAL, false),
        LLVMIntNE => (UNEQUAL, false),
        LLVMIntULT => (LESS, false),
        LLVMIntUGT => (LESS, true),
        LLVMIntUGE => (NOT_LESS, false),
        LLVMIntULE => (NOT_LESS, true),
        LLVMIntSLT => (LESS | SIGNED, false),
        LLVMIntSGT => (LESS | SIGNED, true),
        LLVMIntSGE => (NOT_LESS | SIGNED, false),
        LLVMIntSLE => (NOT_LESS | SIGNED, true),
    }
}

/// As [`integers`]; `None` for predicates that only test for NaN. Ordered and unordered predicates
/// are not distinguished.
fn floats(predicate: RealPredicate) -> Option<(u32, bool)> {
    use comparison::{EQUAL, LESS, NOT_LESS, UNEQUAL};
    Some(match predicate {
        LLVMRealOEQ | LLVMRealUEQ => (EQUAL, false),
        LLVMRealONE | LLVMRealUNE => (UNEQUAL, false),
        LLVMRealOLT | LLVMRealULT => (LESS, false),
        LLVMRealOGT | LLVMRealUGT => (LESS, true),
        LLVMRealOGE | LLVMRealUGE => (NOT_LESS, false),
        LLVMRealOLE | LLVMRealULE => (NOT_LESS, true),
        LLVMRealORD | LLVMRealUNO | LLVMRealPredicateTrue | LLVMRealPredicateFalse => return None,
    })
}
