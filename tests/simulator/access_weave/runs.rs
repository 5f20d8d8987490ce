//! Checks what the simulator observes of faulty kernels, with and without race detection: the skipped access, its
//! place, and that the rest of the kernel runs.

use kassay_run::exec::simulator::observation::{FaultKind, Simulation};
use kassay_suite::launch::ArgValue;

use super::support::{Hooked, buffer, ints, output, value};

/// Runs the kernel without and with race detection, and calls `check` for each run.
fn each(source: &str, cl_std: &str, items: [u64; 2], args: &[ArgValue], check: impl Fn(&Hooked, &Simulation)) {
    for races in [false, true] {
        let hooked = Hooked::new(source, cl_std, races);
        check(&hooked, &hooked.run(items, args));
    }
}

/// Returns the kind, the object's name, the offset and the place of the only fault. An index beyond an inner array does
/// not count if its access is also out of bounds.
fn only_fault(hooked: &Hooked, seen: &Simulation) -> (FaultKind, String, i64, String) {
    let out = |site: u32| seen.faults.iter().any(|f| f.kind == FaultKind::OutOfBounds && f.site == site);
    let apart: Vec<_> = seen.faults.iter().filter(|f| f.kind != FaultKind::BeyondInner || !out(f.site)).collect();
    let [fault] = apart[..] else { panic!("{:?}", seen.faults) };
    let name = fault.object.map_or(String::new(), |o| hooked.table.objects[o as usize].name.clone());
    let path = match fault.kind {
        FaultKind::Division => hooked.table.divisions[fault.site as usize].path,
        FaultKind::NonTermination => hooked.table.loops[fault.site as usize].path,
        _ => hooked.table.accesses[fault.site as usize].path,
    };
    let place = &hooked.table.paths[path as usize].frames[0];
    (fault.kind, name, fault.offset, format!("{}:{}", place.line, place.column))
}

const READS: &str = "kernel void k(global int *out, global const int *in, int at) {
    out[0] = in[at];
    out[1] = 7;
}";

#[test]
fn accesses_out_of_bounds_are_skipped() {
    for (at, offset) in [(4, 16), (-1, -4), (1000, 4000)] {
        let args = [ints([1, 2]), ints([3, 4, 5, 6]), value(at)];
        each(READS, "CL1.2", [1, 1], &args, |hooked, seen| {
            let fault = only_fault(hooked, seen);
            assert_eq!(fault, (FaultKind::OutOfBounds, "in".to_owned(), offset, "2:14".to_owned()));
            assert_eq!(output(seen, 0), [0, 7]);
            assert!(seen.completed);
        });
    }
    let args = [ints([1, 2]), ints([3, 4, 5, 6]), value(3)];
    each(READS, "CL1.2", [1, 1], &args, |_, seen| {
        assert!(seen.faults.is_empty(), "{:?}", seen.faults);
        assert_eq!(output(seen, 0), [6, 7]);
    });
}

#[test]
fn wild_indices_do_not_wrap_around() {
    let source = "kernel void k(global int *out, long at) { out[at] = 5; out[1] = 7; }";
    for at in [1i64 << 62, (1 << 61) + 1, i64::MIN, -(1 << 62)] {
        let args = [ints([1, 2]), ArgValue::Value(at.to_le_bytes().to_vec())];
        each(source, "CL1.2", [1, 1], &args, |_, seen| {
            // Indices that are multiples of 2^62 wrap to the first element, as the address does.
            let wraps = at & ((1 << 62) - 1) == 0;
            assert_eq!(seen.faults.len(), usize::from(!wraps), "{at}: {:?}", seen.faults);
            assert_eq!(output(seen, 0), [if wraps { 5 } else { 1 }, 7]);
        });
    }
}

const ARRAYS: &str = "
constant int table[3] = {10, 20, 30};
struct four { int x[4]; };
kernel void k(global int *out, int which, int at, struct four given) {
    int mine[4] = {1, 2, 3, 4};
    local int first[4];
    local int second[4];
    for (int i = 0; i < 4; i++) {
        first[i] = 5;
        second[i] = 6;
    }
    int got = 0;
    if (which == 0) got = mine[at];
    if (which == 1) got = table[at];
    if (which == 2) got = first[at];
    if (which == 3) got = given.x[at];
    if (which == 4) mine[at] = 9;
    if (which == 5) second[at] = 9;
    out[0] = got + mine[0] + first[0] + second[0];
    out[1] = 7;
}";

#[test]
fn variables_have_bounds() {
    let given = ArgValue::Value([7i32, 8, 9, 10].iter().flat_map(|n| n.to_le_bytes()).collect());
    for (which, at, name) in [
        (0, 4, "mine"),
        (1, 3, "table"),
        (2, 4, "first"),
        (2, 20, "first"),
        (3, -1, "given"),
        (4, 99, "mine"),
        (5, -2, "second"),
    ] {
        let args = [ints([0, 0]), value(which), value(at), given.clone()];
        each(ARRAYS, "CL1.2", [1, 1], &args, |hooked, seen| {
            let (kind, object, _, _) = only_fault(hooked, seen);
            assert_eq!((kind, object.as_str()), (FaultKind::OutOfBounds, name));
            assert_eq!(output(seen, 0), [12, 7], "{which}");
        });
    }
    for (which, got) in [(0, 2), (1, 20), (2, 5), (3, 8), (4, 0), (5, 0)] {
        let args = [ints([0, 0]), value(which), value(1), given.clone()];
        each(ARRAYS, "CL1.2", [1, 1], &args, |_, seen| {
            assert!(seen.faults.is_empty(), "{:?}", seen.faults);
            assert_eq!(output(seen, 0), [12 + got, 7]);
        });
    }
}

#[test]
fn divisions_that_would_trap_divide_by_one() {
    let source = "kernel void k(global int4 *out, int4 a, int4 b, uint c, long d) {
        out[0] = a / b;
        out[1] = a % b;
        out[2] = (int4)(5u / c, 6u % c, (int)(d / -1), (int)(d % (b.x - 1)));
    }";
    let vector = |v: [i32; 4]| ArgValue::Value(v.iter().flat_map(|n| n.to_le_bytes()).collect());
    let args = [
        ints([0; 12]),
        vector([7, i32::MIN, 9, -10]),
        vector([0, -1, 2, 3]),
        value(0),
        ArgValue::Value(i64::MIN.to_le_bytes().to_vec()),
    ];
    each(source, "CL1.2", [1, 1], &args, |hooked, seen| {
        let faults: Vec<_> = seen.faults.iter().map(|f| (f.kind, f.count)).collect();
        assert_eq!(faults, [(FaultKind::Division, 1); 6]);
        let lines: Vec<u32> =
            hooked.table.divisions.iter().map(|d| hooked.table.paths[d.path as usize].frames[0].line).collect();
        assert_eq!(lines, [2, 3, 4, 4, 4, 4]);
        assert_eq!(output(seen, 0), [7, i32::MIN, 4, -3, 0, 0, 1, -1, 5, 0, 0, 0]);
    });
}

#[test]
fn misaligned_accesses_are_faults() {
    let source = "kernel void k(global int *out, global uchar *in, int at) {
        out[0] = *(global int *)(in + at);
        float4 v = vload4(0, (global float *)(in + 4));
        out[1] = (int)v.y + (int)(*(global float4 *)(in + at + 14)).x;
    }";
    let bytes = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
        .iter()
        .flat_map(|f| f.to_le_bytes())
        .collect::<Vec<u8>>();
    each(source, "CL1.2", [1, 1], &[ints([9, 9]), buffer(&bytes), value(2)], |hooked, seen| {
        let fault = only_fault(hooked, seen);
        assert_eq!(fault, (FaultKind::Misaligned, "in".to_owned(), 2, "2:18".to_owned()));
        assert_eq!(output(seen, 0), [0, 3 + 5]);
    });
    each(source, "CL1.2", [1, 1], &[ints([9, 9]), buffer(&bytes), value(4)], |hooked, seen| {
        let fault = only_fault(hooked, seen);
        assert_eq!(fault, (FaultKind::Misaligned, "in".to_owned(), 18, "4:34".to_owned()));
        assert_eq!(output(seen, 0), [f32::to_bits(2.0) as i32, 3]);
    });
}

#[test]
fn loops_end_when_the_fuel_does() {
    let source = "kernel void k(global int *out, int how) {
        out[0] = 1;
        if (how == 0) for (;;) {}
        if (how == 1) while (out[0] < 5) out[1]++;
        if (how == 2) { again: out[1]++; if (out[0]) goto again; }
        if (how == 3) {
            switch (out[0]) { do { case 1: out[1]++; case 2: out[1]++; } while (out[0]); }
        }
        out[0] = 2;
    }";
    for how in 0..4 {
        each(source, "CL1.2", [1, 1], &[ints([0, 0]), value(how)], |hooked, seen| {
            assert!(!seen.completed);
            assert_eq!(only_fault(hooked, seen).0, FaultKind::NonTermination);
            assert_eq!(output(seen, 0)[0], 1);
        });
    }
    each(source, "CL1.2", [1, 1], &[ints([0, 0]), value(9)], |_, seen| assert!(seen.completed));
}

#[test]
fn irreducible_loops_compute_what_they_should() {
    let source = "kernel void k(global int *out, int n) {
        int count = 0, left = (n + 3) / 4;
        switch (n % 4) {
            case 0: do { count++;
            case 3: count += 10;
            case 2: count += 100;
            case 1: count += 1000;
                    barrier(CLK_LOCAL_MEM_FENCE);
                    } while (--left > 0);
        }
        out[get_global_id(0)] = count;
    }";
    each(source, "CL1.2", [4, 4], &[ints([0; 4]), value(6)], |_, seen| {
        assert!(seen.completed && seen.divergences.is_empty() && seen.faults.is_empty());
        assert_eq!(output(seen, 0), [2211; 4]);
    });
}

#[test]
fn barriers_after_irreducible_loops_do_not_depend_on_their_iterations() {
    let source = "kernel void k(global int *out, int rounds, int inside) {
        int i = get_local_id(0), count = 0;
        for (int round = 0; round < rounds; round++) {
            int left = i + round + 1;
            switch (i % 4) {
                case 0: do { count++;
                case 3: count += 10;
                case 2: count += 100;
                        if (inside) barrier(CLK_LOCAL_MEM_FENCE);
                case 1: count += 1000;
                        } while (--left > 0);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        out[get_global_id(0)] = count;
    }";
    each(source, "CL1.2", [4, 4], &[ints([0; 4]), value(2), value(0)], |_, seen| {
        assert!(seen.completed && seen.divergences.is_empty() && seen.faults.is_empty());
        assert_eq!(output(seen, 0), [3333, 5333, 7755, 9997]);
    });
    // Where they are inside, they do.
    each(source, "CL1.2", [4, 4], &[ints([0; 4]), value(1), value(1)], |_, seen| assert!(!seen.divergences.is_empty()));
}

#[test]
fn barriers_are_distinguished_by_iteration() {
    let source = "kernel void k(global int *out, int most, int inner) {
        int i = get_local_id(0);
        for (int j = 0; j < (i == 0 ? most : 2); j++) {
            for (int n = 0; n < inner; n++) {
                if (n == 1 && i == 1)
                    continue;
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        out[get_global_id(0)] = 1;
    }";
    // All work-items execute the same iterations.
    each(source, "CL1.2", [4, 4], &[ints([0; 4]), value(2), value(1)], |_, seen| {
        assert!(seen.completed && seen.divergences.is_empty());
        assert_eq!(output(seen, 0), [1; 4]);
    });
    // The first work-item executes one iteration more.
    each(source, "CL1.2", [4, 4], &[ints([0; 4]), value(3), value(1)], |_, seen| {
        let [divergence] = &seen.divergences[..] else { panic!("{:?}", seen.divergences) };
        assert_eq!((divergence.waiting.len(), divergence.waiting[0].items, divergence.finished), (1, 1, 3));
    });
    // One work-item arrives at the same barrier as the others, but in a later iteration.
    each(source, "CL1.2", [4, 4], &[ints([0; 4]), value(2), value(3)], |_, seen| {
        let [divergence] = &seen.divergences[..] else { panic!("{:?}", seen.divergences) };
        assert_eq!(divergence.waiting.len(), 2);
        assert_eq!(divergence.waiting[0].barrier, divergence.waiting[1].barrier);
        assert_ne!(divergence.waiting[0].iteration, divergence.waiting[1].iteration);
    });
}

#[test]
fn pointers_of_several_origins_are_checked_against_each() {
    let source = "struct big { int v[6]; };
    kernel void k(global int *a, global int *b, int n, int at, global struct big *c) {
        global int *from = a, *to = b;
        for (int j = 0; j < n; j++) {
            to[at] = from[at] + 1;
            global int *other = from; from = to; to = other;
        }
        int mine[2] = {n, at};
        int *own[2] = {&mine[0], &mine[1]};
        b[1] = *own[at & 1];
        c[at + 1] = c[0];
    }";
    let big = || ints(0..12);
    each(source, "CL1.2", [1, 1], &[ints([1, 2]), ints([3, 4]), value(3), value(0), big()], |_, seen| {
        assert!(seen.faults.is_empty(), "{:?}", seen.faults);
        assert_eq!((output(seen, 0), output(seen, 1)), (vec![3, 2], vec![4, 3]));
        assert_eq!(output(seen, 4), [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]);
    });
    each(source, "CL1.2", [1, 1], &[ints([1, 2]), ints([3, 4]), value(1), value(9), big()], |_, seen| {
        let faults: Vec<_> = seen.faults.iter().map(|f| (f.kind, f.count)).collect();
        assert_eq!(faults, [(FaultKind::OutOfBounds, 1); 3]);
        assert_eq!((output(seen, 0), output(seen, 1)), (vec![1, 2], vec![3, 9]));
        assert_eq!(output(seen, 4), (0..12).collect::<Vec<_>>());
    });
}

#[test]
fn generic_pointers_may_point_anywhere_but_to_constants() {
    let source = "void set(int *p, int at) { p[at] = 5; }
    kernel void k(global int *out, int at) {
        int mine[2] = {0, 0};
        local int shared[2];
        set(mine, at);
        set(shared, at);
        set(out, at);
        out[1] = mine[0] + shared[0];
    }";
    each(source, "CL2.0", [1, 1], &[ints([1, 2]), value(0)], |_, seen| {
        assert!(seen.faults.is_empty(), "{:?}", seen.faults);
        assert_eq!(output(seen, 0), [5, 10]);
    });
    each(source, "CL2.0", [1, 1], &[ints([1, 2]), value(2)], |hooked, seen| {
        let mut names: Vec<_> = seen.faults.iter().filter(|f| f.kind == FaultKind::OutOfBounds).collect();
        names.sort_by_key(|f| f.site);
        let names: Vec<_> =
            names.iter().map(|f| hooked.table.objects[f.object.unwrap() as usize].name.as_str()).collect();
        assert_eq!(names, ["mine", "shared", "out"]);
    });
}

/// The inner call is replaced before the outer one, of which its result is an argument.
#[test]
fn printf_takes_the_result_of_another_printf() {
    let source = "kernel void k(global int *out) { out[0] = printf(\"%d and %d\\n\", printf(\"a\"), 5); }";
    each(source, "CL1.2", [1, 1], &[ints([1])], |_, seen| {
        assert_eq!(seen.observation.printf, "a0 and 5\n");
        assert_eq!(output(seen, 0), [0]);
    });
}

#[test]
fn printf_formats_its_arguments() {
    let source = "kernel void k(global int *out, float3 v, char c) {
        half h = 1.5;
        printf(\"%d %.1v3hlf %s|\", c, v, c > 0 ? \"plus\" : \"minus\");
        printf(\"%f %v2hd %5.2f %p\\n\", h, (short2)(3, -4), 2.5, (global int *)0);
        out[0] = printf(\"end\");
    }";
    let v = ArgValue::Value([1.0f32, 2.0, 3.0, 0.0].iter().flat_map(|f| f.to_le_bytes()).collect());
    let source = format!("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n{source}");
    each(&source, "CL1.2", [1, 1], &[ints([1]), v, ArgValue::Value(vec![0xfe])], |_, seen| {
        assert_eq!(output(seen, 0), [0]);
        assert!(
            seen.observation.printf.starts_with("-2 1.0,2.0,3.0 minus|1.500000 3,-4  2.50 "),
            "{}",
            seen.observation.printf
        );
        assert!(seen.observation.printf.ends_with("\nend"));
    });
}

#[test]
fn components_written_separately_keep_the_other_components() {
    let source = "kernel void k(global int4 *a, global int3 *b, int2 v, int i) {
        a[0].y = 1;
        a[0].xw = v;
        a[0][i] += 5;
        b[0].z = 2;
        b[0].s01 = v.yx;
    }";
    let v = ArgValue::Value([7i32, 8].iter().flat_map(|n| n.to_le_bytes()).collect());
    each(source, "CL2.0", [1, 1], &[ints([0; 4]), ints([9; 4]), v, value(2)], |_, seen| {
        assert!(seen.faults.is_empty(), "{:?}", seen.faults);
        assert_eq!((output(seen, 0), output(seen, 1)), (vec![7, 1, 5, 8], vec![8, 7, 2, 9]));
    });
}
