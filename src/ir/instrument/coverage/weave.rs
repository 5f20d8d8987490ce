//! Inserts the probes of a plan into the canonical form.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_model::code::Target;
use kassay_model::native::abi::placeholder;

use super::code::ProbeCode;
use super::early_flush::EarlyFlushes;
use super::plan::{CoveragePlan, FunctionPlan};
use super::recorders::{LoopExit, Recorder};
use crate::cfg::indices::{BlockIndex, FunctionIndex};
use crate::cfg::loops::Loop;
use crate::cfg::sites::Sites;
use crate::instrument::decision_paths::DecisionPaths;
use crate::instrument::implication::ProbePoint;
use crate::instrument::layout::{CoverageLayout, Slots};
use crate::instrument::runtime;
use crate::kernel::{canonical, parameters};
use crate::llvm::assumptions::drop_woven_effects;
use crate::llvm::{AddressSpace, Block, Function, Inst, IntPredicate, Opcode, Type, Value, View};

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
        let paths: Vec<Vec<(DecisionPaths, u32)>> = FunctionIndex::enumerate(&self.functions)
            .map(|(f, plan)| {
                let decisions = &sites.functions[f].compound;
                let resolve = |(decision, bit): (&usize, &u32)| {
                    let evaluation = decisions.get(*decision)?.evaluation.as_ref().ok()?;
                    Some((DecisionPaths::resolve(evaluation, &insts[f])?, *bit))
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
                weaver.vectors(&paths[f], blocks[f][0], pointer.words);
                weaver.function(plan, &sites.functions[f], &blocks[f], &recorders[f], pointer);
                if let Some(probe) = pointer.probe {
                    weaver.flush_early(&early, &blocks[f], pointer.words, probe);
                }
            }
        }
        drop_woven_effects(View::of(module));
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

/// The state for weaving one module.
struct Weaver<'m> {
    code: ProbeCode<'m>,
    pointer: Type<'m>,
    global_pointer: Type<'m>,
    layout: CoverageLayout,
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
            code: ProbeCode { builder: view.builder(), int: view.int_type(32), cover: found[0] },
            pointer: view.pointer_type(AddressSpace::Private),
            global_pointer: view.pointer_type(AddressSpace::Global),
            layout,
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
        self.variable(kernel.entry(), self.code.int.array(u64::from(self.layout.words)), "kassay.words")
    }

    /// Adds a variable, zero at first, at the entry's start, where allocations belong.
    fn variable(&self, entry: Block<'m>, ty: Type<'m>, name: &str) -> Value<'m> {
        self.code.builder.before(entry.walk().next().expect("the entry has a terminator"));
        let variable = self.code.builder.alloca(ty, name);
        self.code.builder.store(ty.null(), variable);
        variable.value()
    }

    /// Records the test vectors of decisions, each with the bit of its first one.
    fn vectors(&self, paths: &[(DecisionPaths<'_, 'm>, u32)], entry: Block<'m>, words: Value<'m>) {
        for (paths, bit) in paths {
            let variable = self.variable(entry, self.code.int, "kassay.way");
            let count = paths.count();
            // A path's number is that of its bit, counted from the start of the first word.
            paths.weave(&self.code.builder, variable, bit % 32, &mut |builder, ended| {
                for word in 0..(bit % 32 + count).div_ceil(32) {
                    let one = self.code.number(1);
                    let mask = if bit % 32 + count <= 32 {
                        builder.shl(one, ended.path, "")
                    } else {
                        let is_here = builder.icmp(
                            IntPredicate::LLVMIntEQ,
                            builder.lshr(ended.path, self.code.number(5), ""),
                            self.code.number(word),
                            "",
                        );
                        let mask = builder.shl(one, builder.and(ended.path, self.code.number(31), ""), "");
                        builder.select(is_here, mask, self.code.number(0), "")
                    };
                    let mask = match ended.holds {
                        Some(holds) => builder.select(holds, mask, self.code.number(0), ""),
                        None => mask,
                    };
                    self.code.call(self.code.cover, &[words, self.code.number(bit / 32 + word), mask]);
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
            states.push((*i, *bit, self.variable(blocks[0], self.code.int, "kassay.loop")));
        }
        let mut exits: BTreeMap<BlockIndex, LoopExit> = BTreeMap::new();
        for recorder in recorders {
            match self.code.loop_exit(recorder, sites).filter(|(block, _)| !exits.contains_key(block)) {
                Some((block, exit)) => _ = exits.insert(block, exit),
                None => self.code.record(words, recorder),
            }
        }
        self.probes(plan, sites, blocks, words, &mut exits);
        for exit in exits.values() {
            self.code.record_loop_exit(words, exit);
        }
        for (i, bit, state) in &states {
            self.loop_probes(&sites.loops[*i], &sites.cfg, blocks, words, *bit, *state);
        }
        for ret in returns {
            self.code.before(ret);
            if let (Some(leave), Some(_)) = (self.leave, pointers.probe) {
                self.code.call(leave, &[]);
            }
            for (_, bit, state) in &states {
                self.code.call(self.loop_end, &[words, self.code.number(bit / 32), self.code.number(bit % 32), *state]);
            }
            if let Some(probe) = pointers.probe {
                if let Some((stamp, id)) = self.stamp {
                    self.code.call(stamp, &[probe, self.code.number(id)]);
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
            self.code.before(blocks[source].terminator());
            self.code.call(self.loop_enter, &[words, self.code.number(bit / 32), self.code.number(bit % 32), state]);
        }
        match l.body_entry() {
            None => self.code.before(blocks[l.header].first_insertion_point()),
            Some(edge) => {
                let target = cfg.target(edge);
                let body = if cfg.incoming(target).len() == 1 {
                    blocks[target]
                } else {
                    self.code.split(blocks[edge.block], edge.successor)
                };
                self.code.before(body.first_insertion_point());
            }
        }
        self.code.call(self.loop_iterate, &[state]);
    }

    fn probes(
        &self,
        plan: &FunctionPlan,
        sites: &crate::cfg::sites::FunctionSites,
        blocks: &[Block<'m>],
        words: Value<'m>,
        exits: &mut BTreeMap<BlockIndex, LoopExit<'m>>,
    ) {
        // By join: for each incoming edge with a probe, the source block, the position of the edge among its
        // successors, and the bit.
        let mut joins: BTreeMap<BlockIndex, Vec<(Block, usize, u32)>> = BTreeMap::new();
        for (point, bit) in &plan.probes {
            match point {
                // After the allocation of the words, which is at the start of the entry block.
                ProbePoint::Block(BlockIndex::ENTRY) => {
                    self.code.before(blocks[0].terminator());
                    self.code.set_bit(words, *bit);
                }
                ProbePoint::Block(block) => {
                    self.code.before(blocks[*block].first_insertion_point());
                    self.code.set_bit(words, *bit);
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
                        self.code.number(bits.iter().fold(0, |mask, (_, bit)| mask | bit))
                    };
                    brought.insert(*from, mask);
                }
                let none = self.code.number(0);
                let mask = self.code.phi(blocks[join], &|from| brought.get(&from).copied().unwrap_or(none));
                if exits.get_mut(&join).is_some_and(|exit| exit.take(word, mask, &brought)) {
                    continue;
                }
                self.code.before(blocks[join].first_insertion_point());
                self.code.call(self.code.cover, &[words, self.code.number(word), mask]);
            }
        }
    }

    /// Builds the mask of the edge taken where several edges lead from `block` to one join (cases of a `switch`, or a
    /// branch whose two successors are the same), from the value of the condition.
    fn mask_of_taken_edge(&self, block: Block<'m>, join: Block<'m>, bits: &[(usize, u32)]) -> Value<'m> {
        let terminator = block.terminator();
        self.code.before(terminator);
        let of = |successor: usize| bits.iter().filter(|(s, _)| *s == successor).fold(0, |mask, (_, bit)| mask | bit);
        if let Some(condition) = terminator.branch_condition() {
            return self.code.builder.select(condition, self.code.number(of(0)), self.code.number(of(1)), "");
        }
        let value = terminator.operand(0);
        let mut mask = self.code.number(of(0));
        for (successor, (case, _)) in (1..).zip(terminator.switch_cases()).filter(|(_, (_, to))| *to == join) {
            let taken = self.code.builder.icmp(IntPredicate::LLVMIntEQ, value, case, "");
            mask = self.code.builder.select(taken, self.code.number(of(successor)), mask, "");
        }
        mask
    }

    /// Flushes the coverage so far wherever an item may wait forever.
    fn flush_early(&self, early: &EarlyFlushes<'m>, blocks: &[Block<'m>], words: Value<'m>, probe: Value<'m>) {
        let calls = early.calls.iter().flat_map(|(block, name)| {
            let all = blocks.get(block.0).map(|b| b.instructions()).unwrap_or_default();
            all.into_iter().filter(move |inst| inst.callee().as_ref() == Some(name))
        });
        for inst in early.barriers.iter().copied().chain(calls) {
            self.code.before(inst);
            for word in 0..self.layout.words {
                let value = self.word(words, word);
                self.code
                    .call(self.flush, &[probe, self.code.number(self.layout.stride()), self.code.number(word), value]);
            }
        }
    }

    fn word(&self, words: Value<'m>, word: u32) -> Value<'m> {
        let address = self.code.builder.in_bounds_gep(self.code.int, words, &[self.code.number(word)], "");
        self.code.builder.load(self.code.int, address, "").value()
    }

    fn flush_all(&self, words: Value<'m>, probe: Value<'m>) {
        let stride = self.code.number(self.layout.stride());
        for word in 0..self.layout.words {
            let value = self.word(words, word);
            self.code.call(self.flush, &[probe, stride, self.code.number(word), value]);
            if word < self.layout.missed_words {
                let not = self.code.builder.not(value, "");
                let missed = self.code.builder.and(not, self.code.number(self.layout.barrier_mask(word)), "");
                self.code.call(self.flush, &[probe, stride, self.code.number(self.layout.words + word), missed]);
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
