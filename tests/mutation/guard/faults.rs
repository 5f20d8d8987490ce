//! Checks that each kind of fault is reported, and that nothing else changes.

use kassay_ir::instrument::layout::FaultKind;

use super::support::*;

/// The contents of memory that no work-item may touch.
const CANARY: i32 = 0x5a5a_5a5a;

#[track_caller]
fn is_fault(seen: &GuardedRun, kind: FaultKind, line: u32) {
    assert_eq!(seen.fault.map(|(k, _)| k), Some(kind), "{seen:?}");
    if line > 0 {
        assert!(seen.says.contains(&format!("k.cl:{line}:")), "{}", seen.says);
    }
}

#[test]
fn an_endless_loop_runs_out_of_fuel() -> TestResult {
    let mut device = Device::start()?;
    for body in
        ["while (1) a[0]++;", "for (;;) { if (a[0] < 0) continue; a[0] |= 1; }", "do a[0] ^= 1; while (a[1] == 9);"]
    {
        let source = format!("kernel void k(global volatile int *a) {{ {body} a[1] = 7; }}");
        let seen = device.run(&source, range(8, 4), vec![ints(&[0, 9])], 1000)?;
        is_fault(&seen, FaultKind::Fuel, 0);
        assert!(seen.item < 8);
        assert_eq!(seen.used, 1000, "{body}");
    }
    Ok(())
}

#[test]
fn only_the_item_without_fuel_leaves() -> TestResult {
    let mut device = Device::start()?;
    let source = "kernel void k(global int *a) { int i = get_global_id(0), n = 0; \
                  while (i == 5 || n < i) n++; a[i] = n; }";
    let seen = device.run(source, range(8, 8), vec![ints(&[CANARY; 8])], 1000)?;
    is_fault(&seen, FaultKind::Fuel, 0);
    assert_eq!(seen.item, 5);
    let out = ints_of(&seen, 0)?;
    assert_eq!((&out[..5], &out[6..]), (&[0, 1, 2, 3, 4][..], &[6, 7][..]));
    Ok(())
}

#[test]
fn all_items_leave_endless_loops_with_barriers_together() -> TestResult {
    let mut device = Device::start()?;
    for body in [
        "while (n != -5) { l[i] = n & 7; barrier(CLK_LOCAL_MEM_FENCE); n = l[(i + 1) % 16]; barrier(CLK_GLOBAL_MEM_FENCE); }",
        // Only one work-item loops endlessly.
        "while (a[0] != 5) { barrier(CLK_LOCAL_MEM_FENCE); if (i == 3) while (n >= 0) n &= 0xff; l[i] = n; }",
        "for (;;) { for (int j = 0; j < 10; j++) { barrier(CLK_LOCAL_MEM_FENCE); n ^= l[j]; } if (n == 77) break; n &= 3; } l[i] = n;",
        // The barrier is never reached.
        "while (a[0] != 5) { if (a[0] == 4) barrier(CLK_LOCAL_MEM_FENCE); n++; }",
    ] {
        let source = format!(
            "kernel void k(global volatile int *a) {{ local int l[16]; int i = get_local_id(0), n = i; l[i] = 0; \
             barrier(CLK_LOCAL_MEM_FENCE); {body} barrier(CLK_LOCAL_MEM_FENCE); a[1 + get_global_id(0)] = 1; }}"
        );
        let seen = device.run(&source, range(64, 16), vec![ints(&[0; 65])], 500).map_err(|e| format!("{body}: {e}"))?;
        is_fault(&seen, FaultKind::Fuel, 0);
        assert_eq!(ints_of(&seen, 0)?[1..], [1; 64], "{body}");
    }
    Ok(())
}

#[test]
fn a_fault_does_not_keep_others_waiting() -> TestResult {
    let mut device = Device::start()?;
    let source = "kernel void k(global int *a, int far) { int i = get_local_id(0), n = 0; local int l[8]; \n\
                  for (int j = 0; j < 100; j++) { l[i] = j; barrier(CLK_LOCAL_MEM_FENCE); n += l[7 - i]; \n\
                  if (j == 50 && i == 2) a[far] = 1; \n barrier(CLK_LOCAL_MEM_FENCE); } a[i] = n; }";
    let good = device.run(source, range(8, 8), vec![ints(&[0; 8]), int(7)], FUEL)?;
    assert_eq!(good.fault, None);
    assert_eq!(ints_of(&good, 0)?, [4950; 8]);
    assert_eq!(good.used, 101);
    for far in [8, -1, 1 << 30] {
        let seen = device.run(source, range(8, 8), vec![ints(&[0; 8]), int(far)], FUEL)?;
        is_fault(&seen, FaultKind::OutOfBounds, 3);
        assert_eq!(seen.item, 2);
    }
    Ok(())
}

/// Buffers `a` and `c` are near `b` in memory; only `b` is accessed.
#[test]
fn global_accesses_out_of_bounds_are_skipped() -> TestResult {
    let mut device = Device::start()?;
    let head = "kernel void k(global int *a, global int *b, global int *c, int i, global long *r) {\n";
    for at in [4, 5, 1000, -1, -2, -1000, i32::MAX, i32::MIN] {
        for body in [
            "b[i] = 1;",
            "r[0] = b[i];",
            "r[0] = b[(long)i];",
            "b[(uint)i] = 1;",
            "atomic_inc(&b[i]);",
            "b[i] += 3;",
            "global int *p = b + i; *p = 4;",
            "global char *p = (global char *)b; p[i < 0 ? i : 4L * i] = 1;",
        ] {
            let args = vec![ints(&[CANARY; 16]), ints(&[CANARY; 4]), ints(&[CANARY; 16]), int(at), ints(&[0, 0])];
            let seen = device
                .run(&format!("{head}{body}\n}}"), range(1, 1), args, FUEL)
                .map_err(|e| format!("{body} {at}: {e}"))?;
            is_fault(&seen, FaultKind::OutOfBounds, 2);
            for buffer in 0..3 {
                assert!(ints_of(&seen, buffer)?.iter().all(|v| *v == CANARY), "{body} {at}: {seen:?}");
            }
            assert_eq!(ints_of(&seen, 4)?, [0, 0]);
        }
    }
    Ok(())
}

#[test]
fn vectors_reach_as_far_as_their_last_lane() -> TestResult {
    let mut device = Device::start()?;
    let head = "kernel void k(global int *a, int i) {\n";
    for (body, good, bad) in [
        ("((global int4 *)a)[i] = (int4)(1);", vec![0, 1], vec![2, -1]),
        ("vstore4((int4)(1), i, a);", vec![0, 1], vec![2, -1]),
        ("vstore4((int4)(1), 0, a + i);", vec![0, 4], vec![5, 8, -1]),
        ("vstore3((int3)(1), i, a);", vec![0, 1], vec![2, -1]),
        ("a[0] = vload4(i, a).w;", vec![0, 1], vec![2, -1]),
        ("a[0] = vload2(0, a + i).y;", vec![0, 6], vec![7, -1]),
        ("vstore_half4((float4)(1), i, (global half *)a);", vec![3], vec![4, -1]),
        ("((global uchar16 *)a)[i] = (uchar16)(1);", vec![0, 1], vec![2, -1]),
        ("*(global int4 *)(a + i) = (int4)(1);", vec![0, 4], vec![5, -3]),
        ("float f = fract((float)i, (global float *)a + i); a[0] = f;", vec![7], vec![8, -1]),
        ("int e; a[0] = frexp((float)i, &e) + frexp((float)i, a + i);", vec![7], vec![8, -1]),
    ] {
        let source = format!("{head}{body}\n}}");
        for at in good {
            let seen = device
                .run(&source, range(1, 1), vec![ints(&[0; 8]), int(at)], FUEL)
                .map_err(|e| format!("{body}: {e}"))?;
            assert_eq!(seen.fault, None, "{body} {at}");
        }
        for at in bad {
            let seen = device.run(&source, range(1, 1), vec![ints(&[0; 8]), int(at)], FUEL)?;
            is_fault(&seen, FaultKind::OutOfBounds, 2);
        }
    }
    Ok(())
}

#[test]
fn local_private_and_constant_memory_has_bounds() -> TestResult {
    let mut device = Device::start()?;
    for (body, good, bad) in [
        ("local int v[8]; v[i] = 1; a[0] = v[i];", 7, 8),
        ("local int v[4][8]; v[i][0] = 1; a[0] = v[i][0];", 3, 4),
        ("l[i] = 1; a[0] = l[i];", 5, 6),
        ("int v[8]; for (int j = 0; j < 8; j++) v[j] = a[j]; v[i] = 4; a[0] = v[i] + v[i ^ 1];", 7, 8),
        ("a[0] = table[i];", 2, 3),
        ("struct s { int n; int v[3]; } s = { 0, { a[0], 2, 3 } }; s.v[i] = 1; a[0] = s.v[i & 1] + s.n;", 2, 3),
        ("a[0] = p.v[i];", 1, 2),
        ("a[0] = c[i];", 4, 5),
    ] {
        let source = format!(
            "constant int table[3] = {{ 1, 2, 3 }}; struct two {{ int n; int v[2]; }};\n\
             kernel void k(global int *a, local int *l, int i, struct two p, constant int *c) {{\n{body}\n}}"
        );
        let args = |at: i32| {
            let by_value = kassay_suite::launch::ArgValue::Value(vec![1; 12]);
            vec![ints(&[3; 8]), kassay_suite::launch::ArgValue::Local(24), int(at), by_value, ints(&[1; 5])]
        };
        let seen = device.run(&source, range(2, 2), args(good), FUEL).map_err(|e| format!("{body}: {e}"))?;
        assert_eq!(seen.fault, None, "{body}");
        for at in [bad, bad + 1000, -2, i32::MIN] {
            let seen = device.run(&source, range(2, 2), args(at), FUEL)?;
            is_fault(&seen, FaultKind::OutOfBounds, 3);
        }
    }
    Ok(())
}

#[test]
fn pointers_of_several_origins_are_looked_up() -> TestResult {
    let mut device = Device::start()?;
    let chosen = "kernel void k(global int *a, global int *b, int which, int i) {\n\
                  global int *p = which ? a : b; p[i] = 1;\n}";
    let stepped = "kernel void k(global int *a, global int *b, int which, int i) {\n\
                   global int *p = which ? a : b; for (int j = 0; j <= i; j++) *p++ = 1;\n}";
    let kept = "kernel void k(global int *a, global int *b, int which, int i) {\n\
                global int *p[2] = { b, a }; p[which][i] = 1;\n}";
    for source in [chosen, stepped, kept] {
        for (which, size) in [(0, 8), (1, 4)] {
            let args = |at: i32| vec![ints(&[0; 4]), ints(&[0; 8]), int(which), int(at)];
            let seen = device.run(source, range(1, 1), args(size - 1), FUEL)?;
            assert_eq!(seen.fault, None, "{source}");
            assert_eq!(ints_of(&seen, 1 - which as u32)?[size as usize - 1], 1);
            let seen = device.run(source, range(1, 1), args(100_000), FUEL)?;
            is_fault(&seen, FaultKind::OutOfBounds, 2);
        }
    }
    Ok(())
}

#[test]
fn copies_are_checked_completely() -> TestResult {
    let mut device = Device::start()?;
    let source = "kernel void k(global int *a, global int *r, uint n, local int *l) {\n\
                  for (int j = 0; j < 8; j++) l[j] = 5; barrier(CLK_LOCAL_MEM_FENCE);\n\
                  event_t e = async_work_group_copy(l, a, (size_t)n, 0);\n\
                  wait_group_events(1, &e); r[get_local_id(0)] = l[7]; }";
    let local = || kassay_suite::launch::ArgValue::Local(32);
    for (n, fault) in [(8, false), (9, true), (-1, true), (0, false)] {
        let seen = device.run(source, range(2, 2), vec![ints(&[1; 8]), ints(&[0; 2]), int(n), local()], FUEL)?;
        assert_eq!(seen.fault.is_some(), fault, "{n}");
        if fault {
            is_fault(&seen, FaultKind::OutOfBounds, 3);
        } else {
            assert_eq!(ints_of(&seen, 1)?, if n == 0 { [5; 2] } else { [1; 2] });
        }
    }
    Ok(())
}

#[test]
fn divisions_that_are_not_defined_are_faults() -> TestResult {
    let mut device = Device::start()?;
    for (body, good, bad) in [
        ("a[0] = x / y;", (7, 2), vec![(7, 0), (i32::MIN, -1)]),
        ("a[0] = x % y;", (7, -1), vec![(7, 0), (i32::MIN, -1)]),
        ("a[0] = (uint)x / (uint)y;", (i32::MIN, -1), vec![(7, 0)]),
        ("a[0] = (uint)x % (uint)y;", (i32::MIN, -1), vec![(7, 0)]),
        ("a[0] = ((int4)(x) / (int4)(1, 1, y, 1)).z;", (7, 2), vec![(7, 0), (i32::MIN, -1)]),
        ("a[0] = (char)x / (char)y;", (-128, -1), vec![(7, 0), (7, 256)]),
        ("a[0] = (long)x / y;", (i32::MIN, -1), vec![(7, 0)]),
        ("a[0] = ((uchar8)(x) % (uchar8)(y)).s5;", (7, 1), vec![(7, 0)]),
        ("a[0] = x / -1 + y;", (7, 2), vec![(i32::MIN, 1)]),
    ] {
        let source = format!("kernel void k(global int *a, int x, int y) {{\n{body}\n}}");
        let args = |(x, y): (i32, i32)| vec![ints(&[0]), int(x), int(y)];
        let seen = device.run(&source, range(1, 1), args(good), FUEL).map_err(|e| format!("{body}: {e}"))?;
        assert_eq!(seen.fault, None, "{body}");
        for operands in bad {
            let seen = device.run(&source, range(1, 1), args(operands), FUEL)?;
            is_fault(&seen, FaultKind::Division, 2);
        }
    }
    Ok(())
}

#[test]
fn a_trap_is_a_fault_after_which_the_work_item_goes_on() -> TestResult {
    let mut device = Device::start()?;
    let source = "kernel void k(global int *a) {\n int i = get_global_id(0);\n if (a[i] < 0)\n  __builtin_trap();\n a[i] += 2;\n}";
    let seen = device.run(source, range(4, 4), vec![ints(&[1, -3, 5, 7])], 1000)?;
    is_fault(&seen, FaultKind::Trap, 4);
    assert_eq!(seen.item, 1);
    assert_eq!(ints_of(&seen, 0)?, [3, -1, 7, 9]);
    Ok(())
}
