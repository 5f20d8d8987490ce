//! Proves of the woven kernel that no instruction accesses memory that it was not meant to.
//!
//! Whatever weaves an access leaves a record of why it is safe: the address was checked, the memory is kassay's own.
//! What has no record is proved again from the instruction alone, or the kernel is refused. So a kind of access that
//! was not thought of cannot reach the processor unwatched.

use std::mem::size_of;

use kassay_base::error::{Error, Result};
use kassay_model::native::abi::{ItemContext, hook, mark};

use super::values;
use crate::llvm::{DataLayout, Function, Inst, Node, Opcode, Operand, Type, Value, View};
use crate::lower::memory_intrinsics;

/// Why an access is safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// For an address: so many bytes at it have been checked.
    Checked(u64),
    /// For an address: so many bytes at it are the work-item's, or the simulator's.
    Memory(u64),
    /// For an access: it is to memory of kassay's own, by code of kassay's own.
    Own,
}

/// Records a proof with an instruction; of anything else it needs none, because it is not woven.
pub fn record<'m>(view: View<'m>, value: Value<'m>, proof: Proof) {
    let Some(inst) = value.as_instruction() else { return };
    let (kind, bytes) = match proof {
        Proof::Checked(bytes) => ("checked", bytes),
        Proof::Memory(bytes) => ("memory", bytes),
        Proof::Own => ("own", 0),
    };
    let operands = [Operand::Text(kind.to_owned()), Operand::Value(view.int_type(64).int(bytes))];
    inst.set_metadata(view.metadata_kind(mark::PROOF), Some(Node::new(view.int_type(64), &operands)));
}

/// Checks every instruction of the woven kernel, whose last argument is the item's context.
///
/// # Errors
/// `Internal` if one accesses memory without a proof, or does something else that nothing watches.
pub fn verify<'m>(view: View<'m>, kernel: Function<'m>) -> Result<()> {
    let verifier = Verifier { view, kernel, layout: view.layout() };
    for inst in kernel.instructions() {
        if let Err(why) = verifier.instruction(inst) {
            let text = inst.text();
            let place = inst.location().map(|l| format!(" ({l})")).unwrap_or_default();
            return Err(Error::internal(format!("the simulator cannot watch the kernel: {why}{place}")).details(text));
        }
    }
    Ok(())
}

type Verdict = std::result::Result<(), &'static str>;

const UNWATCHED: &str = "an access to memory is not checked";

struct Verifier<'m> {
    view: View<'m>,
    kernel: Function<'m>,
    layout: DataLayout<'m>,
}

impl<'m> Verifier<'m> {
    fn instruction(&self, inst: Inst<'m>) -> Verdict {
        use Opcode::*;
        match inst.opcode() {
            LLVMLoad => self.access(inst, inst.operand(0), self.size(inst.ty()), false),
            LLVMStore => self.access(inst, inst.operand(1), self.size(inst.operand(0).ty()), true),
            LLVMAtomicRMW | LLVMAtomicCmpXchg => {
                self.access(inst, inst.operand(0), self.size(inst.operand(1).ty()), true)
            }
            LLVMCall => self.call(inst),
            LLVMAlloca if values::fixed_count(inst).is_none() => Err("a variable is made at run time"),
            LLVMVAArg | LLVMIndirectBr | LLVMInvoke | LLVMCallBr | LLVMResume | LLVMLandingPad | LLVMCatchSwitch
            | LLVMCatchPad | LLVMCleanupPad | LLVMCatchRet | LLVMCleanupRet => Err("an instruction is not expected"),
            _ => Ok(()),
        }
    }

    fn call(&self, inst: Inst<'m>) -> Verdict {
        let Some(name) = inst.callee() else { return Err("a function is called through a pointer") };
        if hook::ALL.contains(&name.as_str()) {
            return Ok(());
        }
        if !name.starts_with("llvm.") {
            return Err("an unknown function is called");
        }
        if let Some(pointers) = memory_intrinsics::transferred(&name) {
            let bytes = inst.operand(2).as_u64();
            return pointers
                .iter()
                .try_for_each(|(operand, writes)| self.access(inst, inst.operand(*operand), bytes, *writes));
        }
        let callee = inst.called_function().ok_or(UNWATCHED)?;
        if memory_intrinsics::is_harmless(callee) { Ok(()) } else { Err("an intrinsic may access memory") }
    }

    /// Checks an access of `bytes` bytes; `None`: as many as are known at run time.
    fn access(&self, inst: Inst<'m>, pointer: Value<'m>, bytes: Option<u64>, writes: bool) -> Verdict {
        let trusted = self.view.metadata_kind(mark::TRUSTED);
        if bytes == Some(0) || inst.metadata(trusted).is_some() || self.recorded(inst) == Some(Proof::Own) {
            return Ok(());
        }
        let (base, offset) = self.base(pointer);
        let fits = |size: u64| {
            let from = offset.and_then(|offset| u64::try_from(offset).ok());
            let end = from.zip(bytes).and_then(|(from, bytes)| from.checked_add(bytes));
            if end.is_some_and(|end| end <= size) { Ok(()) } else { Err(UNWATCHED) }
        };
        if let Some(variable) = base.as_global() {
            let size = self.layout.element_size(variable.value_type());
            return if writes && variable.is_constant() { Err(UNWATCHED) } else { fits(size.unwrap_or(0)) };
        }
        if Some(base) == self.kernel.last_param() {
            return fits(size_of::<ItemContext>() as u64);
        }
        if let Some(position) = self.kernel.params().iter().position(|param| *param == base) {
            let size = self.kernel.by_value_type(position as u32).and_then(|ty| self.layout.element_size(ty));
            return fits(size.unwrap_or(0));
        }
        let Some(origin) = base.as_instruction() else { return Err(UNWATCHED) };
        match self.recorded(origin) {
            Some(Proof::Checked(size))
                if offset == Some(0) && (bytes.is_some_and(|b| b <= size) || size == u64::MAX) =>
            {
                Ok(())
            }
            Some(Proof::Memory(size)) => fits(size),
            _ => match values::fixed_count(origin) {
                Some(count) => {
                    let element = origin.allocated_type().and_then(|ty| self.layout.element_size(ty));
                    fits(element.and_then(|element| element.checked_mul(count)).unwrap_or(0))
                }
                None => Err(UNWATCHED),
            },
        }
    }

    /// Returns what a pointer is computed from, back to a recorded address, and the distance if it is constant.
    fn base(&self, pointer: Value<'m>) -> (Value<'m>, Option<i64>) {
        let (mut at, mut distance) = (pointer, Some(0i64));
        loop {
            if at.as_instruction().is_some_and(|inst| self.recorded(inst).is_some()) {
                break;
            }
            match at.opcode() {
                Some(Opcode::LLVMGetElementPtr) => {
                    distance = distance.and_then(|d| d.checked_add(self.layout.constant_offset(at)?));
                }
                Some(Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast | Opcode::LLVMFreeze) => {}
                _ => break,
            }
            let Some(base) = at.operand(0) else { break };
            at = base;
        }
        (at, distance)
    }

    /// Size in bytes of a value of this type in memory.
    fn size(&self, ty: Type<'m>) -> Option<u64> {
        self.layout.element_size(ty).map(|_| self.layout.store_size(ty))
    }

    fn recorded(&self, inst: Inst<'m>) -> Option<Proof> {
        let node = inst.metadata(self.view.metadata_kind(mark::PROOF))?;
        let bytes = node.operand(1).number()?;
        match node.operand(0).text()? {
            "checked" => Some(Proof::Checked(bytes)),
            "memory" => Some(Proof::Memory(bytes)),
            "own" => Some(Proof::Own),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::llvm::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;

    /// Verifies a kernel with this body, a buffer and a number; returns what is wrong.
    fn verdict(body: &str) -> Option<String> {
        let text = format!(
            "@c = internal addrspace(2) constant [2 x i32] zeroinitializer\n\
             declare ptr @__kassay_check(ptr, ptr, i32)\n\
             define void @k(ptr addrspace(1) %p, i64 %n, ptr %item) {{\nentry:\n%v = alloca [4 x i32]\n{body}\nret void\n}}"
        );
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap();
        let view = View::of(&module);
        verify(view, view.function("k").unwrap()).err().map(|error| error.to_string())
    }

    #[test]
    fn accesses_without_a_proof_are_refused() {
        for body in [
            "store i32 1, ptr addrspace(1) %p",
            "%x = load i32, ptr addrspace(1) %p",
            "%x = atomicrmw add ptr addrspace(1) %p, i32 1 monotonic",
            "%x = cmpxchg ptr addrspace(1) %p, i32 1, i32 2 monotonic monotonic",
            "%q = getelementptr i32, ptr %v, i64 4\nstore i32 1, ptr %q",
            "%q = getelementptr i32, ptr %v, i64 -1\nstore i32 1, ptr %q",
            "%q = getelementptr i32, ptr %v, i64 %n\nstore i32 1, ptr %q",
            "%w = alloca i32, i64 %n\nstore i32 1, ptr %w",
            "store i32 1, ptr addrspace(2) @c",
            "%x = load i64, ptr addrspace(2) getelementptr (i8, ptr addrspace(2) @c, i64 4)",
            "call void @llvm.memset.p0.i64(ptr %v, i8 0, i64 17, i1 false)",
            "call void @llvm.memset.p0.i64(ptr %v, i8 0, i64 %n, i1 false)",
            "call void @llvm.memcpy.p0.p1.i64(ptr %v, ptr addrspace(1) %p, i64 4, i1 false)",
            "%x = call <2 x i32> @llvm.masked.load.v2i32.p0(ptr %v, <2 x i1> splat (i1 true), <2 x i32> zeroinitializer)",
            "call void @llvm.stackrestore.p0(ptr %v)",
            "%f = inttoptr i64 %n to ptr\ncall void %f()",
            "%q = getelementptr i8, ptr %item, i64 4096\n%x = load i64, ptr %q",
            "%q = call ptr @__kassay_check(ptr %item, ptr %v, i32 0)\nstore i32 1, ptr %q",
        ] {
            assert!(verdict(body).is_some(), "{body}");
        }
    }

    #[test]
    fn accesses_with_a_proof_are_taken() {
        for body in [
            "%q = getelementptr i32, ptr %v, i64 3\nstore i32 1, ptr %q",
            "%x = load i32, ptr addrspace(2) getelementptr (i8, ptr addrspace(2) @c, i64 4)",
            "call void @llvm.memset.p0.i64(ptr %v, i8 0, i64 16, i1 false)",
            "%q = getelementptr i8, ptr %item, i64 16\n%x = load i64, ptr %q",
            "%x = call i32 @llvm.ctpop.i32(i32 5)",
            "call void @llvm.memset.p1.i64(ptr addrspace(1) %p, i8 0, i64 0, i1 false)",
            "%q = call ptr @__kassay_check(ptr %item, ptr %v, i32 0), !kassay.proof !{!\"checked\", i64 4}\nstore i32 1, ptr %q",
        ] {
            assert_eq!(verdict(body), None, "{body}");
        }
        let wide = "%q = call ptr @__kassay_check(ptr %item, ptr %v, i32 0), !kassay.proof !{!\"checked\", i64 4}\nstore i64 1, ptr %q";
        assert!(verdict(wide).is_some());
    }
}
