//! Thin, copyable views of LLVM's functions, blocks and instructions, on top of llvm-sys. Until `mutation` moves to
//! crate::llvm, which has all of this with lifetimes.
//!
//! inkwell owns contexts, modules and builders. These views exist because inkwell 0.11 panics when it wraps values of
//! target extension types (images, samplers), and because debug locations and metadata are only reachable through
//! LLVM-C. A view must not outlive its module: every function here requires a living one.

use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::sync::LazyLock;

use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;

pub use crate::llvm::DebugLocation;

/// A function, declared or defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Function(pub LLVMValueRef);

/// A basic block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block(pub LLVMBasicBlockRef);

/// An instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Inst(pub LLVMValueRef);

/// Copies a string that LLVM returns with its length.
fn text(pointer: *const std::os::raw::c_char, len: usize) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: LLVM returned this pointer together with the number of bytes behind it.
    let bytes = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), len) };
    String::from_utf8_lossy(bytes).into_owned()
}

fn value_name(value: LLVMValueRef) -> String {
    let mut len = 0;
    // SAFETY: `value` belongs to a living module.
    let pointer = unsafe { LLVMGetValueName2(value, &mut len) };
    text(pointer, len)
}

/// All functions of a module, including declarations, in order.
pub fn functions(module: &inkwell::module::Module<'_>) -> Vec<Function> {
    let mut all = Vec::new();
    // SAFETY: the module is alive; the list ends with null.
    unsafe {
        let mut next = LLVMGetFirstFunction(module.as_mut_ptr());
        while !next.is_null() {
            all.push(Function(next));
            next = LLVMGetNextFunction(next);
        }
    }
    all
}

/// The function of that name, if the module has one.
pub fn function(module: &inkwell::module::Module<'_>, name: &str) -> Option<Function> {
    let name = CString::new(name).ok()?;
    // SAFETY: the module is alive and the name NUL-terminated.
    let f = unsafe { LLVMGetNamedFunction(module.as_mut_ptr(), name.as_ptr()) };
    (!f.is_null()).then_some(Function(f))
}

impl Function {
    /// The function's name.
    pub fn name(self) -> String {
        value_name(self.0)
    }

    /// Returns whether this is a definition.
    pub fn has_body(self) -> bool {
        // SAFETY: alive, see the module's head.
        unsafe { LLVMCountBasicBlocks(self.0) > 0 }
    }

    /// The basic blocks in order; empty for a declaration.
    pub fn blocks(self) -> Vec<Block> {
        let mut all = Vec::new();
        // SAFETY: alive; the list ends with null.
        unsafe {
            let mut next = LLVMGetFirstBasicBlock(self.0);
            while !next.is_null() {
                all.push(Block(next));
                next = LLVMGetNextBasicBlock(next);
            }
        }
        all
    }
}

impl Block {
    /// The label; empty if the block has none.
    pub fn label(self) -> String {
        // SAFETY: alive.
        value_name(unsafe { LLVMBasicBlockAsValue(self.0) })
    }

    /// All instructions of the block, in order.
    pub fn instructions(self) -> Vec<Inst> {
        self.walk().collect()
    }

    /// Iterates over the instructions lazily, for callers that need only the first few. An instruction must not be
    /// removed before its successor has been requested.
    pub fn walk(self) -> impl Iterator<Item = Inst> {
        // SAFETY: alive.
        let first = unsafe { LLVMGetFirstInstruction(self.0) };
        walk_from(first)
    }

    /// The last instruction; the block must have a terminator.
    pub fn terminator(self) -> Inst {
        // SAFETY: alive; a verified block has a terminator.
        Inst(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }

    /// The first instruction that is not a phi.
    pub fn first_insertion_point(self) -> Inst {
        self.walk().find(|i| i.opcode() != LLVMOpcode::LLVMPHI).unwrap_or_else(|| self.terminator())
    }
}

/// The instruction `first`, unless null, and those that follow it in its block.
fn walk_from(first: LLVMValueRef) -> impl Iterator<Item = Inst> {
    let some = |inst: LLVMValueRef| (!inst.is_null()).then_some(Inst(inst));
    // SAFETY: alive; the list ends with null.
    std::iter::successors(some(first), move |inst| some(unsafe { LLVMGetNextInstruction(inst.0) }))
}

impl Inst {
    /// Clears the flags that can make a result poison.
    pub fn drop_poison_flags(self) {
        use LLVMOpcode::*;
        // SAFETY: alive; each flag is set on opcodes that have it.
        unsafe {
            match self.opcode() {
                LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMTrunc => {
                    LLVMSetNSW(self.0, 0);
                    LLVMSetNUW(self.0, 0);
                }
                LLVMSDiv | LLVMUDiv | LLVMLShr | LLVMAShr => LLVMSetExact(self.0, 0),
                LLVMOr => LLVMSetIsDisjoint(self.0, 0),
                LLVMZExt | LLVMUIToFP => LLVMSetNNeg(self.0, 0),
                LLVMICmp => LLVMSetICmpSameSign(self.0, 0),
                LLVMGetElementPtr => LLVMGEPSetNoWrapFlags(self.0, 0),
                _ => {}
            }
            if LLVMCanValueUseFastMathFlags(self.0) != 0 {
                LLVMSetFastMathFlags(self.0, 0);
            }
        }
    }

    /// Removes all metadata except the debug location.
    pub fn drop_metadata(self) {
        let mut count = 0;
        // SAFETY: alive; the entries are read within their count and freed once; a null node removes what is attached.
        unsafe {
            let entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(self.0, &mut count);
            let kinds: Vec<u32> = (0..count as u32).map(|i| LLVMValueMetadataEntriesGetKind(entries, i)).collect();
            LLVMDisposeValueMetadataEntries(entries);
            for kind in kinds {
                LLVMSetMetadata(self.0, kind, std::ptr::null_mut());
            }
        }
    }

    /// The instruction's opcode.
    pub fn opcode(self) -> LLVMOpcode {
        // SAFETY: alive.
        unsafe { LLVMGetInstructionOpcode(self.0) }
    }

    /// The block that contains the instruction.
    pub fn block(self) -> Block {
        // SAFETY: alive and inside a block.
        Block(unsafe { LLVMGetInstructionParent(self.0) })
    }

    /// The name of the result; empty if it has none.
    pub fn name(self) -> String {
        value_name(self.0)
    }

    /// All operands in LLVM's order; for calls, the callee comes last.
    pub fn operands(self) -> Vec<LLVMValueRef> {
        // SAFETY: alive; indices are below the operand count.
        unsafe {
            let count = LLVMGetNumOperands(self.0).max(0) as u32;
            (0..count).map(|i| LLVMGetOperand(self.0, i)).collect()
        }
    }

    /// The operands that are themselves instructions.
    pub fn operand_instructions(self) -> Vec<Inst> {
        self.operands().into_iter().filter_map(as_instruction).collect()
    }

    /// The successor blocks of a terminator, in order.
    pub fn successors(self) -> Vec<Block> {
        // SAFETY: alive; only asked of terminators; indices are below the count.
        unsafe {
            let count = LLVMGetNumSuccessors(self.0);
            (0..count).map(|i| Block(LLVMGetSuccessor(self.0, i))).collect()
        }
    }

    /// The name of the function that a call names directly.
    pub fn callee(self) -> Option<String> {
        if self.opcode() != LLVMOpcode::LLVMCall {
            return None;
        }
        // SAFETY: alive and a call.
        unsafe {
            let callee = LLVMGetCalledValue(self.0);
            (!LLVMIsAFunction(callee).is_null()).then(|| value_name(callee))
        }
    }

    /// The debug location, if there is one.
    pub fn location(self) -> Option<DebugLocation> {
        // SAFETY: alive; null results are checked.
        unsafe {
            let location = LLVMInstructionGetDebugLoc(self.0);
            if location.is_null() {
                return None;
            }
            let line = LLVMDILocationGetLine(location);
            let column = LLVMDILocationGetColumn(location);
            Some(DebugLocation { file: scope_file(LLVMDILocationGetScope(location)), line, column })
        }
    }
}

/// The declaration of a global variable according to debug information, which has no column (0).
pub(crate) fn global_location(global: LLVMValueRef) -> Option<DebugLocation> {
    const DBG: u32 = 0;
    // SAFETY: the global is alive; the entries are read before they are freed, and their metadata belongs to the module.
    unsafe {
        let mut count = 0;
        let entries = LLVMGlobalCopyAllMetadata(global, &mut count);
        let expression = (0..count as u32)
            .find(|i| LLVMValueMetadataEntriesGetKind(entries, *i) == DBG)
            .map(|i| LLVMValueMetadataEntriesGetMetadata(entries, i));
        LLVMDisposeValueMetadataEntries(entries);
        let variable = LLVMDIGlobalVariableExpressionGetVariable(expression?);
        let file = scope_file(LLVMDIVariableGetFile(variable));
        Some(DebugLocation { file, line: LLVMDIVariableGetLine(variable), column: 0 })
    }
}

/// The current folder at the time of the first use.
static CURRENT: LazyLock<PathBuf> = LazyLock::new(|| std::env::current_dir().unwrap_or_default());

/// The file of a debug scope. A name relative to a folder other than the current one is joined to that folder.
///
/// # Safety
/// `scope` must be null or a DIScope of a living module.
///
/// # Safety
/// `scope` must be null or a DIScope of a living module.
unsafe fn scope_file(scope: LLVMMetadataRef) -> String {
    if scope.is_null() {
        return String::new();
    }
    // SAFETY: see above; the file is checked for null.
    unsafe {
        let file = LLVMDIScopeGetFile(scope);
        if file.is_null() {
            return String::new();
        }
        let mut len = 0;
        let name = LLVMDIFileGetFilename(file, &mut len);
        let name = text(name, len as usize);
        let directory = LLVMDIFileGetDirectory(file, &mut len);
        let directory = PathBuf::from(text(directory, len as usize));
        match directory.is_absolute() && directory != *CURRENT {
            true => directory.join(name).to_string_lossy().into_owned(),
            false => name,
        }
    }
}

/// `value` as an instruction, if it is one.
pub(crate) fn as_instruction(value: LLVMValueRef) -> Option<Inst> {
    // SAFETY: alive.
    unsafe { (!LLVMIsAInstruction(value).is_null()).then_some(Inst(value)) }
}

/// Returns whether `value` is a scalar `i1` (not a vector of them).
pub(crate) fn is_bool(value: LLVMValueRef) -> bool {
    // SAFETY: alive.
    unsafe {
        let ty = LLVMTypeOf(value);
        LLVMGetTypeKind(ty) == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(ty) == 1
    }
}

/// Copies and frees an LLVM message.
///
/// # Safety
/// `message` must be null or a string that LLVM allocated for its caller.
///
/// # Safety
/// `message` must be null or a string that LLVM allocated for its caller.
pub unsafe fn take_message(message: *mut std::os::raw::c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: see above.
    unsafe {
        let owned = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        owned
    }
}

/// Shortens the context lifetime of a module to that of the reference: inkwell's modules are invariant in it.
pub fn shortened<'a>(module: &'a inkwell::module::Module<'_>) -> &'a inkwell::module::Module<'a> {
    // SAFETY: only the lifetime changes, which is that of the borrow, and the context outlives that.
    unsafe { &*std::ptr::from_ref(module).cast() }
}
