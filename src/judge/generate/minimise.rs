//! Minimises the corpus: the fewest inputs that cover what all cover together, each as small as that allows.

use kassay_base::error::Result;

use super::genotype::Genotype;
use super::geometry;
use super::search::{Search, TestInput};

/// Keeps as few inputs of a search as cover everything, and makes their launches smaller where they still cover what
/// they are kept for.
///
/// # Errors
/// As [`super::search::CoverageRunner::run`].
pub fn minimise(search: &mut Search<'_>) -> Result<()> {
    let found = search.replace(Vec::new());
    let kept = shrink(search, minimal_cover(found))?;
    search.replace(kept);
    Ok(())
}

fn shrink(search: &mut Search<'_>, mut kept: Vec<TestInput>) -> Result<Vec<TestInput>> {
    for i in 0..kept.len() {
        let made_of = kept[i].genotype.clone();
        for smaller in made_of.iter().flat_map(|genotype| smaller_genotypes(search, genotype)).collect::<Vec<_>>() {
            if search.stop_reason().is_some() {
                return Ok(kept);
            }
            let needed = uniquely_covered(&kept, i);
            let Some(mut made) = search.attempt(smaller, None, kept[i].by)? else { continue };
            if !needed.iter().all(|o| made.covers[*o]) {
                continue;
            }
            made.reads_unwritten = search.reads_unwritten(&made.launch)?;
            if made.is_clean() || !kept[i].is_clean() {
                made.name.clone_from(&kept[i].name);
                kept[i] = made;
            }
        }
    }
    Ok(kept)
}

/// Selects inputs by greedy set cover: the one that adds most comes first, but those that fault come after all others.
/// Then drops those that the others make redundant.
fn minimal_cover(mut found: Vec<TestInput>) -> Vec<TestInput> {
    let total = found.first().map_or(0, |k| k.covers.len());
    let mut covered = vec![false; total];
    let mut kept: Vec<TestInput> = Vec::new();
    while !found.is_empty() {
        let gain = |k: &TestInput| k.covers.iter().zip(&covered).filter(|(new, old)| **new && !**old).count();
        // The first of equals.
        let rank = |k: &TestInput| (gain(k) > 0 && k.is_clean(), gain(k));
        let best = (0..found.len()).rev().max_by_key(|i| rank(&found[*i])).unwrap_or(0);
        if gain(&found[best]) == 0 && !kept.is_empty() {
            break;
        }
        let best = found.remove(best);
        covered.iter_mut().zip(&best.covers).for_each(|(old, new)| *old |= new);
        kept.push(best);
    }
    let mut i = kept.len();
    while i > 0 && kept.len() > 1 {
        i -= 1;
        if uniquely_covered(&kept, i).is_empty() {
            kept.remove(i);
        }
    }
    kept
}

/// Returns the outcomes that only this input covers. An input that faults does not make one redundant that does not.
fn uniquely_covered(kept: &[TestInput], i: usize) -> Vec<usize> {
    let counts = |other: &TestInput| other.is_clean() || !kept[i].is_clean();
    let others = |o: usize| kept.iter().enumerate().any(|(k, other)| k != i && counts(other) && other.covers[o]);
    (0..kept[i].covers.len()).filter(|o| kept[i].covers[*o] && !others(*o)).collect()
}

/// Returns variants with half of the groups in the largest dimension, and with a single group, unless the user fixes
/// the sizes.
fn smaller_genotypes(search: &Search<'_>, genotype: &Genotype) -> Vec<Genotype> {
    let groups = genotype.geometry.range.group_counts();
    let is_seed = genotype.base.is_some() && genotype.edits.is_empty();
    if search.problem.constraints.range.is_some() || groups == [1; 3] || is_seed {
        return Vec::new();
    }
    let mut halved = groups;
    if let Some(largest) = (0..3).max_by_key(|d| groups[*d]) {
        halved[largest] = groups[largest].div_ceil(2);
    }
    let mut sizes = vec![halved, [1; 3]];
    sizes.dedup();
    let with = |groups: [u64; 3]| {
        let model = search.problem.launch_builder.model;
        let mut geometry = geometry::of_groups(model, genotype.geometry.local, groups, "smaller");
        geometry.range.dims = genotype.geometry.range.dims;
        geometry.range.offset = genotype.geometry.range.offset;
        Genotype { geometry, ..genotype.clone() }
    };
    sizes.into_iter().map(with).collect()
}
