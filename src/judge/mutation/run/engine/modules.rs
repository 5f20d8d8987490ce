//! Chooses the modules that mutants run in: the full module, several unoptimised ones like it, or smaller ones that the
//! device optimises.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};

use super::super::baseline::Original;
use super::super::module_sizing::{self, Sizes};
use super::super::runner::Case;
use super::{Engine, LoadedModule};
use crate::mutation::build::module_builder::{Effort, RunsPerLaunch};
use crate::mutation::catalogue::indices::{MutantIndex, TestIndex};

impl Engine<'_, '_> {
    /// Runs cases in modules of the size that measurements favour.
    pub(super) fn run_sized(
        &mut self,
        cases: &mut [Case],
        pairs: bool,
        case_decided: &(dyn Fn(&Case) -> Result<()> + Sync),
    ) -> Result<()> {
        let full_time = module_sizing::estimated_time(&self.baselines, cases, self.options.full_matrix, |t| t.run_time);
        let is_in_full = |engine: &Self, case: &Case| {
            engine.full_module.as_ref().is_some_and(|full| {
                case.scenario
                    .mutants
                    .iter()
                    .all(|m| full.numbers.contains_key(m) || !engine.mutants[*m].edit.is_woven())
            })
        };
        let all_in_full = cases.iter().all(|case| is_in_full(self, case));
        if pairs {
            return match all_in_full {
                true => self.run_in_full(cases, case_decided),
                false => Err(Error::internal("the module for pairs could not be built")),
            };
        }
        let modules = cases.len().div_ceil(self.most_per_module).max(1) as f64;
        // Joint launches take far less time than the runs of the original that the estimate rests on.
        let is_joint = self.full_module.as_ref().is_some_and(|full| full.woven.joint.is_some());
        let is_brief = full_time < self.full_build_time.mul_f64(module_sizing::WORTHWHILE * modules);
        if self.full_module.is_some() && (is_joint || is_brief) {
            cases.sort_by_key(|case| !is_in_full(self, case));
            let (inside, outside) = cases.split_at_mut(cases.partition_point(|case| is_in_full(self, case)));
            self.run_in_full(inside, case_decided)?;
            let outside = self.run_in_further(outside, case_decided)?;
            for some in outside.chunks_mut(self.most_per_module) {
                self.run_quick(some, case_decided)?;
            }
            return Ok(());
        }
        let mut sizes = Sizes::new(cases.len(), full_time, all_in_full);
        let mut rest = cases;
        while !rest.is_empty() {
            let Some(size) = sizes.next(rest.len()) else {
                return self.run_in_full(rest, case_decided);
            };
            if self.settings.is_over() {
                rest.iter_mut().for_each(|case| case.outcome.leave_pending());
                break;
            }
            let (some, others) = rest.split_at_mut(size.min(self.most_per_module).min(rest.len()));
            rest = others;
            let build = self.run_chunk(some, case_decided, &mut sizes)?;
            sizes.record_build(some.len(), build);
        }
        Ok(())
    }

    /// Runs the cases that modules hold which were woven beside the full one. Returns the others.
    fn run_in_further<'c>(
        &mut self,
        cases: &'c mut [Case],
        case_decided: &(dyn Fn(&Case) -> Result<()> + Sync),
    ) -> Result<&'c mut [Case]> {
        let mut rest = cases;
        for (woven, numbers) in std::mem::take(&mut self.prefetched) {
            let is_in = |case: &Case| case.scenario.mutants.iter().all(|m| numbers.contains_key(m));
            rest.sort_by_key(|case| !is_in(case));
            let (inside, outside) = rest.split_at_mut(rest.partition_point(is_in));
            rest = outside;
            if inside.is_empty() || self.settings.is_over() {
                inside.iter_mut().for_each(|case| case.outcome.leave_pending());
                continue;
            }
            let (started, size) = (Instant::now(), numbers.len() as u64);
            let module = self.load(Ok(woven), numbers)?;
            self.cost.build += started.elapsed();
            match module {
                Ok(module) => {
                    self.cost.module_sizes.push(size);
                    self.run_in(&module, inside, case_decided)?;
                    self.unload(&module);
                }
                Err(_) => self.run_quick(inside, case_decided)?,
            }
        }
        Ok(rest)
    }

    /// Runs cases in a module like the full one, which the device does not optimise. A module that is refused is
    /// bisected until the offending mutant is isolated.
    fn run_quick(&mut self, cases: &mut [Case], case_decided: &(dyn Fn(&Case) -> Result<()> + Sync)) -> Result<()> {
        if self.settings.is_over() {
            cases.iter_mut().for_each(|case| case.outcome.leave_pending());
            return Ok(());
        }
        let mutants: Vec<MutantIndex> = cases.iter().flat_map(|c| c.scenario.mutants.iter().copied()).collect();
        let module = match self.build_and_load(&mutants, false, Effort::Quick, self.per_launch)? {
            Ok(module) => module,
            Err(_) if cases.len() > 1 => {
                let (a, b) = cases.split_at_mut(cases.len() / 2);
                self.run_quick(a, case_decided)?;
                return self.run_quick(b, case_decided);
            }
            Err(why) => {
                cases[0].outcome.refuse_build(&why);
                return case_decided(&cases[0]);
            }
        };
        self.run_in(&module, cases, case_decided)?;
        self.unload(&module);
        Ok(())
    }

    /// Builds an optimised module of these cases' mutants and runs them in it or, if that is faster, in the full
    /// module. A module that is refused is bisected until the offending mutant is isolated. Returns the build time.
    fn run_chunk(
        &mut self,
        cases: &mut [Case],
        case_decided: &(dyn Fn(&Case) -> Result<()> + Sync),
        sizes: &mut Sizes,
    ) -> Result<Duration> {
        let mutants: Vec<MutantIndex> = cases.iter().flat_map(|c| c.scenario.mutants.iter().copied()).collect();
        let started = Instant::now();
        let module = match self.build_and_load(&mutants, false, Effort::Full, RunsPerLaunch::One)? {
            Ok(module) => module,
            Err(_) if cases.len() > 1 => {
                let (a, b) = cases.split_at_mut(cases.len() / 2);
                return Ok(self.run_chunk(a, case_decided, sizes)? + self.run_chunk(b, case_decided, sizes)?);
            }
            Err(why) => {
                cases[0].outcome.refuse_build(&why);
                case_decided(&cases[0])?;
                return Ok(started.elapsed());
            }
        };
        let build = started.elapsed();
        let Some(times) = self.time_original(&module)? else {
            self.unload(&module);
            self.run_distrusted(cases, case_decided, sizes)?;
            return Ok(started.elapsed());
        };
        let time_here =
            module_sizing::estimated_time(&self.baselines, cases, self.options.full_matrix, |t| times[&t.position]);
        let time_in_full =
            module_sizing::estimated_time(&self.baselines, cases, self.options.full_matrix, |t| t.run_time);
        sizes.record_run(cases.len(), time_here);
        if sizes.has_full_module() && time_in_full < time_here {
            self.run_in_full(cases, case_decided)?;
        } else {
            self.run_in(&module, cases, case_decided)?;
        }
        self.unload(&module);
        Ok(build)
    }

    /// Runs cases whose optimised module does not compute what the original does: in the full module if it holds them
    /// all, else in an unoptimised one.
    fn run_distrusted(
        &mut self,
        cases: &mut [Case],
        case_decided: &(dyn Fn(&Case) -> Result<()> + Sync),
        sizes: &Sizes,
    ) -> Result<()> {
        self.cost.distrusted += 1;
        if sizes.has_full_module() {
            self.run_in_full(cases, case_decided)
        } else {
            self.run_quick(cases, case_decided)
        }
    }

    /// Returns how long the original takes in a module, by position of the test; `None` if its outputs there differ.
    fn time_original(&mut self, module: &LoadedModule) -> Result<Option<BTreeMap<TestIndex, Duration>>> {
        let started = Instant::now();
        let mut times = BTreeMap::new();
        let mut original = Original {
            executor: self.executors[0].as_mut(),
            program: module.programs[0],
            woven: &module.woven,
            layout: self.settings.layout,
            repeats: 1,
            timeout: self.options.timeout,
        };
        for baseline in &self.baselines {
            self.cost.executions += 1;
            match original.time(baseline, self.settings.factor)? {
                Some(time) => times.insert(baseline.position, time),
                None => return Ok(None),
            };
        }
        self.cost.run += started.elapsed();
        Ok(Some(times))
    }

    /// Runs one case in a module of its own.
    pub(super) fn run_rebuilt(
        &mut self,
        case: &mut Case,
        case_decided: &(dyn Fn(&Case) -> Result<()> + Sync),
    ) -> Result<()> {
        let mutants: Vec<MutantIndex> =
            case.scenario.mutants.iter().copied().filter(|m| self.mutants[*m].edit.is_woven()).collect();
        match self.build_and_load(&mutants, false, Effort::Full, RunsPerLaunch::One)? {
            Ok(mut module) => {
                // The mutant is in force unconditionally and needs no number.
                module.numbers.clear();
                self.run_in(&module, std::slice::from_mut(case), case_decided)?;
                self.unload(&module);
                Ok(())
            }
            Err(why) => {
                case.outcome.refuse_build(&why);
                case_decided(case)
            }
        }
    }
}
