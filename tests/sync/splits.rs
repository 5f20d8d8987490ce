//! Checks that the branch on which work-items diverged is found in real kernels.

use kassay_ir::llvm::Context;
use kassay_judge::sync::divergence_cause::DivergenceAnalysis;
use kassay_model::native::table::SourcePlace;
use kassay_run::exec::simulator::observation::{Divergence, Waiting};

use super::support::{Tables, TestResult, under_test};

/// Returns the line and column of the n-th occurrence of `what`.
fn find(source: &str, what: &str, n: usize) -> Option<(u32, u32)> {
    let (at, _) = source.match_indices(what).nth(n)?;
    let line = source[..at].matches('\n').count() as u32 + 1;
    let begin = source[..at].rfind('\n').map_or(0, |i| i + 1);
    Some((line, (at - begin) as u32 + 1))
}

/// The work-items that wait at a barrier: the call path, innermost first, as `(function, text, which occurrence)`; and
/// the iteration.
type Waits<'a> = (&'a [(&'a str, &'a str, usize)], u64);

fn split(source: &str, waits: &[Waits<'_>], finished: u64) -> TestResult<Option<(String, u32)>> {
    let context = Context::create();
    let (_folder, path, under_test) = under_test(&context, source)?;
    let mut table = Tables::new();
    let mut waiting = Vec::new();
    for (frames, iteration) in waits {
        let frames = frames.iter().map(|(function, what, n)| {
            let (line, column) = find(source, what, *n).ok_or("not in the source")?;
            Ok(SourcePlace { function: (*function).into(), file: path.display().to_string(), line, column })
        });
        let barrier = table.barrier(0, frames.collect::<TestResult<Vec<_>>>()?);
        waiting.push(Waiting { barrier, iteration: *iteration, mask: None, item: [0; 3], items: 1 });
    }
    let divergence = Divergence { is_of_grid: false, group_id: [0; 3], waiting, finished, finished_item: None };
    let file = path.display().to_string();
    let analysis = DivergenceAnalysis::of(&under_test, &file)?;
    Ok(analysis.branch(&table.0, &divergence).map(|b| (b.construct, b.location.line)))
}

fn is(found: TestResult<Option<(String, u32)>>, construct: &str, line: u32) -> TestResult {
    assert_eq!(found?, Some((construct.to_owned(), line)));
    Ok(())
}

#[test]
fn an_if_around_a_barrier() -> TestResult {
    let source = "kernel void k(global int *x) {
    int l = get_local_id(0);
    if (l < 16) {
        x[l] = 1;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}";
    is(split(source, &[(&[("k", "barrier", 0)], 0)], 1), "if", 3)
}

#[test]
fn an_early_return() -> TestResult {
    let source = "kernel void k(global int *x, int n) {
    int i = get_global_id(0);
    if (i >= n)
        return;
    if (n > 100)
        x[0] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    x[i] = 0;
}";
    is(split(source, &[(&[("k", "barrier", 0)], 0)], 1), "if", 3)
}

#[test]
fn a_uniform_loop_inside_the_branch_is_not_blamed() -> TestResult {
    let source = "kernel void k(global int *x, int n) {
    int l = get_local_id(0);
    if (l % 2 == 0 && n > 0) {
        for (int i = 0; i < n; i++) {
            x[l] += i;
            barrier(CLK_GLOBAL_MEM_FENCE);
        }
    }
}";
    is(split(source, &[(&[("k", "barrier", 0)], 0)], 1), "if", 3)
}

#[test]
fn a_loop_that_items_leave_in_different_iterations() -> TestResult {
    let source = "kernel void k(global int *x) {
    int l = get_local_id(0);
    int i = 0;
    while (i < l) {
        i++;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    x[l] = i;
}";
    is(split(source, &[(&[("k", "barrier", 0)], 0)], 1), "while", 4)
}

#[test]
fn two_barriers_on_two_sides() -> TestResult {
    let source = "kernel void k(global int *x) {
    int l = get_local_id(0);
    for (int i = 0; i < 4; i++) {
        if (x[l] > 0) {
            barrier(CLK_LOCAL_MEM_FENCE);
        } else {
            barrier(CLK_GLOBAL_MEM_FENCE);
        }
    }
}";
    is(split(source, &[(&[("k", "barrier", 0)], 0), (&[("k", "barrier", 1)], 0)], 0), "if", 4)
}

#[test]
fn one_barrier_in_different_iterations() -> TestResult {
    let source = "kernel void k(global int *x) {
    int l = get_local_id(0);
    for (int i = 0; i < 4; i++) {
        if (i == l)
            continue;
        barrier(CLK_LOCAL_MEM_FENCE);
        x[l] = i;
    }
}";
    is(split(source, &[(&[("k", "barrier", 0)], 1), (&[("k", "barrier", 0)], 2)], 0), "if", 4)
}

#[test]
fn a_barrier_in_a_helper_called_from_two_branches() -> TestResult {
    let source = "void helper(local int *t) {
    if (t[0] > 5)
        t[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
}
kernel void k(global int *x, local int *t) {
    int l = get_local_id(0);
    switch (l & 1) {
    case 0: helper(t); break;
    default: x[l] = 1; helper(t); break;
    }
}";
    let first: &[_] = &[("helper", "barrier", 0), ("k", "helper(t)", 0)];
    let second: &[_] = &[("helper", "barrier", 0), ("k", "helper(t)", 1)];
    is(split(source, &[(first, 0), (second, 0)], 0), "switch", 8)
}

#[test]
fn a_helper_that_only_some_call() -> TestResult {
    let source = "void helper(local int *t) {
    barrier(CLK_LOCAL_MEM_FENCE);
    t[0] = 1;
}
kernel void k(global int *x, local int *t) {
    int l = get_local_id(0);
    int odd = x[l] & 1;
    odd ? helper(t) : (void)0;
    x[l] = 2;
}";
    is(split(source, &[(&[("helper", "barrier", 0), ("k", "helper(t)", 0)], 0)], 3), "?:", 8)
}
