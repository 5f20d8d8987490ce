//! Corrects what LLVM 22's SPIR-V backend emits, and refuses what no driver need take.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::kernel::spirv::words::{self, Id, Malformed, Words, op};

/// The decoration of what another module defines, and the number that says that it is imported (SPIR-V 3.20 and 3.31).
const LINKAGE_ATTRIBUTES: u32 = 41;
const IMPORT: u32 = 1;

/// What is added to SPIR-V's number of an image's order: `CLK_R`, the first one (OpenCL's `CL_R`).
pub const FIRST_ORDER: u32 = 0x10B0;

/// The decoration that says the alignment of memory, and the bit that says it of an access (SPIR-V 3.20 and 3.26).
const ALIGNMENT: u32 = 44;
const ALIGNED: u32 = 2;

/// The decoration of variables that the device fills, those of a sub-group's masks, and the capability that these need
/// (SPIR-V 3.20, 3.21 and 3.31).
const BUILT_IN: u32 = 11;
const SUBGROUP_MASKS: std::ops::RangeInclusive<u32> = 4416..=4420;
const GROUP_NON_UNIFORM_BALLOT: u32 = 64;

/// Corrects a module: constants that are zero, queries of an image's order, zeros that are copied, and how variables
/// are aligned.
///
/// # Errors
/// [`Malformed`] if these bytes are no SPIR-V.
pub fn corrected(bytes: &[u8]) -> Result<Words, Malformed> {
    let with_plain_zeros = with_plain_zeros(&Words::parse(bytes)?);
    Ok(with_capabilities(with_whole_alignments(&aligned(&ordered(&with_plain_zeros)))))
}

/// Gives variables the alignments that they had: of those from 128 on, the backend keeps eight bits, and their sign.
fn with_whole_alignments(module: &Words) -> Words {
    let greatest = module.instructions().filter_map(|instruction| match (instruction.opcode, instruction.operands) {
        (op::LOAD, [_, _, _, access, alignment, ..]) | (op::STORE, [_, _, access, alignment, ..])
            if access & ALIGNED != 0 =>
        {
            Some(*alignment)
        }
        _ => None,
    });
    // What is lost is a multiple of 256; an alignment that is too great does no harm.
    let greatest = greatest.max().unwrap_or_default().max(256);
    module.rewritten(|instruction, into| match (instruction.opcode, instruction.operands) {
        (op::DECORATE, [target, ALIGNMENT, 0]) => words::push(into, op::DECORATE, &[*target, ALIGNMENT, greatest]),
        (op::DECORATE, [target, ALIGNMENT, alignment]) => {
            let alignment = if *alignment > i32::MAX as u32 { alignment & 0xFF } else { *alignment };
            words::push(into, op::DECORATE, &[*target, ALIGNMENT, alignment]);
        }
        (opcode, operands) => words::push(into, opcode, operands),
    })
}

/// Adds the capability of variables that the backend makes without it: `get_sub_group_lt_mask` and its kind.
fn with_capabilities(mut module: Words) -> Words {
    let is_mask = |kind: u32, operands: &[u32]| {
        kind == BUILT_IN && operands.first().is_some_and(|built_in| SUBGROUP_MASKS.contains(built_in))
    };
    let has_mask = module.decorations().any(|decoration| is_mask(decoration.kind, decoration.operands));
    let declares = |instruction: &words::Instruction<'_>| {
        instruction.opcode == op::CAPABILITY && instruction.operands == [GROUP_NON_UNIFORM_BALLOT]
    };
    if !has_mask || module.instructions().any(|instruction| declares(&instruction)) {
        return module;
    }
    // The capability is of this version.
    if module.version() < (1, 3) {
        module.set_version((1, 3));
    }
    let mut is_first = true;
    module.rewritten(|instruction, into| {
        if std::mem::take(&mut is_first) {
            words::push(into, op::CAPABILITY, &[GROUP_NON_UNIFORM_BALLOT]);
        }
        words::push(into, instruction.opcode, instruction.operands);
    })
}

/// Gives constants that are zero the form that every consumer takes: a scalar's is OpConstant, because indices into
/// structs have to be that, some drivers refuse OpConstantNull of scalars, and the backend writes it with a literal
/// that it has not.
fn with_plain_zeros(module: &Words) -> Words {
    let mut zeros: HashMap<Id, Zero> = HashMap::new();
    for instruction in module.instructions() {
        match (instruction.opcode, instruction.operands) {
            (op::TYPE_INT | op::TYPE_FLOAT, [id, width, ..]) => {
                zeros.insert(*id, Zero::Words(width.div_ceil(u32::BITS)));
            }
            (op::TYPE_BOOL, [id, ..]) => {
                zeros.insert(*id, Zero::False);
            }
            _ => {}
        }
    }
    module.rewritten(|instruction, into| match (instruction.opcode, instruction.operands) {
        (op::CONSTANT_NULL, [ty, id, ..]) => match zeros.get(ty) {
            Some(Zero::Words(count)) => {
                let literal = vec![0; *count as usize];
                words::push(into, op::CONSTANT, &[&[*ty, *id][..], &literal].concat());
            }
            Some(Zero::False) => words::push(into, op::CONSTANT_FALSE, &[*ty, *id]),
            None => words::push(into, op::CONSTANT_NULL, &[*ty, *id]),
        },
        (opcode, operands) => words::push(into, opcode, operands),
    })
}

/// Turns queries of an image's data type to which [`FIRST_ORDER`] is added into those of its order, which the backend
/// lacks.
fn ordered(module: &Words) -> Words {
    let mut numbers: HashSet<Id> = HashSet::new();
    let mut queries: HashSet<Id> = HashSet::new();
    let mut orders: HashSet<Id> = HashSet::new();
    for instruction in module.instructions() {
        match (instruction.opcode, instruction.operands) {
            (op::CONSTANT, [_, id, FIRST_ORDER]) => {
                numbers.insert(*id);
            }
            (op::IMAGE_QUERY_FORMAT, [_, id, ..]) => {
                queries.insert(*id);
            }
            (op::I_ADD, [_, _, x, y]) if queries.contains(x) && numbers.contains(y) => {
                orders.insert(*x);
            }
            (op::I_ADD, [_, _, x, y]) if queries.contains(y) && numbers.contains(x) => {
                orders.insert(*y);
            }
            _ => {}
        }
    }
    module.rewritten(|instruction, into| match (instruction.opcode, instruction.operands) {
        (op::IMAGE_QUERY_FORMAT, operands @ [_, id, ..]) if orders.contains(id) => {
            words::push(into, op::IMAGE_QUERY_ORDER, operands);
        }
        (opcode, operands) => words::push(into, opcode, operands),
    })
}

/// Says how variables are aligned that the backend makes of zeros and copies from as if they were so.
fn aligned(module: &Words) -> Words {
    let is_alignment = |kind: u32| kind == ALIGNMENT;
    let known: HashSet<Id> = module.decorations().filter(|d| is_alignment(d.kind)).map(|d| d.target).collect();
    let variables: HashSet<Id> = module
        .instructions()
        .filter(|instruction| instruction.opcode == op::VARIABLE)
        .filter_map(|instruction| instruction.operands.get(1).copied())
        .filter(|id| !known.contains(id))
        .collect();
    let mut alignments: BTreeMap<Id, u32> = BTreeMap::new();
    let mut cast: HashMap<Id, Id> = HashMap::new();
    for instruction in module.instructions() {
        match (instruction.opcode, instruction.operands) {
            (op::BITCAST, [_, id, from]) => {
                cast.insert(*id, *from);
            }
            (op::COPY_MEMORY_SIZED, [_, from, _, access, alignment, ..]) if access & ALIGNED != 0 => {
                let from = cast.get(from).unwrap_or(from);
                if variables.contains(from) {
                    let known = alignments.entry(*from).or_default();
                    *known = (*known).max(*alignment);
                }
            }
            _ => {}
        }
    }
    // Decorations come before all types.
    let mut pending = Some(alignments);
    module.rewritten(|instruction, into| {
        if (op::TYPE_VOID..=op::TYPE_POINTER).contains(&instruction.opcode) {
            for (id, alignment) in pending.take().unwrap_or_default() {
                words::push(into, op::DECORATE, &[id, ALIGNMENT, alignment]);
            }
        }
        words::push(into, instruction.opcode, instruction.operands);
    })
}

/// How a type's zero is written.
enum Zero {
    /// As a literal of so many words.
    Words(u32),
    False,
}

/// Returns the names of the functions that the module imports, in order. Nothing says that a driver has them.
pub fn imported_functions(module: &Words) -> Vec<String> {
    let functions: HashSet<Id> = module
        .instructions()
        .filter(|instruction| instruction.opcode == op::FUNCTION)
        .filter_map(|instruction| instruction.operands.get(1).copied())
        .collect();
    let imports = module.decorations().filter_map(|decoration| {
        let (name, rest) = words::text(decoration.operands).filter(|_| decoration.kind == LINKAGE_ATTRIBUTES)?;
        (rest == [IMPORT] && functions.contains(&decoration.target)).then_some(name)
    });
    imports.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(instructions: &[&[u32]]) -> Vec<u8> {
        let mut words = vec![0x0723_0203, 0x1_0200, 0, 20, 0];
        for instruction in instructions {
            words::push(&mut words, instruction[0], &instruction[1..]);
        }
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn scalars_that_are_zero_are_plain_constants() {
        let types: [&[u32]; 4] =
            [&[op::TYPE_INT, 1, 64, 0], &[op::TYPE_BOOL, 2], &[op::TYPE_VECTOR, 3, 1, 4], &[op::TYPE_FLOAT, 4, 16]];
        let nulls: [&[u32]; 4] = [
            &[op::CONSTANT_NULL, 1, 5, 0, 0],
            &[op::CONSTANT_NULL, 2, 6],
            &[op::CONSTANT_NULL, 3, 7],
            &[op::CONSTANT_NULL, 4, 8],
        ];
        let plain: [&[u32]; 4] = [
            &[op::CONSTANT, 1, 5, 0, 0],
            &[op::CONSTANT_FALSE, 2, 6],
            &[op::CONSTANT_NULL, 3, 7],
            &[op::CONSTANT, 4, 8, 0],
        ];
        let expected = module(&[types, plain].concat());
        assert_eq!(corrected(&module(&[types, nulls].concat())).unwrap().bytes(), expected);
    }

    #[test]
    fn queries_to_which_the_first_order_is_added_are_of_the_order() {
        let constants: [&[u32]; 3] =
            [&[op::TYPE_INT, 1, 32, 0], &[op::CONSTANT, 1, 2, FIRST_ORDER], &[op::CONSTANT, 1, 3, 0x10D0]];
        let queries = |order: u32| -> Vec<Vec<u32>> {
            vec![
                vec![order, 1, 10, 9],
                vec![op::I_ADD, 1, 11, 10, 2],
                vec![op::IMAGE_QUERY_FORMAT, 1, 12, 9],
                vec![op::I_ADD, 1, 13, 12, 3],
            ]
        };
        let whole = |order: u32| {
            let queries = queries(order);
            module(&constants.into_iter().chain(queries.iter().map(Vec::as_slice)).collect::<Vec<_>>())
        };
        assert_eq!(corrected(&whole(op::IMAGE_QUERY_FORMAT)).unwrap().bytes(), whole(op::IMAGE_QUERY_ORDER));
    }

    #[test]
    fn alignments_from_128_on_are_whole() {
        let ty: [&[u32]; 1] = [&[op::TYPE_INT, 1, 8, 0]];
        let load: [&[u32]; 1] = [&[op::LOAD, 1, 7, 6, ALIGNED, 512]];
        let with = |decorations: [[u32; 4]; 3]| {
            let words: Vec<&[u32]> = decorations.iter().map(<[u32; 4]>::as_slice).chain(ty).chain(load).collect();
            module(&words)
        };
        let said = |alignments: [u32; 3]| {
            let mut id = 4;
            with(alignments.map(|alignment| {
                id += 1;
                [op::DECORATE, id, ALIGNMENT, alignment]
            }))
        };
        let given = said([0xFFFF_FF80, 0, 64]);
        assert_eq!(corrected(&given).unwrap().bytes(), said([128, 512, 64]));
    }

    #[test]
    fn masks_of_sub_groups_have_their_capability() {
        let decoration: [&[u32]; 1] = [&[op::DECORATE, 5, BUILT_IN, 4420]];
        let corrected = corrected(&module(&decoration)).unwrap();
        assert_eq!(corrected.version(), (1, 3));
        let first = corrected.instructions().next().unwrap();
        assert_eq!((first.opcode, first.operands), (op::CAPABILITY, &[GROUP_NON_UNIFORM_BALLOT][..]));
    }

    #[test]
    fn variables_that_are_copied_from_are_as_aligned_as_the_copy_says() {
        let ty: [&[u32]; 1] = [&[op::TYPE_INT, 1, 8, 0]];
        let code: [&[u32]; 3] =
            [&[op::VARIABLE, 2, 5, 0], &[op::BITCAST, 3, 6, 5], &[op::COPY_MEMORY_SIZED, 7, 6, 8, ALIGNED, 4]];
        let said: [&[u32]; 1] = [&[op::DECORATE, 5, ALIGNMENT, 4]];
        let given = module(&[&ty[..], &code].concat());
        assert_eq!(corrected(&given).unwrap().bytes(), module(&[&said[..], &ty, &code].concat()));
    }

    #[test]
    fn imported_functions_are_named_and_variables_are_not() {
        let linkage = |id: u32, name: &str| {
            [&[op::DECORATE, id, LINKAGE_ATTRIBUTES][..], &words::literal(name), &[IMPORT]].concat()
        };
        let (f, v) = (linkage(3, "_Z1fj"), linkage(4, "__spirv_BuiltInWorkDim"));
        let bytes = module(&[&f, &v, &[op::FUNCTION, 1, 3, 0, 2], &[op::FUNCTION_END]]);
        assert_eq!(imported_functions(&Words::parse(&bytes).unwrap()), ["_Z1fj"]);
    }
}
