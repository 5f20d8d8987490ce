//! Implements virtual NDRanges: a launch executes several runs of a kernel, or its work-groups in another
//! order, and each work-item sees the ids of its own run (`runtime-cl/ids.cl` defines how they are derived from
//! the launched ones).
//!
//! Both passes define `__kassay_slot`, which weaving leaves undefined: the address of the words of a work-item's slot
//! in the probe buffer ([`GuardLayout`]).

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

/// The function with which woven code finds its slot: `global uint *(global uint *probe)`.
pub const SLOT: &str = "__kassay_slot";

/// Address spaces of buffers on SPIR-V: global and constant.
const BUFFER_SPACES: [u32; 2] = [1, 2];

/// Work-item functions as mangled by clang, with their replacements. All others keep referring to the launch.
const FUNCTIONS: [(&str, &str); 5] = [
    ("_Z13get_global_idj", "__kassay_ids_get_global_id"),
    ("_Z15get_global_sizej", "__kassay_ids_get_global_size"),
    ("_Z12get_group_idj", "__kassay_ids_get_group_id"),
    ("_Z14get_num_groupsj", "__kassay_ids_get_num_groups"),
    ("_Z20get_global_linear_idv", "__kassay_ids_get_global_linear_id"),
];

/// Number of private words that `__kassay_ids_enter` fills.
const IDS_WORDS: u64 = 7;

/// Prepares launches with a single run: the slot is the first one. Nothing else changes.
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

/// Prefix of SPIR-V's built-in variables, through which kernels not compiled from OpenCL C may read their ids.
const BUILT_IN: &str = "__spirv_BuiltIn";

/// Returns whether a module reads ids only through functions that [`batched`] replaces. Others return the ids of the
/// launch, which would be wrong for the runs of a batch.
pub fn can_batch(module: &Module<'_>) -> bool {
    let functions = ir::functions(module).into_iter().map(Function::name);
    !functions.chain(ir::variable_names(module)).any(|name| name.contains(BUILT_IN))
}

/// Prepares launches with several runs (slots) or a group map: in the kernel `entry`, whose last argument is the probe
/// buffer, it rewrites the id functions, advances buffers to the slot's copies, and locates the slot's words.
/// Everything that the kernel calls is inlined. The launch multiplies its last dimension by the number of slots; one
/// with a single slot and no map behaves as the original kernel. All work-groups must have the same size, and there
/// must be fewer than 2^32.
///
/// # Errors
/// `Internal` if the kernel is unsuitable (a call cannot be inlined), or the module does not verify afterwards.
pub fn batched(module: &Module<'_>, entry: &str, layout: GuardLayout, machine: &TargetMachine) -> Result<()> {
    weave(module, entry, layout.args, Some(layout), machine)
}

/// Prepares launches of a single run whose work-groups may be in another order, with any probe buffer whose header
/// contains the map; only the id functions are rewritten.
///
/// # Errors
/// Those of [`batched`].
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

/// Returns the functions with a body except the kernel.
fn helpers(module: &Module<'_>, entry: &str) -> Vec<Function> {
    ir::functions(module).into_iter().filter(|f| f.has_body() && f.name() != entry).collect()
}

/// The calls in a kernel that are to be rewritten.
#[derive(Debug, Default)]
struct Calls {
    /// Calls of id functions, with their replacements.
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

/// Rewrites one kernel for batches or group maps.
struct Weaver<'a, 'c> {
    module: &'a Module<'c>,
    kernel: Function,
    /// `None`: launches have a single slot, and the module does not refer to it.
    slots: Option<GuardLayout>,
    builder: LLVMBuilderRef,
    word: LLVMTypeRef,
    /// The probe buffer, and the private words that hold the ids.
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

    /// Builds a call of a runtime function at the builder's position.
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

    /// Advances a buffer argument to the slot's copy.
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
