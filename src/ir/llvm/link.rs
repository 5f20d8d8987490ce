//! Linking modules, and reading what is to be linked.

use std::ffi::c_void;
use std::mem::ManuallyDrop;

use inkwell::context::AsContextRef;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use llvm_sys::LLVMDiagnosticSeverity;
use llvm_sys::prelude::LLVMDiagnosticInfoRef;

use super::Linkage;
use super::ffi;
use super::handles::Value;
use super::text::Message;
use super::view::View;

/// Reads bitcode of which functions' bodies are read only when they are needed, as when a part of it is linked.
///
/// # Errors
/// LLVM's message, if it is no bitcode.
#[expect(deprecated, reason = "what replaces it tells the context of broken bitcode, which then ends the process")]
pub fn read_lazily<'c>(context: impl AsContextRef<'c>, bitcode: MemoryBuffer<'c>) -> Result<Module<'c>, String> {
    let buffer = ManuallyDrop::new(bitcode);
    let (mut module, mut message) = (std::ptr::null_mut(), None::<Message>);
    // SAFETY: the buffer becomes the module's own, and what it holds lives as long as the context; the message is
    // LLVM's for its caller.
    unsafe {
        let (context, buffer) = (context.as_ctx_ref(), buffer.as_mut_ptr());
        let message = (&raw mut message).cast();
        if llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext(context, buffer, &mut module, message) == 0 {
            return Ok(Module::new(module));
        }
    }
    Err(message.map(Message::text).unwrap_or_default())
}

/// Moves what `other` holds into `module`. What was declared there and is defined by `other` is replaced, so handles
/// end with this.
///
/// # Errors
/// LLVM's message, if the modules do not go together.
///
/// # Panics
/// If they are of different contexts.
pub fn link<'c>(module: &mut Module<'c>, other: Module<'c>) -> Result<(), String> {
    move_into(View::of(module), other)
}

/// Moves what `other` holds into a module that is being built in. Handles stay valid: nothing in the module is
/// replaced.
///
/// # Errors
/// LLVM's message, if the modules do not go together; or if the module knows something already that `other` defines.
///
/// # Panics
/// If they are of different contexts.
pub fn link_beside(view: View<'_>, other: Module<'_>) -> Result<(), String> {
    let added = View::of(&other);
    let functions = added.functions().into_iter().filter(|f| !f.is_declaration()).map(Value::from);
    let globals = added.globals().into_iter().filter(|g| !g.is_declaration()).map(Value::from);
    let is_own = |linkage| matches!(linkage, Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage);
    let is_known = |name: &str| {
        view.function(name).is_some_and(|f| !is_own(f.linkage()))
            || view.global(name).is_some_and(|g| !is_own(g.linkage()))
    };
    if let Some(name) = functions.chain(globals).map(Value::name).find(|name| is_known(name)) {
        return Err(format!("`{name}` is there already"));
    }
    move_into(view, other)
}

/// What is replaced in the module must have no handles.
fn move_into(view: View<'_>, other: Module<'_>) -> Result<(), String> {
    let context = view.context();
    let other = ManuallyDrop::new(other);
    let added = View::of(&other);
    assert_eq!(added.context(), context, "modules of different contexts");
    let mut message = None::<String>;
    // SAFETY: two modules of one context, of which LLVM takes the second one over; while it links them, the handler may
    // write to the message.
    let fails = unsafe {
        ffi::LLVMContextSetDiagnosticHandler(context, Some(keep), (&raw mut message).cast());
        let fails = ffi::LLVMLinkModules2(view.handle(), added.handle()) != 0;
        // Without a handler, LLVM would from now on print what it has to say of passes, too, and end the process at an
        // error.
        ffi::LLVMContextSetDiagnosticHandler(context, Some(ignore), std::ptr::null_mut());
        fails
    };
    if fails { Err(message.unwrap_or_default()) } else { Ok(()) }
}

/// Keeps the message of an error. `place` leads to an `Option<String>`.
extern "C" fn keep(info: LLVMDiagnosticInfoRef, place: *mut c_void) {
    // SAFETY: LLVM calls this with a message and with the place that it was given, while `move_into` does nothing else
    // with that.
    unsafe {
        if ffi::LLVMGetDiagInfoSeverity(info) == LLVMDiagnosticSeverity::LLVMDSError {
            *place.cast() = Some(ffi::LLVMGetDiagInfoDescription(info).text());
        }
    }
}

extern "C" fn ignore(_: LLVMDiagnosticInfoRef, _: *mut c_void) {}
