//! Rewrites calls that get a pointer to a privatised variable: memory intrinsics and builtins to their versions for
//! private pointers, atomics to plain code.

use std::ffi::CString;

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};

use super::privatise::{Pass, PassResult, Refusal};
use crate::kernel::builtins::{self, Operation};
use crate::kernel::ir::Inst;

/// Builtins that OpenCL C also has for private pointers (6.12.2, 6.12.7).
const ALSO_FOR_PRIVATE: &[&str] = &["vload", "vstore", "fract", "modf", "sincos", "frexp", "lgamma_r", "remquo"];

/// Prefix of a pointer to local memory in a mangled name.
const LOCAL_POINTER: &str = "PU3AS3";

impl Pass {
    /// All methods: the module is alive, and so is the call.
    pub(super) unsafe fn call(&mut self, call: Inst) -> PassResult<()> {
        let Some(callee) = call.callee() else { return Err(Refusal::Escapes("a call".into())) };
        // SAFETY: see above.
        unsafe {
            if callee.starts_with("llvm.") {
                return self.intrinsic(call, &callee);
            }
            let Some((name, params)) = builtins::demangle(&callee) else {
                return Err(Refusal::Escapes(format!("`{callee}`")));
            };
            if name.starts_with("async_work_group") {
                return Err(Refusal::AsyncCopy);
            }
            if let Some(operation) = builtins::operation(name) {
                return self.non_atomic(call, operation, name, params);
            }
            if name == "atomic_init" {
                return self.init(call);
            }
            if !ALSO_FOR_PRIVATE.iter().any(|prefix| name.starts_with(prefix)) {
                return Err(Refusal::Escapes(format!("`{name}`")));
            }
            let pointers = params.matches(LOCAL_POINTER).count();
            let ours = call.operands().iter().filter(|operand| self.private_pointers.contains_key(operand)).count();
            if ours != pointers {
                return Err(Refusal::Mixed);
            }
            self.replace(call, &builtins::mangle(name, &params.replace(LOCAL_POINTER, "P")))
        }
    }

    /// Replaces `llvm.memcpy` and its relatives by declarations for the private address space.
    unsafe fn intrinsic(&mut self, call: Inst, callee: &str) -> PassResult<()> {
        // SAFETY: see `call`; the overloaded types of these intrinsics are those of their first two or three arguments.
        unsafe {
            let operands = call.operands();
            let overloaded: &[usize] = match callee.split('.').nth(1) {
                Some("memcpy" | "memmove") => &[0, 1, 2],
                Some("memset") => &[0, 2],
                _ => return Err(Refusal::Escapes(format!("`{callee}`"))),
            };
            let args: Vec<LLVMValueRef> = operands.iter().map(|o| *self.private_pointers.get(o).unwrap_or(o)).collect();
            let mut types: Vec<LLVMTypeRef> = overloaded.iter().map(|i| LLVMTypeOf(args[*i])).collect();
            let id = LLVMGetIntrinsicID(LLVMGetCalledValue(call.0));
            let declared = LLVMGetIntrinsicDeclaration(self.module, id, types.as_mut_ptr(), types.len());
            let name = Inst(declared).name();
            self.replace(call, &name)
        }
    }

    /// Replaces the call by one of the named function, with private pointers.
    unsafe fn replace(&mut self, call: Inst, name: &str) -> PassResult<()> {
        // SAFETY: see `call`; the last operand is the function called.
        unsafe {
            let mut args = call.operands();
            args.pop();
            for arg in &mut args {
                *arg = *self.private_pointers.get(arg).unwrap_or(arg);
            }
            let mut types: Vec<LLVMTypeRef> = args.iter().map(|arg| LLVMTypeOf(*arg)).collect();
            let ty = LLVMFunctionType(LLVMTypeOf(call.0), types.as_mut_ptr(), types.len() as u32, 0);
            let Ok(name) = CString::new(name) else { return Err(Refusal::Escapes("a call".into())) };
            let mut function = LLVMGetNamedFunction(self.module, name.as_ptr());
            if function.is_null() {
                function = LLVMAddFunction(self.module, name.as_ptr(), ty);
                LLVMSetFunctionCallConv(function, LLVMGetInstructionCallConv(call.0));
            }
            self.position_before(call.0);
            let new = LLVMBuildCall2(self.builder, ty, function, args.as_mut_ptr(), args.len() as u32, c"".as_ptr());
            LLVMSetInstructionCallConv(new, LLVMGetFunctionCallConv(function));
            LLVMReplaceAllUsesWith(call.0, new);
            LLVMInstructionEraseFromParent(call.0);
            Ok(())
        }
    }

    /// Replaces `atomic_init` by a store.
    unsafe fn init(&mut self, call: Inst) -> PassResult<()> {
        // SAFETY: see `call`; the builtin has two arguments.
        unsafe {
            let operands = call.operands();
            let Some(pointer) = self.private_pointers.get(&operands[0]).copied() else { return Err(Refusal::Mixed) };
            self.position_before(call.0);
            LLVMBuildStore(self.builder, operands[1], pointer);
            LLVMInstructionEraseFromParent(call.0);
            Ok(())
        }
    }

    /// Replaces an atomic by plain code: no other work-item accesses this memory.
    unsafe fn non_atomic(&mut self, call: Inst, operation: Operation, name: &str, params: &str) -> PassResult<()> {
        use LLVMOpcode::*;
        let refuse = || Refusal::Atomic(name.to_owned());
        let kind = builtins::pointee(params).ok_or_else(refuse)?;
        let float = builtins::is_float(kind);
        // SAFETY: see `call`; the operands are those that the builtin of that name has.
        unsafe {
            let operands = call.operands();
            let Some(pointer) = self.private_pointers.get(&operands[0]).copied() else { return Err(refuse()) };
            // A pointer to the variable may only be the object of the operation, or the expected value
            // of a compare-exchange.
            let expected = match operation {
                Operation::CompareExchangeBool => {
                    Some(*self.private_pointers.get(&operands[1]).unwrap_or(&operands[1]))
                }
                _ if operands[1..].iter().any(|operand| self.private_pointers.contains_key(operand)) => {
                    return Err(refuse());
                }
                _ => None,
            };
            self.position_before(call.0);
            let b = self.builder;
            let empty = c"".as_ptr();
            let ty = match operation {
                Operation::CompareExchangeBool => LLVMTypeOf(operands[2]),
                Operation::Store => LLVMTypeOf(operands[1]),
                Operation::TestAndSet | Operation::Clear => LLVMInt32TypeInContext(self.context),
                _ => LLVMTypeOf(call.0),
            };
            let current = match operation {
                Operation::Store | Operation::Clear => std::ptr::null_mut(),
                _ => LLVMBuildLoad2(b, ty, pointer, empty),
            };
            let store = |value| {
                LLVMBuildStore(b, value, pointer);
            };
            let binary = |int, fl| LLVMBuildBinOp(b, if float { fl } else { int }, current, operands[1], empty);
            let step = |by: i64| {
                let one = LLVMConstInt(ty, by as u64, 1);
                LLVMBuildAdd(b, current, one, empty)
            };
            let pick = |signed, unsigned, fl| {
                let holds = match (float, builtins::is_signed(kind)) {
                    (true, _) => LLVMBuildFCmp(b, fl, current, operands[1], empty),
                    (false, true) => LLVMBuildICmp(b, signed, current, operands[1], empty),
                    (false, false) => LLVMBuildICmp(b, unsigned, current, operands[1], empty),
                };
                LLVMBuildSelect(b, holds, current, operands[1], empty)
            };
            use LLVMIntPredicate::*;
            use llvm_sys::LLVMRealPredicate::*;
            let mut result = current;
            match operation {
                Operation::Add => store(binary(LLVMAdd, LLVMFAdd)),
                Operation::Sub => store(binary(LLVMSub, LLVMFSub)),
                Operation::And => store(binary(LLVMAnd, LLVMAnd)),
                Operation::Or => store(binary(LLVMOr, LLVMOr)),
                Operation::Xor => store(binary(LLVMXor, LLVMXor)),
                Operation::Inc => store(step(1)),
                Operation::Dec => store(step(-1)),
                Operation::Min => store(pick(LLVMIntSLT, LLVMIntULT, LLVMRealOLT)),
                Operation::Max => store(pick(LLVMIntSGT, LLVMIntUGT, LLVMRealOGT)),
                Operation::Exchange | Operation::Store => store(operands[1]),
                Operation::Load => {}
                Operation::CompareExchange => {
                    let same = LLVMBuildICmp(b, LLVMIntEQ, current, operands[1], empty);
                    store(LLVMBuildSelect(b, same, operands[2], current, empty));
                }
                Operation::CompareExchangeBool => {
                    let Some(expected) = expected else { return Err(refuse()) };
                    let wanted = LLVMBuildLoad2(b, ty, expected, empty);
                    let same = LLVMBuildICmp(b, LLVMIntEQ, current, wanted, empty);
                    store(LLVMBuildSelect(b, same, operands[2], current, empty));
                    // If they are equal, this stores what was there already.
                    LLVMBuildStore(b, current, expected);
                    result = same;
                }
                Operation::TestAndSet => {
                    let zero = LLVMConstNull(ty);
                    result = LLVMBuildICmp(b, LLVMIntNE, current, zero, empty);
                    store(LLVMConstInt(ty, 1, 0));
                }
                Operation::Clear => store(LLVMConstNull(ty)),
            }
            if !result.is_null() && !LLVMGetFirstUse(call.0).is_null() {
                LLVMReplaceAllUsesWith(call.0, result);
            }
            LLVMInstructionEraseFromParent(call.0);
            Ok(())
        }
    }
}
