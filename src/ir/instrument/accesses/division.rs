//! Guards integer divisions against a zero divisor and against signed overflow: the divisor becomes 1 and the fault is
//! reported to the simulator.

use kassay_model::native::abi::hook;

use super::emit::Emitter;
use super::sites::Sites;
use crate::instrument::guard::division::is_undefined;
use crate::instrument::guard::guarded_instructions::{self, Division};
use crate::llvm::Function;
use crate::llvm::IntPredicate::LLVMIntNE;

/// A division to guard, with its site.
pub struct Site<'m> {
    division: Division<'m>,
    site: u32,
}

/// Finds all divisions whose divisor is not a harmless constant.
pub fn find<'m>(kernel: Function<'m>, sites: &mut Sites<'_, 'm>) -> Vec<Site<'m>> {
    let all = guarded_instructions::divisions(kernel).into_iter();
    all.map(|division| Site { site: sites.division(division.inst), division }).collect()
}

/// Builds the guards in front of `divisions`.
pub fn weave<'m>(e: &Emitter<'m>, divisions: &[Site<'m>]) {
    let b = &e.builder;
    for Site { division, site } in divisions {
        let inst = division.inst;
        let divisor = inst.operand(1);
        let ty = divisor.ty();
        e.before(inst);
        let bad = is_undefined(b, division);
        inst.set_operand(1, b.select(bad, ty.int(1), divisor, ""));
        let any = match ty.lanes() {
            Some(lanes) => {
                let bits = e.view.int_type(lanes);
                let packed = b.bit_cast(bad, bits, "");
                e.compare(LLVMIntNE, packed, bits.null())
            }
            None => bad,
        };
        e.emit_if(inst, any, || {
            e.hook(hook::DIVISION, e.void(), &[e.const_i32(*site)]);
        });
    }
}
