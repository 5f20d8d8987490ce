//! Gives private variables memory of their own where it is not known which of them an access goes to.
//!
//! An access to one known variable is checked against that variable's bounds, which may lie on the stack. Where a
//! pointer may lead to several, or anywhere, the variables are *placed*: the kernel knows them by addresses that are
//! far apart and at which there is no memory ([`private`]), so that an access out of bounds of one never hits another,
//! and the check replaces the address by that of the memory. So do variables whose size is known at run time only, and
//! those that are made in a loop. Accesses that are known to be in bounds go to the memory directly.

use std::collections::{HashMap, HashSet};

use kassay_base::error::{Error, Result};
use kassay_model::native::abi::{hook, mark, placeholder, private};
use kassay_model::native::table::{NativeTable, Placed};

use super::emit::Emitter;
use super::objects::Objects;
use super::values;
use crate::llvm::{Inst, MetadataKind, Opcode, Value};
use crate::lower::memory_intrinsics;

/// Alignment in bytes of placed variables.
const ALIGNMENT: u64 = super::objects::LAUNCH_ALIGN;

/// An access that is known to be in bounds of a placed variable, so that nothing checks it.
struct Direct<'m> {
    inst: Inst<'m>,
    operand: u32,
    distance: u64,
}

/// Places the private variables that have to be, and replaces those that are made at run time. `checked`: the pointers
/// that will be checked, by instruction and position.
///
/// # Errors
/// `Internal` if there are too many.
pub fn weave<'m>(
    e: &Emitter<'m>,
    objects: &mut Objects<'m>,
    checked: &HashSet<(Inst<'m>, u32)>,
    table: &mut NativeTable,
) -> Result<()> {
    let instructions = e.kernel.instructions();
    allocate(e, objects, &instructions, table);
    let trusted = e.view.metadata_kind(mark::TRUSTED);
    if objects.has_wild_accesses() {
        let is_fixed = |inst: &Inst<'m>| inst.is(Opcode::LLVMAlloca) && values::fixed_count(*inst).is_some();
        let variables = e.kernel.entry().instructions().into_iter().filter(is_fixed);
        for variable in variables.filter(|variable| Uses::of(variable.value(), trusted).leaks) {
            objects.variable(variable);
        }
    }
    let mut chosen = objects.variables();
    chosen.retain(|(_, variable, mixed)| {
        let uses = Uses::of(*variable, trusted);
        !uses.by_builtin && (*mixed || uses.leaks && objects.has_wild_accesses())
    });
    let mut direct = direct_accesses(e, objects, &chosen, checked);
    for (object, variable, _) in chosen {
        place(e, objects, object, variable, direct.remove(&variable).unwrap_or_default(), table)?;
    }
    Ok(())
}

fn place<'m>(
    e: &Emitter<'m>,
    objects: &mut Objects<'m>,
    object: u32,
    variable: Value<'m>,
    direct: Vec<Direct<'m>>,
    table: &mut NativeTable,
) -> Result<()> {
    let number = table.placed.len() as u64;
    if number >= private::MAX_PLACED {
        return Err(Error::internal(format!("the kernel has more than {number} private variables")));
    }
    let bytes = objects.bounds(object).1.unwrap_or(0);
    let offset = table.placed_bytes.next_multiple_of(ALIGNMENT);
    e.at_entry();
    erase_lifetimes(variable);
    let address = e.builder.int_to_ptr(e.const_i64(private::placed(number)), variable.ty(), "");
    variable.replace_uses(address);
    objects.set_placed(object, offset, address);
    for Direct { inst, operand, distance } in direct {
        let memory = e.placed(object, offset, bytes);
        e.before(inst);
        let place = e.builder.pointer_cast(e.byte_offset(memory, distance), inst.operand(operand).ty(), "");
        inst.set_operand(operand, place);
    }
    if variable.is_parameter() {
        // It was passed by value: the wrapper's copy is that of the work-item.
        let memory = e.placed(object, offset, bytes);
        e.at_entry();
        e.builder.memcpy((memory, ALIGNMENT as u32), (variable, 1), e.const_i64(bytes));
    }
    table.placed.push(Placed { object, bytes, offset });
    table.placed_bytes = offset + bytes;
    Ok(())
}

/// Finds the accesses through pointers at a constant distance from the chosen variables that are not checked, by
/// variable.
fn direct_accesses<'m>(
    e: &Emitter<'m>,
    objects: &Objects<'m>,
    chosen: &[(u32, Value<'m>, bool)],
    checked: &HashSet<(Inst<'m>, u32)>,
) -> HashMap<Value<'m>, Vec<Direct<'m>>> {
    let mut all: HashMap<_, Vec<_>> = chosen.iter().map(|(_, variable, _)| (*variable, Vec::new())).collect();
    if all.is_empty() {
        return all;
    }
    for inst in e.kernel.instructions() {
        for operand in pointers(inst).into_iter().filter(|operand| !checked.contains(&(inst, *operand))) {
            let (base, distance) = values::base_and_offset(objects.layout(), inst.operand(operand));
            let own = all.get_mut(&base).zip(distance.and_then(|d| u64::try_from(d).ok()));
            if let Some((direct, distance)) = own {
                direct.push(Direct { inst, operand, distance });
            }
        }
    }
    all
}

/// Returns the positions of the operands through which an instruction, or the hook that it becomes, accesses memory.
fn pointers(inst: Inst<'_>) -> Vec<u32> {
    match inst.opcode() {
        Opcode::LLVMLoad | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => vec![0],
        Opcode::LLVMStore => vec![1],
        Opcode::LLVMCall => match inst.callee() {
            Some(name) if name == placeholder::WAIT => vec![0],
            Some(name) => {
                let sides = memory_intrinsics::transferred(&name).unwrap_or_default();
                sides.iter().map(|(operand, _)| *operand).collect()
            }
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// What happens to the address of a variable.
#[derive(Default)]
struct Uses {
    /// It is stored, or becomes a number, so that it may come back from anywhere.
    leaks: bool,
    /// The variable belongs to a builtin, whose accesses to it are known to be right.
    by_builtin: bool,
}

impl Uses {
    fn of(variable: Value<'_>, trusted: MetadataKind) -> Uses {
        let mut uses = Uses::default();
        let (mut seen, mut rest) = (HashSet::from([variable]), vec![variable]);
        while let Some(pointer) = rest.pop() {
            for user in pointer.users() {
                let Some(inst) = user.as_instruction() else {
                    uses.leaks = true;
                    continue;
                };
                uses.by_builtin |= inst.metadata(trusted).is_some();
                match inst.opcode() {
                    Opcode::LLVMGetElementPtr
                    | Opcode::LLVMBitCast
                    | Opcode::LLVMAddrSpaceCast
                    | Opcode::LLVMFreeze
                    | Opcode::LLVMPHI
                    | Opcode::LLVMSelect => {
                        if inst.ty().is_vector() {
                            uses.leaks = true;
                        } else if seen.insert(inst.value()) {
                            rest.push(inst.value());
                        }
                    }
                    Opcode::LLVMLoad | Opcode::LLVMICmp => {}
                    Opcode::LLVMStore => uses.leaks |= inst.operand(0) == pointer,
                    Opcode::LLVMCall => uses.call(inst),
                    _ => uses.leaks = true,
                }
            }
        }
        uses
    }

    fn call(&mut self, call: Inst<'_>) {
        const OF_BUILTINS: [&str; 4] =
            [placeholder::EXCHANGE, placeholder::IMAGE_READ, placeholder::IMAGE_WRITE, placeholder::IMAGE_QUERY];
        let Some(name) = call.callee() else { return };
        self.by_builtin |= OF_BUILTINS.contains(&name.as_str());
        let only_accesses = memory_intrinsics::transferred(&name).is_some() || is_lifetime(call);
        self.leaks |= !only_accesses && ![placeholder::WAIT, placeholder::MEMORY].contains(&name.as_str());
    }
}

fn is_lifetime(inst: Inst<'_>) -> bool {
    inst.callee().is_some_and(|name| name.starts_with("llvm.lifetime."))
}

/// Erases what says when the stack's memory of a variable is used: there is none.
fn erase_lifetimes(variable: Value<'_>) {
    for marker in variable.user_instructions().into_iter().filter(|user| is_lifetime(*user)) {
        marker.erase();
    }
}

/// Replaces the variables that are made at run time, and what saves and restores the stack, by calls of hooks.
fn allocate<'m>(e: &Emitter<'m>, objects: &mut Objects<'m>, instructions: &[Inst<'m>], table: &mut NativeTable) {
    let is_made = |inst: &Inst<'m>| inst.is(Opcode::LLVMAlloca) && values::fixed_count(*inst).is_none();
    for variable in instructions.iter().copied().filter(is_made) {
        let (Some(object), Some(ty)) = (objects.variable(variable), variable.allocated_type()) else { continue };
        table.allocates = true;
        e.at_entry();
        erase_lifetimes(variable.value());
        e.before(variable);
        let count = e.builder.int_cast(variable.operand(0), e.long, false, "");
        let element = e.const_i64(e.layout.element_size(ty).unwrap_or(0));
        let made = e.hook(hook::ALLOCATE, e.pointer, &[e.const_i32(object), count, element]);
        let made = e.builder.pointer_cast(made, variable.ty(), "");
        objects.set_base(object, made);
        variable.replace_and_erase(made);
    }
    // Without variables made at run time, what is saved says nothing, and restoring it does nothing.
    let calls =
        |name: &'static str| move |inst: &Inst<'m>| inst.callee().is_some_and(|callee| callee.starts_with(name));
    let others = |inst: &&Inst<'m>| inst.is_call();
    for call in instructions.iter().filter(others).copied().filter(calls("llvm.stackrestore")) {
        e.before(call);
        let count = e.address(call.operand(0));
        e.hook(hook::RELEASE, e.void(), &[count]);
        call.erase();
    }
    for call in instructions.iter().filter(others).copied().filter(calls("llvm.stacksave")) {
        e.before(call);
        let count = e.hook(hook::ALLOCATED, e.long, &[]);
        let saved = e.builder.int_to_ptr(count, call.ty(), "");
        call.replace_and_erase(saved);
    }
    // It may stand before one that is gone.
    e.at_entry();
}
