//! Rewrites `async_work_group_copy` and its strided form so that LLVM 22's SPIR-V backend lowers them correctly.
//!
//! The backend gives the plain copy's stride a 32-bit constant where the address width requires 64 bits, and types the
//! pointers by their pointee (an array) instead of by the copied element; Intel's runtime then finds no builtin of that
//! signature. So plain copies become strided copies with stride 1, and the pointers become addresses of elements.

use std::ffi::CString;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use crate::kernel::canonical;
use crate::kernel::ir::{self, Block, Function, Inst};

const PLAIN: &str = "_Z21async_work_group_copy";
const STRIDED: &str = "_Z29async_work_group_strided_copy";
/// The last parameter, the event, in the mangled name.
const EVENT: &str = "9ocl_event";

/// Rewrites all calls of asynchronous copies in the module.
pub fn rewrite(module: &Module<'_>) {
    for builtin in ir::functions(module) {
        let name = builtin.name();
        let Some(strided) = strided_name(&name).filter(|_| !builtin.has_body()) else { continue };
        // SAFETY: the module's context is alive.
        let Some(element) =
            element_name(&name).and_then(|e| unsafe { element_type(LLVMGetModuleContext(module.as_mut_ptr()), e) })
        else {
            continue;
        };
        let calls = ir::functions(module).into_iter().flat_map(Function::blocks).flat_map(Block::instructions);
        for call in calls.filter(|i| i.callee().as_deref() == Some(&name)).collect::<Vec<_>>() {
            // SAFETY: the call and its callee are alive; the call is used no more after its replacement.
            unsafe { replace(module, call, builtin, &strided, element) };
        }
        // SAFETY: alive; deleted only if nothing uses it.
        unsafe {
            if LLVMGetFirstUse(builtin.0).is_null() {
                LLVMDeleteFunction(builtin.0);
            }
        }
    }
}

/// Returns the strided builtin's mangled name; for the plain one, a `size_t` (`m`) is added before the event.
fn strided_name(name: &str) -> Option<String> {
    if name.starts_with(STRIDED) {
        return Some(name.to_owned());
    }
    let parameters = name.strip_prefix(PLAIN)?.strip_suffix(EVENT)?;
    parameters.ends_with('m').then(|| format!("{STRIDED}{parameters}m{EVENT}"))
}

/// Returns the mangled element type, the pointee of the first parameter (`PU3AS3Dv4_fP…`: `Dv4_f`).
fn element_name(name: &str) -> Option<&str> {
    let parameters = name.strip_prefix(PLAIN).or_else(|| name.strip_prefix(STRIDED))?;
    let pointee = parameters.strip_prefix("PU3AS")?.get(1..)?;
    pointee.split_once('P').map(|(element, _)| element)
}

/// # Safety
/// `context` must be alive.
unsafe fn element_type(context: LLVMContextRef, mangled: &str) -> Option<LLVMTypeRef> {
    // SAFETY: the context is alive.
    unsafe {
        if let Some(vector) = mangled.strip_prefix("Dv") {
            let (count, element) = vector.split_once('_')?;
            return Some(LLVMVectorType(element_type(context, element)?, count.parse().ok()?));
        }
        Some(match mangled {
            "c" | "a" | "h" => LLVMInt8TypeInContext(context),
            "s" | "t" => LLVMInt16TypeInContext(context),
            "i" | "j" => LLVMInt32TypeInContext(context),
            "l" | "m" => LLVMInt64TypeInContext(context),
            "Dh" => LLVMHalfTypeInContext(context),
            "f" => LLVMFloatTypeInContext(context),
            "d" => LLVMDoubleTypeInContext(context),
            _ => return None,
        })
    }
}

/// # Safety
/// `call` must be a call of `builtin` in `module`.
unsafe fn replace(module: &Module<'_>, call: Inst, builtin: Function, name: &str, element: LLVMTypeRef) {
    // SAFETY: the caller's call is alive; destination, source, count, the stride perhaps, and the event are its arguments,
    // the callee comes after them.
    unsafe {
        let old = LLVMGlobalGetValueType(builtin.0);
        let mut operands = call.operands();
        operands.truncate(LLVMCountParamTypes(old) as usize);
        let (to, from, count, stride, event) = match operands[..] {
            [to, from, count, event] => (to, from, count, LLVMConstInt(LLVMTypeOf(count), 1, 0), event),
            [to, from, count, stride, event] => (to, from, count, stride, event),
            _ => return,
        };
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, call.0);
        let (to, from) = (element_address(builder, element, to), element_address(builder, element, from));
        let mut arguments = [to, from, count, stride, event];
        let mut types = arguments.map(|a| LLVMTypeOf(a));
        let ty = LLVMFunctionType(LLVMGetReturnType(old), types.as_mut_ptr(), types.len() as u32, 0);
        let strided = declaration(module, name, ty, builtin);
        let new = LLVMBuildCall2(builder, ty, strided, arguments.as_mut_ptr(), arguments.len() as u32, c"".as_ptr());
        LLVMSetInstructionCallConv(new, LLVMGetInstructionCallConv(call.0));
        LLVMDisposeBuilder(builder);
        LLVMReplaceAllUsesWith(call.0, new);
        LLVMInstructionEraseFromParent(call.0);
    }
}

/// Returns the address of element 0 at `pointer` as an instruction: it is built on an instruction and moved to
/// `pointer`, because the builder would fold it on a constant.
///
/// # Safety
/// The builder must be positioned where `pointer` can be used.
unsafe fn element_address(builder: LLVMBuilderRef, element: LLVMTypeRef, pointer: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: the values are alive; the stand-in goes once nothing uses it.
    unsafe {
        let stand_in = LLVMBuildFreeze(builder, pointer, c"".as_ptr());
        let mut zero = LLVMConstInt(LLVMInt64TypeInContext(LLVMGetTypeContext(element)), 0, 0);
        let address = LLVMBuildInBoundsGEP2(builder, element, stand_in, &mut zero, 1, c"element".as_ptr());
        if address != stand_in {
            LLVMSetOperand(address, 0, pointer);
            LLVMInstructionEraseFromParent(stand_in);
        }
        address
    }
}

/// # Safety
/// `module` and `like` must be alive.
unsafe fn declaration(module: &Module<'_>, name: &str, ty: LLVMTypeRef, like: Function) -> LLVMValueRef {
    if let Some(f) = ir::function(module, name) {
        return f.0;
    }
    let name = CString::new(name).unwrap_or_default();
    // SAFETY: see above; the name is NUL-terminated.
    unsafe {
        let f = LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), ty);
        LLVMSetFunctionCallConv(f, LLVMGetFunctionCallConv(like.0));
        canonical::add_attribute(Function(f), "convergent");
        f
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_copies_are_read() {
        let plain = "_Z21async_work_group_copyPU3AS3Dv4_iPU3AS1KS_m9ocl_event";
        let strided = "_Z29async_work_group_strided_copyPU3AS3Dv4_iPU3AS1KS_mm9ocl_event";
        assert_eq!(strided_name(plain).as_deref(), Some(strided));
        assert_eq!(strided_name(strided).as_deref(), Some(strided));
        assert_eq!(strided_name("async_work_group_copy"), None);
        assert_eq!(element_name(plain), Some("Dv4_i"));
        assert_eq!(element_name(strided), Some("Dv4_i"));
    }
}
