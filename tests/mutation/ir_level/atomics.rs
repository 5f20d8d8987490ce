//! Checks the operators of synchronisation on atomic instructions, which clang makes of its own builtins: what they
//! find, and that the simulator and devices agree on them.

use std::collections::BTreeMap;

use super::families::{found, mutants, replaces};
use crate::common::TestResult;
use crate::mutate::bench::{self, Bench, text};

#[test]
fn atomics_become_plain() {
    let add = "atomicrmw add _, _ syncscope(\"device\") monotonic";
    replaces("__atomic_fetch_add(o, a, __ATOMIC_RELAXED);", "AR", add, &["plain: load, add, store"]);
    let swap = "cmpxchg _, _, _ syncscope(\"device\") acq_rel acquire";
    let of_swap = "__atomic_compare_exchange_n(o, &a, b, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);";
    replaces(of_swap, "AR", swap, &["plain: load, icmp eq, store"]);
    let (plain, left) = found("o[1] = __atomic_load_n(o, __ATOMIC_ACQUIRE);", "AR");
    assert!(plain.is_empty() && left.len() == 1, "{plain:?} {left:?}");
}

#[test]
fn atomics_do_the_opposite() {
    for (builtin, own, other) in
        [("add", "add", "sub"), ("and", "and", "or"), ("xor", "xor", "or"), ("max", "max", "min")]
    {
        let body = format!("__atomic_fetch_{builtin}(o, a, __ATOMIC_RELAXED);");
        let line = |word: &str| format!("atomicrmw {word} _, _ syncscope(\"device\") monotonic");
        replaces(&body, "AOP", &line(own), &[&line(other)]);
    }
    let (found, left) = found("__atomic_compare_exchange_n(o, &a, b, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);", "AOP");
    assert!(found.is_empty() && left.len() == 1, "{found:?} {left:?}");
}

#[test]
fn orders_weaken_and_scopes_narrow() {
    let release = "store atomic _, _ syncscope(\"device\") release";
    let weaker =
        ["store atomic _, _ syncscope(\"device\") monotonic", "store atomic _, _ syncscope(\"workgroup\") release"];
    replaces("__atomic_store_n(o, 1, __ATOMIC_RELEASE);", "IMO", release, &weaker);
    let fence = ["fence syncscope(\"device\") acq_rel", "fence acquire", "fence release"];
    replaces("__atomic_thread_fence(__ATOMIC_ACQ_REL);", "IMO", "fence acq_rel", &fence);
    assert_eq!(mutants("__atomic_thread_fence(__ATOMIC_ACQ_REL);", "FR"), ["fence acq_rel > "]);
    // An exchange that fails is ordered no stronger than one that succeeds.
    let swap = |orders: &str| format!("cmpxchg _, _, _ syncscope(\"device\") {orders}");
    let narrow = "cmpxchg _, _, _ syncscope(\"workgroup\") acq_rel acquire";
    let weaker = ["acquire acquire", "release monotonic", "monotonic monotonic", "acq_rel monotonic"].map(swap);
    let weaker: Vec<&str> = weaker.iter().map(String::as_str).chain([narrow]).collect();
    let body = "__atomic_compare_exchange_n(o, &a, b, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);";
    replaces(body, "IMO", &swap("acq_rel acquire"), &weaker);
}

/// What becomes of mutants of `testdata/atomic_instructions`, by operator, line and replacement.
const EXPECTED: [(&str, u64, &str, &str); 15] = [
    ("FR", 14, "", "killed"),
    ("IMO", 14, "fence syncscope(\"device\") release", "survived"),
    ("IMO", 15, "syncscope(\"workgroup\") monotonic", "killed"),
    ("IMO", 17, "syncscope(\"device\") monotonic", "killed"),
    ("AR", 20, "plain: load, add, store", "killed"),
    ("AOP", 20, "atomicrmw sub", "killed"),
    ("ICA", 20, "0", "killed"),
    ("IMO", 20, "syncscope(\"device\") release", "survived"),
    ("IMO", 20, "syncscope(\"workgroup\") acq_rel", "killed"),
    ("AOP", 21, "atomicrmw or", "survived"),
    ("AR", 23, "plain: load, icmp eq, store", "killed"),
    ("IMO", 23, "syncscope(\"device\") monotonic monotonic", "survived"),
    ("IMO", 23, "syncscope(\"workgroup\") acq_rel acquire", "killed"),
    ("AR", 26, "plain: load, max, store", "killed"),
    ("AOP", 26, "atomicrmw min", "killed"),
];

#[test]
fn all_devices_judge_atomic_instructions_alike() -> TestResult {
    let mut before: Option<BTreeMap<String, String>> = None;
    for device in ["sim", "opencl"] {
        for level in ["ir:raw", "ir:O2"] {
            let bench = Bench::new()?;
            let options = ["--level", level, "--operators", "FR,AR,AOP,IMO,ICA", "--device", device];
            let result = bench.mutate(&bench::suite("atomic_instructions"), &options)?;
            let of = |m: &serde_json::Value| (text(m, "id").to_owned(), text(m, "status").to_owned());
            let statuses: BTreeMap<String, String> = bench::mutants(&result).iter().map(of).collect();
            if level == "ir:O2" {
                assert!(statuses.values().all(|status| status != "compile-error"), "{device}: {statuses:?}");
                continue;
            }
            for (operator, line, replacement, status) in EXPECTED {
                let is_it = |m: &&serde_json::Value| {
                    text(m, "operator") == operator
                        && m["location"]["start"]["line"] == line
                        && (text(m, "replacement") == replacement
                            || !replacement.is_empty() && text(m, "replacement").contains(replacement))
                };
                let found = bench::mutants(&result).iter().find(is_it);
                let found = found.unwrap_or_else(|| panic!("no {operator} in line {line}: {replacement}"));
                assert_eq!(
                    text(found, "status"),
                    status,
                    "{device}: {operator} in line {line}: {replacement}: {found}"
                );
            }
            if let Some(before) = &before {
                assert_eq!(before, &statuses, "{device}");
            }
            before = Some(statuses);
        }
    }
    Ok(())
}

/// The first work-item publishes a number for the others of its group.
const WITHIN_A_GROUP: &str = "__kernel void k(__global int *data, __global atomic_int *flag, __global int *out) {
    int i = get_global_id(0), seen = 7;
    if (i == 0) {
        data[0] = 7;
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_work_group);
    } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_work_group) == 1) {
        seen = data[0];
    }
    out[i] = seen;
}
";

const ONE_GROUP: &str = "kernel = \"k.cl\"
options = [\"-cl-std=CL2.0\"]
[[test]]
name = \"one group\"
global = [4]
local = [4]
args = { data = { fill = 0, len = 1 }, flag = { fill = 0, len = 1 }, out = { fill = 0, len = 4 } }
";

#[test]
fn weaker_orders_within_a_group_are_races() -> TestResult {
    let bench = Bench::of(WITHIN_A_GROUP, ONE_GROUP)?;
    for device in ["sim", "opencl"] {
        let result = bench.mutate("suite.toml", &["--level", "ir:raw", "--operators", "IMO", "--device", device])?;
        let found = bench::mutants(&result);
        assert_eq!(found.len(), 2, "{found:?}");
        for mutant in found {
            assert_eq!(text(mutant, "status"), "killed", "{mutant}");
            assert!(text(mutant, "reason").contains("a data race on `data`"), "{mutant}");
        }
    }
    Ok(())
}
