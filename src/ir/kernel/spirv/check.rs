//! Refuses SPIR-V modules that are no OpenCL kernels for 64-bit devices, and puts the others into the form that the
//! translators read.

use std::collections::{HashMap, HashSet};

use super::capabilities::{self, Capability};
use super::shared_targets;
use super::synchronisation::Unsayable;
use super::words::{self, Id, Malformed, Words, op};

const EXECUTION_MODEL_KERNEL: u32 = 6;
const ADDRESSING_PHYSICAL_32: u32 = 1;
const ADDRESSING_PHYSICAL_64: u32 = 2;

/// The newest version that is read.
const NEWEST: (u32, u32) = (1, 6);
/// The version that newer modules are given for the translators, which refuse newer ones by their number. The
/// instructions that later versions added are known to them as those of extensions.
const TRANSLATED: (u32, u32) = (1, 4);

/// The widest scalar type, in bits.
const MAX_WIDTH: u32 = 64;

/// The greatest number of a vector's components (SPIR-V 1.6, 2.16.1), unless a module has [`VECTOR_ANY`].
const MAX_COMPONENTS: u32 = 16;

/// The number of the capability VectorAnyINTEL (SPV_INTEL_vector_compute).
const VECTOR_ANY: u32 = 5619;

/// Why a module is refused. The messages continue a sentence that names the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error(transparent)]
    Unsayable(#[from] Unsayable),
    #[error("it has version {0}.{1}; kassay reads versions 1.0 to 1.6")]
    Version(u32, u32),
    #[error("it needs the capability {0}, which no OpenCL kernel has")]
    Graphics(&'static str),
    #[error("it needs the capability of number {0}, which is not known")]
    UnknownCapability(u32),
    #[error("its entry point `{name}` has the execution model {model}; kassay takes kernels")]
    Model { name: String, model: String },
    #[error("it uses 32-bit addresses; kassay takes kernels for 64-bit devices")]
    Address32,
    #[error("it has logical addresses, as shaders have: it is no module for OpenCL")]
    Logical,
    #[error("it has no kernel entry point")]
    NoKernel,
    #[error("it ends within a function")]
    Unfinished,
    #[error("the function of its kernel is missing")]
    NoBody,
    #[error("its function %{0} has instructions outside of blocks")]
    OutsideBlock(Id),
    #[error("its constant %{0} has not as many words as its type")]
    Literal(Id),
    #[error("its vector type %{id} has {components} components; kernels have vectors of at most {MAX_COMPONENTS}")]
    Vector { id: Id, components: u32 },
}

/// Checks that a module is one of OpenCL kernels and complete, because readers crash on truncated ones.
pub(super) fn check(module: &Words) -> Result<(), Refusal> {
    let version = module.version();
    if !((1, 0)..=NEWEST).contains(&version) {
        return Err(Refusal::Version(version.0, version.1));
    }
    let (mut functions, mut in_function) = (HashSet::new(), false);
    check_blocks(module)?;
    let mut widths: HashMap<Id, u32> = HashMap::new();
    let mut has_long_vectors = false;
    for instruction in module.instructions() {
        match (instruction.opcode, instruction.operands) {
            (op::CAPABILITY, [capability, ..]) => match Capability::of(*capability) {
                Capability::Kernel => has_long_vectors |= *capability == VECTOR_ANY,
                Capability::Graphics(name) => return Err(Refusal::Graphics(name)),
                Capability::Unknown => return Err(Refusal::UnknownCapability(*capability)),
            },
            (op::TYPE_INT | op::TYPE_FLOAT, [id, width, ..]) => {
                widths.insert(*id, *width);
            }
            // A module of a few words could have thousands of instructions for each access.
            (op::TYPE_VECTOR, [id, _, components, ..]) if *components > MAX_COMPONENTS && !has_long_vectors => {
                return Err(Refusal::Vector { id: *id, components: *components });
            }
            // The translator would wait for ever.
            (op::CONSTANT | op::SPEC_CONSTANT, [ty, id, literal @ ..])
                if widths.get(ty).is_some_and(|width| literal.len() as u32 != width.div_ceil(u32::BITS)) =>
            {
                return Err(Refusal::Literal(*id));
            }
            (op::MEMORY_MODEL, [ADDRESSING_PHYSICAL_32, ..]) => return Err(Refusal::Address32),
            (op::MEMORY_MODEL, [model, ..]) if *model != ADDRESSING_PHYSICAL_64 => return Err(Refusal::Logical),
            (op::FUNCTION, [_, id, ..]) => {
                functions.insert(*id);
                in_function = true;
            }
            (op::FUNCTION_END, _) => in_function = false,
            _ => {}
        }
    }
    if in_function {
        return Err(Refusal::Unfinished);
    }
    let mut has_kernel = false;
    for entry in module.entry_points() {
        if entry.model != EXECUTION_MODEL_KERNEL {
            let model = capabilities::execution_model(entry.model);
            let model = model.map_or_else(|| format!("of number {}", entry.model), str::to_owned);
            return Err(Refusal::Model { name: entry.name, model });
        }
        if !functions.contains(&entry.function) {
            return Err(Refusal::NoBody);
        }
        has_kernel = true;
    }
    if has_kernel { Ok(()) } else { Err(Refusal::NoKernel) }
}

/// Checks that functions consist of blocks: the translator would wait for ever.
fn check_blocks(module: &Words) -> Result<(), Refusal> {
    // The function, and whether there is an open block.
    let mut at: Option<(Id, bool)> = None;
    for instruction in module.instructions() {
        at = match (instruction.opcode, instruction.operands, at) {
            (op::FUNCTION, [_, id, ..], _) => Some((*id, false)),
            (op::FUNCTION_END, ..) => None,
            (op::LABEL, _, Some((function, false))) => Some((function, true)),
            // Debug information and parameters.
            (op::LINE | op::NO_LINE | op::EXT_INST, ..) => at,
            (op::FUNCTION_PARAMETER, _, Some((_, false))) => at,
            (_, _, Some((function, false))) => return Err(Refusal::OutsideBlock(function)),
            (op::BRANCH..=op::UNREACHABLE, _, Some((function, true))) => Some((function, false)),
            _ => at,
        };
    }
    Ok(())
}

/// Returns the module in the form that the translators read: of a version that they know, with a block for edges that
/// share a target (`shared_targets`), and with `OpConstantNull` of scalar types rewritten to `OpConstant 0` or
/// `OpConstantFalse`, which older ones require.
pub(super) fn normalise(module: &Words) -> Words {
    // The number of literal words of each scalar type's constants; 0 for bool.
    let mut scalars: HashMap<u32, usize> = HashMap::new();
    let mut normalised = shared_targets::split(module).rewritten(|instruction, words| {
        match (instruction.opcode, instruction.operands) {
            (op::TYPE_BOOL, [id, ..]) => {
                scalars.insert(*id, 0);
            }
            (op::TYPE_INT | op::TYPE_FLOAT, [id, width, ..]) if *width <= MAX_WIDTH => {
                scalars.insert(*id, width.div_ceil(u32::BITS).max(1) as usize);
            }
            _ => {}
        }
        match (instruction.opcode, instruction.operands) {
            (op::CONSTANT_NULL, [ty, result]) if scalars.contains_key(ty) => {
                let literal = scalars[ty];
                let spelt = if literal == 0 { op::CONSTANT_FALSE } else { op::CONSTANT };
                words::push(words, spelt, &[&[*ty, *result], &[0; 2][..literal.min(2)]].concat());
            }
            _ => words::push(words, instruction.opcode, instruction.operands),
        }
    });
    if normalised.version() > TRANSLATED {
        normalised.set_version(TRANSLATED);
    }
    normalised
}

#[cfg(test)]
mod tests {
    use super::super::words::tests::module;
    use super::*;

    const KERNEL: [&[u32]; 2] =
        [&[op::MEMORY_MODEL, ADDRESSING_PHYSICAL_64, 2], &[op::ENTRY_POINT, EXECUTION_MODEL_KERNEL, 99, 0x6b]];
    const BODY: [&[u32]; 2] = [&[op::FUNCTION, 97, 99, 0, 98], &[op::FUNCTION_END]];

    fn with(between: &[&[u32]]) -> Words {
        module(&[&KERNEL[..], between, &BODY[..]].concat())
    }

    #[test]
    fn scalar_nulls_are_spelt_out_and_others_kept() {
        // A type of 128 bits is none.
        let types: [&[u32]; 5] = [
            &[op::TYPE_BOOL, 1],
            &[op::TYPE_INT, 2, 32, 0],
            &[op::TYPE_FLOAT, 3, 64],
            &[30, 4, 2, 2],
            &[op::TYPE_INT, 9, u32::MAX, 0],
        ];
        let nulls: [&[u32]; 5] = [
            &[op::CONSTANT_NULL, 1, 5],
            &[op::CONSTANT_NULL, 2, 6],
            &[op::CONSTANT_NULL, 3, 7],
            &[op::CONSTANT_NULL, 4, 8],
            &[op::CONSTANT_NULL, 9, 10],
        ];
        let spelt: [&[u32]; 5] = [
            &[op::CONSTANT_FALSE, 1, 5],
            &[op::CONSTANT, 2, 6, 0],
            &[op::CONSTANT, 3, 7, 0, 0],
            &[op::CONSTANT_NULL, 4, 8],
            &[op::CONSTANT_NULL, 9, 10],
        ];
        let given = with(&[types, nulls].concat());
        assert_eq!(normalise(&given), with(&[types, spelt].concat()));
    }

    #[test]
    fn newer_versions_are_set_down() {
        let mut given = with(&[]);
        for (version, becomes) in [((1, 0), (1, 0)), ((1, 4), (1, 4)), ((1, 5), (1, 4)), ((1, 6), (1, 4))] {
            given.set_version(version);
            assert_eq!(check(&given), Ok(()));
            assert_eq!(normalise(&given).version(), becomes);
        }
        given.set_version((1, 7));
        assert_eq!(check(&given), Err(Refusal::Version(1, 7)));
    }

    #[test]
    fn modules_that_are_no_kernels_are_named() {
        let refusal = |instructions: &[&[u32]]| check(&module(instructions)).unwrap_err();
        assert_eq!(refusal(&[KERNEL[0], KERNEL[1], BODY[0]]), Refusal::Unfinished);
        assert_eq!(refusal(&KERNEL), Refusal::NoBody);
        assert_eq!(refusal(&KERNEL[..1]), Refusal::NoKernel);
        assert_eq!(refusal(&[&[op::MEMORY_MODEL, 1, 2]]), Refusal::Address32);
        assert_eq!(refusal(&[&[op::MEMORY_MODEL, 0, 2]]), Refusal::Logical);
        assert_eq!(refusal(&[&[op::CAPABILITY, 1]]), Refusal::Graphics("Shader"));
        assert_eq!(refusal(&[&[op::CAPABILITY, 123_456]]), Refusal::UnknownCapability(123_456));
        let compute: &[u32] = &[op::ENTRY_POINT, 5, 99, 0x6b];
        assert_eq!(
            refusal(&[compute]).to_string(),
            "its entry point `k` has the execution model GLCompute; kassay takes kernels"
        );
        assert_eq!(check(&with(&[])), Ok(()));
        let block = |inside: &[&[u32]]| module(&[&KERNEL[..], &BODY[..1], inside, &BODY[1..]].concat());
        let (label, end, store): (&[u32], &[u32], &[u32]) = (&[op::LABEL, 1], &[op::UNREACHABLE], &[62, 2, 3]);
        assert_eq!(check(&block(&[&[op::FUNCTION_PARAMETER, 4, 5], label, store, end, label, end])), Ok(()));
        assert_eq!(check(&block(&[&[op::LINE, 6, 1, 1], label, end, &[op::NO_LINE]])), Ok(()));
        assert_eq!(check(&block(&[store, label, end])), Err(Refusal::OutsideBlock(99)));
        assert_eq!(check(&block(&[label, end, store])), Err(Refusal::OutsideBlock(99)));
        let int: &[u32] = &[op::TYPE_INT, 2, 64, 0];
        assert_eq!(check(&with(&[int, &[op::CONSTANT, 2, 3, 7, 0]])), Ok(()));
        assert_eq!(check(&with(&[int, &[op::CONSTANT, 2, 3, 7]])), Err(Refusal::Literal(3)));
        let vector = |components| [op::TYPE_VECTOR, 3, 2, components];
        assert_eq!(check(&with(&[int, &vector(16)])), Ok(()));
        assert_eq!(check(&with(&[int, &vector(17)])), Err(Refusal::Vector { id: 3, components: 17 }));
        assert_eq!(check(&with(&[&[op::CAPABILITY, VECTOR_ANY], int, &vector(17)])), Ok(()));
    }
}
