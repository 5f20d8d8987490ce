//! Checks the decision whether the work-items of a kernel interact, on which the number of repeats of its
//! mutants depends.

use kassay_judge::mutation::catalogue::item_interaction::work_items_interact;
use kassay_judge::mutation::catalogue::operators::Preset;

use super::support::Kernel;

fn interacts(source: &str) -> bool {
    Kernel::new(source).with(&[], Preset::Full, |under_test, _| work_items_interact(under_test))
}

#[test]
fn names_of_helpers_do_not_matter() {
    let helper = "void update_barrier_flag(global int *o, int i) { o[i] |= 1; }\n\
                  int atomic_number(int i) { return i * 7; }\n\
                  kernel void k(global int *o) { int i = get_global_id(0); update_barrier_flag(o, i); o[i] += atomic_number(i); }";
    assert!(!interacts(helper));
}

#[test]
fn builtins_show_whether_work_items_interact() {
    let kernel = |body: &str| format!("kernel void k(global int *o) {{ int i = get_global_id(0); {body} o[i] += 1; }}");
    assert!(!interacts(&kernel("")));
    assert!(!interacts(&kernel("o[i] = max(i, (int)get_group_id(0));")));
    for body in
        ["barrier(CLK_GLOBAL_MEM_FENCE);", "atomic_inc(o);", "mem_fence(CLK_GLOBAL_MEM_FENCE);", "local int t; t = i;"]
    {
        assert!(interacts(&kernel(body)), "{body}");
    }
}
