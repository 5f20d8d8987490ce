//! Virtual NDRanges: a launch of several runs of a kernel, or of its work-groups in another order, in which each work-item
//! sees the ids of its own run (`runtime-cl/ids.cl` says how they follow from the launched ones).
//!
//! Both passes give `__kassay_slot` its meaning, which weaving left open: where the words of a work-item's slot are in
//! the probe buffer ([`GuardLayout`]).

use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMLinkage, LLVMTypeKind};

use super::layout::{GuardLayout, SLOT_WORDS, argument};
use super::runtime;
use crate::error::{Error, Result};
use crate::kernel::canonical;
use crate::kernel::ir::{self, Block, Function, Inst};

/// What woven code finds its slot with: `global uint *(global uint *probe)`.
pub const SLOT: &str = "__kassay_slot";

/// Address spaces of buffers on SPIR-V: global and constant.
const BUFFER_SPACES: [u32; 2] = [1, 2];

/// Work-item functions as clang mangles them, and what replaces them. The others are of the launch.
const FUNCTIONS: [(&str, &str); 5] = [
    ("_Z13get_global_idj", "__kassay_ids_get_global_id"),
    ("_Z15get_global_sizej", "__kassay_ids_get_global_size"),
    ("_Z12get_group_idj", "__kassay_ids_get_group_id"),
    ("_Z14get_num_groupsj", "__kassay_ids_get_num_groups"),
    ("_Z20get_global_linear_idv", "__kassay_ids_get_global_linear_id"),
];

/// Private words that `__kassay_ids_enter` fills.
const IDS_WORDS: u64 = 7;

/// For launches of one run: the slot is the first one. Nothing else changes.
///
/// # Errors
/// `Internal` if the module does not verify afterwards.
pub fn plain(module: &Module<'_>, layout: GuardLayout) -> Result<()> {
    let Some(slot) = ir::function(module, SLOT) else { return Ok(()) };
    // SAFETY: the declaration is alive and gets its one block; the builder is disposed of.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let block = LLVMAppendBasicBlockInContext(context, slot.0, c"".as_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, block);
        let word = LLVMInt32TypeInContext(context);
        let mut index = LLVMConstInt(LLVMInt64TypeInContext(context), u64::from(layout.slot(0)), 0);
        let at = LLVMBuildGEP2(builder, word, LLVMGetParam(slot.0, 0), &mut index, 1, c"".as_ptr());
        LLVMBuildRet(builder, at);
        LLVMDisposeBuilder(builder);
        LLVMSetLinkage(slot.0, LLVMLinkage::LLVMInternalLinkage);
    }
    canonical::add_attribute(slot, "alwaysinline");
    canonical::verify(module, "the place of the slot")
}

/// SPIR-V's names of built-in values, by which kernels that were not compiled from OpenCL C may read their ids.
const BUILT_IN: &str = "__spirv_BuiltIn";

/// Whether all ids that a module reads are read with functions that [`batched`] replaces. Others would be those of the
/// launch, and runs in one launch would take each other's for their own.
pub fn can_batch(module: &Module<'_>) -> bool {
    let functions = ir::functions(module).into_iter().map(Function::name);
    !functions.chain(ir::variable_names(module)).any(|name| name.contains(BUILT_IN))
}

/// For launches that hold several runs (slots), or a group map: rewrites what the kernel `entry`, whose last argument is the
/// probe buffer, reads its ids with, advances its buffers to the slot's copies, and finds the slot's words. What the kernel
/// calls is inlined. The launch multiplies its last dimension by the number of slots; one with a single slot and no map
/// behaves as the kernel did. Work-groups must all be of one size, and fewer than 2^32.
///
/// # Errors
/// `Internal` if the kernel is not fit for it (a call that cannot be inlined), or the module does not verify afterwards.
pub fn batched(module: &Module<'_>, entry: &str, layout: GuardLayout, machine: &TargetMachine) -> Result<()> {
    weave(module, entry, layout.args, Some(layout), machine)
}

/// For launches of one run whose work-groups may be in another order, with any probe buffer whose header says so: only what the
/// kernel reads its ids with is rewritten.
///
/// # Errors
/// As of [`batched`].
pub fn mapped(module: &Module<'_>, entry: &str, args: u32, machine: &TargetMachine) -> Result<()> {
    weave(module, entry, args, None, machine)
}

fn weave(
    module: &Module<'_>,
    entry: &str,
    args: u32,
    slots: Option<GuardLayout>,
    machine: &TargetMachine,
) -> Result<()> {
    for f in helpers(module, entry) {
        canonical::add_attribute(f, "alwaysinline");
    }
    module
        .run_passes("always-inline,globaldce", machine, PassBuilderOptions::create())
        .map_err(|e| Error::internal(format!("inlining for a batch failed: {e}")))?;
    if let Some(f) = helpers(module, entry).first() {
        return Err(Error::internal(format!("`{}` cannot be inlined, so its ids cannot be those of a slot", f.name())));
    }
    let kernel = ir::function(module, entry)
        .filter(|k| k.has_body())
        .ok_or_else(|| Error::internal(format!("kernel {entry} is gone")))?;
    let calls = Calls::of(kernel);
    runtime::link_ids(module)?;
    Weaver::new(module, kernel, args, slots)?.weave(&calls)?;
    for name in ["memory", "readnone", "readonly", "writeonly"] {
        canonical::remove_attribute(kernel, name);
    }
    canonical::verify(module, "the ids of a batch")
}

/// Functions with a body, but for the kernel.
fn helpers(module: &Module<'_>, entry: &str) -> Vec<Function> {
    ir::functions(module).into_iter().filter(|f| f.has_body() && f.name() != entry).collect()
}

/// The calls of a kernel that are rewritten.
#[derive(Debug, Default)]
struct Calls {
    /// With what replaces them.
    ids: Vec<(Inst, &'static str)>,
    slots: Vec<Inst>,
}

impl Calls {
    fn of(kernel: Function) -> Calls {
        let mut all = Calls::default();
        for call in kernel.blocks().into_iter().flat_map(Block::instructions) {
            let Some(callee) = call.callee() else { continue };
            if callee == SLOT {
                all.slots.push(call);
            } else if let Some((_, name)) = FUNCTIONS.iter().find(|(mangled, _)| *mangled == callee) {
                all.ids.push((call, name));
            }
        }
        all
    }
}

/// Inserts what a batch needs into one kernel.
struct Weaver<'a, 'c> {
    module: &'a Module<'c>,
    kernel: Function,
    /// `None`: launches have one slot, of which the module knows nothing.
    slots: Option<GuardLayout>,
    builder: LLVMBuilderRef,
    word: LLVMTypeRef,
    /// The probe buffer, and the private words with the ids.
    probe: LLVMValueRef,
    ids: LLVMValueRef,
}

impl<'a, 'c> Weaver<'a, 'c> {
    fn new(module: &'a Module<'c>, kernel: Function, args: u32, slots: Option<GuardLayout>) -> Result<Weaver<'a, 'c>> {
        // SAFETY: the kernel is alive and has a body; the builder goes with the weaver.
        unsafe {
            let count = LLVMCountParams(kernel.0);
            if count != args + 1 {
                let name = kernel.name();
                let what = format!("kernel {name} has {count} arguments, not {args} and the probe buffer");
                return Err(Error::internal(what));
            }
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let builder = LLVMCreateBuilderInContext(context);
            let start = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(kernel.0));
            LLVMPositionBuilderBefore(builder, start);
            let word = LLVMInt32TypeInContext(context);
            let ids = LLVMBuildAlloca(builder, LLVMArrayType2(word, IDS_WORDS), c"kassay_ids".as_ptr());
            let probe = LLVMGetParam(kernel.0, args);
            Ok(Weaver { module, kernel, slots, builder, word, probe, ids })
        }
    }

    fn constant(&self, value: u32) -> LLVMValueRef {
        // SAFETY: the type is alive.
        unsafe { LLVMConstInt(self.word, u64::from(value), 0) }
    }

    /// A call of a runtime function where the builder stands.
    fn call(&self, name: &str, arguments: &mut [LLVMValueRef]) -> Result<LLVMValueRef> {
        let function = runtime::function(self.module, name)?;
        // SAFETY: the runtime's functions take these arguments (`runtime-cl/ids.cl`).
        unsafe {
            let ty = LLVMGlobalGetValueType(function.0);
            let count = arguments.len() as u32;
            let call = LLVMBuildCall2(self.builder, ty, function.0, arguments.as_mut_ptr(), count, c"".as_ptr());
            LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(function.0));
            Ok(call)
        }
    }

    fn weave(&self, calls: &Calls) -> Result<()> {
        self.call("__kassay_ids_enter", &mut [self.probe, self.ids])?;
        if let Some(layout) = self.slots {
            (0..layout.args).try_for_each(|position| self.advance(layout, position))?;
        }
        for (call, name) in &calls.ids {
            // SAFETY: alive; a dimension is the call's only argument, if it has one.
            let mut arguments = vec![self.ids];
            arguments.extend(unsafe { (LLVMGetNumArgOperands(call.0) > 0).then(|| LLVMGetOperand(call.0, 0)) });
            self.replace(*call, name, &mut arguments)?;
        }
        for call in &calls.slots {
            let Some(layout) = self.slots else {
                return Err(Error::internal("a module that asks for its slot is woven for launches without slots"));
            };
            let (first, words) = (self.constant(layout.slot(0)), self.constant(SLOT_WORDS));
            self.replace(*call, "__kassay_ids_slot", &mut [self.probe, self.ids, first, words])?;
        }
        Ok(())
    }

    /// Makes an argument that is a buffer begin at the slot's copy.
    fn advance(&self, layout: GuardLayout, position: u32) -> Result<()> {
        // SAFETY: the kernel has this argument; its uses are replaced by a value of its type that the entry computes
        // before any of them.
        unsafe {
            let argument = LLVMGetParam(self.kernel.0, position);
            let ty = LLVMTypeOf(argument);
            if LLVMGetTypeKind(ty) != LLVMTypeKind::LLVMPointerTypeKind
                || !BUFFER_SPACES.contains(&LLVMGetPointerAddressSpace(ty))
                || LLVMGetFirstUse(argument).is_null()
            {
                return Ok(());
            }
            let stride = self.constant(layout.argument(position) + argument::STRIDE);
            let mut offset = self.call("__kassay_ids_offset", &mut [self.probe, self.ids, stride])?;
            let byte = LLVMInt8TypeInContext(LLVMGetModuleContext(self.module.as_mut_ptr()));
            let at = LLVMBuildGEP2(self.builder, byte, argument, &mut offset, 1, c"".as_ptr());
            LLVMReplaceAllUsesWith(argument, at);
            LLVMSetOperand(at, 0, argument);
        }
        Ok(())
    }

    fn replace(&self, call: Inst, name: &str, arguments: &mut [LLVMValueRef]) -> Result<()> {
        // SAFETY: the call is alive, and has no uses left when it is erased.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, call.0);
            LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(call.0));
            let new = self.call(name, arguments)?;
            LLVMReplaceAllUsesWith(call.0, new);
            LLVMInstructionEraseFromParent(call.0);
        }
        Ok(())
    }
}

impl Drop for Weaver<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: made in `new`, and nobody else has it.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}
