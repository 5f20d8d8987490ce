//! Inserts the probes of a plan into the canonical form.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use inkwell::module::Module;

use super::early_flush::EarlyFlushes;
use super::plan::{CoveragePlan, FunctionPlan, ValuePlace};
use crate::cfg::graph::Edge;
use crate::cfg::indices::{BlockIndex, FunctionIndex};
use crate::cfg::loops::Loop;
use crate::cfg::sites::Sites;
use crate::error::{Error, Result};
use crate::instrument::implication::ProbePoint;
use crate::instrument::layout::{CoverageLayout, Slots};
use crate::instrument::runtime;
use crate::instrument::ways::Ways;
use crate::kernel::{canonical, parameters};
use crate::llvm::{
    AddressSpace, AttributeIndex, Block, Builder, Function, Inst, IntPredicate, Opcode, Type, Value, View,
};
use crate::lower::code::Target;
use crate::lower::host::abi::placeholder;

impl CoveragePlan {
    /// Weaves the probes into the canonical form that `sites` were read from. The kernel gets an additional last
    /// argument, the probe buffer (`global uint *`). For the simulator, the code before each return is marked, so that
    /// items that will never reach it can be sent there.
    ///
    /// # Errors
    /// `Internal` if the woven module does not verify.
    pub fn weave(&self, module: &Module<'_>, sites: &Sites, target: Target) -> Result<()> {
        let view = View::of(module);
        let functions: Vec<Function> = sites
            .functions
            .iter()
            .map(|f| {
                let found = view.function(&f.cfg.function);
                found.ok_or_else(|| Error::internal(format!("function {} is gone", f.cfg.function)))
            })
            .collect::<Result<_>>()?;
        let blocks: Vec<Vec<Block>> = functions.iter().map(|f| f.blocks()).collect();
        // Positions refer to the unchanged module, so they are resolved before anything is inserted.
        let insts: Vec<Vec<Vec<Inst>>> = functions.iter().map(|f| f.instructions_by_block()).collect();
        let recorders: Vec<Vec<Recorder>> = self
            .functions
            .iter()
            .zip(blocks.iter().zip(&insts))
            .map(|(plan, (blocks, insts))| {
                plan.value_bits.iter().map(|(place, bit)| Recorder::at(*place, *bit, blocks, insts)).collect()
            })
            .collect::<Option<_>>()
            .ok_or_else(|| Error::internal("a recorded value is gone from the module"))?;
        let ways: Vec<Vec<(Ways, u32)>> = FunctionIndex::enumerate(&self.functions)
            .map(|(f, plan)| {
                let decisions = &sites.functions[f].compound;
                let resolve = |(decision, bit): (&usize, &u32)| {
                    let evaluation = decisions.get(*decision)?.evaluation.as_ref().ok()?;
                    Some((Ways::resolve(evaluation, &insts[f])?, *bit))
                };
                plan.vector_bits.iter().map(resolve).collect()
            })
            .collect::<Option<_>>()
            .ok_or_else(|| Error::internal("a condition is gone from the module"))?;
        // The simulator sends items that wait forever to the kernel's end.
        let early = match blocks.first() {
            Some(blocks) if !target.has_hooks() => EarlyFlushes::find(module, sites, blocks)?,
            _ => EarlyFlushes::default(),
        };
        runtime::link_coverage(module)?;
        let weaver = Weaver::new(view, self.layout.clone(), target)?;
        let needs = self.needs_pointer(sites, &blocks);
        if let Some(f) =
            FunctionIndex::first(functions.len()).find(|f| needs[*f] && !parameters::only_called(functions[*f]))
        {
            return Err(Error::internal(format!(
                "the address of `{}` is taken (by a block or enqueue_kernel): it cannot be given probes",
                sites.functions[f].cfg.function
            ))
            .help("`kassay run` and `kassay lower` without --coverage take the kernel as it is"));
        }
        let pointers = weaver.thread_pointer(functions, &needs);
        for (f, plan) in FunctionIndex::enumerate(&self.functions) {
            if let Some(pointer) = pointers[f] {
                weaver.vectors(&ways[f], blocks[f][0], pointer.words);
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
    fn needs_pointer(&self, sites: &Sites, blocks: &[Vec<Block<'_>>]) -> Vec<bool> {
        let mut needs: Vec<bool> = FunctionIndex::enumerate(&self.functions)
            .map(|(f, p)| {
                f == FunctionIndex::KERNEL
                    || !p.probes.is_empty()
                    || !p.loop_bits.is_empty()
                    || !p.value_bits.is_empty()
                    || !p.vector_bits.is_empty()
            })
            .collect();
        let calls = |f: FunctionIndex, callee: &str| {
            blocks[f].iter().any(|b| b.instructions().into_iter().any(|i| i.callee().as_deref() == Some(callee)))
        };
        loop {
            let more = FunctionIndex::first(needs.len()).find(|f| {
                !needs[*f]
                    && FunctionIndex::first(needs.len())
                        .any(|g| needs[g] && calls(*f, &sites.functions[g].cfg.function))
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
    for f in View::of(module).functions().into_iter().filter(|f| f.has_body()) {
        for name in ["memory", "nosync", "willreturn", "mustprogress", "readnone", "readonly", "writeonly"] {
            f.attributes(AttributeIndex::Function).remove(name);
        }
        for call in f.instructions() {
            if call.called_function().is_some_and(Function::has_body) {
                for name in ["memory", "nosync", "willreturn", "readnone"] {
                    call.attributes(AttributeIndex::Function).remove(name);
                }
            }
        }
    }
}

/// The state for weaving one module.
struct Weaver<'m> {
    builder: Builder<'m>,
    int: Type<'m>,
    pointer: Type<'m>,
    global_pointer: Type<'m>,
    layout: CoverageLayout,
    cover: Function<'m>,
    loop_enter: Function<'m>,
    loop_iterate: Function<'m>,
    loop_end: Function<'m>,
    flush: Function<'m>,
    /// Called at the kernel's ends with the number, where the kernel is to say which one it is.
    stamp: Option<(Function<'m>, u32)>,
    /// Called before everything that is done at the kernel's ends.
    leave: Option<Function<'m>>,
}

impl<'m> Weaver<'m> {
    fn new(view: View<'m>, layout: CoverageLayout, target: Target) -> Result<Weaver<'m>> {
        let flush = match layout.slots {
            Slots::Groups if target == Target::Ptx => "__kassay_flush_group_unread",
            Slots::Groups => "__kassay_flush_group",
            Slots::Items => "__kassay_flush_item",
            Slots::Bounded { .. } => "__kassay_flush_bounded",
            Slots::BoundedItems { .. } => "__kassay_flush_bounded_item",
        };
        let stamp = layout.slots.stamp();
        let stamp = stamp.map(|id| Ok((runtime::find(view, "__kassay_stamp")?, id))).transpose()?;
        let functions = ["__kassay_cover", "__kassay_loop_enter", "__kassay_loop_iterate", "__kassay_loop_end", flush];
        let found: Vec<Function> = functions.iter().map(|n| runtime::find(view, n)).collect::<Result<_>>()?;
        let leave = || view.add_function(placeholder::LEAVE, view.void_type().function(&[], false));
        Ok(Weaver {
            builder: view.builder(),
            int: view.int_type(32),
            pointer: view.pointer_type(AddressSpace::Private),
            global_pointer: view.pointer_type(AddressSpace::Global),
            layout,
            cover: found[0],
            loop_enter: found[1],
            loop_iterate: found[2],
            loop_end: found[3],
            flush: found[4],
            stamp,
            leave: target.has_hooks().then(leave),
        })
    }

    /// Passes the pointer to the work-item's words to every function that needs it: helpers get a last argument, the
    /// kernel allocates the words. Returns the pointer by function.
    fn thread_pointer(&self, functions: Vec<Function<'m>>, needs: &[bool]) -> Vec<Option<Pointers<'m>>> {
        let mut threaded = Vec::new();
        let mut pointers = Vec::new();
        for (f, function) in FunctionIndex::enumerate(functions) {
            if !needs[f] {
                pointers.push(None);
                continue;
            }
            let (ty, name) = if f == FunctionIndex::KERNEL {
                (self.global_pointer, "kassay_probe")
            } else {
                (self.pointer, "kassay_words")
            };
            let extended = parameters::append(function, ty, name);
            let last = extended.parameter;
            if f == FunctionIndex::KERNEL {
                parameters::describe(extended.function, "kassay_probe", "uint*", AddressSpace::Global);
                pointers.push(Some(Pointers { words: self.own_words(extended.function), probe: Some(last) }));
            } else {
                pointers.push(Some(Pointers { words: last, probe: None }));
            }
            threaded.push(extended);
        }
        for extended in threaded {
            let words_in = |caller| {
                // Every block of a function has the new one as its parent.
                let is_own = |p: &&Pointers<'m>| p.probe.unwrap_or(p.words).function() == Some(caller);
                pointers.iter().flatten().find(is_own).map(|own| own.words)
            };
            // SAFETY: handles of the old functions end with the loop above; calls are found here and not kept.
            unsafe { extended.replace_old(words_in) };
        }
        pointers
    }

    /// Allocates the kernel's words, zero at its start.
    fn own_words(&self, kernel: Function<'m>) -> Value<'m> {
        self.variable(kernel.entry(), self.int.array(u64::from(self.layout.words)), "kassay.words")
    }

    /// Adds a variable, zero at first, at the entry's start, where allocations belong.
    fn variable(&self, entry: Block<'m>, ty: Type<'m>, name: &str) -> Value<'m> {
        self.builder.before(entry.walk().next().expect("the entry has a terminator"));
        let variable = self.builder.alloca(ty, name);
        self.builder.store(ty.null(), variable);
        variable.value()
    }

    fn number(&self, n: u32) -> Value<'m> {
        self.int.int(u64::from(n))
    }

    fn call(&self, callee: Function<'m>, arguments: &[Value<'m>]) {
        self.builder.call(callee, arguments, "");
    }

    fn before(&self, inst: Inst<'m>) {
        self.builder.before(inst);
    }

    fn set_bit(&self, words: Value<'m>, bit: u32) {
        self.call(self.cover, &[words, self.number(bit / 32), self.number(1 << (bit % 32))]);
    }

    /// Records a boolean: sets the first bit if it is true, the second if it is false.
    fn record(&self, words: Value<'m>, recorder: &Recorder<'m>) {
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
            None => (recorder.user, recorder.user.operand(0)),
            Some(_) => (recorder.user.block().first_insertion_point(), recorder.user.value()),
        };
        self.before(before);
        let chosen = self.builder.select(condition, numbers.0, numbers.1, "");
        self.call(self.cover, &[words, self.number(recorder.bit / 32), chosen]);
    }

    /// Records the test vectors of decisions, each with the bit of its first one.
    fn vectors(&self, ways: &[(Ways<'_, 'm>, u32)], entry: Block<'m>, words: Value<'m>) {
        for (ways, bit) in ways {
            let variable = self.variable(entry, self.int, "kassay.way");
            let count = ways.count();
            // A way's number is that of its bit, counted from the start of the first word.
            ways.weave(&self.builder, variable, bit % 32, &mut |builder, ended| {
                for word in 0..(bit % 32 + count).div_ceil(32) {
                    let one = self.number(1);
                    let mask = if bit % 32 + count <= 32 {
                        builder.shl(one, ended.way, "")
                    } else {
                        let is_here = builder.icmp(
                            IntPredicate::LLVMIntEQ,
                            builder.lshr(ended.way, self.number(5), ""),
                            self.number(word),
                            "",
                        );
                        let mask = builder.shl(one, builder.and(ended.way, self.number(31), ""), "");
                        builder.select(is_here, mask, self.number(0), "")
                    };
                    let mask = match ended.holds {
                        Some(holds) => builder.select(holds, mask, self.number(0), ""),
                        None => mask,
                    };
                    self.call(self.cover, &[words, self.number(bit / 32 + word), mask]);
                }
            });
        }
    }

    fn function(
        &self,
        plan: &FunctionPlan,
        sites: &crate::cfg::sites::FunctionSites,
        blocks: &[Block<'m>],
        recorders: &[Recorder<'m>],
        pointers: Pointers<'m>,
    ) {
        let words = pointers.words;
        let returns: Vec<Inst> = blocks.iter().map(|b| b.terminator()).filter(|t| t.is(Opcode::LLVMRet)).collect();
        let mut states: Vec<(usize, u32, Value<'m>)> = Vec::new();
        for (i, bit) in &plan.loop_bits {
            // Zero stands for a loop that was not yet entered; see `runtime-cl/coverage.cl`.
            states.push((*i, *bit, self.variable(blocks[0], self.int, "kassay.loop")));
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
                self.call(leave, &[]);
            }
            for (_, bit, state) in &states {
                self.call(self.loop_end, &[words, self.number(bit / 32), self.number(bit % 32), *state]);
            }
            if let Some(probe) = pointers.probe {
                if let Some((stamp, id)) = self.stamp {
                    self.call(stamp, &[probe, self.number(id)]);
                }
                self.flush_all(words, probe);
            }
        }
    }

    fn loop_probes(
        &self,
        l: &Loop,
        cfg: &crate::cfg::graph::Cfg,
        blocks: &[Block<'m>],
        words: Value<'m>,
        bit: u32,
        state: Value<'m>,
    ) {
        let sources: BTreeSet<BlockIndex> = l.entries(cfg).into_iter().map(|e| e.block).collect();
        for source in sources {
            self.before(blocks[source].terminator());
            self.call(self.loop_enter, &[words, self.number(bit / 32), self.number(bit % 32), state]);
        }
        match l.body_entry() {
            None => self.before(blocks[l.header].first_insertion_point()),
            Some(edge) => {
                let target = cfg.target(edge);
                let body = if cfg.incoming(target).len() == 1 { blocks[target] } else { self.split(blocks, edge) };
                self.before(body.first_insertion_point());
            }
        }
        self.call(self.loop_iterate, &[state]);
    }

    fn probes(
        &self,
        plan: &FunctionPlan,
        sites: &crate::cfg::sites::FunctionSites,
        blocks: &[Block<'m>],
        words: Value<'m>,
    ) {
        // By join: for each incoming edge with a probe, the source block, the position of the edge among its
        // successors, and the bit.
        let mut joins: BTreeMap<BlockIndex, Vec<(Block, usize, u32)>> = BTreeMap::new();
        for (point, bit) in &plan.probes {
            match point {
                // After the allocation of the words, which is at the start of the entry block.
                ProbePoint::Block(BlockIndex::ENTRY) => {
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
                let mut brought: HashMap<Block, Value<'m>> = HashMap::new();
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
                self.call(self.cover, &[words, self.number(word), mask]);
            }
        }
    }

    /// Builds the mask of the edge taken where several edges lead from `block` to one join (cases of a `switch`, or a
    /// branch whose two successors are the same), from the value of the condition.
    fn mask_of_taken_edge(&self, block: Block<'m>, join: Block<'m>, bits: &[(usize, u32)]) -> Value<'m> {
        let terminator = block.terminator();
        self.before(terminator);
        let of = |successor: usize| bits.iter().filter(|(s, _)| *s == successor).fold(0, |mask, (_, bit)| mask | bit);
        if let Some(condition) = terminator.branch_condition() {
            return self.builder.select(condition, self.number(of(0)), self.number(of(1)), "");
        }
        let value = terminator.operand(0);
        let mut mask = self.number(of(0));
        for (successor, (case, _)) in (1..).zip(terminator.switch_cases()).filter(|(_, (_, to))| *to == join) {
            let taken = self.builder.icmp(IntPredicate::LLVMIntEQ, value, case, "");
            mask = self.builder.select(taken, self.number(of(successor)), mask, "");
        }
        mask
    }

    /// Builds a `phi` in `join` that takes a number from each predecessor.
    fn phi(&self, join: Block<'m>, number: &dyn Fn(Block<'m>) -> Value<'m>) -> Value<'m> {
        // In front of the block's debug records too: no record may precede a phi.
        self.builder.before_records(join.walk().next().expect("the block has a terminator"));
        let mut entries = Vec::new();
        for from in join.value().user_instructions().into_iter().rev().map(Inst::block) {
            // One for each edge.
            let edges = from.terminator().successors().into_iter().filter(|s| *s == join).count();
            entries.extend(std::iter::repeat_n((number(from), from), edges));
        }
        self.builder.phi(self.int, &entries, "").value()
    }

    /// Inserts a new block on an edge and returns it.
    fn split(&self, blocks: &[Block<'m>], edge: Edge) -> Block<'m> {
        let source = blocks[edge.block];
        let terminator = source.terminator();
        let target = terminator.successors()[edge.successor];
        let new = target.insert_before("kassay.edge");
        self.builder.at_end(new);
        self.builder.br(target);
        terminator.set_successor(edge.successor as u32, new);
        // SAFETY: what was found in the unchanged module and may be phis was recorded before; what follows names
        // blocks, terminators, calls and variables. The builder stands in the new block.
        unsafe { target.redirect_phis(source, new) };
        new
    }

    /// Flushes the coverage so far wherever an item may wait forever.
    fn flush_early(&self, early: &EarlyFlushes<'m>, blocks: &[Block<'m>], words: Value<'m>, probe: Value<'m>) {
        let calls = early.calls.iter().flat_map(|(block, name)| {
            let all = blocks.get(block.0).map(|b| b.instructions()).unwrap_or_default();
            all.into_iter().filter(move |inst| inst.callee().as_ref() == Some(name))
        });
        for inst in early.barriers.iter().copied().chain(calls) {
            self.before(inst);
            for word in 0..self.layout.words {
                let value = self.word(words, word);
                self.call(self.flush, &[probe, self.number(self.layout.stride()), self.number(word), value]);
            }
        }
    }

    fn word(&self, words: Value<'m>, word: u32) -> Value<'m> {
        let address = self.builder.in_bounds_gep(self.int, words, &[self.number(word)], "");
        self.builder.load(self.int, address, "").value()
    }

    fn flush_all(&self, words: Value<'m>, probe: Value<'m>) {
        let stride = self.number(self.layout.stride());
        for word in 0..self.layout.words {
            let value = self.word(words, word);
            self.call(self.flush, &[probe, stride, self.number(word), value]);
            if word < self.layout.missed_words {
                let not = self.builder.not(value, "");
                let missed = self.builder.and(not, self.number(self.layout.barrier_mask(word)), "");
                self.call(self.flush, &[probe, stride, self.number(self.layout.words + word), missed]);
            }
        }
    }
}

/// The pointers through which a function sets bits.
#[derive(Clone, Copy)]
struct Pointers<'m> {
    words: Value<'m>,
    /// The probe buffer; only in the kernel.
    probe: Option<Value<'m>>,
}

/// A boolean to record: the condition of a `select`, or the last operand of a short-circuit's `phi`.
struct Recorder<'m> {
    user: Inst<'m>,
    /// For a `phi`: the block that the operand comes from, and the value that the other blocks contribute.
    from: Option<(Block<'m>, bool)>,
    bit: u32,
}

impl<'m> Recorder<'m> {
    fn at(place: ValuePlace, bit: u32, blocks: &[Block<'m>], insts: &[Vec<Inst<'m>>]) -> Option<Recorder<'m>> {
        let find = |(block, instruction): (BlockIndex, usize)| insts[block].get(instruction).copied();
        Some(match place {
            ValuePlace::Select { block, instruction } => {
                Recorder { user: find((block, instruction))?, from: None, bit }
            }
            ValuePlace::PhiOperand { block, phi } => {
                let user = find(phi)?;
                let decided = user.incoming().into_iter().find_map(|(value, _)| value.as_bool());
                Recorder { user, from: Some((blocks[block], decided?)), bit }
            }
        })
    }
}
