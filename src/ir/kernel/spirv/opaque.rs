//! Keeps the values of specialisation constants out of a module's code.
//!
//! The tests of a suite may have different values of a constant. Sites and mutants have to be the same for all of them,
//! so that code must not be made of a value: a condition that is a constant has one outcome, a folded operation no
//! operator. Here, what a function computes with is loaded where the function begins, from a variable in constant
//! memory whose initial value is the constant. Everything else that depends on a constant keeps it: sizes of types,
//! initial values, scopes.
//!
//! Numbers of instructions are those of the SPIR-V specification, section 3.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::words::{self, Id, Instruction, Words, op};

const STORAGE_UNIFORM_CONSTANT: u32 = 0;

/// The name that `OpExtInstImport` gives to OpenCL's builtins.
const OPENCL_BUILTINS: &str = "OpenCL.std";

/// What a module-scope instruction defines, as far as it matters here.
struct Definitions {
    /// The types of the constants that depend on one of those wanted.
    dependent: HashMap<Id, Id>,
    /// The types of which variables can be: scalars, and vectors of numbers.
    storable: HashSet<Id>,
    /// The set of OpenCL's builtins.
    builtins: Option<Id>,
}

/// A constant's variable.
struct Variable {
    pointer: Id,
    variable: Id,
    ty: Id,
}

/// Returns the module in which functions load what depends on these constants, given by their ids.
pub(super) fn hide(module: &Words, constants: &HashSet<Id>) -> Words {
    let definitions = Definitions::of(module, constants);
    let used_by_function = definitions.uses(module);
    let used: BTreeSet<Id> = used_by_function.values().flatten().copied().collect();
    if used.is_empty() {
        return module.clone();
    }
    let mut bound = module.bound();
    let mut new_id = || {
        bound += 1;
        bound - 1
    };
    let variables: BTreeMap<Id, Variable> = used
        .iter()
        .map(|id| {
            let ty = definitions.dependent[id];
            (*id, Variable { pointer: new_id(), variable: new_id(), ty })
        })
        .collect();
    let loads: HashMap<Id, BTreeMap<Id, Id>> = used_by_function
        .iter()
        .map(|(function, used)| (*function, used.iter().map(|constant| (*constant, new_id())).collect()))
        .collect();
    let names = module.names();
    let mut state = Rewriting::default();
    let mut hidden = module.rewritten(|instruction, into| {
        if instruction.opcode == op::NAME && !std::mem::replace(&mut state.are_named, true) {
            for (constant, variable) in &variables {
                let name = names.get(constant).map_or_else(|| format!("spec.{constant}"), Clone::clone);
                words::push(into, op::NAME, &[&[variable.variable], &words::literal(&name)[..]].concat());
            }
        }
        if instruction.opcode == op::FUNCTION && !std::mem::replace(&mut state.are_declared, true) {
            for (constant, Variable { pointer, variable, ty }) in &variables {
                words::push(into, op::TYPE_POINTER, &[*pointer, STORAGE_UNIFORM_CONSTANT, *ty]);
                words::push(into, op::VARIABLE, &[*pointer, *variable, STORAGE_UNIFORM_CONSTANT, *constant]);
            }
        }
        let wanted = state.follow(instruction).and_then(|function| loads.get(&function));
        if let Some(wanted) = wanted.filter(|_| state.is_body_beginning(instruction)) {
            // What is loaded belongs to no line of the source.
            if state.line.is_some() {
                words::push(into, op::NO_LINE, &[]);
            }
            for (constant, load) in wanted {
                let Variable { variable, ty, .. } = variables[constant];
                words::push(into, op::LOAD, &[ty, *load, variable]);
            }
            if let Some(line) = &state.line {
                words::push(into, op::LINE, line);
            }
        }
        let mut operands = instruction.operands.to_vec();
        for at in wanted.map_or_else(Vec::new, |_| value_operands(instruction, definitions.builtins)) {
            if let Some(load) = wanted.and_then(|wanted| wanted.get(&operands[at])) {
                operands[at] = *load;
            }
        }
        words::push(into, instruction.opcode, &operands);
    });
    hidden.set_bound(bound);
    hidden
}

/// Where in a module the rewriting is.
#[derive(Default)]
struct Rewriting {
    are_named: bool,
    are_declared: bool,
    function: Option<Id>,
    /// Whether the first block of the function has begun, and nothing but variables and lines has been seen of it.
    in_prologue: bool,
    /// The operands of the `OpLine` in force.
    line: Option<Vec<u32>>,
    has_block: bool,
}

impl Rewriting {
    /// Takes note of an instruction. Returns the function that it belongs to.
    fn follow(&mut self, instruction: Instruction<'_>) -> Option<Id> {
        match (instruction.opcode, instruction.operands) {
            (op::FUNCTION, [_, id, ..]) => {
                (self.function, self.has_block, self.in_prologue, self.line) = (Some(*id), false, false, None);
            }
            (op::FUNCTION_END, _) => self.function = None,
            (op::LINE, operands) => self.line = Some(operands.to_vec()),
            (op::NO_LINE, _) => self.line = None,
            (op::LABEL, _) => {
                self.in_prologue = !self.has_block;
                self.has_block = true;
            }
            _ => {}
        }
        self.function
    }

    /// Whether an instruction is the first one of its function after the variables.
    fn is_body_beginning(&mut self, instruction: Instruction<'_>) -> bool {
        let is_prologue = matches!(instruction.opcode, op::LABEL | op::VARIABLE | op::LINE | op::NO_LINE);
        !is_prologue && std::mem::replace(&mut self.in_prologue, false)
    }
}

impl Definitions {
    fn of(module: &Words, constants: &HashSet<Id>) -> Definitions {
        let mut found = Definitions { dependent: HashMap::new(), storable: HashSet::new(), builtins: None };
        let mut numbers = HashSet::new();
        for instruction in module.instructions().take_while(|instruction| instruction.opcode != op::FUNCTION) {
            match (instruction.opcode, instruction.operands) {
                (op::EXT_INST_IMPORT, [id, name @ ..])
                    if words::text(name).is_some_and(|(name, _)| name == OPENCL_BUILTINS) =>
                {
                    found.builtins = Some(*id);
                }
                (op::TYPE_BOOL, [id]) => {
                    found.storable.insert(*id);
                }
                (op::TYPE_INT | op::TYPE_FLOAT, [id, ..]) => {
                    found.storable.insert(*id);
                    numbers.insert(*id);
                }
                (op::TYPE_VECTOR, [id, component, _]) if numbers.contains(component) => {
                    found.storable.insert(*id);
                }
                (op::SPEC_CONSTANT_TRUE | op::SPEC_CONSTANT_FALSE | op::SPEC_CONSTANT, [ty, id, ..])
                    if constants.contains(id) =>
                {
                    found.dependent.insert(*id, *ty);
                }
                // Of an operation, the first operand is its number. A literal among the others may be taken for an id;
                // then a constant is loaded in vain.
                (op::SPEC_CONSTANT_COMPOSITE, [ty, id, parts @ ..])
                | (op::SPEC_CONSTANT_OP, [ty, id, _, parts @ ..])
                    if parts.iter().any(|part| found.dependent.contains_key(part)) =>
                {
                    found.dependent.insert(*id, *ty);
                }
                _ => {}
            }
        }
        found
    }

    /// Returns the dependent constants that each function uses where any value may stand.
    fn uses(&self, module: &Words) -> HashMap<Id, BTreeSet<Id>> {
        let is_hidden = |id: &Id| self.dependent.get(id).is_some_and(|ty| self.storable.contains(ty));
        let mut uses: HashMap<Id, BTreeSet<Id>> = HashMap::new();
        let mut function = None;
        for instruction in module.instructions() {
            match (instruction.opcode, instruction.operands) {
                (op::FUNCTION, [_, id, ..]) => function = Some(*id),
                (op::FUNCTION_END, _) => function = None,
                _ => {}
            }
            let Some(function) = function else { continue };
            let values = value_operands(instruction, self.builtins).into_iter().map(|at| instruction.operands[at]);
            uses.entry(function).or_default().extend(values.filter(is_hidden));
        }
        uses.retain(|_, used| !used.is_empty());
        uses
    }
}

/// Returns the positions of the operands that are values which need not be constants. Other operands are types,
/// literals, labels, memory, or, as scopes are, best left as they are.
fn value_operands(instruction: Instruction<'_>, builtins: Option<Id>) -> Vec<usize> {
    let operands = instruction.operands;
    let positions: Vec<usize> = match instruction.opcode {
        // OpExtInst
        12 if operands.get(2).copied() == builtins && builtins.is_some() => match operands.get(3) {
            // vloadn, vload_half, vload_halfn, vloada_halfn: offset and address; then the number of elements.
            Some(171 | 173 | 174 | 179) => vec![4, 5],
            // The stores: data, offset and address; then a rounding mode.
            Some(172 | 175..=178 | 180 | 181) => vec![4, 5, 6],
            _ => (4..operands.len()).collect(),
        },
        // OpFunctionCall
        57 => (3..operands.len()).collect(),
        // OpStore
        62 => vec![1],
        // OpAccessChain to OpInBoundsPtrAccessChain: the indices
        65..=67 | 70 => (3..operands.len()).collect(),
        // OpVectorExtractDynamic, OpVectorInsertDynamic, OpCompositeConstruct, OpCopyObject
        77 | 78 | 80 | 83 => (2..operands.len()).collect(),
        // OpVectorShuffle, OpCompositeInsert: two values, then literals
        79 | 82 => vec![2, 3],
        // OpCompositeExtract
        81 => vec![2],
        // OpImageSampleExplicitLod, OpImageRead: the coordinate
        88 | 98 => vec![3],
        // OpImageWrite: coordinate and texel
        99 => vec![1, 2],
        // Conversions to OpConvertUToPtr, OpBitcast; OpSNegate to OpSMulExtended; OpAny to OpFUnordGreaterThanEqual;
        // OpShiftRightLogical to OpBitCount
        109..=120 | 124 | 126..=152 | 154..=191 | 194..=205 => (2..operands.len()).collect(),
        // OpAtomicStore
        228 => vec![3],
        // OpAtomicExchange, OpAtomicIAdd to OpAtomicXor
        229 | 234..=242 => vec![5],
        // OpAtomicCompareExchange, OpAtomicCompareExchangeWeak
        230 | 231 => vec![6, 7],
        // OpPhi: each value is followed by a block
        245 => (2..operands.len()).step_by(2).collect(),
        // OpBranchConditional, OpSwitch, OpReturnValue
        250 | 251 | 254 => vec![0],
        // OpGroupAsyncCopy: number of elements and stride
        259 => vec![5, 6],
        _ => Vec::new(),
    };
    positions.into_iter().filter(|at| *at < operands.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::words::tests::module;
    use super::*;

    const BOOL: u32 = 1;
    const UINT: u32 = 2;
    const ARRAY: u32 = 3;
    const TILE: u32 = 10;
    const DOUBLED: u32 = 11;
    const OTHER: u32 = 12;
    const SIZES: u32 = 13;

    /// A module with these instructions in the first block of a function and a second block.
    fn function(name: &[&[u32]], body: &[&[u32]]) -> Words {
        let head: [&[u32]; 7] = [
            &[op::TYPE_BOOL, BOOL],
            &[op::TYPE_INT, UINT, 32, 0],
            &[op::SPEC_CONSTANT, UINT, TILE, 2],
            // 132 is OpIMul.
            &[op::SPEC_CONSTANT_OP, UINT, DOUBLED, 132, TILE, TILE],
            &[op::SPEC_CONSTANT, UINT, OTHER, 5],
            &[28, ARRAY, UINT, DOUBLED],
            &[op::SPEC_CONSTANT_COMPOSITE, ARRAY, SIZES, TILE, TILE],
        ];
        let begin: [&[u32]; 3] = [&[op::FUNCTION, 90, 91, 0, 92], &[op::LABEL, 93], &[op::VARIABLE, 94, 95, 7]];
        let end: [&[u32]; 4] = [&[op::LABEL, 96], &[254, TILE], &[op::FUNCTION_END], &[op::FUNCTION, 90, 97, 0, 92]];
        module(&[name, &head, &begin, body, &end].concat())
    }

    fn instructions(module: &Words) -> Vec<Vec<u32>> {
        module.instructions().map(|i| [&[i.opcode], i.operands].concat()).collect()
    }

    #[test]
    fn what_depends_on_a_constant_is_loaded_once_in_each_function() {
        let tile = u32::from_le_bytes(*b"tile");
        let names: [&[u32]; 1] = [&[op::NAME, TILE, tile, 0]];
        let body: [&[u32]; 4] = [
            &[op::LINE, 80, 4, 2],
            // OpIMul of a constant and what follows of it; OpIAdd of another constant; OpBranch.
            &[132, UINT, 60, TILE, DOUBLED],
            &[128, UINT, 61, TILE, OTHER],
            &[op::BRANCH, 96],
        ];
        let hidden = hide(&function(&names, &body), &HashSet::from([TILE]));
        let found = instructions(&hidden);
        // Ids from 100 on are new; those of a constant's pointer and variable come first.
        let expected: Vec<Vec<u32>> = vec![
            vec![op::LINE, 80, 4, 2],
            vec![op::NO_LINE],
            vec![op::LOAD, UINT, 104, 101],
            vec![op::LOAD, UINT, 105, 103],
            vec![op::LINE, 80, 4, 2],
            vec![132, UINT, 60, 104, 105],
            vec![128, UINT, 61, 104, OTHER],
            vec![op::BRANCH, 96],
            vec![op::LABEL, 96],
            vec![254, 104],
        ];
        assert!(found.windows(expected.len()).any(|window| window == expected), "{found:?}");
        assert!(found.contains(&vec![op::TYPE_POINTER, 102, 0, UINT]));
        assert!(found.contains(&vec![op::VARIABLE, 102, 103, 0, DOUBLED]));
        assert!(found.contains(&vec![op::NAME, 101, tile, 0]));
        assert!(found.contains(&vec![28, ARRAY, UINT, DOUBLED]), "types keep their sizes");
        assert_eq!(hidden.bound(), 106);
    }

    #[test]
    fn literals_arrays_and_other_constants_stay() {
        let given = function(
            &[],
            &[
                // OpCompositeExtract with a literal index that has the number of a constant.
                &[81, UINT, 60, 59, TILE],
                &[81, UINT, 61, SIZES, 0],
                &[op::BRANCH, 96],
            ],
        );
        let hidden = instructions(&hide(&given, &HashSet::from([TILE])));
        assert!(hidden.contains(&vec![81, UINT, 60, 59, TILE]));
        assert!(hidden.contains(&vec![81, UINT, 61, SIZES, 0]));
        assert_eq!(hide(&given, &HashSet::from([OTHER])), given);
        assert_eq!(hide(&given, &HashSet::new()), given);
    }
}
