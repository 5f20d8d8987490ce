//! Checks what is claimed for the launches of a suite only, and what must not be.

use std::sync::Arc;

use kassay_ir::cfg::sites::Sites;
use kassay_ir::instrument::mutants::{Binary, Edit, Expr, LaunchChange, Place, Predicate, Slot};
use kassay_judge::mutation::equivalence::{Kernel, LaunchFacts, Verdict, classify, prove_for_launches};
use kassay_suite::launch::{ArgValue, Launch, NdRange};
use kassay_suite::resolve::Test;
use llvm_sys::LLVMOpcode;

use super::classify::{compare, places, verdicts};
use super::support::canonical_form;

/// A test with `global` work-items in groups of `local`, and `n`.
fn test(global: u64, local: u64, n: i32) -> Test {
    let range = NdRange { dims: 1, global: [global, 1, 1], local: Some([local, 1, 1]), offset: [0; 3] };
    let args = vec![ArgValue::Buffer(Arc::new(vec![0; 4096])), ArgValue::Value(n.to_le_bytes().to_vec())];
    let launch = Launch::new(range, args);
    Test {
        name: format!("{n}"),
        launch,
        faulted: Vec::new(),
        expectations: Vec::new(),
        outputs: Vec::new(),
        limit: None,
    }
}

fn source(body: &str) -> String {
    format!("__kernel void k(__global int *a, int n) {{ size_t i = get_global_id(0), l = get_local_id(0); {body} }}")
}

/// Returns which edits are proved to change nothing in the launches of these tests.
fn judged(body: &str, tests: &[Test], ran: bool, edits: impl Fn(&[u8], &Sites) -> Vec<Edit>) -> Vec<bool> {
    let (bitcode, sites) = canonical_form(&source(body));
    let edits = edits(&bitcode, &sites);
    let mutants: Vec<&Edit> = edits.iter().collect();
    let kernel = Kernel { bitcode: &bitcode, sites: &sites, entry: "k" };
    let found = prove_for_launches(kernel, &LaunchFacts::of(tests), ran, &mutants, 2, None).unwrap();
    found.into_iter().map(|proved| proved.expect("there is no deadline")).collect()
}

/// The same of another predicate in the first comparison, which no launch in general allows.
#[track_caller]
fn compared(body: &str, tests: &[Test], predicate: Predicate) -> bool {
    let edits =
        |bitcode: &[u8], sites: &Sites| vec![compare(places(bitcode, sites, LLVMOpcode::LLVMICmp)[0].0, predicate)];
    assert_eq!(verdicts(&source(body), edits), [Verdict::Distinct], "{body}");
    judged(body, tests, false, edits)[0]
}

fn force(place: Place, value: i128) -> Edit {
    Edit::Value { at: vec![Slot::Result(place)], by: Expr::Integer(value) }
}

#[track_caller]
fn forced(body: &str, tests: &[Test], value: i128) -> bool {
    judged(body, tests, false, |bitcode, sites| vec![force(places(bitcode, sites, LLVMOpcode::LLVMICmp)[0].0, value)])
        [0]
}

#[test]
fn a_guard_that_the_launches_never_reach() {
    use Predicate::{Ne, Ule};
    let guard = "if (i < n) a[i] = 1;";
    assert!(compared(guard, &[test(64, 8, 64)], Ule));
    assert!(compared(guard, &[test(64, 8, 64)], Ne));
    assert!(!compared(guard, &[test(64, 8, 63)], Ule), "work-item 63");
    assert!(!compared(guard, &[test(64, 8, 10)], Ne), "work-item 11");
    assert!(compared(guard, &[test(64, 8, 64), test(32, 8, 100)], Ule));
    assert!(!compared(guard, &[test(64, 8, 64), test(32, 8, 31)], Ule), "one launch is sufficient");
}

#[test]
fn loops_of_known_bounds() {
    use Predicate::{Ne, Sle};
    let counted = "for (int j = 0; j < n; j++) a[j] = l;";
    assert!(compared(counted, &[test(8, 8, 5), test(8, 8, 0)], Ne));
    assert!(!compared(counted, &[test(8, 8, 5), test(8, 8, -1)], Ne), "it would not end");
    assert!(!compared(counted, &[test(8, 8, 5)], Sle));
    assert!(compared("for (int j = 0; j < n; j += 2) a[j] = l;", &[test(8, 8, 5)], Sle));
    assert!(!compared("for (int j = 0; j < n; j += 2) a[j] = l;", &[test(8, 8, 5)], Ne), "5 is odd");
}

#[test]
fn sizes_and_ids() {
    assert!(forced("if (l < 8) a[i] = 1;", &[test(64, 8, 0)], 1));
    assert!(!forced("if (l < 8) a[i] = 1;", &[test(64, 8, 0), test(64, 16, 0)], 1));
    assert!(forced("if (get_num_groups(0) == 4) a[i] = 1;", &[test(64, 16, 0)], 1));
    assert!(forced("if (get_local_size(0) > get_local_size(1)) a[i] = 1;", &[test(64, 16, 0)], 1));
    assert!(!forced("if (i < 63) a[i] = 1;", &[test(64, 16, 0)], 1));
    // Without a size of groups, a device chooses one.
    let mut any = test(64, 16, 0);
    any.launch.range.local = None;
    assert!(!forced("if (get_local_size(0) == 16) a[i] = 1;", std::slice::from_ref(&any), 1));
    assert!(forced("if (get_global_size(0) == 64) a[i] = 1;", &[any], 1));
    // The last group is smaller.
    assert!(!forced("if (get_local_size(0) == 16) a[i] = 1;", &[test(60, 16, 0)], 1));
    assert!(forced("if (get_local_size(0) >= 12) a[i] = 1;", &[test(60, 16, 0)], 1));
}

#[test]
fn what_buffers_contain_is_not_used() {
    assert!(!forced("if (a[i] > 10) a[i] = 1;", &[test(64, 8, 0)], 0));
    assert!(!forced("if (a[n] == 0) a[i] = 1;", &[test(64, 8, 0)], 1));
}

#[test]
fn many_launches_share_their_facts() {
    let up_to = |most: i32| (64..=most).map(|n| test(64, 8, n)).collect::<Vec<_>>();
    let mut tests = up_to(100);
    assert_eq!(LaunchFacts::of(&tests).len(), 1);
    assert!(compared("if (i < n) a[i] = 1;", &tests, Predicate::Ule));
    tests.push(test(64, 8, 3));
    assert!(!compared("if (i < n) a[i] = 1;", &tests, Predicate::Ule));
    assert_eq!(LaunchFacts::of(&up_to(70)).len(), 7);
}

#[test]
fn launches_that_differ_in_idle_work_items() {
    let groups = |by| Edit::Launch(LaunchChange::Groups { dimension: 0, by });
    let size = |by| Edit::Launch(LaunchChange::GroupSize { dimension: 0, by });
    let judge = |body: &str, n: i32| {
        judged(body, &[test(64, 16, n)], false, |_, _| {
            vec![groups(1), groups(-1), size(1), size(-1), Edit::Launch(LaunchChange::Swap)]
        })
    };
    assert_eq!(judge("if (i < n) a[i] = 1;", 64), [true, false, true, false, true]);
    assert_eq!(judge("if (i < n) a[i] = 1;", 48), [true, true, true, true, true]);
    assert_eq!(judge("if (i < n) a[i] = 1;", 65), [false, false, false, false, true]);
    assert_eq!(judge("a[i] = 1;", 0), [false, false, false, false, true]);
    // What depends on the group changes with its size, what depends on the launch with that of the launch.
    assert_eq!(judge("if (i < n) a[i] = l;", 48), [true, true, false, false, false]);
    assert_eq!(judge("if (i < n) a[i] = get_global_size(0);", 48), [false; 5]);
    assert_eq!(judge("barrier(CLK_LOCAL_MEM_FENCE); if (i < n) a[i] = 1;", 48), [false; 5]);
    // A read may be out of bounds.
    assert!(!judge("int v = a[i]; if (i < n) a[i] = v;", 48)[0]);
}

#[test]
fn what_was_seen_of_a_kernel_without_data_is_all_there_is() {
    let seen = |body: &str, ran| {
        judged(body, &[test(64, 8, 7)], ran, |bitcode, sites| {
            vec![force(places(bitcode, sites, LLVMOpcode::LLVMMul)[0].0, 0)]
        })[0]
    };
    let computed = "a[i] = n * 7;";
    assert!(seen(computed, true));
    assert!(!seen(computed, false), "it was never run");
    assert!(!seen("a[i] = a[i] & (n * 7);", true), "other data may tell");
    assert!(!seen("a[i] = atomic_add(a, n * 7) & 1;", true));
}

#[test]
fn what_was_seen_of_a_variable_without_a_value_is_chance() {
    let by = |by: Expr| {
        judged("int v; v = n * 7; a[i] = v;", &[test(64, 8, 7)], true, |bitcode, sites| {
            // Before it, `a`, `n`, `i` and `l` are stored.
            let (store, _) = places(bitcode, sites, LLVMOpcode::LLVMStore)[4];
            vec![Edit::Value { at: vec![Slot::Operand(store, 0)], by: by.clone() }]
        })[0]
    };
    let or = |left| Expr::Binary(Binary::Or, Box::new(left), Box::new(Expr::Original));
    assert!(by(or(Expr::Integer(8))), "all of it was seen");
    assert!(!by(or(Expr::Current)));
}

#[test]
fn rotations_are_by_the_amount_modulo_the_width() {
    let text = "__kernel void k(__global uint *a, uint n) { a[0] = rotate(a[1], n - 32); }";
    let (bitcode, sites) = canonical_form(text);
    let subtraction = places(&bitcode, &sites, LLVMOpcode::LLVMSub)[0].0;
    let by = |amount| Edit::Value { at: vec![Slot::Operand(subtraction, 1)], by: Expr::Integer(amount) };
    let edits = [by(0), by(64), by(31)];
    let mutants: Vec<&Edit> = edits.iter().collect();
    let found = classify(&bitcode, &sites, "k", &mutants, 1, None).unwrap();
    let is_equivalent: Vec<bool> = found.iter().map(|v| matches!(v, Verdict::Equivalent { .. })).collect();
    assert_eq!(is_equivalent, [true, true, false]);
}
