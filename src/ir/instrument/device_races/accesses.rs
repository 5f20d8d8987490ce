//! Finds the accesses that may race and the memory that they may be to; reads the kernel before anything changes.
//!
//! What cannot be seen this way makes the kernel one for the simulator ([`HandOver`]).

use std::collections::BTreeSet;

use kassay_model::native::abi::mark;

use super::hand_over::HandOver;
use crate::instrument::accesses::memory_orders;
use crate::instrument::guard::builtin_accesses::{self, Reach};
use crate::instrument::guard::pointers::{Object, Objects};
use crate::kernel::builtins::{self, Builtin, Family, Operation, demangle};
use crate::kernel::implicit;
use crate::llvm::{AddressSpace, Attribute, AttributeIndex, Function, Inst, Opcode, Value, View};

/// Largest cell of shadow memory in bytes.
const LARGEST_CELL: u64 = 16;

/// The kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Reads, and is not atomic.
    Read,
    /// Writes, and is not atomic.
    Write,
    /// Is atomic, and writes.
    Atomic,
    /// Is atomic, and only reads.
    AtomicRead,
    /// Is a compare-exchange, which writes if it succeeds.
    Exchange,
}

impl Kind {
    /// Returns whether it may write.
    pub fn writes(self) -> bool {
        !matches!(self, Kind::Read | Kind::AtomicRead)
    }

    /// Returns whether it is atomic.
    pub fn is_atomic(self) -> bool {
        !matches!(self, Kind::Read | Kind::Write)
    }
}

/// How many bytes an access is to.
#[derive(Debug, Clone, Copy)]
pub enum Length<'m> {
    /// This many.
    Fixed(u64),
    /// As many as this value says when it is made.
    Dynamic(Value<'m>),
}

/// An access to memory that other work-items see.
pub struct Access<'m> {
    pub inst: Inst<'m>,
    pub pointer: Value<'m>,
    /// A value, and how many bytes each of its steps adds to the pointer.
    pub index: Option<(Value<'m>, u64)>,
    pub length: Length<'m>,
    /// A power of two that divides the length and the address, in bytes.
    pub unit: u64,
    pub kind: Kind,
    /// The memories that it may be to, as far as it may race there.
    pub targets: Vec<usize>,
    /// Whether it can be to no other memory than the only one of `targets`.
    pub is_certain: bool,
}

/// What holds memory that several work-items can access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The buffer that is the argument at this position.
    Buffer(u32),
    /// The local memory that is the argument at this position.
    LocalArgument(u32),
    /// A variable in local memory, of so many bytes.
    LocalVariable(u64),
}

impl Place {
    /// Returns whether each work-group has its own.
    pub fn is_local(self) -> bool {
        !matches!(self, Place::Buffer(_))
    }
}

/// Memory that several work-items can access.
pub struct Memory<'m> {
    pub place: Place,
    /// Its first byte.
    pub pointer: Value<'m>,
    pub name: String,
    /// Whether some launch passes this memory as another argument, too.
    pub is_shared: bool,
    /// Whether there is an access that may race: none to memory that is only read.
    pub is_watched: bool,
    /// Size of its cells in bytes, so that every access covers whole ones.
    pub cell: u64,
}

/// A barrier of the work-group, and which accesses it orders.
pub struct Barrier<'m> {
    pub inst: Inst<'m>,
    pub global: bool,
    pub local: bool,
}

/// What there is to see in a kernel.
pub struct Found<'m> {
    pub memories: Vec<Memory<'m>>,
    /// In the order of the kernel's instructions.
    pub accesses: Vec<Access<'m>>,
    pub barriers: Vec<Barrier<'m>>,
}

impl Found<'_> {
    /// Puts accesses that may be to local memory first, so that they have the lowest numbers.
    pub fn put_local_first(&mut self) {
        let memories = &self.memories;
        let is_local = |access: &Access<'_>| access.targets.iter().any(|target| memories[*target].place.is_local());
        self.accesses.sort_by_key(|access| !is_local(access));
    }
}

/// Reads a kernel in which everything is inlined and promoted. Its first `args` arguments are its own, and its last one
/// is the probe buffer.
///
/// # Errors
/// If something in it cannot be seen here.
pub fn find<'m>(view: View<'m>, kernel: Function<'m>, args: u32) -> Result<Found<'m>, HandOver> {
    let memories = memories(view, kernel, args)?;
    let objects = Objects::of(view, kernel);
    let mut reader = Reader { view, objects, memories, accesses: Vec::new(), barriers: Vec::new() };
    let mut fences = false;
    let begins = view.metadata_kind(mark::BEGINS);
    for inst in kernel.instructions().into_iter().filter(|inst| inst.metadata(begins).is_none()) {
        fences |= reader.instruction(inst)?;
    }
    let atomics = reader.accesses.iter().any(|access| access.kind.is_atomic());
    if fences && atomics {
        return Err(HandOver::orders());
    }
    Ok(reader.finish())
}

/// Returns the memory that arguments and local variables are.
fn memories<'m>(view: View<'m>, kernel: Function<'m>, args: u32) -> Result<Vec<Memory<'m>>, HandOver> {
    let mut all = Vec::new();
    let mut add = |place: Place, pointer: Value<'m>, is_shared: bool| {
        let name = pointer.name();
        all.push(Memory { place, pointer, name, is_shared, is_watched: false, cell: LARGEST_CELL });
    };
    for (position, param) in (0..args).zip(kernel.params()) {
        if !param.ty().is_pointer() || kernel.is_by_value(position) {
            continue;
        }
        let is_shared = implicit::may_share(kernel, position);
        match param.ty().space() {
            Some(AddressSpace::Global) => add(Place::Buffer(position), param, is_shared),
            // It is only read, unless it is another argument's memory.
            Some(AddressSpace::Constant) if is_shared => add(Place::Buffer(position), param, true),
            Some(AddressSpace::Constant) => {}
            Some(AddressSpace::Local) => add(Place::LocalArgument(position), param, false),
            _ => return Err(HandOver::because("takes a pointer whose memory is not known")),
        }
    }
    for global in view.globals() {
        let variable = global.value();
        match variable.ty().space() {
            Some(AddressSpace::Local) if variable.is_used() => {
                add(Place::LocalVariable(view.layout().abi_size(global.value_type())), variable, false);
            }
            Some(AddressSpace::Global) if !global.is_constant() && variable.is_used() => {
                return Err(HandOver::because("uses a variable of the program"));
            }
            _ => {}
        }
    }
    Ok(all)
}

struct Reader<'m> {
    view: View<'m>,
    objects: Objects<'m>,
    memories: Vec<Memory<'m>>,
    accesses: Vec<Access<'m>>,
    barriers: Vec<Barrier<'m>>,
}

/// Returns the largest power of two that divides `n`, at most that of the largest cell.
fn power_in(n: u64) -> u64 {
    1 << n.trailing_zeros().min(LARGEST_CELL.trailing_zeros())
}

impl<'m> Reader<'m> {
    /// Reads an instruction. Returns whether it is a fence.
    fn instruction(&mut self, inst: Inst<'m>) -> Result<bool, HandOver> {
        let operands = inst.operands();
        let (pointer, value, kind) = match inst.opcode() {
            Opcode::LLVMLoad => (operands[0], inst.value(), Kind::Read),
            Opcode::LLVMStore => (operands[1], operands[0], Kind::Write),
            Opcode::LLVMAtomicRMW => (operands[0], operands[1], Kind::Atomic),
            Opcode::LLVMAtomicCmpXchg => (operands[0], operands[1], Kind::Exchange),
            Opcode::LLVMFence => return Ok(true),
            Opcode::LLVMCall => return self.call(inst),
            _ => return Ok(false),
        };
        let kind = match kind {
            Kind::Read if inst.is_atomic() => Kind::AtomicRead,
            Kind::Write if inst.is_atomic() => Kind::Atomic,
            kind => kind,
        };
        if kind.is_atomic() {
            let order = inst.ordering().ok_or_else(HandOver::orders)?;
            let (loads, stores) = (inst.opcode() != Opcode::LLVMStore, inst.opcode() != Opcode::LLVMLoad);
            if memory_orders::ordering(self.view, inst, order, loads, stores).is_some() {
                return Err(HandOver::orders());
            }
        }
        let Some(size) = self.objects.stored_size(value.ty()) else { return Ok(false) };
        let align = inst.alignment().map_or(1, u64::from).max(1);
        self.add(inst, pointer, None, Length::Fixed(size), power_in(size).min(power_in(align)), kind)?;
        Ok(false)
    }

    fn call(&mut self, inst: Inst<'m>) -> Result<bool, HandOver> {
        let Some(callee) = inst.callee() else { return Err(HandOver::because("calls what is not known")) };
        let calls = |what: &str| HandOver::because(&format!("calls `{what}`, whose accesses are not seen here"));
        if inst.called_function().is_some_and(|f| f.has_body()) {
            return Err(calls(&callee));
        }
        if callee.starts_with("llvm.") {
            return self.intrinsic(inst, &callee).map(|()| false);
        }
        let plain = demangle(&callee).map_or(callee.as_str(), |(plain, _)| plain);
        let builtin = Builtin::of(&callee);
        match builtin.map(Builtin::family) {
            Some(Family::Barrier) if builtin.is_some_and(Builtin::is_of_grid) => {
                return Err(HandOver::because("lets all work-groups wait for each other"));
            }
            Some(Family::Barrier) => self.barrier(inst, builtin.is_some_and(Builtin::is_spirv))?,
            Some(Family::Fence) => return Ok(true),
            Some(Family::AsyncCopy | Family::EventWait) => {
                return Err(HandOver::because("copies asynchronously"));
            }
            Some(
                Family::SubGroupBarrier | Family::SubGroupFunction | Family::IntelSubGroupFunction | Family::SpirvGroup,
            ) => return Err(HandOver::because("lets sub-groups work together")),
            Some(Family::ImageWrite) => return Err(HandOver::because("writes images")),
            Some(Family::Atomic) => self.atomic(inst, &callee, plain)?,
            Some(Family::VectorLoad) => self.vector(inst, &callee, Kind::Read)?,
            Some(Family::VectorStore) => self.vector(inst, &callee, Kind::Write)?,
            Some(Family::MathWithPointer) => self.pointers(inst, &callee, |_| Kind::Write)?,
            // They access no memory of the kernel's but, like `printf`, constants.
            Some(
                Family::WorkItemId
                | Family::LaunchQuery
                | Family::SubGroupQuery
                | Family::WorkGroupFunction
                | Family::Prefetch
                | Family::ImageRead
                | Family::ImageQuery
                | Family::Printf
                | Family::Conversion
                | Family::Reinterpretation
                | Family::PointerCast,
            ) => {}
            None if inst.args().iter().any(|arg| self.is_shared_pointer(*arg)) => return Err(calls(plain)),
            None => {}
        }
        Ok(false)
    }

    /// Returns whether a value points to memory that other work-items may see.
    fn is_shared_pointer(&self, value: Value<'m>) -> bool {
        value.ty().is_pointer() && !matches!(value.ty().space(), Some(AddressSpace::Private | AddressSpace::Constant))
    }

    /// Reads a call of one of LLVM's intrinsics: those that move memory access it, others may not.
    fn intrinsic(&mut self, inst: Inst<'m>, callee: &str) -> Result<(), HandOver> {
        let moved = ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().position(|p| callee.starts_with(p));
        let Some(which) = moved else {
            let harmless = ["llvm.lifetime.", "llvm.dbg.", "llvm.assume", "llvm.invariant.", "llvm.prefetch"];
            let accesses = inst.args().iter().any(|arg| self.is_shared_pointer(*arg));
            return match accesses && !harmless.iter().any(|start| callee.starts_with(start)) {
                true => Err(HandOver::because(&format!("calls `{callee}`, whose accesses are not seen here"))),
                false => Ok(()),
            };
        };
        let operands = inst.operands();
        let length = operands[2].as_u64().map_or(Length::Dynamic(operands[2]), Length::Fixed);
        let align = |operand: u32| {
            let given = inst.attributes(AttributeIndex::Parameter(operand)).get("align").and_then(Attribute::number);
            given.map_or(1, |bytes| bytes.max(1))
        };
        let unit = |operand: u32| match length {
            Length::Fixed(0) => LARGEST_CELL,
            Length::Fixed(size) => power_in(size).min(power_in(align(operand))),
            // Any length may be passed.
            Length::Dynamic(_) => 1,
        };
        self.add(inst, operands[0], None, length, unit(0), Kind::Write)?;
        if which < 2 {
            self.add(inst, operands[1], None, length, unit(1), Kind::Read)?;
        }
        Ok(())
    }

    fn barrier(&mut self, inst: Inst<'m>, is_spirv: bool) -> Result<(), HandOver> {
        let number = |operand: usize| inst.args().get(operand).and_then(|value| value.as_u64());
        // The flags of OpenCL C, and SPIR-V's semantics (3.25): local memory, and global memory.
        let (flags, local, global) = match is_spirv {
            true => (number(2), 0x100, 0x200),
            false => (number(0), 1, 2),
        };
        // The scope of work-groups (SPIR-V 3.27).
        if is_spirv && number(0).is_some_and(|scope| scope != 2) {
            return Err(HandOver::because("lets sub-groups work together"));
        }
        // With the scope of a work-item (OpenCL C) it orders nothing between them.
        let is_narrow = !is_spirv && number(1) == Some(0);
        let orders = |bit: u64| !is_narrow && flags.is_none_or(|flags| flags & bit != 0);
        self.barriers.push(Barrier { inst, global: orders(global), local: orders(local) });
        Ok(())
    }

    fn atomic(&mut self, inst: Inst<'m>, callee: &str, plain: &str) -> Result<(), HandOver> {
        // Scopes of a device and of all devices (OpenCL C 3.0, 6.15.12).
        let is_wide = |scope: Option<u64>| matches!(scope, Some(2 | 3));
        let number = |at: usize| inst.args().get(at).and_then(|value| value.as_u64());
        let is_relaxed = match builtins::memory_orders(plain) {
            Some(given) => given.orders.iter().all(|at| number(*at) == Some(0)) && is_wide(number(given.scope)),
            None => builtins::is_relaxed(plain),
        };
        if !is_relaxed {
            return Err(HandOver::orders());
        }
        let kind = match builtins::operation(plain) {
            Some(Operation::Load) => Kind::AtomicRead,
            Some(Operation::CompareExchange | Operation::CompareExchangeBool) => Kind::Exchange,
            _ => Kind::Atomic,
        };
        // A second pointer is to the value that is expected.
        self.pointers(inst, callee, |parameter| if parameter == 0 { kind } else { Kind::Write })
    }

    fn vector(&mut self, inst: Inst<'m>, callee: &str, kind: Kind) -> Result<(), HandOver> {
        let args = inst.args();
        let element = demangle(callee).and_then(|(_, parameters)| {
            let mut pointees = builtins::parameters(parameters).into_iter().filter_map(|parameter| match parameter {
                builtins::Parameter::Pointer { pointee, .. } => pointee,
                builtins::Parameter::Value => None,
            });
            pointees.next_back()
        });
        for parameter in builtin_accesses::accesses_with(callee, &args) {
            let (Reach::Indexed { offset, step, size }, Some(pointer)) =
                (parameter.reach, args.get(parameter.index as usize))
            else {
                return Err(HandOver::because(&format!("calls `{callee}`, whose accesses are not seen here")));
            };
            let index = args.get(offset as usize).map(|index| (*index, step));
            // Vectors of three elements are aligned like these, unless their step says more.
            let unit = element.map_or(1, power_in).min(power_in(step));
            self.add(inst, *pointer, index, Length::Fixed(size), unit, kind)?;
        }
        Ok(())
    }

    /// Adds the accesses of a builtin through its pointer parameters.
    fn pointers(&mut self, inst: Inst<'m>, callee: &str, kind: impl Fn(u32) -> Kind) -> Result<(), HandOver> {
        let args = inst.args();
        for parameter in builtin_accesses::accesses_with(callee, &args) {
            let (Reach::Bytes(size), Some(pointer)) = (parameter.reach, args.get(parameter.index as usize)) else {
                return Err(HandOver::because(&format!("calls `{callee}`, whose accesses are not seen here")));
            };
            let size = size.or_else(|| self.objects.stored_size(inst.ty())).unwrap_or(1);
            self.add(inst, *pointer, None, Length::Fixed(size), power_in(size), kind(parameter.index))?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        inst: Inst<'m>,
        pointer: Value<'m>,
        index: Option<(Value<'m>, u64)>,
        length: Length<'m>,
        unit: u64,
        kind: Kind,
    ) -> Result<(), HandOver> {
        let Some(address) = self.objects.trace(pointer) else {
            return Err(HandOver::because("follows a pointer that leads nowhere"));
        };
        let target = |object: &Object<'m>| self.memories.iter().position(|memory| memory.pointer == object.pointer());
        let targets: Vec<usize> = address.objects.iter().filter_map(target).collect();
        if !targets.is_empty() {
            let is_certain = address.objects.len() == 1;
            self.accesses.push(Access { inst, pointer, index, length, unit, kind, targets, is_certain });
        }
        Ok(())
    }

    /// Leaves out what cannot race, and decides the size of cells.
    fn finish(mut self) -> Found<'m> {
        let written = self.written();
        for access in &mut self.accesses {
            access.is_certain &= access.targets.len() == 1;
            access.targets.retain(|target| written.contains(target));
        }
        self.accesses.retain(|access| !access.targets.is_empty());
        for access in &self.accesses {
            for target in &access.targets {
                let memory = &mut self.memories[*target];
                memory.is_watched = true;
                memory.cell = memory.cell.min(access.unit);
            }
        }
        let shared = self.memories.iter().filter(|memory| memory.is_shared).map(|memory| memory.cell).min();
        for memory in self.memories.iter_mut().filter(|memory| memory.is_shared) {
            memory.cell = shared.unwrap_or(1);
        }
        Found { memories: self.memories, accesses: self.accesses, barriers: self.barriers }
    }

    /// Returns the memories that some access may write. An argument has a buffer of its own, unless launches share it.
    fn written(&self) -> BTreeSet<usize> {
        let writes = self.accesses.iter().filter(|access| access.kind.writes());
        let mut written: BTreeSet<usize> = writes.flat_map(|access| access.targets.iter().copied()).collect();
        if written.iter().any(|target| self.memories[*target].is_shared) {
            written.extend((0..self.memories.len()).filter(|target| self.memories[*target].is_shared));
        }
        written
    }
}
