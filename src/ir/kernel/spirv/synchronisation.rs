//! Puts barriers, fences and atomic instructions into a form that the translators carry over with all that it means,
//! and refuses what OpenCL C cannot say.
//!
//! The translators write builtins of OpenCL C 2.0. A barrier there always releases before it and acquires after it, so
//! that one with another order becomes a barrier that orders nothing and a fence of that order. Numbers are those of
//! the SPIR-V specification, sections 3.25 (memory semantics) and 3.27 (scopes).

use std::collections::{BTreeMap, HashMap, HashSet};

use super::words::{self, Id, Instruction, Words, op};

const WORKGROUP: u32 = 2;
const SUBGROUP: u32 = 3;
const DEVICE: u32 = 1;
/// The last of the scopes that OpenCL has: that of a work-item.
const INVOCATION: u32 = 4;

const ACQUIRE: u32 = 0x2;
const RELEASE: u32 = 0x4;
/// Acquire, release, both, and sequentially consistent.
const ORDERS: u32 = ACQUIRE | RELEASE | 0x8 | 0x10;

/// The number of LLVM's own backend among the generators of modules (registered with Khronos).
const LLVM_BACKEND: u32 = 43;
/// The storage class of global memory.
const CROSS_WORKGROUP: u32 = 5;

/// Why what a module says of synchronisation cannot be read. The messages continue a sentence that names the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unsayable {
    #[error(
        "it has a barrier of the scope {0}, which OpenCL does not have: work-items wait for their group or sub-group"
    )]
    Barrier(u32),
    #[error("it has a barrier whose scope is computed, so it is not known which work-items wait for each other")]
    ComputedBarrier,
    #[error("it has a memory scope of number {0}, which OpenCL does not have")]
    Scope(u32),
    #[error("it has the memory semantics {0:#x}, with more than one order")]
    Orders(u32),
}

/// Where the operands of an instruction are that say how it synchronises.
struct Places {
    /// The memory scope.
    scope: usize,
    /// The memory semantics.
    semantics: &'static [usize],
    /// The pointer of an atomic access.
    pointer: Option<usize>,
}

/// Returns the places of an instruction that synchronises.
fn places(opcode: u32) -> Option<Places> {
    let atomic = |pointer, scope, semantics| Places { scope, semantics, pointer: Some(pointer) };
    Some(match opcode {
        op::CONTROL_BARRIER => Places { scope: 1, semantics: &[2], pointer: None },
        op::MEMORY_BARRIER => Places { scope: 0, semantics: &[1], pointer: None },
        op::ATOMIC_STORE | op::ATOMIC_FLAG_CLEAR => atomic(0, 1, &[2]),
        op::ATOMIC_COMPARE_EXCHANGE | op::ATOMIC_COMPARE_EXCHANGE_WEAK => atomic(2, 3, &[4, 5]),
        op::ATOMIC_LOAD..=op::ATOMIC_XOR
        | op::ATOMIC_FLAG_TEST_AND_SET
        | op::ATOMIC_F_MIN
        | op::ATOMIC_F_MAX
        | op::ATOMIC_F_ADD => atomic(2, 3, &[4]),
        _ => return None,
    })
}

/// Returns the module in the form that the translators carry over.
///
/// # Errors
/// [`Unsayable`] if a scope or an order is none of OpenCL's.
pub(super) fn prepare(module: &Words) -> Result<Words, Unsayable> {
    let known = Known::of(module);
    for instruction in module.instructions() {
        known.check(instruction)?;
    }
    let mut numbers = Numbers { known: &known, bound: module.bound(), new: BTreeMap::new() };
    // The new constants are not known before the functions are written, and stand before them.
    let mut globals = Vec::new();
    let mut functions = Vec::new();
    let mut in_functions = false;
    let header = module.rewritten(|instruction, _| {
        in_functions |= instruction.opcode == op::FUNCTION;
        match in_functions {
            true => known.write(instruction, &mut numbers, &mut functions),
            false => words::push(&mut globals, instruction.opcode, instruction.operands),
        }
    });
    for ((ty, value), id) in &numbers.new {
        words::push(&mut globals, op::CONSTANT, &[*ty, *id, *value]);
    }
    let bound = numbers.bound;
    let mut prepared = header.followed_by(&[&globals[..], &functions].concat());
    prepared.set_bound(bound);
    Ok(prepared)
}

/// What a module says of its ids.
struct Known {
    /// The types and values of 32-bit constants.
    constants: HashMap<Id, (Id, u32)>,
    /// The types of the values that may be pointers.
    types: HashMap<Id, Id>,
    /// The types of pointers to global memory.
    global_pointers: HashSet<Id>,
    is_llvms: bool,
}

impl Known {
    fn of(module: &Words) -> Known {
        let mut known = Known {
            constants: HashMap::new(),
            types: HashMap::new(),
            global_pointers: HashSet::new(),
            is_llvms: module.generator() == LLVM_BACKEND,
        };
        for instruction in module.instructions() {
            match (instruction.opcode, instruction.operands) {
                (op::CONSTANT | op::SPEC_CONSTANT, [ty, id, value]) => {
                    known.constants.insert(*id, (*ty, *value));
                }
                (op::CONSTANT_NULL, [ty, id]) => {
                    known.constants.insert(*id, (*ty, 0));
                }
                (op::TYPE_POINTER, [id, CROSS_WORKGROUP, ..]) => {
                    known.global_pointers.insert(*id);
                }
                (opcode, [ty, id, ..]) if may_yield_pointer(opcode) => {
                    known.types.insert(*id, *ty);
                }
                _ => {}
            }
        }
        known
    }

    /// The value of a constant.
    fn value(&self, id: Id) -> Option<u32> {
        self.constants.get(&id).map(|(_, value)| *value)
    }

    fn check(&self, instruction: Instruction<'_>) -> Result<(), Unsayable> {
        let Some(places) = places(instruction.opcode) else { return Ok(()) };
        let value = |at: usize| instruction.operands.get(at).and_then(|id| self.value(*id));
        if instruction.opcode == op::CONTROL_BARRIER {
            match value(0) {
                Some(WORKGROUP | SUBGROUP) => {}
                Some(other) => return Err(Unsayable::Barrier(other)),
                None => return Err(Unsayable::ComputedBarrier),
            }
        }
        if let Some(scope) = value(places.scope).filter(|scope| *scope > INVOCATION) {
            return Err(Unsayable::Scope(scope));
        }
        let semantics = places.semantics.iter().filter_map(|at| value(*at));
        match semantics.into_iter().find(|semantics| (semantics & ORDERS).count_ones() > 1) {
            Some(semantics) => Err(Unsayable::Orders(semantics)),
            None => Ok(()),
        }
    }

    /// Writes an instruction of a function.
    fn write(&self, instruction: Instruction<'_>, numbers: &mut Numbers<'_>, into: &mut Vec<u32>) {
        match (instruction.opcode, instruction.operands) {
            (op::CONTROL_BARRIER, [execution, scope, semantics]) => {
                let Some(value) = self.value(*semantics) else {
                    return words::push(into, op::CONTROL_BARRIER, instruction.operands);
                };
                let fence = [*scope, *semantics];
                // Without an order, a barrier orders no memory, whatever memory it names.
                let unordered = |numbers: &mut Numbers<'_>| [*execution, *scope, numbers.like(*semantics, 0)];
                match value & ORDERS {
                    0 => words::push(into, op::CONTROL_BARRIER, &unordered(numbers)),
                    ACQUIRE => {
                        words::push(into, op::CONTROL_BARRIER, &unordered(numbers));
                        words::push(into, op::MEMORY_BARRIER, &fence);
                    }
                    RELEASE => {
                        words::push(into, op::MEMORY_BARRIER, &fence);
                        words::push(into, op::CONTROL_BARRIER, &unordered(numbers));
                    }
                    _ => words::push(into, op::CONTROL_BARRIER, instruction.operands),
                }
            }
            (opcode, operands) => {
                let mut operands = operands.to_vec();
                if let Some(places) = places(opcode).filter(|places| self.is_plain_of_llvm(instruction, places)) {
                    operands[places.scope] = numbers.like(operands[places.scope], DEVICE);
                }
                words::push(into, opcode, &operands);
            }
        }
    }

    /// Returns whether an instruction is what LLVM's backend makes of an atomic of OpenCL C 1.x on global memory: it
    /// gives them the scope of a work-group, though they are atomic for the device (OpenCL C 3.0, 6.15.12.8).
    fn is_plain_of_llvm(&self, instruction: Instruction<'_>, places: &Places) -> bool {
        let operand = |at: usize| instruction.operands.get(at);
        let is = |at: usize, wanted: u32| operand(at).and_then(|id| self.value(*id)) == Some(wanted);
        let is_global = || {
            let ty = places.pointer.and_then(operand).and_then(|pointer| self.types.get(pointer));
            ty.is_some_and(|ty| self.global_pointers.contains(ty))
        };
        self.is_llvms
            && !matches!(instruction.opcode, op::ATOMIC_LOAD | op::ATOMIC_STORE)
            && is(places.scope, WORKGROUP)
            && places.semantics.iter().all(|at| is(*at, 0))
            && is_global()
    }
}

/// Returns whether an instruction's result may be a pointer.
fn may_yield_pointer(opcode: u32) -> bool {
    matches!(opcode, op::FUNCTION_PARAMETER | op::FUNCTION_CALL | op::VARIABLE | op::LOAD | op::COMPOSITE_EXTRACT)
        || matches!(opcode, op::ACCESS_CHAIN..=op::PTR_ACCESS_CHAIN | op::IN_BOUNDS_PTR_ACCESS_CHAIN)
        || matches!(opcode, op::COPY_OBJECT | op::CONVERT_F_TO_U..=op::BITCAST | op::SELECT | op::PHI)
}

/// Constants that the module lacks.
struct Numbers<'a> {
    known: &'a Known,
    bound: Id,
    /// Ids by type and value.
    new: BTreeMap<(Id, u32), Id>,
}

impl Numbers<'_> {
    /// Returns a constant with that value of a constant's type.
    fn like(&mut self, constant: Id, value: u32) -> Id {
        let Some((ty, _)) = self.known.constants.get(&constant) else { return constant };
        let bound = &mut self.bound;
        *self.new.entry((*ty, value)).or_insert_with(|| {
            *bound += 1;
            *bound - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::tests::module;
    use super::*;

    const BODY: &[u32] = &[op::FUNCTION, 97, 99, 0, 98];
    const TYPES: [&[u32]; 3] = [&[op::TYPE_INT, 1, 32, 0], &[op::TYPE_POINTER, 2, 5, 1], &[op::TYPE_POINTER, 3, 4, 1]];

    fn constant(id: Id, value: u32) -> [u32; 4] {
        [op::CONSTANT, 1, id, value]
    }

    /// The instructions of the function, with constants by their values.
    fn prepared(module: &Words) -> Vec<Vec<u32>> {
        let prepared = prepare(module).unwrap();
        let known = Known::of(&prepared);
        let shown = |i: Instruction<'_>| {
            let values = i.operands.iter().map(|id| known.value(*id).map_or(*id, |value| value + 1000));
            std::iter::once(i.opcode).chain(values).collect()
        };
        prepared.instructions().skip_while(|i| i.opcode != op::FUNCTION).skip(1).map(shown).collect()
    }

    #[test]
    fn barriers_with_another_order_become_a_barrier_and_a_fence() {
        let barrier = |semantics: u32| {
            let constants = [constant(10, WORKGROUP), constant(11, DEVICE), constant(12, semantics)];
            let own: Vec<&[u32]> = constants.iter().map(|c| &c[..]).collect();
            module(&[&TYPES, &own[..], &[BODY, &[op::CONTROL_BARRIER, 10, 11, 12]]].concat())
        };
        let whole = |semantics: u32| vec![op::CONTROL_BARRIER, 1002, 1001, 1000 + semantics];
        let fence = |semantics: u32| vec![op::MEMORY_BARRIER, 1001, 1000 + semantics];
        assert_eq!(prepare(&barrier(0x318)), Err(Unsayable::Orders(0x318)));
        for (semantics, becomes) in [
            (0x310, vec![whole(0x310)]),
            (0x308, vec![whole(0x308)]),
            (0x300, vec![whole(0)]),
            (0, vec![whole(0)]),
            (0x302, vec![whole(0), fence(0x302)]),
            (0x304, vec![fence(0x304), whole(0)]),
        ] {
            assert_eq!(prepared(&barrier(semantics)), becomes, "{semantics:#x}");
        }
    }

    #[test]
    fn what_opencl_cannot_say_is_refused() {
        let given = |constants: &[[u32; 4]], instruction: &[u32]| {
            let constants: Vec<&[u32]> = constants.iter().map(|c| &c[..]).collect();
            prepare(&module(&[&TYPES, &constants[..], &[BODY, instruction]].concat()))
        };
        let (two, eight) = (constant(10, 2), constant(11, 8));
        let barrier = |execution| [op::CONTROL_BARRIER, execution, 10, 11];
        assert!(given(&[two, eight], &barrier(10)).is_ok());
        assert_eq!(given(&[two, constant(11, 1)], &barrier(11)), Err(Unsayable::Barrier(1)));
        assert_eq!(given(&[two, eight], &barrier(77)), Err(Unsayable::ComputedBarrier));
        let add = [op::ATOMIC_LOAD + 7, 1, 20, 30, 10, 11, 10];
        assert!(given(&[two, eight], &add).is_ok());
        assert_eq!(given(&[constant(10, 5), eight], &add), Err(Unsayable::Scope(5)));
        assert_eq!(given(&[two, constant(11, 6)], &add), Err(Unsayable::Orders(6)));
        // A scope that is computed is for the translator.
        assert!(given(&[eight], &add).is_ok());
    }

    #[test]
    fn plain_atomics_of_llvm_are_for_the_device() {
        let parameter: &[u32] = &[op::FUNCTION_PARAMETER, 2, 30];
        let local: &[u32] = &[op::FUNCTION_PARAMETER, 3, 31];
        let constants = [constant(10, WORKGROUP), constant(11, 0), constant(12, 2)];
        let add = |pointer, semantics| [op::ATOMIC_LOAD + 7, 1, 20, pointer, 10, semantics, 10];
        let scope = |generator, pointer, semantics| {
            let own: Vec<&[u32]> = constants.iter().map(|c| &c[..]).collect();
            let add = add(pointer, semantics);
            let mut module = module(&[&TYPES, &own[..], &[BODY, parameter, local, &add]].concat());
            module.set_generator(generator);
            prepared(&module).last().unwrap()[4] - 1000
        };
        assert_eq!(scope(LLVM_BACKEND, 30, 11), DEVICE);
        assert_eq!(scope(LLVM_BACKEND, 31, 11), WORKGROUP);
        assert_eq!(scope(LLVM_BACKEND, 30, 12), WORKGROUP);
        assert_eq!(scope(14, 30, 11), WORKGROUP);
    }
}
