//! Checks which launches with values of scalars that make accesses conflict are proposed, and which scalars are
//! left alone.

use kassay_judge::generate::launches::{self, FirstRound, Request};
use kassay_judge::generate::roles;

use crate::support::with_source;

fn round(body: &str, params: &str, over: bool) -> FirstRound {
    let source = format!(
        "typedef struct {{ int slot; int mode; }} choice;\n\
         kernel void k(global int *p, local int *t, {params}) {{\n\
             int i = get_global_id(0);\n    int l = get_local_id(0);\n    {body}\n}}\n"
    );
    with_source(&source, |under_test| {
        let model = roles::infer(under_test).unwrap();
        launches::first_round(&model, &Request::default(), || false, || over).unwrap()
    })
}

fn names(body: &str, params: &str) -> Vec<String> {
    round(body, params, false).suspects.into_iter().map(|s| s.launch.name).collect()
}

#[test]
fn values_are_solved_for_in_addresses_and_guards() {
    let expected = [
        ("if (i == 0) p[3] = 1; if (i == 7) p[x] = 2;", "const int x", "several groups, x = 3"),
        ("if (i == 0) t[1] = 1; if (l == 1) t[x] = 2;", "const ulong x", "several groups, x = 1"),
        ("if (i == 0) p[0] = 1; if (l == 1 && x == 77) p[0] = 2;", "const int x", "several groups, x = 77"),
        (
            "if (i == 0) p[3] = 1; if (i == 9 && q.mode == -5) p[q.slot] = 7;",
            "const choice q",
            "several groups, q.slot = 3, q.mode = -5",
        ),
        // The second launch size has a work-item 100.
        ("if (i == 0) p[50] = 1; if (i == 100) p[x] = 2;", "const int x", "large groups, x = 50"),
        ("p[i] = 1; if (i == 20 && x > 22) p[x] = 2;", "const uchar x", "several groups, x = 23"),
    ];
    for (body, params, name) in expected {
        let names = names(body, params);
        assert!(names.iter().any(|n| n == name), "{body}: {names:?}");
    }
}

#[test]
fn lengths_rows_divisors_and_the_like_are_left_alone() {
    let left_alone = [
        ("a length", "if (i < n) p[i] = 1; if (i == 0) p[n] = 2;", "const int n"),
        ("a length, whose last element is found by its distance", "p[i] = 1; if (i == n - 1) p[n] = 2;", "const int n"),
        ("a length that is counted down from", "p[i] = 1; if (i == 0) p[n - 1] = 2;", "const int n"),
        ("the length of a row", "p[i] = 1; if (i == 0) p[n * 3 + n * l] = 2;", "const int n"),
        ("a count", "int s = 0; for (int k = 0; k < n; k++) s += k; p[i] = s; if (i == 0) p[n] = 2;", "const int n"),
        ("a divisor", "p[i / n + 64] = 1; if (i == 0) p[n] = 2;", "const int n"),
        ("where a part begins", "p[n + i] = 1; if (i == 0) p[m] = 2;", "const int n, const int m"),
        ("two places", "if (i == 0) p[n] = 1; if (i == 1) p[m] = 2;", "const int n, const int m"),
        ("steps of work-items", "p[i * n] = 1;", "const int n"),
        ("none at all", "p[i] = 1; if (i == 0) t[0] = 2;", "const float n"),
        ("what only reads", "p[i] = t[n] + t[0];", "const int n"),
        (
            "memory of two groups",
            "int g = get_group_id(0); if (g == 0 && l == 0) t[1] = 1; if (g == 1 && l == 1) t[n] = 2;",
            "const int n",
        ),
        (
            "what the usual launches show",
            "if (n < 5 && l == 0) t[0] = 7; barrier(CLK_LOCAL_MEM_FENCE); p[i] = t[0];",
            "const int n",
        ),
        ("one work-item", "if (i == 3) { p[n] = 1; p[5] = 2; }", "const int n"),
    ];
    for (what, body, params) in left_alone {
        assert_eq!(names(body, params), [""; 0], "{what}");
    }
}

#[test]
fn nothing_is_asked_after_the_deadline() {
    let asked = round("if (i == 0) p[3] = 1; if (i == 7) p[x] = 2;", "const int x", true);
    assert!(asked.suspects.is_empty() && asked.cut_short);
    let nothing_to_ask = round("p[i] = x;", "const int x", true);
    assert!(!nothing_to_ask.cut_short);
    assert_eq!(nothing_to_ask.launches, round("p[i] = x;", "const int x", false).launches);
}
