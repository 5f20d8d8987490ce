//! Runs of the original: whether the program's own runs agree, what the woven original needs, and which mutants are
//! reached.

use std::collections::{BTreeMap, HashMap};

use kassay_base::error::{Error, Result};
use kassay_judge::mutation::catalogue::higher_order;
use kassay_results::result::probe_map::ProbeMap;
use kassay_results::result::set::{Failed, Fault, LeftOut};
use kassay_run::host::{LaunchedKernel, TrialEnd};

use super::super::super::host_kernel::no_call;
use super::super::verified;
use super::judge::{Measured, of_original, united};
use super::oracle::{self, Oracle, Shown};
use super::runs::{Bounds, LONG, MOST_OUTPUT, Ran, Runner, ended};
use super::weaver::{KernelKey, MutantWeaver, RunOf};

/// The program as it is.
pub struct Original {
    pub ran: Ran,
    /// Seconds of the longer of two runs.
    pub slowest: f64,
}

/// Runs the program twice as it is.
///
/// # Errors
/// `Caller` if it fails by itself, or its runs do not agree; `Environment` if it made no OpenCL call.
pub fn original(runner: &Runner<'_>) -> Result<Original> {
    let bounds = Bounds { time: LONG, output: MOST_OUTPUT };
    let ran = runner.first(bounds)?;
    let tried = &ran.shown.tried;
    if ran.spool.processes.is_empty() {
        return Err(no_call(&ended(tried), runner.session.drivers()));
    }
    let says = || match tried.stderr.lines().last() {
        Some(line) if !line.trim().is_empty() => format!("; its last words were: {}", line.trim()),
        _ => String::new(),
    };
    let is_judged_by_end = *runner.oracle == Oracle::Exit;
    if is_judged_by_end && tried.end != TrialEnd::Exited(0) || tried.end == TrialEnd::TooMuchOutput {
        let what = format!("without a mutant, the program {}{}", oracle::ended(tried.end), says());
        let help = "mutants are judged by whether the program still ends with 0; give it arguments with which it does, or judge \
                    by --oracle stdout or files:GLOB";
        return Err(Error::caller(what).help(help));
    }
    if let Oracle::Files(glob) = runner.oracle
        && ran.shown.files.is_empty()
    {
        let what = format!("after a run of the program, no file in the working directory matches `{glob}`");
        return Err(
            Error::caller(what).help("name files that it writes below the working directory, such as 'out/*.txt'")
        );
    }
    let again = runner.run(None, bounds)?;
    if let Some(difference) = runner.oracle.difference(&ran.shown, &again.shown) {
        let what = format!("two runs of the program without a mutant do not agree: in the second one, {difference}");
        return Err(Error::caller(what.replace("the original", "in the first one, it")).help(runner.oracle.advice()));
    }
    let slowest = tried.seconds.max(again.shown.tried.seconds);
    Ok(Original { ran, slowest })
}

/// Where the kernels are listed that are not measured.
pub struct Found<'a> {
    pub failed: &'a mut Vec<Failed>,
    pub left_out: &'a mut Vec<LeftOut>,
    pub notes: &'a mut Vec<String>,
}

/// What is needed for runs of the woven original.
pub struct Measuring<'a> {
    pub runner: &'a Runner<'a>,
    pub weaver: &'a MutantWeaver,
    /// What the program shows.
    pub original: &'a Shown,
    pub bounds: Bounds,
}

impl Measuring<'_> {
    /// Measures all kernels, and returns them with the seconds of the longest run. Those with which the program fails,
    /// or which cannot be woven, go to `failed`.
    ///
    /// # Errors
    /// `Caller` if the program fails with kernels that it does not fail with alone; those of [`Runner::run`].
    pub fn all(
        &self,
        chosen: &[&LaunchedKernel],
        mut slowest: f64,
        found: &mut Found<'_>,
    ) -> Result<(Vec<Measured>, f64)> {
        let mut maps: BTreeMap<KernelKey, &ProbeMap> = self.weaver.kernels().collect();
        if maps.is_empty() {
            return Ok((Vec::new(), slowest));
        }
        let fail = |key: &KernelKey, error: String| {
            let (program, kernel) = (Some(key.0.clone()), Some(key.1.clone()));
            Failed { kernel, suite: None, program, error, fault: None }
        };
        let mut ran = self.runner.run(Some(&RunOf::Original { only: None }), self.bounds)?;
        if self.difference(&ran).is_some() {
            for key in maps.keys() {
                if self.weaver.is_excluded(key) {
                    continue;
                }
                let alone = self.runner.run(Some(&RunOf::Original { only: Some(key.clone()) }), self.bounds)?;
                if let Some(difference) = self.difference(&alone) {
                    self.weaver.exclude(key);
                    found.failed.push(fail(key, format!("with kassay's guards in it and no mutant, {difference}")));
                }
            }
            maps.retain(|key, _| !self.weaver.is_excluded(key));
            if maps.is_empty() {
                return Ok((Vec::new(), slowest));
            }
            ran = self.runner.run(Some(&RunOf::Original { only: None }), self.bounds)?;
            if let Some(difference) = self.difference(&ran) {
                let what = format!("with kassay's guards in its kernels and no mutant, {difference}");
                return Err(Error::caller(what).help(self.runner.oracle.advice()));
            }
        }
        slowest = slowest.max(ran.shown.tried.seconds);
        for kernel in chosen {
            if let Some(differs) = verified::differs(&ran.spool, kernel) {
                self.weaver.exclude(&(kernel.program.clone(), kernel.name.clone()));
                found.left_out.push(differs);
            }
        }
        maps.retain(|key, _| !self.weaver.is_excluded(key));
        found.notes.extend(verified::not_compared(&ran.spool));
        let mut measured = Vec::new();
        for kernel in chosen {
            let key = (kernel.program.clone(), kernel.name.clone());
            let Some(map) = maps.get(&key) else { continue };
            let (probes, Some(guards)) = (ran.probes(&key)?, &map.guards) else { continue };
            if probes.is_empty() {
                let fault = ran.lacks_il(&key).then_some(Fault::Environment);
                found.failed.push(Failed { fault, ..fail(&key, ran.not_woven(&key)) });
                continue;
            }
            let (fuel_used, has_faults) = of_original(guards, &probes);
            let (map, launches, reach) = ((*map).clone(), kernel.launches, Vec::new());
            let woven_s = self.weaver.seconds(&key);
            measured.push(Measured { key, launches, map, fuel_used, has_faults, woven_s, replayed_s: 0.0, reach });
        }
        self.reach(&mut measured, found.notes)?;
        Ok((measured, slowest))
    }

    fn difference(&self, ran: &Ran) -> Option<String> {
        self.runner.oracle.difference(self.original, &ran.shown)
    }

    /// Finds out which mutants are reached, a module of each kernel at a time.
    fn reach(&self, measured: &mut [Measured], notes: &mut Vec<String>) -> Result<()> {
        let most = measured.iter().map(|kernel| kernel.map.modules.len()).max().unwrap_or(0);
        for module in 0..most {
            let ran = self.runner.run(Some(&RunOf::Reach { module }), self.bounds)?;
            let difference = self.difference(&ran);
            for kernel in measured.iter_mut() {
                let Some(about) = kernel.map.modules.get(module) else { continue };
                let probes = if difference.is_none() { ran.probes(&kernel.key)? } else { Vec::new() };
                let has_mutants = about.reach.is_some();
                if has_mutants && probes.is_empty() {
                    let why = difference.clone().unwrap_or_else(|| ran.not_woven(&kernel.key));
                    notes.push(format!("which mutants of {} are reached is not known: {why}", kernel.key.1));
                    kernel.reach.push(vec![u32::MAX; about.mutants.unwrap_or(0).div_ceil(16) as usize]);
                } else {
                    kernel.reach.push(if has_mutants { united(&probes) } else { Vec::new() });
                }
            }
        }
        Ok(())
    }
}

/// Leaves only a sample of the mutants in the maps: `count` of all kernels together. A mutant that equals one which is
/// not drawn takes its place.
pub fn draw(measured: &mut [Measured], count: Option<u64>, seed: u64) {
    let Some(count) = count else { return };
    let total = measured.iter().map(|kernel| kernel.map.mutants.len() + kernel.map.left_out.len()).sum();
    let drawn = higher_order::sample(total, count, seed);
    let (mut drawn, mut position) = (drawn.into_iter().peekable(), 0);
    let mut is_drawn = move || {
        let is = drawn.next_if_eq(&position).is_some();
        position += 1;
        is
    };
    for kernel in measured {
        kernel.map.mutants.retain(|_| is_drawn());
        kernel.map.left_out.retain(|_| is_drawn());
        let ids = kernel.map.mutants.iter().filter(|mutant| mutant.duplicate_of.is_none());
        // By the mutant that others equal: the one that takes its place.
        let mut first: HashMap<String, String> = ids.map(|mutant| (mutant.id.clone(), mutant.id.clone())).collect();
        for mutant in &mut kernel.map.mutants {
            let Some(of) = mutant.duplicate_of.take() else { continue };
            let place = first.entry(of).or_insert_with(|| mutant.id.clone());
            mutant.duplicate_of = (*place != mutant.id).then(|| place.clone());
        }
        for left in &mut kernel.map.left_out {
            left.duplicate_of = left.duplicate_of.take().and_then(|of| first.get(&of).cloned());
        }
    }
}
