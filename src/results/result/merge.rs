//! Merges the shards of a mutation run into one result.
//!
//! Each shard lists every mutant; those of other shards are `pending` there. The merged result takes each mutant from
//! the shard that owns it and computes the rest as an unsharded run does, so that it equals the result of such a run
//! except for `elapsed_s`, `device`, `timing` and `shard`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use kassay_base::error::{Error, Result};

use super::Device;
use super::any::AnyResult;
use super::mutate::{Mutant, MutateResult, TestStatus, Timing};
use super::mutate_summary::finish;
use super::shard::Shard;
use super::store::ResultFile;

/// The result of a shard and the file that it was read from.
struct Part {
    path: PathBuf,
    shard: Shard,
    result: MutateResult,
}

/// Merges loaded results, given in any order. Times are summed, including `elapsed_s`; names and drivers of different
/// devices are joined. `class_of` returns the class of an operator by its id.
///
/// # Errors
/// `Caller` if a result is not of `kassay mutate` or not of a shard; if configurations, numbers of shards or the lists
/// of mutants and tests differ; if a shard is missing or given twice.
pub fn merge(results: Vec<ResultFile>, class_of: &dyn Fn(&str) -> String) -> Result<MutateResult> {
    let mut parts = results.into_iter().map(|(path, result)| load_part(path, result)).collect::<Result<Vec<Part>>>()?;
    parts.sort_by_key(|p| p.shard);
    let Some(first) = parts.first() else {
        return Err(Error::caller("there is no result to merge").help("name the results of all shards"));
    };
    parts.iter().skip(1).try_for_each(|other| check_same_run(first, other))?;
    check_complete(&parts)?;

    let mut merged = first.result.clone();
    merged.shard = None;
    merged.elapsed_s = parts.iter().map(|p| p.result.elapsed_s).sum();
    merged.header.device = join_devices(parts.iter().filter_map(|p| p.result.header.device.as_ref()));
    merged.timing = parts.iter().fold(Timing::default(), |sum, p| add_timing(sum, &p.result.timing));
    merged.mutants =
        (0..merged.mutants.len()).map(|at| owned_mutant(&parts, at).cloned()).collect::<Result<Vec<Mutant>>>()?;
    let mut left_out = Vec::new();
    for left in parts.iter().flat_map(|p| &p.result.not_simulated) {
        if !left_out.contains(left) {
            left_out.push(left.clone());
        }
    }
    merged.not_simulated = left_out;
    merged.notes = distinct(parts.iter().flat_map(|p| &p.result.notes));
    merge_tests(&mut merged, &parts);
    finish(&mut merged, class_of);
    Ok(merged)
}

fn load_part(path: PathBuf, result: AnyResult) -> Result<Part> {
    let shown = path.display();
    let result: MutateResult = result.one().map_err(|other| {
        let what = format!("{shown} is a result of `kassay {}`: only mutate results have shards", other.command_line());
        Error::caller(what).help("name results of `kassay mutate --shard k/n`")
    })?;
    let Some(text) = &result.shard else {
        return Err(Error::caller(format!("{shown} is the result of a whole run, not of a shard"))
            .help("name results of `kassay mutate --shard k/n`; a whole run needs no merge"));
    };
    let shard = text.parse().map_err(|e| {
        Error::caller(format!("{shown}: the shard `{text}` is {e}")).help("name a result as `kassay mutate` wrote it")
    })?;
    Ok(Part { path, shard, result })
}

/// Rejects results of different runs and names the difference.
fn check_same_run(a: &Part, b: &Part) -> Result<()> {
    let (x, y) = (&a.result, &b.result);
    let quoted = |text: &str| format!("`{text}`");
    let differing = [
        ("versions of kassay", quoted(&x.header.version), quoted(&y.header.version)),
        ("kernels", quoted(&x.header.kernel), quoted(&y.header.kernel)),
        ("seeds", x.header.seed.to_string(), y.header.seed.to_string()),
        ("operators", quoted(&x.options.operators), quoted(&y.options.operators)),
        ("orders", x.options.order.to_string(), y.options.order.to_string()),
        ("numbers of shards", a.shard.count().to_string(), b.shard.count().to_string()),
        ("configurations", quoted(&x.configuration), quoted(&y.configuration)),
    ]
    .into_iter()
    .find(|(_, x, y)| x != y);
    let (a, b) = (a.path.display(), b.path.display());
    if let Some((what, x, y)) = differing {
        return Err(Error::caller(format!("{a} and {b} are of different runs: their {what} are {x} and {y}"))
            .help("merge shards of one run: same kernel, suite, options and number of shards"));
    }
    let same_mutants = x.mutants.iter().map(|m| &m.id).eq(y.mutants.iter().map(|m| &m.id));
    let same_tests = x.tests.iter().map(|t| &t.name).eq(y.tests.iter().map(|t| &t.name));
    if !same_mutants || !same_tests {
        let what = if same_mutants { "tests" } else { "mutants" };
        return Err(Error::caller(format!(
            "{a} and {b} do not list the same {what}, though their configurations agree"
        ))
        .help("merge the results as `kassay mutate` wrote them"));
    }
    Ok(())
}

/// Rejects duplicate and missing shards. `parts` are sorted by shard.
fn check_complete(parts: &[Part]) -> Result<()> {
    for pair in parts.windows(2) {
        if pair[0].shard == pair[1].shard {
            let (a, b) = (pair[0].path.display(), pair[1].path.display());
            return Err(
                Error::caller(format!("{a} and {b} are both of shard {}", pair[0].shard)).help("name each shard once")
            );
        }
    }
    let there: BTreeSet<Shard> = parts.iter().map(|p| p.shard).collect();
    let count = parts.first().map_or(0, |p| p.shard.count());
    let mut missing = (1..=count).filter_map(|k| Shard::new(k, count)).filter(|s| !there.contains(s));
    let shown: Vec<String> = missing.by_ref().take(8).map(|s| s.to_string()).collect();
    match (shown.len(), missing.count()) {
        (0, _) => Ok(()),
        (n, more) => {
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let noun = if n > 1 { "shards" } else { "shard" };
            Err(Error::caller(format!("{noun} {}{more} missing", shown.join(", ")))
                .help("name the results of all shards; what has not run yet can be run with --shard"))
        }
    }
}

/// Returns the mutant at index `at` as judged by the shard that owns it. A shard need not know of which mutant another
/// shard's mutant is a duplicate.
fn owned_mutant(parts: &[Part], at: usize) -> Result<&Mutant> {
    let mut originals = parts.iter().filter_map(|p| p.result.mutants[at].duplicate_of.as_deref());
    let id = &parts[0].result.mutants[at].id;
    let original = originals.next();
    if originals.any(|other| Some(other) != original) {
        return Err(Error::caller(format!("the shards do not agree on the mutant that `{id}` is a duplicate of"))
            .help("run the shards again with the same kassay"));
    }
    let owner = parts.iter().find(|p| p.shard.owns(id, original));
    owner.map(|p| &p.result.mutants[at]).ok_or_else(|| Error::internal(format!("no shard has the mutant `{id}`")))
}

/// Takes each test from the first shard that dropped it, otherwise from the first shard.
fn merge_tests(merged: &mut MutateResult, parts: &[Part]) {
    for (at, test) in merged.tests.iter_mut().enumerate() {
        let runs = || parts.iter().map(|p| (p.shard, &p.result.tests[at]));
        let Some((_, odd)) = runs().find(|(_, t)| t.status != TestStatus::Used) else { continue };
        *test = odd.clone();
        let relied: Vec<String> =
            runs().filter(|(_, t)| t.status == TestStatus::Used).map(|(s, _)| s.to_string()).collect();
        if !relied.is_empty() {
            merged.notes.push(format!(
                "the test `{}` was dropped in some shards; verdicts of others rely on it: {}",
                test.name,
                relied.join(", ")
            ));
        }
    }
}

/// Joins devices: distinct names, drivers and kinds, and the IL versions that all of them accept. `None` of nothing.
pub fn join_devices<'d>(devices: impl Iterator<Item = &'d Device>) -> Option<Device> {
    let devices: Vec<&Device> = devices.collect();
    let first = *devices.first()?;
    let join = |field: fn(&Device) -> &String| distinct(devices.iter().map(|d| field(d))).join("; ");
    Some(Device {
        name: join(|d| &d.name),
        driver: join(|d| &d.driver),
        kind: join(|d| &d.kind),
        il_versions: first
            .il_versions
            .iter()
            .filter(|v| devices.iter().all(|d| d.il_versions.contains(v)))
            .cloned()
            .collect(),
    })
}

/// Returns each text once, in order of first appearance.
pub fn distinct<'t>(texts: impl Iterator<Item = &'t String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.filter(|t| seen.insert(*t)).cloned().collect()
}

pub(super) fn add_timing(mut sum: Timing, more: &Timing) -> Timing {
    sum.build_s += more.build_s;
    sum.run_s += more.run_s;
    sum.equivalence_s += more.equivalence_s;
    sum.simulator_s += more.simulator_s;
    sum.builds = sum.builds.saturating_add(more.builds);
    sum.executions = sum.executions.saturating_add(more.executions);
    sum.pruned_pairs = sum.pruned_pairs.saturating_add(more.pruned_pairs);
    sum.pairs = sum.pairs.saturating_add(more.pairs);
    sum.batched_pairs = sum.batched_pairs.saturating_add(more.batched_pairs);
    sum.distrusted_modules = sum.distrusted_modules.saturating_add(more.distrusted_modules);
    sum.module_sizes.extend(&more.module_sizes);
    // Not summed: the original's time, from the first shard that ran the test.
    for (test, s) in &more.originals_s {
        sum.originals_s.entry(test.clone()).or_insert(*s);
    }
    sum
}
