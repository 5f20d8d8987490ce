//! Which modules mutants are run in: the one of all, several like it, or smaller ones that the device optimises.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

use super::super::baseline;
use super::super::module_builder::Effort;
use super::super::module_sizing::{self, Sizes};
use super::super::runner::{self, Case};
use super::{Engine, MOST, Whole};

impl Engine<'_, '_> {
    /// Runs cases in modules of the size that measurements favour.
    pub(super) fn sized(
        &mut self,
        cases: &mut [Case],
        all: &[(Vec<usize>, Vec<bool>)],
        pairs: bool,
        tell: &(dyn Fn(&Case) -> Result<()> + Sync),
    ) -> Result<()> {
        let whole_price = module_sizing::price(&self.baselines, cases, self.options.full_matrix, |t| t.run_time);
        let in_whole = |engine: &Self, case: &Case| {
            engine.whole.as_ref().is_some_and(|w| {
                all[case.index].0.iter().all(|m| w.numbers.contains_key(m) || !engine.mutants[*m].edit.is_woven())
            })
        };
        let everything = cases.iter().all(|case| in_whole(self, case));
        if pairs {
            return match everything {
                true => self.on_whole(cases, all, tell),
                false => Err(Error::internal("the module for pairs could not be built")),
            };
        }
        let modules = cases.len().div_ceil(MOST).max(1) as f64;
        if self.whole.is_some() && whole_price < self.whole_build.mul_f64(module_sizing::WORTHWHILE * modules) {
            cases.sort_by_key(|case| !in_whole(self, case));
            let (inside, outside) = cases.split_at_mut(cases.partition_point(|case| in_whole(self, case)));
            self.on_whole(inside, all, tell)?;
            for some in outside.chunks_mut(MOST) {
                self.quick(some, all, tell)?;
            }
            return Ok(());
        }
        let mut sizes = Sizes::new(cases.len(), whole_price, everything);
        let mut rest = cases;
        while !rest.is_empty() {
            let Some(size) = sizes.next(rest.len()) else {
                return self.on_whole(rest, all, tell);
            };
            if self.running.is_over() {
                rest.iter_mut().for_each(|case| case.fate.leave(runner::LATE));
                break;
            }
            let (some, others) = rest.split_at_mut(size.min(rest.len()));
            rest = others;
            let build = self.chunk(some, all, tell, &mut sizes)?;
            sizes.built(some.len(), build);
        }
        Ok(())
    }

    /// Runs cases in a module like that of all: one that the device does not optimise. One that is refused is halved until the
    /// guilty mutant stands alone.
    fn quick(
        &mut self,
        cases: &mut [Case],
        all: &[(Vec<usize>, Vec<bool>)],
        tell: &(dyn Fn(&Case) -> Result<()> + Sync),
    ) -> Result<()> {
        if self.running.is_over() {
            cases.iter_mut().for_each(|case| case.fate.leave(runner::LATE));
            return Ok(());
        }
        let mutants: Vec<usize> = cases.iter().flat_map(|c| all[c.index].0.iter().copied()).collect();
        let module = match self.make(&mutants, false, Effort::Quick, self.batched)? {
            Ok(module) => module,
            Err(_) if cases.len() > 1 => {
                let (a, b) = cases.split_at_mut(cases.len() / 2);
                self.quick(a, all, tell)?;
                return self.quick(b, all, tell);
            }
            Err(why) => {
                cases[0].fate.refuse_build(&why);
                return tell(&cases[0]);
            }
        };
        self.on(&module, cases, all, tell)?;
        self.unload(&module);
        Ok(())
    }

    /// Builds a module of these cases' mutants and runs them, in it or, if that is faster, in the module of all. A module
    /// that is refused is halved until the guilty mutant stands alone. Returns what the build took.
    fn chunk(
        &mut self,
        cases: &mut [Case],
        all: &[(Vec<usize>, Vec<bool>)],
        tell: &(dyn Fn(&Case) -> Result<()> + Sync),
        sizes: &mut Sizes,
    ) -> Result<Duration> {
        let mutants: Vec<usize> = cases.iter().flat_map(|c| all[c.index].0.iter().copied()).collect();
        let begun = Instant::now();
        let module = match self.make(&mutants, false, Effort::Optimised, false)? {
            Ok(module) => module,
            Err(_) if cases.len() > 1 => {
                let (a, b) = cases.split_at_mut(cases.len() / 2);
                return Ok(self.chunk(a, all, tell, sizes)? + self.chunk(b, all, tell, sizes)?);
            }
            Err(why) => {
                cases[0].fate.refuse_build(&why);
                tell(&cases[0])?;
                return Ok(begun.elapsed());
            }
        };
        let build = begun.elapsed();
        let Some(times) = self.time(&module)? else {
            self.unload(&module);
            self.distrusted(cases, all, tell, sizes)?;
            return Ok(begun.elapsed());
        };
        let here = module_sizing::price(&self.baselines, cases, self.options.full_matrix, |t| times[&t.position]);
        let there = module_sizing::price(&self.baselines, cases, self.options.full_matrix, |t| t.run_time);
        sizes.ran(cases.len(), here);
        if sizes.has_whole() && there < here {
            self.on_whole(cases, all, tell)?;
        } else {
            self.on(&module, cases, all, tell)?;
        }
        self.unload(&module);
        Ok(build)
    }

    /// Runs cases whose own module does not compute what the original does: in the module of all, or else in one that the
    /// device does not optimise.
    fn distrusted(
        &mut self,
        cases: &mut [Case],
        all: &[(Vec<usize>, Vec<bool>)],
        tell: &(dyn Fn(&Case) -> Result<()> + Sync),
        sizes: &Sizes,
    ) -> Result<()> {
        self.expense.distrusted += 1;
        if sizes.has_whole() { self.on_whole(cases, all, tell) } else { self.quick(cases, all, tell) }
    }

    /// How long the original takes in a module, by position of the test; `None` if it computes something else there.
    fn time(&mut self, module: &Whole) -> Result<Option<BTreeMap<usize, Duration>>> {
        let begun = Instant::now();
        let mut times = BTreeMap::new();
        for baseline in &self.baselines {
            self.expense.executions += 1;
            match baseline::time(self.lanes[0].as_mut(), module.programs[0], baseline, &self.running)? {
                Some(time) => times.insert(baseline.position, time),
                None => return Ok(None),
            };
        }
        self.expense.run += begun.elapsed();
        Ok(Some(times))
    }

    /// Runs one case in a module of its own.
    pub(super) fn rebuilt(
        &mut self,
        case: &mut Case,
        all: &[(Vec<usize>, Vec<bool>)],
        tell: &(dyn Fn(&Case) -> Result<()> + Sync),
    ) -> Result<()> {
        let mutants: Vec<usize> =
            all[case.index].0.iter().copied().filter(|m| self.mutants[*m].edit.is_woven()).collect();
        match self.make(&mutants, false, Effort::Optimised, false)? {
            Ok(mut module) => {
                // What is in force needs no number.
                module.numbers.clear();
                self.on(&module, std::slice::from_mut(case), all, tell)?;
                self.unload(&module);
                Ok(())
            }
            Err(why) => {
                case.fate.refuse_build(&why);
                tell(case)
            }
        }
    }
}
