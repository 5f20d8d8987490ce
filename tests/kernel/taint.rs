//! Checks which instructions may see values that differ between runs of one launch, on small kernels.

use kassay_ir::cfg::graph::InstKind;
use kassay_ir::cfg::indices::{BlockIndex, FunctionIndex};
use kassay_ir::cfg::taint::Taint;
use kassay_ir::llvm::Context;
use kassay_model::options::KernelOptions;

use crate::common::kernels::{open, source_file};

/// Returns the lines of `source`'s only kernel on which some instruction is tainted, and those on which none is.
fn lines(source: &str) -> (Vec<u32>, Vec<u32>) {
    let (_folder, path) = source_file(source);
    let context = Context::create();
    let under_test = open(&context, &path, None, &KernelOptions::default()).unwrap().under_test;
    let taint = Taint::of(&under_test.module, &under_test.sites);
    let (mut tainted, mut clean) = (Vec::new(), Vec::new());
    for (f, function) in FunctionIndex::enumerate(&under_test.sites.functions) {
        for (b, block) in BlockIndex::enumerate(&function.cfg.blocks) {
            for (i, inst) in block.instructions.iter().enumerate() {
                let Some(line) = inst.location.as_ref().map(|l| l.line).filter(|l| *l > 0) else { continue };
                if matches!(inst.kind, InstKind::Alloca) {
                    continue;
                }
                if taint.is_tainted(f, b, i) { &mut tainted } else { &mut clean }.push(line);
            }
        }
    }
    for list in [&mut tainted, &mut clean] {
        list.sort_unstable();
        list.dedup();
    }
    clean.retain(|line| !tainted.contains(line));
    (tainted, clean)
}

#[test]
fn inputs_that_are_never_written_are_untainted() {
    let (tainted, clean) = lines(
        "kernel void k(global const int *x, global int *y, int n) {
            int i = get_global_id(0);
            int sum = 0;
            for (int j = 0; j < n; j++)
                sum += x[j] * i;
            y[i] = sum;
        }",
    );
    assert!(tainted.is_empty(), "{tainted:?}");
    assert_eq!(clean, [2, 3, 4, 5, 6, 7]);
}

#[test]
fn what_is_read_from_written_memory_taints_what_follows_from_it() {
    let (tainted, clean) = lines(
        "kernel void k(global int *y, global int *z, int n) {
            int i = get_global_id(0);
            int left = y[i];
            int twice = left * 2;
            int other = n + i;
            y[i + 1] = twice;
            z[i] = other;
        }",
    );
    assert_eq!(tainted, [3, 4, 6]);
    assert!(clean.contains(&5) && clean.contains(&7), "{clean:?}");
}

#[test]
fn atomics_and_local_memory_taint_and_so_does_what_they_decide() {
    let (tainted, clean) = lines(
        "kernel void k(global int *count, global int *y, local int *tile) {
            int i = get_local_id(0);
            tile[i] = i * 3;
            barrier(CLK_LOCAL_MEM_FENCE);
            int next = tile[i ^ 1];
            int rank = atomic_inc(count);
            int chosen = 4;
            if (rank == 0)
                chosen = i + 5;
            y[i] = chosen;
            y[i + 64] = i * 7;
        }",
    );
    assert_eq!(tainted, [5, 6, 8, 9, 10]);
    assert!(clean.contains(&3) && clean.contains(&11), "{clean:?}");
}

#[test]
fn taint_flows_through_helpers_and_pointers_to_private_variables() {
    let (tainted, clean) = lines(
        "int twice(int v) {
            return v + v;
        }
        void put(int *to, int v) {
            *to = v;
        }
        kernel void k(global int *y, global const int *x) {
            int a, i = get_global_id(0);
            put(&a, y[i]);
            int b = x[i] + 1;
            y[i] = twice(a) + b;
        }",
    );
    assert!(
        tainted.contains(&2) && tainted.contains(&5) && tainted.contains(&9) && tainted.contains(&11),
        "{tainted:?}"
    );
    assert!(clean.contains(&10), "{clean:?}");
}
