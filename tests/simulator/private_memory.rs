//! Checks that accesses to private memory stay in the variable that the pointer comes from, also where several are
//! possible, and where the pointer comes from memory or from a number.

use kassay_run::exec::simulator::observation::{FaultKind, SimulatorFault};

use super::access_weave::support::{Hooked, ints, output, value};

/// Runs the kernel, whose arguments are an output of two numbers, and two numbers; returns the output, and the kinds,
/// names and lines of its faults.
fn run(source: &str, a: i32, b: i32) -> (Vec<i32>, Vec<(FaultKind, String, u32)>) {
    let mut all = [false, true].map(|races| {
        let hooked = Hooked::new(source, "CL2.0", races);
        let seen = hooked.run([3, 3], &[ints([0, 0]), value(a), value(b)]);
        assert!(seen.completed);
        let apart = seen.faults.iter().filter(|f| f.kind != FaultKind::BeyondInner);
        let fault = |f: &SimulatorFault| (f.kind, name(&hooked, f), hooked.line(f, "k"));
        (output(&seen, 0), apart.map(fault).collect::<Vec<_>>())
    });
    assert_eq!(all[0], all[1]);
    std::mem::take(&mut all[0])
}

fn name(hooked: &Hooked, fault: &SimulatorFault) -> String {
    fault.object.map_or(String::new(), |o| hooked.table.objects[o as usize].name.clone())
}

#[test]
fn an_overrun_of_either_variable_is_found() {
    let source = "kernel void k(global int *out, int n, int at) {
        int a = 1, b = 2;
        int *d = n > 10 ? &a : &b;
        d[at] = 200;
        out[0] = a; out[1] = b;
    }";
    assert_eq!(run(source, 11, 0), (vec![200, 2], vec![]));
    assert_eq!(run(source, 0, 0), (vec![1, 200], vec![]));
    for at in [1, -1, 2, 100, i32::MAX, i32::MIN] {
        for (n, name) in [(11, "a"), (0, "b")] {
            assert_eq!(run(source, n, at), (vec![1, 2], vec![(FaultKind::OutOfBounds, name.to_owned(), 4)]), "{at}");
        }
    }
}

#[test]
fn pointers_in_structs_and_arrays_keep_their_variables() {
    let source = "struct two { int *x, *y; };
    kernel void k(global int *out, int n, int at) {
        int a[2] = {1, 2}, b[3] = {3, 4, 5};
        struct two s = {a, b}, t = s;
        int *all[2] = {t.x, t.y};
        out[0] = all[n & 1][at];
        out[1] = t.y[2];
    }";
    assert_eq!(run(source, 0, 1), (vec![2, 5], vec![]));
    assert_eq!(run(source, 1, 2), (vec![5, 5], vec![]));
    assert_eq!(run(source, 0, 2), (vec![0, 5], vec![(FaultKind::OutOfBounds, "a".to_owned(), 6)]));
    assert_eq!(run(source, 1, -1), (vec![0, 5], vec![(FaultKind::OutOfBounds, "b".to_owned(), 6)]));
}

#[test]
fn pointers_made_of_numbers_find_their_variables() {
    let source = "kernel void k(global int *out, int n, int at) {
        int a[2] = {1, 2};
        int b[2] = {3, 4};
        ulong both = (ulong)a ^ (ulong)b;
        int *p = (int *)(both ^ (ulong)(n ? a : b));
        p[at] += 10;
        out[0] = a[1]; out[1] = b[1];
    }";
    assert_eq!(run(source, 0, 1), (vec![12, 4], vec![]));
    assert_eq!(run(source, 1, 1), (vec![2, 14], vec![]));
    let (values, faults) = run(source, 1, 2);
    assert_eq!((values, faults.len(), faults[0].1.as_str()), (vec![2, 4], 2, "b"));
}

/// A union may hold a number in the place of the pointer that was put there.
#[test]
fn a_number_in_the_place_of_a_pointer_is_not_that_pointer() {
    let source = "union either { int *p; ulong n; };
    kernel void k(global int *out, int n, int at) {
        int a = 1, b = 2;
        union either u;
        u.p = &a;
        if (n) u.n = (ulong)&b;
        *(u.p + at) = 5;
        out[0] = a; out[1] = b;
    }";
    assert_eq!(run(source, 0, 0), (vec![5, 2], vec![]));
    assert_eq!(run(source, 1, 0), (vec![1, 5], vec![]));
    assert_eq!(run(source, 1, 1), (vec![1, 2], vec![(FaultKind::OutOfBounds, "b".to_owned(), 7)]));
}

/// Work-items that wait for each other have memory of their own.
#[test]
fn every_work_item_has_its_own() {
    let source = "kernel void k(global int *out, int n, int at) {
        int a[40], b[50];
        int *p = n ? a : b;
        int id = get_local_id(0);
        for (int i = 0; i < 40; i++) p[i] = id * 100 + i;
        barrier(CLK_LOCAL_MEM_FENCE);
        int wrong = 0;
        for (int i = 0; i < 40; i++) wrong += p[i] != id * 100 + i;
        if (wrong) out[0] = wrong;
        if (id == 2) out[1] = p[at];
    }";
    assert_eq!(run(source, 0, 7), (vec![0, 207], vec![]));
    assert_eq!(run(source, 1, 39), (vec![0, 239], vec![]));
}

/// Variables of which each access is known to be to that one stay where they were.
#[test]
fn ordinary_variables_are_not_placed() {
    let source = "void fill(float *row, int n) { for (int i = 0; i < n; i++) row[i] = i; }
    kernel void k(global int *out, int n, int at) {
        float row[8];
        fill(row, 8);
        int e;
        float m = frexp(row[n & 7], &e);
        float4 v = vload4(0, row);
        out[0] = e + (int)v.x + (int)m;
    }";
    let table = Hooked::new(source, "CL2.0", false).table;
    assert!(table.placed.is_empty() && !table.allocates, "{:?}", table.placed);
}
