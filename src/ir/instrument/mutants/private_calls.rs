//! Rewrites calls that get a pointer to a privatised variable: memory intrinsics and builtins to their versions for
//! private pointers, atomics to plain code.

use super::privatise::{Pass, PassResult, Refusal};
use crate::kernel::builtins::{self, Effect, Family, Operation};
use crate::llvm::{Inst, IntPredicate, Opcode, RealPredicate, Type, Value};

/// Prefix of a pointer to local memory in a mangled name.
const LOCAL_POINTER: &str = "PU3AS3";

impl<'m> Pass<'m> {
    /// Rewrites one call.
    pub(super) fn call(&self, call: Inst<'m>) -> PassResult<()> {
        let Some(callee) = call.callee() else { return Err(Refusal::Escapes("a call".into())) };
        if callee.starts_with("llvm.") {
            return self.intrinsic(call, &callee);
        }
        let Some((name, params)) = builtins::demangle(&callee) else {
            return Err(Refusal::Escapes(format!("`{callee}`")));
        };
        if builtins::family(name) == Some(Family::AsyncCopy) {
            return Err(Refusal::AsyncCopy);
        }
        if let Some(operation) = builtins::operation(name) {
            return self.non_atomic(call, operation, name, params);
        }
        if name == "atomic_init" {
            return self.init(call);
        }
        if !builtins::has(name, Effect::HasPrivateOverload) {
            return Err(Refusal::Escapes(format!("`{name}`")));
        }
        let pointers = params.matches(LOCAL_POINTER).count();
        let ours = call.operands().iter().filter(|operand| self.private_pointers.contains_key(operand)).count();
        if ours != pointers {
            return Err(Refusal::Mixed);
        }
        self.replace(call, &builtins::mangle(name, &params.replace(LOCAL_POINTER, "P")));
        Ok(())
    }

    /// Returns the private pointer for one to the variable, and any other value itself.
    fn made_private(&self, value: Value<'m>) -> Value<'m> {
        self.private_pointers.get(&value).copied().unwrap_or(value)
    }

    /// Replaces `llvm.memcpy` and its relatives by declarations for the private address space.
    fn intrinsic(&self, call: Inst<'m>, callee: &str) -> PassResult<()> {
        let escapes = || Refusal::Escapes(format!("`{callee}`"));
        let overloaded: &[u32] = match callee.split('.').nth(1) {
            Some("memcpy" | "memmove") => &[0, 1, 2],
            Some("memset") => &[0, 2],
            _ => return Err(escapes()),
        };
        // What follows in its name are the types over which it is overloaded, a pointer the first.
        let base = callee.split(".p").next().unwrap_or(callee);
        let types: Vec<Type<'m>> = overloaded.iter().map(|i| self.made_private(call.operand(*i)).ty()).collect();
        self.replace(call, &self.view.intrinsic_name(base, &types));
        Ok(())
    }

    /// Replaces the call by one of the named function, with private pointers.
    fn replace(&self, call: Inst<'m>, name: &str) {
        let args: Vec<Value<'m>> = call.args().into_iter().map(|arg| self.made_private(arg)).collect();
        let types: Vec<Type<'m>> = args.iter().map(|arg| arg.ty()).collect();
        let ty = call.ty().function(&types, false);
        let function = self.view.function(name).unwrap_or_else(|| {
            let function = self.view.add_function(name, ty);
            call.call_conv().into_iter().for_each(|convention| function.set_call_conv(convention));
            function
        });
        self.builder.before(call);
        let new = self.builder.call_as(ty, function, &args, "");
        new.set_call_conv(function.call_conv());
        self.replace_erasing(call, Some(new.value()));
    }

    /// Replaces `atomic_init` by a store.
    fn init(&self, call: Inst<'m>) -> PassResult<()> {
        let Some(pointer) = self.private_pointers.get(&call.operand(0)).copied() else { return Err(Refusal::Mixed) };
        self.builder.before(call);
        self.builder.store(call.operand(1), pointer);
        self.replace_erasing(call, None);
        Ok(())
    }

    /// Replaces an atomic by plain code: no other work-item accesses this memory.
    fn non_atomic(&self, call: Inst<'m>, operation: Operation, name: &str, params: &str) -> PassResult<()> {
        let refuse = || Refusal::Atomic(name.to_owned());
        let kind = builtins::pointee(params).ok_or_else(refuse)?;
        let operands = call.operands();
        let Some(pointer) = self.private_pointers.get(&operands[0]).copied() else { return Err(refuse()) };
        // A pointer to the variable may only be the object of the operation, or the expected value
        // of a compare-exchange.
        let expected = match operation {
            Operation::CompareExchangeBool => Some(self.made_private(operands[1])),
            _ if operands[1..].iter().any(|operand| self.private_pointers.contains_key(operand)) => {
                return Err(refuse());
            }
            _ => None,
        };
        let b = &self.builder;
        b.before(call);
        let ty = match operation {
            Operation::CompareExchangeBool => operands[2].ty(),
            Operation::Store => operands[1].ty(),
            Operation::TestAndSet | Operation::Clear => self.view.int_type(32),
            _ => call.ty(),
        };
        if matches!(operation, Operation::Store | Operation::Clear) {
            b.store(if operation == Operation::Store { operands[1] } else { ty.null() }, pointer);
            self.replace_erasing(call, None);
            return Ok(());
        }
        let current = b.load(ty, pointer, "").value();
        let (float, signed) = (builtins::is_float(kind), builtins::is_signed(kind));
        let binary = |int, fl| b.binary(if float { fl } else { int }, current, operands[1], "");
        let pick = |if_signed, if_unsigned, fl| {
            let holds = match (float, signed) {
                (true, _) => b.fcmp(fl, current, operands[1], ""),
                (false, true) => b.icmp(if_signed, current, operands[1], ""),
                (false, false) => b.icmp(if_unsigned, current, operands[1], ""),
            };
            b.select(holds, current, operands[1], "")
        };
        let mut result = current;
        let new = match operation {
            Operation::Add => binary(Opcode::LLVMAdd, Opcode::LLVMFAdd),
            Operation::Sub => binary(Opcode::LLVMSub, Opcode::LLVMFSub),
            Operation::And => binary(Opcode::LLVMAnd, Opcode::LLVMAnd),
            Operation::Or => binary(Opcode::LLVMOr, Opcode::LLVMOr),
            Operation::Xor => binary(Opcode::LLVMXor, Opcode::LLVMXor),
            Operation::Inc => b.add(current, ty.signed_int(1), ""),
            Operation::Dec => b.add(current, ty.signed_int(-1), ""),
            Operation::Min => pick(IntPredicate::LLVMIntSLT, IntPredicate::LLVMIntULT, RealPredicate::LLVMRealOLT),
            Operation::Max => pick(IntPredicate::LLVMIntSGT, IntPredicate::LLVMIntUGT, RealPredicate::LLVMRealOGT),
            Operation::Exchange => operands[1],
            Operation::Load | Operation::Store | Operation::Clear => current,
            Operation::CompareExchange => {
                let same = b.icmp(IntPredicate::LLVMIntEQ, current, operands[1], "");
                b.select(same, operands[2], current, "")
            }
            Operation::CompareExchangeBool => {
                let wanted = b.load(ty, expected.ok_or_else(refuse)?, "");
                result = b.icmp(IntPredicate::LLVMIntEQ, current, wanted, "");
                b.select(result, operands[2], current, "")
            }
            Operation::TestAndSet => {
                result = b.icmp(IntPredicate::LLVMIntNE, current, ty.null(), "");
                ty.int(1)
            }
        };
        if operation != Operation::Load {
            b.store(new, pointer);
        }
        if let (Operation::CompareExchangeBool, Some(expected)) = (operation, expected) {
            // If they are equal, this stores what was there already.
            b.store(current, expected);
        }
        self.replace_erasing(call, Some(result).filter(|_| call.is_used()));
        Ok(())
    }
}
