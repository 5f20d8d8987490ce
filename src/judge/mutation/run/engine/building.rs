//! Builds modules and loads them: the first one, and others meanwhile.

use std::collections::BTreeMap;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_ir::instrument::mutants::Edit;
use kassay_run::exec::{Joins, ProgramId};
use kassay_suite::launch::ArgValue;
use kassay_suite::resolve::Test;

use super::super::single;
use super::{Batching, Engine, LoadedModule, MAX_MUTANTS_PER_MODULE, Observer, Strategy};
use crate::mutation::build::module_builder::{Effort, Refusable, RunsPerLaunch, Woven};
use crate::mutation::catalogue::indices::MutantIndex;

/// Most mutants in one module for joint launches, if further modules can be built at the same time. A driver takes
/// longer for a mutant the more there are: NVIDIA's does not optimise modules of much more (docs/benchmarks.md).
const MAX_MUTANTS_PER_JOINT_MODULE: usize = 512;

impl Engine<'_, '_> {
    /// Returns how many of so many mutants the first module for joint launches holds: all have about the same number.
    fn in_first_module(&self, mutants: usize) -> usize {
        let most = self.most_per_module.min(MAX_MUTANTS_PER_JOINT_MODULE);
        mutants.div_ceil(mutants.div_ceil(most).max(1))
    }

    /// Builds the first module of mutants and loads it on every executor. While they build it, the module that observes
    /// mutants is woven and, if it is for joint launches, modules of the other mutants; all are built in advance.
    pub(super) fn build_and_load_first(
        &mut self,
        all: &[MutantIndex],
        (pairs, effort, per_launch): (bool, Effort, RunsPerLaunch),
        observed: &[MutantIndex],
    ) -> Result<Refusable<LoadedModule>> {
        let in_one = &all[..if pairs { all.len() } else { all.len().min(self.most_per_module) }];
        let (mut mutants, mut others) = all.split_at(self.in_first_module(all.len()));
        if pairs || per_launch != RunsPerLaunch::Joint {
            (mutants, others) = (in_one, &[]);
        }
        let started = Instant::now();
        let (mut woven, mut numbers) = self.weave(mutants, pairs, effort, per_launch)?;
        if !others.is_empty() && woven.as_ref().is_ok_and(|woven| woven.joint.is_none()) {
            (mutants, others) = (in_one, &[]);
            (woven, numbers) = self.weave(mutants, pairs, effort, per_launch)?;
        }
        let woven = match woven {
            Ok(woven) => woven,
            Err(why) => return Ok(Err(why)),
        };
        let programs: Vec<_> = self.executors.iter_mut().map(|executor| executor.begin_load(&woven.code)).collect();
        for part in self.observable(observed).chunks(MAX_MUTANTS_PER_MODULE) {
            let observer = self.weave_observer(part)?;
            if let Some(executor) = self.executors.first_mut() {
                executor.prebuild(&observer.code);
            }
            self.observers.push(observer);
        }
        for some in others.chunks(mutants.len().max(1)) {
            // What is refused is found out about when it is to be run.
            let (Ok(woven), numbers) = self.weave(some, pairs, effort, per_launch)? else { continue };
            if let Some(executor) = self.executors.first_mut() {
                executor.prebuild(&woven.code);
            }
            self.prefetched.push((woven, numbers));
        }
        let module = self.finish_load(woven, programs, numbers);
        self.cost.build += started.elapsed();
        if let (Ok(Ok(_)), false) = (&module, mutants.is_empty()) {
            self.cost.module_sizes.push(mutants.len() as u64);
        }
        module
    }

    /// Returns those of the mutants that infection probes can observe.
    pub(super) fn observable(&self, wanted: &[MutantIndex]) -> Vec<MutantIndex> {
        wanted.iter().copied().filter(|m| self.mutants[*m].edit.observed().is_some()).collect()
    }

    /// Weaves the module that observes these mutants.
    pub(super) fn weave_observer(&self, mutants: &[MutantIndex]) -> Result<Observer> {
        let edits = mutants.iter().zip(1..).filter_map(|(m, n)| {
            let mutant = &self.mutants[*m];
            Some((n, mutant.edit.observed()?, mutant.is_structural))
        });
        let (code, layout) = self.module_builder.infection(&edits.collect::<Vec<(u32, &Edit, bool)>>())?;
        Ok(Observer { mutants: mutants.to_vec(), code, layout })
    }

    /// Weaves a module of these mutants, and returns it with their numbers there.
    fn weave(
        &self,
        mutants: &[MutantIndex],
        pairs: bool,
        effort: Effort,
        per_launch: RunsPerLaunch,
    ) -> Result<(Refusable<Woven>, BTreeMap<MutantIndex, u32>)> {
        let numbers: BTreeMap<MutantIndex, u32> = mutants.iter().copied().zip(1..).collect();
        let edits: Vec<(u32, &Edit)> = numbers.iter().map(|(m, n)| (*n, &self.mutants[*m].edit)).collect();
        let woven = match self.options.strategy {
            Strategy::Schemata => self.module_builder.schemata_for(&edits, pairs, effort, per_launch),
            Strategy::Rebuild => self.module_builder.alone(&edits.iter().map(|(_, e)| *e).collect::<Vec<_>>(), effort),
        }?;
        Ok((woven, numbers))
    }

    /// Decides how many runs launches of modules of many mutants may hold.
    pub(super) fn runs_per_launch(&self) -> RunsPerLaunch {
        if self.options.batching == Batching::Off || self.options.strategy != Strategy::Schemata {
            return RunsPerLaunch::One;
        }
        let can_join = self.executors.iter().all(|executor| match executor.capabilities().joins {
            Joins::Never => false,
            Joins::IfAsked => self.options.batching == Batching::Joint,
            Joins::Always => true,
        });
        if can_join && self.module_builder.can_join() {
            return RunsPerLaunch::Joint;
        }
        let can_batch = self.executors.iter().all(|executor| executor.capabilities().batches)
            && self.tests.iter().all(|t| {
                t.launch.range.items() <= single::BATCHED_ITEMS
                    && t.launch.range.has_uniform_groups()
                    && !writes_images(t)
                    // Slots of one launch lie one after the other in the buffers.
                    && t.launch.has_whole_buffers()
            });
        if can_batch { RunsPerLaunch::Batch } else { RunsPerLaunch::One }
    }

    /// Builds a module and loads it on every executor.
    pub(super) fn build_and_load(
        &mut self,
        mutants: &[MutantIndex],
        pairs: bool,
        effort: Effort,
        per_launch: RunsPerLaunch,
    ) -> Result<Refusable<LoadedModule>> {
        let started = Instant::now();
        let (woven, numbers) = self.weave(mutants, pairs, effort, per_launch)?;
        let module = self.load(woven, numbers);
        self.cost.build += started.elapsed();
        if let (Ok(Ok(_)), false) = (&module, mutants.is_empty()) {
            self.cost.module_sizes.push(mutants.len() as u64);
        }
        module
    }

    /// Loads a module on every executor, concurrently.
    pub(super) fn load(
        &mut self,
        woven: Refusable<Woven>,
        numbers: BTreeMap<MutantIndex, u32>,
    ) -> Result<Refusable<LoadedModule>> {
        let woven = match woven {
            Ok(woven) => woven,
            Err(why) => return Ok(Err(why)),
        };
        let programs = self.executors.iter_mut().map(|executor| executor.begin_load(&woven.code)).collect();
        self.finish_load(woven, programs, numbers)
    }

    /// Waits until a module is loaded on every executor, each with what [`Executor::begin_load`] returned.
    fn finish_load(
        &mut self,
        woven: Woven,
        programs: Vec<Result<ProgramId>>,
        numbers: BTreeMap<MutantIndex, u32>,
    ) -> Result<Refusable<LoadedModule>> {
        self.cost.builds += 1;
        let mut loaded = Vec::new();
        for (executor, program) in self.executors.iter_mut().zip(programs) {
            match program.and_then(|p| executor.finish_load(p).map(|()| p)) {
                Ok(program) => loaded.push(program),
                Err(e @ Error::Internal(_)) => return Ok(Err(e.to_string())),
                Err(e) => return Err(e),
            }
        }
        Ok(Ok(LoadedModule { woven, programs: loaded, numbers }))
    }

    pub(super) fn unload(&mut self, module: &LoadedModule) {
        for (executor, program) in self.executors.iter_mut().zip(&module.programs) {
            executor.unload(*program);
        }
    }
}

fn writes_images(test: &Test) -> bool {
    test.outputs.iter().any(|o| matches!(test.launch.args.get(o.position as usize), Some(ArgValue::Image { .. })))
}
