//! Checks that whatever a kernel in LLVM IR does to memory is watched: lanes under a mask, copies and fills of all
//! kinds, and variables whose size is known at run time. What cannot be watched is refused.

use kassay_run::exec::simulator::observation::{FaultKind, Simulation};
use kassay_suite::launch::ArgValue;

use super::access_weave::support::{Hooked, ints, output, value};

const HEAD: &str = "target datalayout = \"e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64-G1\"
target triple = \"spir64-unknown-unknown\"
";

/// Returns the text of the kernel `k`, whose parameters are an output, an input and two numbers.
fn kernel(body: &str) -> String {
    let body = body.trim();
    format!(
        "{HEAD}define spir_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %a, i32 %b) {{\n{body}\nret void\n}}\n"
    )
}

/// Runs the kernel with four numbers of output and of input, without and with the race detector: calls `check` with
/// what was seen, and the output.
fn each(body: &str, a: i32, b: i32, check: impl Fn(&Simulation, Vec<i32>)) {
    for races in [false, true] {
        let hooked = Hooked::of_ir(&kernel(body), races).unwrap();
        let seen = hooked.run([1, 1], &[ints([1, 2, 3, 4]), ints([10, 20, 30, 40]), value(a), value(b)]);
        assert!(seen.completed);
        let written = output(&seen, 0);
        check(&seen, written);
    }
}

/// Checks that the kernel does this to the output, with so many accesses out of bounds.
fn writes(body: &str, [a, b]: [i32; 2], expected: [i32; 4], faults: u64) {
    each(body, a, b, |seen, written| {
        assert_eq!(written, expected, "{a}, {b}: {:?}", seen.faults);
        assert!(seen.faults.iter().all(|f| f.kind == FaultKind::OutOfBounds), "{:?}", seen.faults);
        assert_eq!(seen.faults.iter().map(|f| f.count).sum::<u64>(), faults, "{a}, {b}: {:?}", seen.faults);
    });
}

/// The lanes of `%m` are the low bits of `%b`; `%from` and `%to` are element `%a` of input and output.
const LANES: &str = "
%bits = trunc i32 %b to i4
%m = bitcast i4 %bits to <4 x i1>
%from = getelementptr i32, ptr addrspace(1) %in, i32 %a
%to = getelementptr i32, ptr addrspace(1) %out, i32 %a
";

#[test]
fn lanes_under_a_mask_are_watched() {
    let body = format!(
        "{LANES}
        %v = call <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1) align 4 %from, <4 x i1> %m, <4 x i32> zeroinitializer)
        call void @llvm.masked.store.v4i32.p1(<4 x i32> %v, ptr addrspace(1) align 4 %to, <4 x i1> %m)"
    );
    writes(&body, [0, 0b1111], [10, 20, 30, 40], 0);
    writes(&body, [2, 0b0011], [1, 2, 30, 40], 0);
    writes(&body, [2, 0b0110], [1, 2, 3, 40], 2);
    writes(&body, [-1, 0b1110], [10, 20, 30, 4], 0);
    writes(&body, [1 << 30, 0b1111], [1, 2, 3, 4], 8);
    writes(&body, [1 << 30, 0], [1, 2, 3, 4], 0);
}

#[test]
fn lanes_with_addresses_of_their_own_are_watched() {
    let body = format!(
        "{LANES}
        %steps = insertelement <4 x i32> <i32 0, i32 1, i32 2, i32 0>, i32 %a, i32 3
        %sources = getelementptr i32, ptr addrspace(1) %in, <4 x i32> %steps
        %targets = getelementptr i32, ptr addrspace(1) %out, <4 x i32> %steps
        %v = call <4 x i32> @llvm.masked.gather.v4i32.v4p1(<4 x ptr addrspace(1)> align 4 %sources, <4 x i1> %m, <4 x i32> zeroinitializer)
        call void @llvm.masked.scatter.v4i32.v4p1(<4 x i32> %v, <4 x ptr addrspace(1)> align 4 %targets, <4 x i1> %m)"
    );
    writes(&body, [3, 0b1111], [10, 20, 30, 40], 0);
    writes(&body, [-1_000_000, 0b0111], [10, 20, 30, 4], 0);
    writes(&body, [-1_000_000, 0b1010], [1, 20, 3, 4], 2);
}

#[test]
fn lanes_that_are_packed_are_watched() {
    let body = format!(
        "{LANES}
        %source = addrspacecast ptr addrspace(1) %from to ptr addrspace(4)
        %flat = addrspacecast ptr addrspace(4) %source to ptr
        %target = addrspacecast ptr addrspace(1) %to to ptr addrspace(4)
        %flat.to = addrspacecast ptr addrspace(4) %target to ptr
        %v = call <4 x i32> @llvm.masked.expandload.v4i32(ptr align 4 %flat, <4 x i1> %m, <4 x i32> zeroinitializer)
        call void @llvm.masked.compressstore.v4i32(<4 x i32> %v, ptr align 4 %flat.to, <4 x i1> %m)"
    );
    writes(&body, [0, 0b1010], [10, 20, 3, 4], 0);
    writes(&body, [2, 0b1110], [1, 2, 30, 40], 2);
}

#[test]
fn lanes_up_to_a_length_are_watched() {
    let body = format!(
        "{LANES}
        %all = call <4 x i32> @llvm.vp.load.v4i32.p1(ptr addrspace(1) align 4 %in, <4 x i1> splat (i1 true), i32 4)
        %more = call <4 x i32> @llvm.vp.add.v4i32(<4 x i32> %all, <4 x i32> splat (i32 1), <4 x i1> splat (i1 true), i32 4)
        call void @llvm.vp.store.v4i32.p1(<4 x i32> %more, ptr addrspace(1) align 4 %to, <4 x i1> splat (i1 true), i32 %b)"
    );
    writes(&body, [0, 3], [11, 21, 31, 4], 0);
    writes(&body, [3, 1], [1, 2, 3, 11], 0);
    writes(&body, [3, 4], [1, 2, 3, 11], 3);
}

#[test]
fn copies_and_fills_of_all_kinds_are_watched() {
    for copy in [
        "call void @llvm.memcpy.inline.p1.p1.i64(ptr addrspace(1) align 4 %to, ptr addrspace(1) align 4 %from, i64 8, i1 false)",
        "call void @llvm.memcpy.element.unordered.atomic.p1.p1.i32(ptr addrspace(1) align 4 %to, ptr addrspace(1) align 4 %from, i32 8, i32 4)",
        "call void @llvm.memmove.element.unordered.atomic.p1.p1.i64(ptr addrspace(1) align 4 %to, ptr addrspace(1) align 4 %from, i64 8, i32 4)",
    ] {
        let body = format!("{LANES}{copy}");
        writes(&body, [1, 0], [1, 20, 30, 4], 0);
        writes(&body, [3, 0], [1, 2, 3, 4], 2);
        writes(&body, [1 << 28, 0], [1, 2, 3, 4], 2);
    }
    for fill in [
        "call void @llvm.memset.inline.p1.i64(ptr addrspace(1) align 4 %to, i8 0, i64 8, i1 false)",
        "call void @llvm.memset.element.unordered.atomic.p1.i32(ptr addrspace(1) align 4 %to, i8 0, i32 8, i32 4)",
    ] {
        let body = format!("{LANES}{fill}");
        writes(&body, [2, 0], [1, 2, 0, 0], 0);
        writes(&body, [-1, 0], [1, 2, 3, 4], 1);
    }
}

/// A length that is read before it is written is none that is known.
#[test]
fn lengths_that_a_variable_holds_later_are_not_relied_on() {
    let body = "
        %length = alloca i64
        br label %loop
        loop:
        %i = phi i32 [ 0, %0 ], [ %next, %loop ]
        %bytes = load i64, ptr %length
        call void @llvm.memset.p1.i64(ptr addrspace(1) align 4 %out, i8 0, i64 %bytes, i1 false)
        store i64 8, ptr %length
        %next = add i32 %i, 1
        %more = icmp slt i32 %next, 3
        br i1 %more, label %loop, label %end
        end:";
    writes(body, [0, 0], [0, 0, 3, 4], 0);
}

/// `%b` numbers, of which number `%a` is written and read.
const MADE: &str = "
    %made = alloca i32, i32 %b
    %at = getelementptr i32, ptr %made, i32 %a
    store i32 7, ptr %at
    %v = load i32, ptr %at
    store i32 %v, ptr addrspace(1) %out";

#[test]
fn variables_of_a_size_known_at_run_time_have_bounds() {
    writes(MADE, [2, 3], [7, 2, 3, 4], 0);
    for [a, b] in [[3, 3], [-1, 3], [0, 0], [1 << 30, 3], [i32::MIN, 3], [0, -1], [0, 1 << 30]] {
        writes(MADE, [a, b], [0, 2, 3, 4], 2);
    }
}

#[test]
fn variables_made_in_loops_are_different_ones_and_the_stack_does_not_grow() {
    let body = "
        %first = alloca ptr
        br label %loop
        loop:
        %i = phi i32 [ 0, %0 ], [ %next, %back ]
        %saved = call ptr @llvm.stacksave.p0()
        %made = alloca [1000 x i32]
        %at = getelementptr i32, ptr %made, i32 %a
        store i32 %i, ptr %at
        %is.first = icmp eq i32 %i, 0
        br i1 %is.first, label %keep, label %leave
        keep:
        store ptr %at, ptr %first
        br label %back
        leave:
        call void @llvm.stackrestore.p0(ptr %saved)
        br label %back
        back:
        %next = add i32 %i, 1
        %more = icmp slt i32 %next, 90000
        br i1 %more, label %loop, label %end
        end:
        %kept = load ptr, ptr %first
        %v = load i32, ptr %kept
        store i32 %v, ptr addrspace(1) %out";
    writes(body, [999, 0], [0, 2, 3, 4], 0);
}

/// Whatever is restored, it is not the processor's stack.
#[test]
fn a_wild_stack_is_not_restored() {
    let body = "
        %wide = zext i32 %a to i64
        %wild = inttoptr i64 %wide to ptr
        call void @llvm.stackrestore.p0(ptr %wild)
        store i32 9, ptr addrspace(1) %out";
    writes(body, [64, 0], [9, 2, 3, 4], 0);
}

#[test]
fn constants_are_not_written() {
    let text = kernel(
        "store i32 5, ptr addrspace(2) @table\n%v = load i32, ptr addrspace(2) @table\nstore i32 %v, ptr addrspace(1) %out",
    );
    let text = text.replace("define", "@table = internal addrspace(2) constant [2 x i32] [i32 8, i32 9]\ndefine");
    for races in [false, true] {
        let seen = Hooked::of_ir(&text, races).unwrap().run([1, 1], &[ints([1]), ints([1]), value(0), value(0)]);
        assert_eq!(seen.faults.iter().map(|f| f.kind).collect::<Vec<_>>(), [FaultKind::ReadOnlyWrite]);
        assert_eq!(output(&seen, 0), [8]);
    }
}

#[test]
fn what_cannot_be_watched_is_refused() {
    for (body, told) in [
        (
            "%v = call <4 x i32> @llvm.experimental.vp.strided.load.v4i32.p1.i64(ptr addrspace(1) align 4 %in, i64 8, <4 x i1> splat (i1 true), i32 4)
             store <4 x i32> %v, ptr addrspace(1) %out, align 4",
            "llvm.experimental.vp.strided.load",
        ),
        ("%p = inttoptr i32 %a to ptr\nindirectbr ptr %p, [label %end]\nend:", "indirectbr"),
        ("call void @llvm.set.rounding(i32 1)", "llvm.set.rounding"),
        ("call void @llvm.clear_cache(ptr null, ptr null)", "llvm.clear_cache"),
        ("%p = addrspacecast ptr addrspace(1) %in to ptr\n%v = va_arg ptr %p, i32\nstore i32 %v, ptr addrspace(1) %out", "va_arg"),
    ] {
        let Err(error) = Hooked::of_ir(&kernel(body), false) else { panic!("{told} was taken") };
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!(error.exit_code(), 2, "{error}");
    }
}

/// A kernel that knows the names and marks of woven code gains nothing by them.
#[test]
fn names_and_marks_of_woven_code_are_not_the_kernels() {
    for name in ["__kassay_item_context", "__kassay_check", "__kassay_at_leave"] {
        let text = format!("%v = call i64 @{name}()\nstore i64 %v, ptr addrspace(1) %out");
        let text = kernel(&text).replace("define", &format!("declare i64 @{name}()\ndefine"));
        let Err(error) = Hooked::of_ir(&text, false) else { panic!("{name} was taken") };
        assert_eq!(error.exit_code(), 2, "{error}");
    }
    for mark in ["kassay.trusted", "kassay.proof", "kassay.builtin"] {
        let body = format!("{LANES}store i32 5, ptr addrspace(1) %to, !{mark} !{{!\"own\", i64 0}}");
        writes(&body, [1 << 30, 0], [1, 2, 3, 4], 1);
    }
}

/// After what is never reached there is other code.
#[test]
fn what_is_never_reached_returns() {
    let body = "
        %above = icmp sgt i32 %a, 3
        br i1 %above, label %never, label %end
        never:
        store i32 8, ptr addrspace(1) %out
        unreachable
        end:
        store i32 9, ptr addrspace(1) %out";
    writes(body, [1, 0], [9, 2, 3, 4], 0);
    writes(body, [4, 0], [8, 2, 3, 4], 0);
}

/// Pointers in memory of structs, given by value.
#[test]
fn arguments_passed_by_value_are_placed_with_their_contents() {
    let source = "struct pair { int x[2]; int y; };
    kernel void k(global int *out, struct pair given, struct pair other, int which, int at) {
        struct pair *p = which ? &given : &other;
        p->y += 1;
        out[0] = p->x[at];
        out[1] = given.y * 10 + other.y;
    }";
    let given = |n: [i32; 3]| ArgValue::Value(n.into_iter().flat_map(i32::to_le_bytes).collect());
    let hooked = Hooked::new(source, "CL1.2", false);
    for (which, at, expected, faults) in
        [(1, 1, [6, 84], 0), (0, 0, [1, 75], 0), (1, 2, [8, 84], 0), (1, 3, [0, 84], 1), (0, -1, [0, 75], 1)]
    {
        let args = [ints([0, 0]), given([5, 6, 7]), given([1, 2, 4]), value(which), value(at)];
        let seen = hooked.run([2, 2], &args);
        assert_eq!(
            (output(&seen, 0), seen.faults.len()),
            (expected.to_vec(), faults),
            "{which}, {at}: {:?}",
            seen.faults
        );
    }
}

#[test]
fn copies_of_structs_are_whole() {
    // The padding is read of the copy, and written with it.
    let body = "
        %s = alloca { i16, i32 }, align 4
        %read = getelementptr i8, ptr addrspace(1) %in, i32 %a
        %written = getelementptr i8, ptr addrspace(1) %out, i32 %b
        call void @llvm.memcpy.p0.p1.i64(ptr align 4 %s, ptr addrspace(1) align 4 %read, i64 8, i1 false)
        %padding = getelementptr i8, ptr %s, i32 2
        %p = load i16, ptr %padding
        call void @llvm.memcpy.p1.p0.i64(ptr addrspace(1) align 4 %written, ptr align 4 %s, i64 8, i1 false)
        %beyond = getelementptr i8, ptr addrspace(1) %written, i32 8
        store i16 %p, ptr addrspace(1) %beyond, align 4";
    for races in [false, true] {
        let hooked = Hooked::of_ir(&kernel(body), races).unwrap();
        let input = ints([0x1234_5678, 2, 0x0abc_0def, 4]);
        let run = |a, b| hooked.run([1, 1], &[ints([0; 4]), input.clone(), value(a), value(b)]);
        let seen = run(8, 0);
        assert_eq!(output(&seen, 0), [0x0abc_0def, 4, 0x0abc, 0], "{races}");
        assert!(seen.faults.is_empty(), "{:?}", seen.faults);
        let seen = run(12, 0);
        assert_eq!(seen.faults.len(), 1, "{:?}", seen.faults);
        assert_eq!(output(&seen, 0)[3], 0, "{races}");
    }
}
