//! Inserts the probes of a plan into the canonical form.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::CString;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::early_flush::EarlyFlushes;
use super::plan::{CoveragePlan, FunctionPlan, ValuePlace};
use crate::cfg::graph::{BlockIndex, Edge};
use crate::cfg::loops::Loop;
use crate::cfg::sites::Sites;
use crate::error::{Error, Result};
use crate::instrument::implication::ProbePoint;
use crate::instrument::layout::{CoverageLayout, Slots};
use crate::instrument::runtime;
use crate::kernel::canonical;
use crate::kernel::ir::{self, Block, Function};
use crate::kernel::parameters;
use crate::lower::code::Target;
use crate::lower::host::abi::placeholder;

/// The state of a loop that was not yet entered; see `runtime-cl/coverage.cl`.
const NOT_ENTERED: u32 = 0;

impl CoveragePlan {
    /// Weaves the probes into the canonical form that `sites` were read from. The kernel gets an additional last
    /// argument, the probe buffer (`global uint *`). For the simulator, the code before each return is marked, so that
    /// items that will never reach it can be sent there.
    ///
    /// # Errors
    /// `Internal` if the woven module does not verify.
    pub fn weave(&self, module: &Module<'_>, sites: &Sites, target: Target) -> Result<()> {
        let functions: Vec<Function> = sites
            .functions
            .iter()
            .map(|f| {
                ir::function(module, &f.cfg.function)
                    .ok_or_else(|| Error::internal(format!("function {} is gone", f.cfg.function)))
            })
            .collect::<Result<_>>()?;
        let blocks: Vec<Vec<Block>> = functions.iter().map(|f| f.blocks()).collect();
        // Positions refer to the unchanged module, so they are resolved before anything is inserted.
        let recorders: Vec<Vec<Recorder>> = self
            .functions
            .iter()
            .zip(&blocks)
            .map(|(plan, blocks)| {
                plan.value_bits.iter().map(|(place, bit)| Recorder::at(*place, *bit, blocks)).collect()
            })
            .collect::<Option<_>>()
            .ok_or_else(|| Error::internal("a recorded value is gone from the module"))?;
        // The simulator sends items that wait forever to the kernel's end.
        let early = match (target, blocks.first()) {
            (Target::SpirV, Some(blocks)) => EarlyFlushes::find(module, sites, blocks)?,
            _ => EarlyFlushes::default(),
        };
        runtime::link_coverage(module)?;
        let weaver = Weaver::new(module, self.layout.clone(), target)?;
        let needs = self.needs_pointer(sites, &blocks);
        if let Some(f) = (0..functions.len()).find(|f| needs[*f] && !parameters::only_called(functions[*f])) {
            return Err(Error::internal(format!(
                "the address of `{}` is taken (by a block or enqueue_kernel): it cannot be given probes",
                sites.functions[f].cfg.function
            ))
            .help("`kassay run` and `kassay lower` without --coverage take the kernel as it is"));
        }
        let pointers = weaver.thread_pointer(&functions, &needs);
        for (f, plan) in self.functions.iter().enumerate() {
            if let Some(pointer) = pointers[f] {
                weaver.function(plan, &sites.functions[f], &blocks[f], &recorders[f], pointer);
                if let Some(probe) = pointer.probe {
                    weaver.flush_early(&early, &blocks[f], pointer.words, probe);
                }
            }
        }
        drop_effect_attributes(module);
        canonical::verify(module, "coverage instrumentation")
    }

    /// Returns which functions set bits, directly or through calls; the kernel always does (it flushes).
    fn needs_pointer(&self, sites: &Sites, blocks: &[Vec<Block>]) -> Vec<bool> {
        let mut needs: Vec<bool> = self
            .functions
            .iter()
            .enumerate()
            .map(|(f, p)| f == 0 || !p.probes.is_empty() || !p.loop_bits.is_empty() || !p.value_bits.is_empty())
            .collect();
        let calls = |f: usize, callee: &str| {
            blocks[f].iter().any(|b| b.instructions().into_iter().any(|i| i.callee().as_deref() == Some(callee)))
        };
        loop {
            let more = (0..needs.len()).find(|f| {
                !needs[*f] && (0..needs.len()).any(|g| needs[g] && calls(*f, &sites.functions[g].cfg.function))
            });
            match more {
                Some(f) => needs[f] = true,
                None => return needs,
            }
        }
    }
}

/// Drops effect attributes that clang inferred for the original: woven functions write memory and have side effects.
pub(in crate::instrument) fn drop_effect_attributes(module: &Module<'_>) {
    for f in ir::functions(module).into_iter().filter(|f| f.has_body()) {
        for name in ["memory", "nosync", "willreturn", "mustprogress", "readnone", "readonly", "writeonly"] {
            canonical::remove_attribute(f, name);
        }
        for call in f.blocks().into_iter().flat_map(Block::instructions) {
            if call.callee().and_then(|c| ir::function(module, &c)).is_some_and(Function::has_body) {
                for name in ["memory", "nosync", "willreturn", "readnone"] {
                    // SAFETY: alive and a call; removing an absent attribute does nothing.
                    unsafe {
                        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
                        LLVMRemoveCallSiteEnumAttribute(call.0, llvm_sys::LLVMAttributeFunctionIndex, kind);
                    }
                }
            }
        }
    }
}

/// The state for weaving one module.
struct Weaver {
    builder: LLVMBuilderRef,
    int: LLVMTypeRef,
    pointer: LLVMTypeRef,
    global_pointer: LLVMTypeRef,
    layout: CoverageLayout,
    cover: Function,
    loop_enter: Function,
    loop_iterate: Function,
    loop_end: Function,
    flush: Function,
    /// Called before everything that is done at the kernel's ends.
    leave: Option<Function>,
}

impl Drop for Weaver {
    fn drop(&mut self) {
        // SAFETY: created in `new`, used nowhere else.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

impl Weaver {
    fn new(module: &Module<'_>, layout: CoverageLayout, target: Target) -> Result<Weaver> {
        let flush = match layout.slots {
            Slots::Groups => "__kassay_flush_group",
            Slots::Items => "__kassay_flush_item",
        };
        let functions = ["__kassay_cover", "__kassay_loop_enter", "__kassay_loop_iterate", "__kassay_loop_end", flush];
        let found: Vec<Function> = functions.iter().map(|n| runtime::function(module, n)).collect::<Result<_>>()?;
        // SAFETY: the module and its context are alive as long as the weaver.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let leave = (target == Target::Host).then(|| {
                let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), std::ptr::null_mut(), 0, 0);
                let name = CString::new(placeholder::LEAVE).unwrap_or_default();
                Function(LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), ty))
            });
            Ok(Weaver {
                builder: LLVMCreateBuilderInContext(context),
                int: LLVMInt32TypeInContext(context),
                pointer: LLVMPointerTypeInContext(context, 0),
                global_pointer: LLVMPointerTypeInContext(context, 1),
                layout,
                cover: found[0],
                loop_enter: found[1],
                loop_iterate: found[2],
                loop_end: found[3],
                flush: found[4],
                leave,
            })
        }
    }

    /// Passes the pointer to the work-item's words to every function that needs it: helpers get a last argument, the
    /// kernel allocates the words. Returns the pointer by function.
    fn thread_pointer(&self, functions: &[Function], needs: &[bool]) -> Vec<Option<Pointers>> {
        let mut threaded = Vec::new();
        let mut pointers = Vec::new();
        for (f, function) in functions.iter().enumerate() {
            if !needs[f] {
                pointers.push(None);
                continue;
            }
            let (ty, name) =
                if f == 0 { (self.global_pointer, "kassay_probe") } else { (self.pointer, "kassay_words") };
            let (new, calls) = parameters::append(*function, ty, name);
            // SAFETY: alive; the last parameter is the one just added.
            let last = unsafe { LLVMGetLastParam(new.0) };
            if f == 0 {
                parameters::describe(new, "kassay_probe", "uint*", 1);
                pointers.push(Some(Pointers { words: self.own_words(new), probe: Some(last) }));
            } else {
                pointers.push(Some(Pointers { words: last, probe: None }));
            }
            threaded.push((f, *function, new, calls));
        }
        for (_, old, new, calls) in threaded {
            for call in calls {
                // SAFETY: alive; a user of a function is an instruction in some function here.
                let caller = unsafe { LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)) };
                let argument = pointers.iter().enumerate().find_map(|(g, p)| {
                    let p = p.as_ref()?;
                    // SAFETY: alive: every block of function `g` has the new function as its parent.
                    let parent = unsafe {
                        match p.probe {
                            Some(probe) => LLVMGetParamParent(probe),
                            None => LLVMGetParamParent(p.words),
                        }
                    };
                    (parent == caller).then_some((g, p.words))
                });
                if let Some((_, words)) = argument {
                    parameters::call_with(call, new, words);
                }
            }
            // SAFETY: its body has moved and its calls are rewritten.
            unsafe { LLVMDeleteFunction(old.0) };
        }
        pointers
    }

    /// Allocates the kernel's words, zero at its start.
    fn own_words(&self, kernel: Function) -> LLVMValueRef {
        // SAFETY: alive; the entry block has a terminator.
        unsafe {
            let entry = LLVMGetEntryBasicBlock(kernel.0);
            LLVMPositionBuilderBefore(self.builder, LLVMGetFirstInstruction(entry));
            let ty = LLVMArrayType2(self.int, u64::from(self.layout.words));
            let words = LLVMBuildAlloca(self.builder, ty, c"kassay.words".as_ptr());
            LLVMBuildStore(self.builder, LLVMConstNull(ty), words);
            words
        }
    }

    fn number(&self, n: u32) -> LLVMValueRef {
        // SAFETY: the type is alive.
        unsafe { LLVMConstInt(self.int, u64::from(n), 0) }
    }

    fn call(&self, callee: Function, arguments: &mut [LLVMValueRef]) {
        // SAFETY: alive; the callers pass what the runtime's functions take.
        unsafe {
            let ty = LLVMGlobalGetValueType(callee.0);
            let call = LLVMBuildCall2(
                self.builder,
                ty,
                callee.0,
                arguments.as_mut_ptr(),
                arguments.len() as u32,
                c"".as_ptr(),
            );
            LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(callee.0));
        }
    }

    fn before(&self, inst: ir::Inst) {
        // SAFETY: alive.
        unsafe { LLVMPositionBuilderBefore(self.builder, inst.0) };
    }

    fn set_bit(&self, words: LLVMValueRef, bit: u32) {
        self.call(self.cover, &mut [words, self.number(bit / 32), self.number(1 << (bit % 32))]);
    }

    /// Records a boolean: sets the first bit if it is true, the second if it is false.
    fn record(&self, words: LLVMValueRef, recorder: &Recorder) {
        let (yes, no) = (recorder.bit % 32, recorder.bit % 32 + 1);
        let numbers = match recorder.from {
            None => (self.number(1 << yes), self.number(1 << no)),
            // The last operand of `&&` is true if the result is, and false if the result is although control came from
            // the operand; for `||` the other way round. So nothing is inserted into the operand's own block, and it
            // can still be evaluated without a branch.
            Some((from, whole_if_decided)) => {
                let arrived = |bit: u32| {
                    let join = recorder.user.block();
                    self.phi(join, &|block| self.number(if block == from { 1 << bit } else { 0 }))
                };
                if whole_if_decided {
                    (arrived(yes), self.number(1 << no))
                } else {
                    (self.number(1 << yes), arrived(no))
                }
            }
        };
        let (before, condition) = match recorder.from {
            None => (recorder.user, recorder.user.operands()[0]),
            Some(_) => (recorder.user.block().first_insertion_point(), recorder.user.0),
        };
        self.before(before);
        // SAFETY: alive; the condition is an `i1` that dominates the builder's place.
        let chosen = unsafe { LLVMBuildSelect(self.builder, condition, numbers.0, numbers.1, c"".as_ptr()) };
        self.call(self.cover, &mut [words, self.number(recorder.bit / 32), chosen]);
    }

    fn function(
        &self,
        plan: &FunctionPlan,
        sites: &crate::cfg::sites::FunctionSites,
        blocks: &[Block],
        recorders: &[Recorder],
        pointers: Pointers,
    ) {
        let words = pointers.words;
        let returns: Vec<ir::Inst> =
            blocks.iter().map(|b| b.terminator()).filter(|t| t.opcode() == llvm_sys::LLVMOpcode::LLVMRet).collect();
        let mut states: Vec<(usize, u32, LLVMValueRef)> = Vec::new();
        for (i, bit) in &plan.loop_bits {
            states.push((*i, *bit, self.loop_state(blocks[0])));
        }
        for recorder in recorders {
            self.record(words, recorder);
        }
        self.probes(plan, sites, blocks, words);
        for (i, bit, state) in &states {
            self.loop_probes(&sites.loops[*i], &sites.cfg, blocks, words, *bit, *state);
        }
        for ret in returns {
            self.before(ret);
            if let (Some(leave), Some(_)) = (self.leave, pointers.probe) {
                self.call(leave, &mut []);
            }
            for (_, bit, state) in &states {
                self.call(self.loop_end, &mut [words, self.number(bit / 32), self.number(bit % 32), *state]);
            }
            if let Some(probe) = pointers.probe {
                self.flush_all(words, probe);
            }
        }
    }

    fn loop_state(&self, entry: Block) -> LLVMValueRef {
        // SAFETY: alive; at the entry's start, where allocations belong.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, LLVMGetFirstInstruction(entry.0));
            let state = LLVMBuildAlloca(self.builder, self.int, c"kassay.loop".as_ptr());
            LLVMBuildStore(self.builder, self.number(NOT_ENTERED), state);
            state
        }
    }

    fn loop_probes(
        &self,
        l: &Loop,
        cfg: &crate::cfg::graph::Cfg,
        blocks: &[Block],
        words: LLVMValueRef,
        bit: u32,
        state: LLVMValueRef,
    ) {
        let sources: BTreeSet<BlockIndex> = l.entries(cfg).into_iter().map(|e| e.block).collect();
        for source in sources {
            self.before(blocks[source].terminator());
            self.call(self.loop_enter, &mut [words, self.number(bit / 32), self.number(bit % 32), state]);
        }
        match l.body_entry() {
            None => self.before(blocks[l.header].first_insertion_point()),
            Some(edge) => {
                let target = cfg.target(edge);
                let body = if cfg.incoming(target).len() == 1 { blocks[target] } else { self.split(blocks, edge) };
                self.before(body.first_insertion_point());
            }
        }
        self.call(self.loop_iterate, &mut [state]);
    }

    fn probes(
        &self,
        plan: &FunctionPlan,
        sites: &crate::cfg::sites::FunctionSites,
        blocks: &[Block],
        words: LLVMValueRef,
    ) {
        // By join: for each incoming edge with a probe, the source block, the position of the edge among its
        // successors, and the bit.
        let mut joins: BTreeMap<BlockIndex, Vec<(Block, usize, u32)>> = BTreeMap::new();
        for (point, bit) in &plan.probes {
            match point {
                // After the allocation of the words, which is at the start of the entry block.
                ProbePoint::Block(0) => {
                    self.before(blocks[0].terminator());
                    self.set_bit(words, *bit);
                }
                ProbePoint::Block(block) => {
                    self.before(blocks[*block].first_insertion_point());
                    self.set_bit(words, *bit);
                }
                ProbePoint::Join(edge) => {
                    let arriving = (blocks[edge.block], edge.successor, *bit);
                    joins.entry(sites.cfg.target(*edge)).or_default().push(arriving);
                }
            }
        }
        for (join, arriving) in joins {
            let touched: BTreeSet<u32> = arriving.iter().map(|(.., bit)| bit / 32).collect();
            for word in touched {
                let mut brought: HashMap<Block, LLVMValueRef> = HashMap::new();
                for (from, ..) in &arriving {
                    let bits: Vec<(usize, u32)> = arriving
                        .iter()
                        .filter(|(b, _, bit)| b == from && bit / 32 == word)
                        .map(|(_, successor, bit)| (*successor, 1 << (bit % 32)))
                        .collect();
                    let parallel = from.terminator().successors().iter().filter(|s| **s == blocks[join]).count() > 1;
                    let mask = if parallel {
                        self.mask_of_taken_edge(*from, blocks[join], &bits)
                    } else {
                        self.number(bits.iter().fold(0, |mask, (_, bit)| mask | bit))
                    };
                    brought.insert(*from, mask);
                }
                let none = self.number(0);
                let mask = self.phi(blocks[join], &|from| brought.get(&from).copied().unwrap_or(none));
                self.before(blocks[join].first_insertion_point());
                self.call(self.cover, &mut [words, self.number(word), mask]);
            }
        }
    }

    /// Builds the mask of the edge taken where several edges lead from `block` to one join (cases of a `switch`, or a
    /// branch whose two successors are the same), from the value of the condition.
    fn mask_of_taken_edge(&self, block: Block, join: Block, bits: &[(usize, u32)]) -> LLVMValueRef {
        let terminator = block.terminator();
        let successors = terminator.successors();
        self.before(terminator);
        let of = |successor: usize| bits.iter().filter(|(s, _)| *s == successor).fold(0, |mask, (_, bit)| mask | bit);
        // SAFETY: alive; a `switch`, or a branch on a condition.
        unsafe {
            if let Some(condition) = terminator.branch_condition() {
                return LLVMBuildSelect(self.builder, condition, self.number(of(0)), self.number(of(1)), c"".as_ptr());
            }
            let value = LLVMGetOperand(terminator.0, 0);
            let mut mask = self.number(of(0));
            for successor in (1..successors.len()).filter(|successor| successors[*successor] == join) {
                let case = LLVMGetSwitchCaseValue(terminator.0, successor as u32);
                let taken =
                    LLVMBuildICmp(self.builder, llvm_sys::LLVMIntPredicate::LLVMIntEQ, value, case, c"".as_ptr());
                mask = LLVMBuildSelect(self.builder, taken, self.number(of(successor)), mask, c"".as_ptr());
            }
            mask
        }
    }

    /// Builds a `phi` in `join` that takes a number from each predecessor.
    fn phi(&self, join: Block, number: &dyn Fn(Block) -> LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive; the phi gets one entry for each edge that enters the block.
        unsafe {
            // In front of the block's debug records too: no record may precede a phi.
            LLVMPositionBuilderBeforeInstrAndDbgRecords(self.builder, LLVMGetFirstInstruction(join.0));
            let phi = LLVMBuildPhi(self.builder, self.int, c"".as_ptr());
            let ends = ir::users(LLVMBasicBlockAsValue(join.0)).into_iter().rev();
            for from in ends.filter_map(ir::as_instruction).map(ir::Inst::block) {
                for _ in from.terminator().successors().iter().filter(|s| **s == join) {
                    let (mut value, mut block) = (number(from), from.0);
                    LLVMAddIncoming(phi, &mut value, &mut block, 1);
                }
            }
            phi
        }
    }

    /// Inserts a new block on an edge and returns it.
    fn split(&self, blocks: &[Block], edge: Edge) -> Block {
        let source = blocks[edge.block];
        let terminator = source.terminator();
        let target = terminator.successors()[edge.successor];
        // SAFETY: alive; the new block takes the edge's place in the terminator and in the target's phis, of which each has
        // one entry per incoming edge.
        unsafe {
            let context = LLVMGetModuleContext(LLVMGetGlobalParent(LLVMGetBasicBlockParent(source.0)));
            let new = LLVMInsertBasicBlockInContext(context, target.0, c"kassay.edge".as_ptr());
            LLVMPositionBuilderAtEnd(self.builder, new);
            LLVMBuildBr(self.builder, target.0);
            LLVMSetSuccessor(terminator.0, edge.successor as u32, new);
            for phi in target.instructions() {
                if phi.opcode() == llvm_sys::LLVMOpcode::LLVMPHI {
                    self.redirect_phi(phi, source, Block(new));
                }
            }
            Block(new)
        }
    }

    /// Rebuilds `phi` so that one of its entries from `old` comes from `new`.
    fn redirect_phi(&self, phi: ir::Inst, old: Block, new: Block) {
        // SAFETY: alive and a phi; the replacement has the same type and stands at the same place.
        unsafe {
            self.before(phi);
            let replacement = LLVMBuildPhi(self.builder, LLVMTypeOf(phi.0), c"".as_ptr());
            let mut redirected = false;
            for i in 0..LLVMCountIncoming(phi.0) {
                let mut value = LLVMGetIncomingValue(phi.0, i);
                let mut from = LLVMGetIncomingBlock(phi.0, i);
                if from == old.0 && !redirected {
                    from = new.0;
                    redirected = true;
                }
                LLVMAddIncoming(replacement, &mut value, &mut from, 1);
            }
            LLVMReplaceAllUsesWith(phi.0, replacement);
            LLVMInstructionEraseFromParent(phi.0);
        }
    }

    /// Flushes the coverage so far wherever an item may wait forever.
    fn flush_early(&self, early: &EarlyFlushes, blocks: &[Block], words: LLVMValueRef, probe: LLVMValueRef) {
        let calls = early.calls.iter().flat_map(|(block, name)| {
            let all = blocks.get(*block).map(|b| b.instructions()).unwrap_or_default();
            all.into_iter().filter(move |inst| inst.callee().as_ref() == Some(name))
        });
        for inst in early.barriers.iter().copied().chain(calls) {
            self.before(inst);
            for word in 0..self.layout.words {
                let value = self.word(words, word);
                self.call(self.flush, &mut [probe, self.number(self.layout.stride()), self.number(word), value]);
            }
        }
    }

    fn word(&self, words: LLVMValueRef, word: u32) -> LLVMValueRef {
        // SAFETY: alive; `words` points to more integers than that.
        unsafe {
            let mut index = [self.number(word)];
            let address = LLVMBuildInBoundsGEP2(self.builder, self.int, words, index.as_mut_ptr(), 1, c"".as_ptr());
            LLVMBuildLoad2(self.builder, self.int, address, c"".as_ptr())
        }
    }

    fn flush_all(&self, words: LLVMValueRef, probe: LLVMValueRef) {
        let stride = self.number(self.layout.stride());
        for word in 0..self.layout.words {
            let value = self.word(words, word);
            self.call(self.flush, &mut [probe, stride, self.number(word), value]);
            if word < self.layout.missed_words {
                // SAFETY: as above.
                let missed = unsafe {
                    let not = LLVMBuildNot(self.builder, value, c"".as_ptr());
                    LLVMBuildAnd(self.builder, not, self.number(self.layout.barrier_mask(word)), c"".as_ptr())
                };
                self.call(self.flush, &mut [probe, stride, self.number(self.layout.words + word), missed]);
            }
        }
    }
}

/// The pointers through which a function sets bits.
#[derive(Clone, Copy)]
struct Pointers {
    words: LLVMValueRef,
    /// The probe buffer; only in the kernel.
    probe: Option<LLVMValueRef>,
}

/// A boolean to record: the condition of a `select`, or the last operand of a short-circuit's `phi`.
struct Recorder {
    user: ir::Inst,
    /// For a `phi`: the block that the operand comes from, and the value that the other blocks contribute.
    from: Option<(Block, bool)>,
    bit: u32,
}

impl Recorder {
    fn at(place: ValuePlace, bit: u32, blocks: &[Block]) -> Option<Recorder> {
        let find = |(block, instruction): (BlockIndex, usize)| blocks[block].instructions().get(instruction).copied();
        Some(match place {
            ValuePlace::Select { block, instruction } => {
                Recorder { user: find((block, instruction))?, from: None, bit }
            }
            ValuePlace::PhiOperand { block, phi } => {
                let user = find(phi)?;
                // SAFETY: alive and a phi; indices are below the incoming count.
                let decided = unsafe {
                    (0..LLVMCountIncoming(user.0)).find_map(|i| ir::constant_bool(LLVMGetIncomingValue(user.0, i)))
                };
                Recorder { user, from: Some((blocks[block], decided?)), bit }
            }
        })
    }
}
