//! Leaves out what debug information says of variables' values where it has no scope.
//!
//! LLVM refuses that: spirv-opt makes such code where it turns variables into values. kassay reads no values of
//! variables from debug information; their names and types stay.

use super::words::{self, Id, Words, debug, op};

/// Returns the module without `DebugDeclare` and `DebugValue` outside of scopes.
pub(super) fn remove(module: &Words) -> Words {
    let sets: Vec<Id> = module.debug_sets().into_iter().map(|(id, _)| id).collect();
    let mut in_scope = false;
    module.rewritten(|instruction, into| {
        let debug = sets.iter().find_map(|set| instruction.of_set(*set)).map(|(number, ..)| number);
        match (instruction.opcode, debug) {
            // Scopes end with their block.
            (op::LABEL, _) => in_scope = false,
            (_, Some(debug::SCOPE)) => in_scope = true,
            (_, Some(debug::NO_SCOPE)) => in_scope = false,
            (_, Some(debug::DECLARE | debug::VALUE)) if !in_scope => return,
            _ => {}
        }
        words::push(into, instruction.opcode, instruction.operands);
    })
}

#[cfg(test)]
mod tests {
    use super::super::words::{literal, set, tests::module};
    use super::*;

    #[test]
    fn values_without_a_scope_go() {
        let import = [&[op::EXT_INST_IMPORT, 7][..], &literal(set::OPENCL_DEBUG_INFO)].concat();
        let of_debug = |id: u32, number: u32| vec![op::EXT_INST, 1, id, 7, number, 50];
        let (label, other) = (vec![op::LABEL, 2], vec![op::EXT_INST, 1, 30, 8, debug::VALUE]);
        let given = [
            import,
            label.clone(),
            of_debug(10, debug::VALUE),
            of_debug(11, debug::SCOPE),
            of_debug(12, debug::VALUE),
            of_debug(13, debug::NO_SCOPE),
            of_debug(14, debug::DECLARE),
            // Not of debug information.
            other,
            of_debug(15, debug::SCOPE),
            of_debug(16, debug::DECLARE),
            label,
            of_debug(17, debug::VALUE),
        ];
        let whole: Vec<&[u32]> = given.iter().map(Vec::as_slice).collect();
        let kept: Vec<&[u32]> = (0..given.len()).filter(|at| ![2, 6, 11].contains(at)).map(|at| whole[at]).collect();
        assert_eq!(remove(&module(&whole)), module(&kept));
    }
}
