//! The builder: where it stands, and the instructions that it inserts.

use std::cell::Cell;

use super::debug::Location;
use super::erased::assert_not_erased;
use super::ffi;
use super::handles::{Block, BuilderHandle, ContextHandle, Function, Inst, ModuleHandle, Type, Value};
use super::text::name as c_name;
use super::{AddressSpace, IntPredicate, Opcode, RealPredicate, Types};

/// Where a builder inserts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position<'m> {
    /// Before an instruction, after its debug records.
    Before(Inst<'m>),
    /// Before an instruction and its debug records.
    BeforeRecords(Inst<'m>),
    /// After all instructions of a block.
    AtEnd(Block<'m>),
}

impl<'m> Position<'m> {
    /// # Panics
    /// If the instruction was removed.
    fn block(self) -> Block<'m> {
        match self {
            Position::Before(inst) | Position::BeforeRecords(inst) => inst.block(),
            Position::AtEnd(block) => block,
        }
    }
}

/// Inserts instructions. A name may be empty.
///
/// Whatever can be computed from constants is no instruction but a constant; so calls that may do this return a
/// [`Value`].
///
/// # Panics
/// All that inserts panics if the builder stands nowhere, if the types do not fit, and if an operand is of another
/// module.
#[derive(Debug)]
pub struct Builder<'m> {
    handle: BuilderHandle<'m>,
    module: ModuleHandle<'m>,
    position: Cell<Option<Position<'m>>>,
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: created in `new`, disposed of once; no copy of the handle leaves the builder.
        unsafe { ffi::LLVMDisposeBuilder(self.handle) }
    }
}

impl<'m> Builder<'m> {
    pub(super) fn new(module: ModuleHandle<'m>) -> Builder<'m> {
        let handle = ffi::LLVMCreateBuilderInContext(ffi::LLVMGetModuleContext(module));
        Builder { handle, module, position: Cell::new(None) }
    }

    /// Returns one for the module of a block, which stands nowhere yet.
    pub(super) fn of_block(block: Block<'m>) -> Builder<'m> {
        Builder::new(Value::from(block.function()).module().expect("a function is in a module"))
    }

    /// Returns the types of the module's context.
    pub fn types(&self) -> Types<'m> {
        Types::of_context(self.context())
    }

    fn context(&self) -> ContextHandle<'m> {
        ffi::LLVMGetModuleContext(self.module)
    }

    /// Stands before an instruction and after its debug records, and takes its debug location over.
    ///
    /// # Panics
    /// If it is in no block, or in one of another module.
    pub fn before(&self, inst: Inst<'m>) {
        self.go_to(Position::Before(inst));
    }

    /// Stands before an instruction and its debug records (as a `phi` must), and takes its debug location over.
    ///
    /// # Panics
    /// As [`Builder::before`].
    pub fn before_records(&self, inst: Inst<'m>) {
        self.go_to(Position::BeforeRecords(inst));
    }

    /// Stands at the end of a block. The debug location stays what it was.
    ///
    /// # Panics
    /// If the block is of another module.
    pub fn at_end(&self, block: Block<'m>) {
        self.go_to(Position::AtEnd(block));
    }

    /// Stands after an instruction: before the next one, or at the block's end.
    pub fn after(&self, inst: Inst<'m>) {
        match inst.next() {
            Some(next) => self.before(next),
            None => self.at_end(inst.block()),
        }
    }

    /// Stands before the first instruction of a function's entry that is no `alloca`.
    ///
    /// # Panics
    /// If the function has no body.
    pub fn after_variables(&self, function: Function<'m>) {
        let entry = function.entry();
        let first = entry.walk().find(|i| !i.is(Opcode::LLVMAlloca));
        self.before(first.unwrap_or_else(|| entry.terminator()));
    }

    /// Returns where it stands.
    pub fn position(&self) -> Option<Position<'m>> {
        self.position.get()
    }

    /// Goes (back) to a position.
    ///
    /// # Panics
    /// As [`Builder::before`].
    pub fn go_to(&self, position: Position<'m>) {
        self.assert_own(position.block());
        // SAFETY: an instruction is in a block.
        unsafe {
            match position {
                Position::Before(inst) => ffi::LLVMPositionBuilderBefore(self.handle, inst),
                Position::BeforeRecords(inst) => {
                    ffi::LLVMPositionBuilderBeforeInstrAndDbgRecords(self.handle, inst);
                }
                Position::AtEnd(block) => ffi::LLVMPositionBuilderAtEnd(self.handle, block),
            }
        }
        self.position.set(Some(position));
    }

    /// Returns the block in which it stands.
    ///
    /// # Panics
    /// If it stands nowhere.
    pub fn block(&self) -> Block<'m> {
        self.position.get().expect("the builder stands nowhere").block()
    }

    /// Gives what is built from now on a debug location, or none.
    ///
    /// # Panics
    /// If the location is of another context.
    pub fn set_location(&self, location: Option<Location<'m>>) {
        assert!(location.is_none_or(|l| l.context == self.context()), "a location of another context");
        // SAFETY: a debug location of the builder's context, or none.
        unsafe { ffi::LLVMSetCurrentDebugLocation2(self.handle, location.map(|l| l.handle)) }
    }

    /// Inserts an instruction that was removed, with its name. It gets the builder's debug location, where that has
    /// one.
    ///
    /// # Panics
    /// If it is in a block, or was erased.
    pub fn insert(&self, inst: Inst<'m>) {
        assert!(inst.try_block().is_none(), "{} is in a block already", inst.text());
        assert_not_erased(inst);
        for operand in inst.operands() {
            self.assert_operand(operand);
        }
        let name = inst.name();
        // SAFETY: an instruction in no block, with operands of this module.
        unsafe { ffi::LLVMInsertIntoBuilderWithName(self.here(), inst, c_name(&name).as_ref().into()) }
    }

    /// Returns the handle, of a builder that stands somewhere.
    pub(super) fn here(&self) -> BuilderHandle<'m> {
        self.block();
        self.handle
    }

    fn assert_own(&self, block: Block<'m>) {
        assert_eq!(Value::from(block.function()).module(), Some(self.module), "a block of another module");
    }

    pub(super) fn assert_operand(&self, value: Value<'m>) {
        assert!(value.fits(self.module), "{} is of another module", value.text());
    }

    pub(super) fn assert_type(&self, ty: Type<'m>) {
        assert_eq!(ty.context(), self.context(), "{} is of another context", ty.text());
    }

    /// Checks two operands of one type.
    fn assert_pair(&self, x: Value<'m>, y: Value<'m>) {
        assert_eq!(x.ty(), y.ty(), "{} and {} differ in their types", x.text(), y.text());
        self.assert_operand(x);
        self.assert_operand(y);
    }

    /// Checks a pointer (or a vector of them).
    pub(super) fn assert_pointer(&self, pointer: Value<'m>) {
        assert!(pointer.ty().scalar().is_pointer(), "{} is no pointer", pointer.text());
        self.assert_operand(pointer);
    }

    /// Compares integers or pointers.
    pub fn icmp(&self, how: IntPredicate, x: impl Into<Value<'m>>, y: impl Into<Value<'m>>, name: &str) -> Value<'m> {
        let (x, y) = (x.into(), y.into());
        self.assert_pair(x, y);
        let scalar = x.ty().scalar();
        assert!(scalar.is_integer() || scalar.is_pointer(), "{} is compared as an integer", x.text());
        // SAFETY: two integers or pointers of one type; the builder stands somewhere.
        unsafe { ffi::LLVMBuildICmp(self.here(), how, x, y, c_name(name).as_ref().into()) }
    }

    /// Compares floats.
    pub fn fcmp(&self, how: RealPredicate, x: impl Into<Value<'m>>, y: impl Into<Value<'m>>, name: &str) -> Value<'m> {
        let (x, y) = (x.into(), y.into());
        self.assert_pair(x, y);
        assert!(x.ty().scalar().is_floating_point(), "{} is compared as a float", x.text());
        // SAFETY: two floats of one type; the builder stands somewhere.
        unsafe { ffi::LLVMBuildFCmp(self.here(), how, x, y, c_name(name).as_ref().into()) }
    }

    /// Chooses by an `i1`, or lane by lane by a vector of them.
    pub fn select(
        &self,
        condition: impl Into<Value<'m>>,
        yes: impl Into<Value<'m>>,
        no: impl Into<Value<'m>>,
        name: &str,
    ) -> Value<'m> {
        let (condition, yes, no) = (condition.into(), yes.into(), no.into());
        self.assert_pair(yes, no);
        self.assert_operand(condition);
        let lanes = condition.ty().lanes();
        let fits = condition.ty().scalar().is_bool() && (lanes.is_none() || lanes == yes.ty().lanes());
        assert!(fits && yes.is_first_class(), "{} cannot choose {}", condition.text(), yes.text());
        // SAFETY: two values of one type, and a condition of its shape; the builder stands somewhere.
        unsafe { ffi::LLVMBuildSelect(self.here(), condition, yes, no, c_name(name).as_ref().into()) }
    }

    /// Makes undefined bits some fixed ones.
    pub fn freeze(&self, value: impl Into<Value<'m>>, name: &str) -> Value<'m> {
        let value = value.into();
        self.assert_operand(value);
        assert!(value.is_first_class(), "{} cannot be frozen", value.text());
        // SAFETY: a value of its own; the builder stands somewhere.
        unsafe { ffi::LLVMBuildFreeze(self.here(), value, c_name(name).as_ref().into()) }
    }

    /// Makes a variable in the function's frame.
    pub fn alloca(&self, ty: Type<'m>, name: &str) -> Inst<'m> {
        self.assert_type(ty);
        // SAFETY: a type of this context; the builder stands somewhere.
        unsafe { ffi::LLVMBuildAlloca(self.here(), ty.sized(), c_name(name).as_ref().into()) }
    }

    /// Loads with the type's usual alignment.
    pub fn load(&self, ty: Type<'m>, pointer: impl Into<Value<'m>>, name: &str) -> Inst<'m> {
        let pointer = pointer.into();
        self.assert_type(ty);
        self.assert_pointer(pointer);
        assert!(ty.is_first_class() && ty.is_sized() && pointer.ty().is_pointer(), "a load of {}", ty.text());
        // SAFETY: a pointer, and a sized type with values; the builder stands somewhere.
        unsafe { ffi::LLVMBuildLoad2(self.here(), ty, pointer, c_name(name).as_ref().into()) }
    }

    /// Stores with the type's usual alignment.
    pub fn store(&self, value: impl Into<Value<'m>>, pointer: impl Into<Value<'m>>) -> Inst<'m> {
        let (value, pointer) = (value.into(), pointer.into());
        self.assert_operand(value);
        self.assert_pointer(pointer);
        let is_stored = value.is_first_class() && value.ty().is_sized() && pointer.ty().is_pointer();
        assert!(is_stored, "a store of {}", value.text());
        // SAFETY: a pointer, and a value with a size; the builder stands somewhere.
        unsafe { ffi::LLVMBuildStore(self.here(), value, pointer) }
    }

    /// Steps from a pointer through a type.
    pub fn gep(&self, ty: Type<'m>, pointer: impl Into<Value<'m>>, indices: &[Value<'m>], name: &str) -> Value<'m> {
        self.any_gep(ty, pointer.into(), indices, name, false)
    }

    /// Steps from a pointer through a type, within what the pointer points to.
    pub fn in_bounds_gep(
        &self,
        ty: Type<'m>,
        pointer: impl Into<Value<'m>>,
        indices: &[Value<'m>],
        name: &str,
    ) -> Value<'m> {
        self.any_gep(ty, pointer.into(), indices, name, true)
    }

    fn any_gep(&self, ty: Type<'m>, pointer: Value<'m>, indices: &[Value<'m>], name: &str, within: bool) -> Value<'m> {
        self.assert_type(ty);
        self.assert_pointer(pointer);
        indices.iter().for_each(|index| self.assert_operand(*index));
        assert!(ty.is_sized() && ty.stepped(indices).is_some(), "{indices:?} do not lead through {}", ty.text());
        let mut shapes = indices.iter().chain([&pointer]).filter_map(|value| value.ty().lanes());
        let first = shapes.next();
        assert!(shapes.all(|lanes| Some(lanes) == first), "steps of vectors of different lengths");
        let mut indices = indices.to_vec();
        let (given, count) = (indices.as_mut_ptr(), indices.len() as u32);
        let name = c_name(name);
        // SAFETY: a pointer, a sized type, and as many indices as said, which lead through it; the builder stands
        // somewhere.
        unsafe {
            match within {
                true => ffi::LLVMBuildInBoundsGEP2(self.here(), ty, pointer, given, count, name.as_ref().into()),
                false => ffi::LLVMBuildGEP2(self.here(), ty, pointer, given, count, name.as_ref().into()),
            }
        }
    }

    /// Steps so many bytes from a pointer.
    pub fn byte_offset(&self, pointer: impl Into<Value<'m>>, bytes: impl Into<Value<'m>>, name: &str) -> Value<'m> {
        self.gep(self.types().int(8), pointer, &[bytes.into()], name)
    }

    /// Calls a function, with its calling convention.
    pub fn call(&self, function: Function<'m>, args: &[Value<'m>], name: &str) -> Inst<'m> {
        let call = self.call_as(function.value_type(), function, args, name);
        call.set_call_conv(function.call_conv());
        call
    }

    /// Calls a pointer as a function of a type, with C's calling convention. The name is left out where there is no
    /// result.
    pub fn call_as(&self, ty: Type<'m>, callee: impl Into<Value<'m>>, args: &[Value<'m>], name: &str) -> Inst<'m> {
        let callee = callee.into();
        self.assert_type(ty);
        self.assert_pointer(callee);
        let (result, params, is_variadic) = ty.signature().unwrap_or_else(|| panic!("a call as {}", ty.text()));
        let count_fits = if is_variadic { args.len() >= params.len() } else { args.len() == params.len() };
        assert!(count_fits, "{} arguments for {}, a {}", args.len(), callee.name(), ty.text());
        for (arg, param) in args.iter().zip(&params) {
            assert_eq!(arg.ty(), *param, "{} is no argument for {}, a {}", arg.text(), callee.name(), ty.text());
        }
        args.iter().for_each(|arg| self.assert_operand(*arg));
        let mut args = args.to_vec();
        let name = c_name(if result.is_void() { "" } else { name });
        let count = args.len() as u32;
        // SAFETY: a pointer, and as many arguments as said, of the types that the function type wants; the builder
        // stands somewhere.
        unsafe { ffi::LLVMBuildCall2(self.here(), ty, callee, args.as_mut_ptr(), count, name.as_ref().into()) }
    }

    /// Joins values at the start of a block.
    pub fn phi(&self, ty: Type<'m>, incoming: &[(Value<'m>, Block<'m>)], name: &str) -> Inst<'m> {
        self.assert_type(ty);
        // SAFETY: a type of this context; the builder stands somewhere.
        let phi = unsafe { ffi::LLVMBuildPhi(self.here(), ty.first_class(), c_name(name).as_ref().into()) };
        phi.add_incoming(incoming);
        phi
    }

    /// Branches to a block.
    pub fn br(&self, to: Block<'m>) -> Inst<'m> {
        self.assert_target(to);
        // SAFETY: a block of this function; the builder stands somewhere.
        unsafe { ffi::LLVMBuildBr(self.here(), to) }
    }

    /// Branches to `yes` if the condition is true, otherwise to `no`.
    pub fn cond_br(&self, condition: impl Into<Value<'m>>, yes: Block<'m>, no: Block<'m>) -> Inst<'m> {
        let condition = condition.into();
        assert!(condition.ty().is_bool(), "{} is no condition", condition.text());
        self.assert_operand(condition);
        self.assert_target(yes);
        self.assert_target(no);
        // SAFETY: an `i1`, and blocks of this function; the builder stands somewhere.
        unsafe { ffi::LLVMBuildCondBr(self.here(), condition, yes, no) }
    }

    /// Returns a value from the function, or nothing.
    pub fn ret(&self, value: Option<Value<'m>>) -> Inst<'m> {
        let wanted = self.block().function().return_type();
        let given = value.map_or_else(|| self.types().void(), Value::ty);
        assert_eq!(given, wanted, "a function of {} returns {}", wanted.text(), given.text());
        value.into_iter().for_each(|value| self.assert_operand(value));
        // SAFETY: what the function returns; the builder stands somewhere.
        unsafe {
            match value {
                Some(value) => ffi::LLVMBuildRet(self.here(), value),
                None => ffi::LLVMBuildRetVoid(self.here()),
            }
        }
    }

    /// Ends the block with `unreachable`.
    pub fn unreachable(&self) -> Inst<'m> {
        // SAFETY: the builder stands somewhere.
        unsafe { ffi::LLVMBuildUnreachable(self.here()) }
    }

    fn assert_target(&self, block: Block<'m>) {
        assert_eq!(block.function(), self.block().function(), "a branch into another function");
    }

    /// Copies bytes. An alignment of 0 is unknown.
    pub fn memcpy(
        &self,
        (to, to_align): (Value<'m>, u32),
        (from, from_align): (Value<'m>, u32),
        size: Value<'m>,
    ) -> Inst<'m> {
        self.assert_bytes(to, to_align, size);
        self.assert_bytes(from, from_align, size);
        // SAFETY: two pointers, alignments, an integer; the builder stands somewhere.
        unsafe { ffi::LLVMBuildMemCpy(self.here(), to, to_align, from, from_align, size) }
    }

    /// Fills bytes. An alignment of 0 is unknown.
    pub fn memset(&self, to: Value<'m>, align: u32, byte: Value<'m>, size: Value<'m>) -> Inst<'m> {
        self.assert_bytes(to, align, size);
        self.assert_operand(byte);
        assert!(byte.ty().int_width() == Some(8), "{} is no byte", byte.text());
        // SAFETY: a pointer, an alignment, a byte, an integer; the builder stands somewhere.
        unsafe { ffi::LLVMBuildMemSet(self.here(), to, byte, size, align) }
    }

    fn assert_bytes(&self, pointer: Value<'m>, align: u32, size: Value<'m>) {
        self.assert_pointer(pointer);
        self.assert_operand(size);
        assert!(pointer.ty().is_pointer(), "{} is no pointer", pointer.text());
        assert!(matches!(size.ty().int_width(), Some(32 | 64)), "{} is no size", size.text());
        assert!(align == 0 || align.is_power_of_two(), "an alignment of {align} bytes");
    }

    /// Returns a pointer in an address space, cast to it where it is in another.
    pub fn in_space(&self, pointer: impl Into<Value<'m>>, space: AddressSpace) -> Value<'m> {
        let pointer = pointer.into();
        self.pointer_cast(pointer, self.types().pointer(space).shaped_like(pointer.ty()), "")
    }
}
