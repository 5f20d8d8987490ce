//! Finds the definitions and uses in a kernel's canonical form: every access to memory, of instructions and of
//! builtins.

use crate::instrument::guard::builtin_accesses::{self, Reach};
use crate::kernel::builtins::{self, Builtin, Family, Operation};
use crate::llvm::{DataLayout, Function, Inst, Opcode, Value};

/// What an access does with the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    Definition,
    Use,
}

/// The bytes that an access concerns, from the address of its pointer on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent<'m> {
    Fixed(u64),
    /// Known at run time.
    Bytes(Value<'m>),
    /// `bytes` bytes at `step` bytes times `index`.
    Indexed {
        index: Value<'m>,
        step: u64,
        bytes: u64,
    },
    /// `count` elements of so many bytes, one after the other or `stride` elements apart.
    Elements {
        count: Value<'m>,
        bytes: u64,
        stride: Option<Value<'m>>,
    },
}

/// When an access happens at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    Always,
    /// Only if a compare-exchange succeeds, or only if it fails.
    Exchange {
        succeeds: bool,
        by: Success,
    },
}

/// How a compare-exchange tells that it succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Success {
    /// Field 1 of its result.
    Field,
    /// Its result.
    Result,
    /// Its result equals the argument at this position.
    Equals(u32),
}

/// A definition or a use.
#[derive(Debug, Clone, Copy)]
pub struct Access<'m> {
    /// Position of the function.
    pub function: usize,
    pub inst: Inst<'m>,
    pub pointer: Value<'m>,
    pub role: Role,
    pub extent: Extent<'m>,
    pub condition: Condition,
    pub is_atomic: bool,
    /// Whether the group makes it together: an asynchronous copy.
    pub is_collective: bool,
    /// Whether it is the definition of a parameter that is passed by value as a pointer to a copy, at the function's
    /// entry.
    pub is_entry: bool,
}

/// Returns all accesses of `functions`, in order; the uses of an instruction come before its definitions.
pub fn find<'m>(functions: &[Function<'m>], layout: DataLayout<'m>) -> Vec<Access<'m>> {
    let mut all = Vec::new();
    for (number, function) in functions.iter().enumerate() {
        all.extend(by_value(*function, number, layout));
        for inst in function.instructions() {
            let mut own = of_instruction(inst, number, layout);
            own.sort_by_key(|access| access.role == Role::Definition);
            all.extend(own);
        }
    }
    all
}

/// Returns the definitions of the parameters that a function takes by value as pointers to copies.
fn by_value<'m>(function: Function<'m>, number: usize, layout: DataLayout<'m>) -> Vec<Access<'m>> {
    let entry = function.entry().walk().find(|inst| !inst.is(Opcode::LLVMAlloca));
    let inst = entry.unwrap_or_else(|| function.entry().terminator());
    let parameter = |(position, pointer): (u32, Value<'m>)| {
        let ty = function.by_value_type(position)?;
        Some(Access {
            function: number,
            inst,
            pointer,
            role: Role::Definition,
            extent: Extent::Fixed(layout.store_size(ty)),
            condition: Condition::Always,
            is_atomic: false,
            is_collective: false,
            is_entry: true,
        })
    };
    (0..).zip(function.params()).filter_map(parameter).collect()
}

fn of_instruction<'m>(inst: Inst<'m>, function: usize, layout: DataLayout<'m>) -> Vec<Access<'m>> {
    use Role::{Definition, Use};
    let access = |pointer: Value<'m>, role, extent| Access {
        function,
        inst,
        pointer,
        role,
        extent,
        condition: Condition::Always,
        is_atomic: inst.is_atomic(),
        is_collective: false,
        is_entry: false,
    };
    let bytes = |value: Value<'m>| Extent::Fixed(layout.store_size(value.ty()));
    match inst.opcode() {
        Opcode::LLVMLoad => vec![access(inst.operand(0), Use, bytes(inst.value()))],
        Opcode::LLVMStore => vec![access(inst.operand(1), Definition, bytes(inst.operand(0)))],
        Opcode::LLVMAtomicRMW => {
            [Use, Definition].map(|role| access(inst.operand(0), role, bytes(inst.operand(1)))).to_vec()
        }
        Opcode::LLVMAtomicCmpXchg => {
            let condition = Condition::Exchange { succeeds: true, by: Success::Field };
            let extent = bytes(inst.operand(1));
            vec![
                access(inst.operand(0), Use, extent),
                Access { condition, ..access(inst.operand(0), Definition, extent) },
            ]
        }
        Opcode::LLVMCall => {
            let Some(callee) = inst.called_function() else { return Vec::new() };
            if callee.has_body() {
                // What is passed by value is read by the call.
                let passed = (0..).zip(inst.args()).filter_map(|(position, argument)| {
                    let ty = callee.by_value_type(position)?;
                    Some(access(argument, Use, Extent::Fixed(layout.store_size(ty))))
                });
                return passed.collect();
            }
            let name = callee.name();
            let copies = ["llvm.memcpy", "llvm.memmove"].iter().any(|start| name.starts_with(start));
            if copies || name.starts_with("llvm.memset") {
                let length = Extent::Bytes(inst.operand(2));
                let read = copies.then(|| access(inst.operand(1), Use, length));
                return read.into_iter().chain([access(inst.operand(0), Definition, length)]).collect();
            }
            of_builtin(inst, &name, layout, &access)
        }
        _ => Vec::new(),
    }
}

fn of_builtin<'m>(
    call: Inst<'m>,
    name: &str,
    layout: DataLayout<'m>,
    access: &dyn Fn(Value<'m>, Role, Extent<'m>) -> Access<'m>,
) -> Vec<Access<'m>> {
    use Role::{Definition, Use};
    let Some(builtin) = Builtin::of(name) else { return Vec::new() };
    let plain = builtins::demangle(name).map_or(name, |(plain, _)| plain);
    let family = builtin.family();
    let operation = builtins::operation(plain);
    let mut all = Vec::new();
    let args = call.args();
    for parameter in builtin_accesses::accesses_with(name, &args) {
        let index = parameter.index;
        let argument = |position: u32| args.get(position as usize).copied();
        let Some(pointer) = argument(index) else { continue };
        let extent = match parameter.reach {
            Reach::Bytes(known) => {
                let result = call.ty();
                let Some(bytes) = known.or_else(|| result.is_sized().then(|| layout.store_size(result))) else {
                    continue;
                };
                Extent::Fixed(bytes)
            }
            Reach::Indexed { offset, step, size } => {
                let Some(index) = argument(offset) else { continue };
                Extent::Indexed { index, step, bytes: size }
            }
            Reach::Elements { size, strided } => {
                let Some(count) = argument(2) else { continue };
                Extent::Elements { count, bytes: size, stride: argument(3).filter(|_| strided) }
            }
        };
        let one = |role| access(pointer, role, extent);
        let atomic = |role| Access { is_atomic: true, ..one(role) };
        match family {
            Family::VectorLoad => all.push(one(Use)),
            Family::VectorStore | Family::MathWithPointer => all.push(one(Definition)),
            Family::AsyncCopy => {
                let role = if index == 0 { Definition } else { Use };
                all.push(Access { is_collective: true, ..one(role) });
            }
            Family::Atomic => match operation {
                Some(Operation::Load) => all.push(atomic(Use)),
                Some(Operation::Store | Operation::Clear) => all.push(atomic(Definition)),
                Some(Operation::CompareExchange) => {
                    let condition = Condition::Exchange { succeeds: true, by: Success::Equals(1) };
                    all.extend([atomic(Use), Access { condition, ..atomic(Definition) }]);
                }
                Some(Operation::CompareExchangeBool) => {
                    // What was expected is overwritten by what was there.
                    let condition = Condition::Exchange { succeeds: index == 0, by: Success::Result };
                    let make = |role| if index == 0 { atomic(role) } else { one(role) };
                    all.extend([make(Use), Access { condition, ..make(Definition) }]);
                }
                None if plain == "atomic_init" => all.push(one(Definition)),
                _ => all.extend([atomic(Use), atomic(Definition)]),
            },
            _ => {}
        }
    }
    all
}

/// Returns what an access is called in results: the builtin's or function's name, or what the instruction does.
pub fn operation_name(access: &Access<'_>) -> String {
    let inst = access.inst;
    if access.is_entry {
        return "parameter".to_owned();
    }
    match inst.opcode() {
        Opcode::LLVMLoad => "load".to_owned(),
        Opcode::LLVMStore if inst.operand(0).is_parameter() && inst.location().is_none_or(|l| l.line == 0) => {
            "parameter".to_owned()
        }
        Opcode::LLVMStore => "store".to_owned(),
        Opcode::LLVMCall => {
            let name = inst.callee().unwrap_or_default();
            if name.starts_with("llvm.memset") {
                return "fill".to_owned();
            }
            if name.starts_with("llvm.mem") {
                return "copy".to_owned();
            }
            builtins::demangle(&name).map_or_else(|| name.clone(), |(plain, _)| plain.to_owned())
        }
        _ => "atomic".to_owned(),
    }
}
