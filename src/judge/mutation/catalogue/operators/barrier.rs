//! Barriers: `SYR` deletes one of a work-group, `SCR` one of a sub-group or of a warp's lanes, `BFR` changes which
//! memory one of a work-group orders.

use kassay_ir::instrument::mutants::edit::{Action, Edit, Expr};
use kassay_ir::kernel::builtins::{self, Builtin, Family};

use super::super::level::{self, Concept, OperatorLevel};
use super::super::subject::{Operator, OperatorOutput, Preset, Subject};
use super::calls::{self, Call};

/// Deletes a barrier (PENG 4.2.2; LIU, table 6.2).
pub const SYR: Operator = Operator {
    id: "SYR",
    name: "barrier removal",
    class: "barrier",
    description: "delete a `barrier` or `work_group_barrier`",
    origin: "PENG, LIU",
    peng: true,
    liu: true,
    concept: Concept::Synchronisation,
    levels: level::BOTH,
    enumerate: syr,
};

/// Deletes a barrier of a sub-group (LIU, table 6.2: synchronisation below the block's).
pub const SCR: Operator = Operator {
    id: "SCR",
    name: "synchronisation call removal",
    class: "barrier",
    description: "delete a `sub_group_barrier`, or CUDA's `__syncwarp` and its kin",
    origin: "LIU",
    peng: false,
    liu: true,
    concept: Concept::Synchronisation,
    levels: level::BOTH,
    enumerate: scr,
};

/// Makes a barrier order the other memory, or only one of two.
pub const BFR: Operator = Operator {
    id: "BFR",
    name: "barrier flags",
    class: "barrier",
    description: "`CLK_LOCAL_MEM_FENCE` by `CLK_GLOBAL_MEM_FENCE` and the other way round; of both, each alone",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Synchronisation,
    levels: level::BOTH,
    enumerate: bfr,
};

fn barriers(subject: &Subject<'_>) -> Vec<Call> {
    calls::find(subject, |name| builtins::family(name) == Some(Family::Barrier))
}

fn syr(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for call in barriers(subject) {
        if subject.preset == Preset::Peng && call.is_in_macro {
            call.exclude(SYR.id, "it stands in a macro, which the preset leaves alone", found);
            continue;
        }
        let edit = Edit::Instead { at: call.places.clone(), by: Action::Nothing };
        found.mutants.push(call.mutant(SYR.id, String::new(), edit, true));
    }
}

fn scr(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for mut call in calls::find(subject, |name| builtins::family(name) == Some(Family::SubGroupBarrier)) {
        // Where a function of a header decides whether to wait, the source has no call of it.
        if subject.level == OperatorLevel::Source && call.text == call.name && call.name != "sub_group_barrier" {
            call.text = "__syncwarp".to_owned();
        }
        let edit = Edit::Instead { at: call.places.clone(), by: Action::Nothing };
        found.mutants.push(call.mutant(SCR.id, String::new(), edit, true));
    }
}

/// Returns flags of `barrier` (OpenCL C 6.12.8) as source text.
fn flags_text(flags: i64) -> String {
    let names = [(1, "CLK_LOCAL_MEM_FENCE"), (2, "CLK_GLOBAL_MEM_FENCE"), (4, "CLK_IMAGE_MEM_FENCE")];
    let set: Vec<&str> = names.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, name)| *name).collect();
    if set.is_empty() { flags.to_string() } else { set.join(" | ") }
}

fn bfr(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for call in barriers(subject) {
        // The SPIR-V builtin has memory semantics (SPIR-V 3.25) as its third operand.
        let is_spirv = Builtin::of(&call.name).is_some_and(Builtin::is_spirv);
        let (position, local, global) = if is_spirv { (2, 0x100, 0x200) } else { (0, 1, 2) };
        let Some(flags) = call.constant(position) else {
            call.exclude(BFR.id, "its flags are no constant", found);
            continue;
        };
        let others = flags & !(local | global);
        let replacements = match (flags & local != 0, flags & global != 0) {
            (true, true) => vec![others | local, others | global],
            (true, false) => vec![others | global],
            (false, true) => vec![others | local],
            (false, false) => {
                call.exclude(BFR.id, "it orders neither local nor global memory", found);
                continue;
            }
        };
        for new in replacements {
            let arg = |i: usize| if i == position { Expr::Integer(new.into()) } else { Expr::Operand(i as u32) };
            let args = (0..call.operand_count()).map(arg).collect();
            let by = Action::Call { callee: call.callee.clone(), args };
            let text = if is_spirv { flags_text((new >> 8) & 3) } else { flags_text(new) };
            let mut written = if is_spirv { vec![text.clone()] } else { call.all_args() };
            written[0] = text;
            let name = if is_spirv { "barrier" } else { &call.name };
            let edit = Edit::Instead { at: call.places.clone(), by };
            found.mutants.push(call.mutant(BFR.id, call.call_text(name, &written), edit, true));
        }
    }
}
