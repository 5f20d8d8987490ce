//! Checks integers of odd widths and vectors of odd lengths, as optimisers make them: on an OpenCL device and on the
//! simulator, against an interpreter of the operations (LLVM's LangRef) on edge values and random ones.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use kassay_ir::llvm::Context;
use kassay_ir::lower::native::emit::{Effort, emit};
use kassay_model::options::KernelOptions;
use kassay_run::exec::simulator::observation::SimulationOptions;
use kassay_run::exec::{Executor, NativeCode, OpenClExecutor, Simulator, Target};
use kassay_suite::launch::{ArgValue, Launch};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::devices::{once, opencl};
use crate::common::kernels::open_bare;
use crate::common::launches::line;

/// An operation: its IR on `%a` and `%b`, whose result is `%r` of the type given, and what that is.
struct Operation {
    name: String,
    ir: String,
    /// The bits of the result.
    bits: u32,
    value: Box<dyn Fn(u128, u128) -> u128>,
}

fn ones(w: u32) -> u128 {
    if w == 128 { u128::MAX } else { (1 << w) - 1 }
}

fn signed(x: u128, w: u32) -> i128 {
    (x << (128 - w)).cast_signed() >> (128 - w)
}

/// The product of two integers: its upper and its lower 128 bits.
fn product(x: u128, y: u128) -> (u128, u128) {
    let (x0, x1, y0, y1) = (x & ones(64), x >> 64, y & ones(64), y >> 64);
    let middle = ((x0 * y0) >> 64) + ((x1 * y0) & ones(64)) + ((x0 * y1) & ones(64));
    (x1 * y1 + ((x1 * y0) >> 64) + ((x0 * y1) >> 64) + (middle >> 64), x.wrapping_mul(y))
}

/// Cuts a result to the width; of a signed operation that overflows, the nearest there is.
fn saturated(exact: Option<i128>, positive: bool, w: u32) -> u128 {
    let (least, most) = (signed(1 << (w - 1), w), (ones(w) >> 1).cast_signed());
    match exact {
        Some(exact) => exact.clamp(least, most).cast_unsigned() & ones(w),
        None if positive => most.cast_unsigned() & ones(w),
        None => least.cast_unsigned() & ones(w),
    }
}

fn fits(exact: Option<i128>, w: u32) -> bool {
    exact.is_some_and(|exact| signed(exact.cast_unsigned() & ones(w), w) == exact)
}

/// The operations on integers of a width.
fn operations(w: u32) -> Vec<Operation> {
    let mut all: Vec<Operation> = Vec::new();
    let m = ones(w);
    let mut add = |name: &str, bits: u32, ir: String, value: Box<dyn Fn(u128, u128) -> u128>| {
        all.push(Operation { name: name.to_owned(), ir, bits, value });
    };
    let s = move |x: u128| signed(x, w);
    macro_rules! op {
        ($name:expr, $bits:expr, $ir:expr, $value:expr) => {
            add($name, $bits, $ir, Box::new($value))
        };
    }
    let two = |name: &str| format!("%r = {name} i{w} %a, %b");
    op!("add", w, two("add"), move |a, b| a.wrapping_add(b) & m);
    op!("sub", w, two("sub"), move |a, b| a.wrapping_sub(b) & m);
    op!("mul", w, two("mul"), move |a, b| a.wrapping_mul(b) & m);
    op!("and", w, two("and"), move |a, b| a & b);
    op!("or", w, two("or"), move |a, b| a | b);
    op!("xor", w, two("xor"), move |a, b| a ^ b);
    let by = |name: &str, by: &str| format!("%d = or i{w} %b, 1\n{by}\n%r = {name} i{w} %x, %y");
    let positive = format!("%x = or i{w} %a, 0\n%y = lshr i{w} %d, 1\n%z = icmp eq i{w} %y, 0");
    let positive = format!("{positive}\n%y1 = select i1 %z, i{w} 1, i{w} %y");
    let positive_by = |name: &str| format!("%d = or i{w} %b, 1\n{positive}\n%r = {name} i{w} %x, %y1");
    let half = move |b: u128| ((b | 1) >> 1).max(1);
    op!("udiv", w, by("udiv", &format!("%x = or i{w} %a, 0\n%y = or i{w} %d, 0")), move |a, b| a / (b | 1));
    op!("urem", w, by("urem", &format!("%x = or i{w} %a, 0\n%y = or i{w} %d, 0")), move |a, b| a % (b | 1));
    if w > 2 {
        op!("sdiv", w, positive_by("sdiv"), move |a, b| (s(a) / s(half(b))).cast_unsigned() & m);
        op!("srem", w, positive_by("srem"), move |a, b| (s(a) % s(half(b))).cast_unsigned() & m);
        let negative = |name: &str| {
            format!(
                "%d = or i{w} %b, 1\n{positive}\n%h = ashr i{w} %a, 1\n%n = sub i{w} 0, %y1\n%r = {name} i{w} %h, %n"
            )
        };
        op!("sdiv by negative", w, negative("sdiv"), move |a, b| ((s(a) >> 1) / -s(half(b))).cast_unsigned() & m);
        op!("srem by negative", w, negative("srem"), move |a, b| ((s(a) >> 1) % -s(half(b))).cast_unsigned() & m);
    }
    let shift = |name: &str| format!("%y = urem i{w} %b, {w}\n%r = {name} i{w} %a, %y");
    let amount = move |b: u128| (b % u128::from(w)) as u32;
    op!("shl", w, shift("shl"), move |a, b| a << amount(b) & m);
    op!("lshr", w, shift("lshr"), move |a, b| a >> amount(b));
    op!("ashr", w, shift("ashr"), move |a, b| (s(a) >> amount(b)).cast_unsigned() & m);
    for (how, compare) in [
        ("eq", (|a, b, _, _| a == b) as fn(u128, u128, i128, i128) -> bool),
        ("ne", |a, b, _, _| a != b),
        ("ult", |a, b, _, _| a < b),
        ("ule", |a, b, _, _| a <= b),
        ("ugt", |a, b, _, _| a > b),
        ("uge", |a, b, _, _| a >= b),
        ("slt", |_, _, a, b| a < b),
        ("sle", |_, _, a, b| a <= b),
        ("sgt", |_, _, a, b| a > b),
        ("sge", |_, _, a, b| a >= b),
    ] {
        op!(how, 1, two(&format!("icmp {how}")), move |a, b| compare(a, b, s(a), s(b)).into());
    }
    op!("select", w, format!("%c = icmp slt i{w} %a, %b\n%r = select i1 %c, i{w} %b, i{w} %a"), move |a, b| {
        s(a).max(s(b)).cast_unsigned() & m
    });
    op!("freeze", w, format!("%r = freeze i{w} %a"), |a, _| a);
    let narrow = w / 2 + 1;
    if narrow < w {
        op!("trunc", narrow, format!("%r = trunc i{w} %a to i{narrow}"), move |a, _| a & ones(narrow));
    }
    for wide in [w + 1, w + 3, 2 * w, 64, 128].into_iter().filter(|wide| *wide > w && *wide <= 128) {
        op!("zext", wide, format!("%r = zext i{w} %a to i{wide}"), |a, _| a);
        op!("sext", wide, format!("%r = sext i{w} %a to i{wide}"), move |a, _| s(a).cast_unsigned() & ones(wide));
    }
    let call =
        |name: &str, args: &str| format!("%r = call i{w} @llvm.{name}.i{w}({})", args.replace("iN", &format!("i{w}")));
    let one = |name: &str| call(name, "iN %a");
    let pair = |name: &str| call(name, "iN %a, iN %b");
    op!("ctpop", w, one("ctpop"), move |a, _| u128::from(a.count_ones()) & m);
    op!("ctlz", w, call("ctlz", "iN %a, i1 false"), move |a, _| u128::from((a << (128 - w)).leading_zeros().min(w))
        & m);
    op!("cttz", w, call("cttz", "iN %a, i1 false"), move |a, _| u128::from(a.trailing_zeros().min(w)) & m);
    op!("bitreverse", w, one("bitreverse"), move |a, _| a.reverse_bits() >> (128 - w));
    if w.is_multiple_of(16) {
        op!("bswap", w, one("bswap"), move |a, _| a.swap_bytes() >> (128 - w));
    }
    let funnel = move |high: u128, low: u128, by: u32| if by == 0 { high } else { (high << by | low >> (w - by)) & m };
    op!("fshl", w, call("fshl", "iN %a, iN %b, iN %b"), move |a, b| funnel(a, b, amount(b)));
    op!("fshr", w, call("fshr", "iN %a, iN %b, iN %b"), move |a, b| {
        if amount(b) == 0 { b } else { funnel(a, b, w - amount(b)) }
    });
    op!("umin", w, pair("umin"), |a, b| a.min(b));
    op!("umax", w, pair("umax"), |a, b| a.max(b));
    op!("smin", w, pair("smin"), move |a, b| s(a).min(s(b)).cast_unsigned() & m);
    op!("smax", w, pair("smax"), move |a, b| s(a).max(s(b)).cast_unsigned() & m);
    op!("abs", w, call("abs", "iN %a, i1 false"), move |a, _| s(a).unsigned_abs() & m);
    op!("uadd.sat", w, pair("uadd.sat"), move |a, b| a.checked_add(b).map_or(m, |sum| sum.min(m)));
    op!("usub.sat", w, pair("usub.sat"), |a, b| a.saturating_sub(b));
    op!("sadd.sat", w, pair("sadd.sat"), move |a, b| saturated(s(a).checked_add(s(b)), s(a) > 0, w));
    op!("ssub.sat", w, pair("ssub.sat"), move |a, b| saturated(s(a).checked_sub(s(b)), s(a) >= 0, w));
    let shift = |name: &str| format!("%y = urem i{w} %b, {w}\n%r = call i{w} @llvm.{name}.i{w}(i{w} %a, i{w} %y)");
    op!("ushl.sat", w, shift("ushl.sat"), move |a, b| {
        let by = amount(b);
        if (a << by & m) >> by == a { a << by & m } else { m }
    });
    op!("sshl.sat", w, shift("sshl.sat"), move |a, b| {
        let by = amount(b);
        let shifted = a << by & m;
        if s(shifted) >> by == s(a) { shifted } else { saturated(None, s(a) >= 0, w) }
    });
    for (name, is_flag) in [("value", false), ("flag", true)] {
        let overflow = |op: &str| {
            let ty = format!("{{ i{w}, i1 }}");
            let call = format!("%o = call {ty} @llvm.{op}.with.overflow.i{w}(i{w} %a, i{w} %b)");
            format!("{call}\n%r = extractvalue {ty} %o, {}", u8::from(is_flag))
        };
        let bits = if is_flag { 1 } else { w };
        let say = |op: &str| format!("{op}.with.overflow, {name}");
        let pick = move |value: u128, flag: bool| if is_flag { flag.into() } else { value & m };
        op!(&say("uadd"), bits, overflow("uadd"), move |a, b| {
            pick(a.wrapping_add(b), a.checked_add(b).is_none_or(|sum| sum > m))
        });
        op!(&say("usub"), bits, overflow("usub"), move |a, b| pick(a.wrapping_sub(b), a < b));
        op!(&say("sadd"), bits, overflow("sadd"), move |a, b| pick(
            a.wrapping_add(b),
            !fits(s(a).checked_add(s(b)), w)
        ));
        op!(&say("ssub"), bits, overflow("ssub"), move |a, b| pick(
            a.wrapping_sub(b),
            !fits(s(a).checked_sub(s(b)), w)
        ));
        op!(&say("umul"), bits, overflow("umul"), move |a, b| {
            let (high, low) = product(a, b);
            pick(low, high != 0 || low > m)
        });
        op!(&say("smul"), bits, overflow("smul"), move |a, b| {
            pick(a.wrapping_mul(b), !fits(s(a).checked_mul(s(b)), w))
        });
    }
    for (name, signs) in [("ucmp", false), ("scmp", true)] {
        let ir = format!("%r = call i8 @llvm.{name}.i8.i{w}(i{w} %a, i{w} %b)");
        op!(name, 8, ir, move |a, b| {
            let order = if signs { s(a).cmp(&s(b)) } else { a.cmp(&b) };
            (order as i8).cast_unsigned().into()
        });
    }
    for (ty, bits) in [("float", 32), ("double", 64)] {
        let to = |cast: &str| format!("%f = {cast} i{w} %a to {ty}\n%r = bitcast {ty} %f to i{bits}");
        let is_float = bits == 32;
        op!(&format!("uitofp {ty}"), bits, to("uitofp"), move |a, _| {
            if is_float { (a as f32).to_bits().into() } else { (a as f64).to_bits().into() }
        });
        op!(&format!("sitofp {ty}"), bits, to("sitofp"), move |a, _| {
            if is_float { (s(a) as f32).to_bits().into() } else { (s(a) as f64).to_bits().into() }
        });
    }
    let back = |to: &str, from: &str, shift: &str| {
        format!(
            "%h = {shift} i{w} %a, 1\n%f = {to} i{w} %h to double\n%q = fmul double %f, 5.000000e-01\n%r = {from} double %q to i{w}"
        )
    };
    op!("fptoui", w, back("uitofp", "fptoui", "lshr"), |a, _| ((a >> 1) as f64 * 0.5) as u128);
    op!("fptosi", w, back("sitofp", "fptosi", "ashr"), move |a, _| (((s(a) >> 1) as f64 * 0.5) as i128)
        .cast_unsigned()
        & m);
    // The array is indexed by what is computed, so that it stays in memory.
    let array = format!(
        "%v = alloca [3 x i{w}], align 16\n%v1 = getelementptr [3 x i{w}], ptr %v, i64 0, i64 1
        store i{w} %a, ptr %v, align 8\nstore i{w} %b, ptr %v1, align 1\n%less = icmp ult i{w} %a, %b
        %at = zext i1 %less to i64\n%vi = getelementptr inbounds i{w}, ptr %v, i64 %at\n%r = load i{w}, ptr %vi, align 1"
    );
    op!("array", w, array, |a, b| a.max(b));
    let by_value = format!(
        "%v0 = insertelement <5 x i{w}> poison, i{w} %a, i32 0\n%v1 = insertelement <5 x i{w}> %v0, i{w} %b, i64 3
        %v2 = shufflevector <5 x i{w}> %v1, <5 x i{w}> zeroinitializer, <5 x i32> <i32 0, i32 0, i32 7, i32 3, i32 3>
        %v3 = add <5 x i{w}> %v2, %v2\n%r = call i{w} @llvm.vector.reduce.add.v5i{w}(<5 x i{w}> %v3)"
    );
    op!("vector", w, by_value, move |a, b| a.wrapping_add(b).wrapping_mul(4) & m);
    let bits = 2 * w;
    if bits <= 128 {
        let pair = format!(
            "%v0 = insertelement <2 x i{w}> poison, i{w} %a, i32 0\n%v1 = insertelement <2 x i{w}> %v0, i{w} %b, i32 1
            %r = bitcast <2 x i{w}> %v1 to i{bits}"
        );
        op!("bitcast", bits, pair, move |a, b| a | b << w);
        let back = format!(
            "%za = zext i{w} %a to i{bits}\n%zb = zext i{w} %b to i{bits}\n%sb = shl i{bits} %zb, {w}\n%ab = or i{bits} %za, %sb
            %v = bitcast i{bits} %ab to <2 x i{w}>\n%x = extractelement <2 x i{w}> %v, i32 0
            %y = extractelement <2 x i{w}> %v, i32 1\n%r = sub i{w} %x, %y"
        );
        op!("bitcast to lanes", w, back, move |a, b| a.wrapping_sub(b) & m);
    }
    all
}

/// The declarations of the intrinsics that a text calls.
fn declarations(ir: &str) -> String {
    let mut all: Vec<String> = Vec::new();
    for call in ir.lines().filter_map(|line| line.split_once("= call ").map(|(_, call)| call)) {
        let (head, args) = call.split_once('(').unwrap();
        let types: Vec<String> =
            args.trim_end_matches(')').split(", ").map(|arg| arg.rsplit_once(' ').unwrap().0.to_owned()).collect();
        all.push(format!("declare {head}({})\n", types.join(", ")));
    }
    all.sort();
    all.dedup();
    all.concat()
}

/// A kernel that computes all operations for each work-item's two integers.
fn kernel(w: u32, operations: &[Operation]) -> String {
    let combine = |name: &str| {
        format!(
            "%{name}lo = zext i64 %{name}0 to i128\n%{name}hi = zext i64 %{name}1 to i128\n%{name}up = shl i128 %{name}hi, 64
            %{name}all = or i128 %{name}lo, %{name}up\n%{name} = {}\n",
            if w == 128 { format!("or i128 %{name}all, 0") } else { format!("trunc i128 %{name}all to i{w}") }
        )
    };
    let loads: String = ["a0", "a1", "b0", "b1"]
        .into_iter()
        .zip(0..)
        .map(|(name, n)| {
            let at = format!("%i{n} = add i64 %base, {n}\n%p{n} = getelementptr i64, ptr addrspace(1) %in, i64 %i{n}");
            format!("{at}\n%{name} = load i64, ptr addrspace(1) %p{n}, align 8\n")
        })
        .collect();
    let mut body = String::new();
    for (n, operation) in operations.iter().enumerate() {
        // Names of an operation's own are its alone.
        let mut own = String::new();
        let mut rest = operation.ir.as_str();
        while let Some(at) = rest.find('%') {
            own.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            match &rest[..end] {
                name @ ("a" | "b") => own.push_str(name),
                name => write!(own, "o{n}.{name}").unwrap(),
            }
            rest = &rest[end..];
        }
        own.push_str(rest);
        let (r, bits) = (format!("%o{n}.r"), operation.bits);
        let wide = match bits {
            128 => format!("%out{n}.w = or i128 {r}, 0"),
            _ => format!("%out{n}.w = zext i{bits} {r} to i128"),
        };
        writeln!(
            body,
            "{own}\n{wide}\n%out{n}.lo = trunc i128 %out{n}.w to i64\n%out{n}.up = lshr i128 %out{n}.w, 64
            %out{n}.hi = trunc i128 %out{n}.up to i64
            %out{n}.at = add i64 %first, {}\n%out{n}.p = getelementptr i64, ptr addrspace(1) %out, i64 %out{n}.at
            %out{n}.q = getelementptr i64, ptr addrspace(1) %out{n}.p, i64 1
            store i64 %out{n}.lo, ptr addrspace(1) %out{n}.p, align 8\nstore i64 %out{n}.hi, ptr addrspace(1) %out{n}.q, align 8",
            2 * n
        )
        .unwrap();
    }
    format!(
        "target triple = \"spirv64-unknown-unknown\"\ndeclare spir_func i64 @_Z13get_global_idj(i32)\n{}
        define spir_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {{\nentry:
        %id = call spir_func i64 @_Z13get_global_idj(i32 0)\n%base = shl i64 %id, 2\n%first = mul i64 %id, {}
        {loads}{}{}{body}ret void\n}}\n",
        declarations(&body),
        2 * operations.len(),
        combine("a"),
        combine("b"),
    )
}

/// An OpenCL device and the simulator.
struct Machines {
    device: OpenClExecutor,
    simulator: Simulator,
}

impl Machines {
    fn start() -> Machines {
        Machines { device: opencl().unwrap(), simulator: Simulator::new(1).unwrap() }
    }

    /// Runs a kernel on both; returns what it leaves in its last argument.
    fn outputs(&mut self, text: &str, args: &[Vec<u8>], items: u64) -> Vec<(&'static str, Vec<u8>)> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("k.ll");
        std::fs::write(&file, text).unwrap();
        let context = Context::create();
        let opened = open_bare(&context, &file, Some("k"), &KernelOptions::default());
        let under_test = opened.unwrap_or_else(|e| panic!("{e}\n{text}")).under_test;
        let buffers = args.iter().map(|bytes| ArgValue::Buffer(Arc::new(bytes.clone()))).collect();
        let launch = Launch::new(line(items, items.min(16)), buffers);
        let last = args.len() as u32 - 1;
        let of = |outputs: &[(u32, Vec<u8>)]| outputs.iter().find(|(at, _)| *at == last).unwrap().1.clone();
        let code = under_test.plain(Target::SpirV).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let program = self.device.load(&code).unwrap_or_else(|e| panic!("{e}"));
        let seen = self.device.run(program, &launch, &once()).unwrap().unwrap();
        self.device.unload(program);
        let mut all = vec![("device", of(&seen.outputs))];
        for (name, effort, races) in [("simulator", Effort::Full, false), ("simulator with races", Effort::Quick, true)]
        {
            let (module, table) = under_test.hooked(under_test.module.clone(), false, races).unwrap();
            let object = emit(&module, "k", effort).unwrap_or_else(|e| panic!("{e}"));
            let code = Arc::new(NativeCode { object, entry: "k".into(), table });
            let program = self.simulator.load_native(&code).unwrap_or_else(|e| panic!("{name}: {e}"));
            let options = SimulationOptions { races, ..SimulationOptions::default() };
            let seen = self.simulator.simulate(program, &launch, &options, Duration::from_secs(60), &[]).unwrap();
            assert!(seen.completed && seen.faults.is_empty() && seen.conflicts.is_empty(), "{name}: {:?}", seen.faults);
            self.simulator.unload(program);
            all.push((name, of(&seen.observation.outputs)));
        }
        all
    }
}

/// Pairs of integers of a width.
fn pairs(w: u32, random: &mut ChaCha8Rng) -> Vec<(u128, u128)> {
    let sign = 1 << (w - 1);
    let edges =
        [0, 1, 2, 3, ones(w), ones(w) - 1, sign, sign - 1, sign | 1, (ones(128) / 3) & ones(w), ones(w.div_ceil(2))];
    let mut all: Vec<(u128, u128)> = edges.iter().flat_map(|a| edges.map(|b| (*a & ones(w), b & ones(w)))).collect();
    while all.len() < 256 {
        let mut any = || random.random::<u128>() >> random.random_range(0..128) & ones(w);
        all.push((any(), any()));
    }
    all
}

#[test]
fn every_operation_on_integers_of_every_width_is_right() {
    let mut machines = Machines::start();
    let mut random = ChaCha8Rng::seed_from_u64(33);
    let mut wrong = Vec::new();
    for w in [2, 3, 5, 7, 8, 9, 12, 16, 17, 24, 31, 32, 33, 35, 48, 63, 64, 65, 80, 96, 127, 128] {
        let operations = operations(w);
        let pairs = pairs(w, &mut random);
        let words = |n: u128| [(n as u64).to_le_bytes(), ((n >> 64) as u64).to_le_bytes()].concat();
        let given: Vec<u8> = pairs.iter().flat_map(|(a, b)| [words(*a), words(*b)].concat()).collect();
        let room = vec![0; 16 * operations.len() * pairs.len()];
        for (name, seen) in machines.outputs(&kernel(w, &operations), &[given, room], pairs.len() as u64) {
            let mut results = seen.as_chunks::<16>().0.iter().map(|bytes| u128::from_le_bytes(*bytes));
            for (a, b) in &pairs {
                for operation in &operations {
                    let (seen, expected) = (results.next().unwrap(), (operation.value)(*a, *b));
                    if seen != expected {
                        wrong.push(format!(
                            "{name}: i{w} {} of {a:#x} and {b:#x}: {seen:#x}, not {expected:#x}",
                            operation.name
                        ));
                    }
                }
            }
        }
    }
    wrong.sort();
    let first: Vec<&String> = wrong.iter().step_by(wrong.len().div_ceil(60).max(1)).collect();
    assert!(wrong.is_empty(), "{} results are wrong: {first:#?}", wrong.len());
}

#[test]
fn odd_integers_lie_in_memory_as_llvm_lays_them_out() {
    let mut machines = Machines::start();
    for w in [1_u32, 2, 7, 12, 17, 24, 33, 40, 63, 65, 80, 96, 127, 128] {
        let bytes = w.div_ceil(8) as usize;
        let given = 0xfedc_ba98_7654_3210_0f1e_2d3c_4b5a_6978_u128 & ones(w);
        // The next bytes stay, whatever they are; of the last byte of the integer, bits beyond it do not count.
        let text = format!(
            "target triple = \"spirv64-unknown-unknown\"
            @table = private unnamed_addr addrspace(2) constant [3 x i{w}] [i{w} 1, i{w} {given}, i{w} -1], align 16
            define spir_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {{
            %n = load i64, ptr addrspace(1) %in, align 8\n%from = getelementptr i8, ptr addrspace(1) %in, i64 8
            %x = load i{w}, ptr addrspace(1) %from, align 1\n%y = xor i{w} %x, -1
            store i{w} %y, ptr addrspace(1) %out, align 4
            %p = getelementptr inbounds [3 x i{w}], ptr addrspace(2) @table, i64 0, i64 %n
            %z = load i{w}, ptr addrspace(2) %p, align 1
            %second = getelementptr i8, ptr addrspace(1) %out, i64 32
            store i{w} %z, ptr addrspace(1) %second, align 1
            %v0 = insertelement <4 x i{w}> poison, i{w} %x, i32 0\n%v1 = insertelement <4 x i{w}> %v0, i{w} %y, i32 1
            %v2 = insertelement <4 x i{w}> %v1, i{w} %z, i32 2\n%v3 = insertelement <4 x i{w}> %v2, i{w} %x, i32 3
            %third = getelementptr i8, ptr addrspace(1) %out, i64 64
            store <4 x i{w}> %v3, ptr addrspace(1) %third, align 8
            %v = load <4 x i{w}>, ptr addrspace(1) %third, align 8\n%l = extractelement <4 x i{w}> %v, i32 1
            %fourth = getelementptr i8, ptr addrspace(1) %out, i64 160\nstore i{w} %l, ptr addrspace(1) %fourth, align 1
            ret void\n}}\n"
        );
        let mut input = 1_u64.to_le_bytes().to_vec();
        input.extend(given.to_le_bytes());
        let (x, y) = (given, !given & ones(w));
        let mut expected = vec![0xaa_u8; 192];
        let mut put = |at: usize, bits: u128, bytes: usize| {
            expected[at..at + bytes].copy_from_slice(&bits.to_le_bytes()[..bytes])
        };
        put(0, y, bytes);
        put(32, given, bytes);
        put(160, y, bytes);
        // Lanes follow each other bit by bit.
        let mut lanes = vec![0_u8; (4 * w).div_ceil(8) as usize];
        for (n, lane) in [x, y, given, x].into_iter().enumerate() {
            for bit in 0..w {
                let at = n as u32 * w + bit;
                lanes[(at / 8) as usize] |= ((lane >> bit & 1) as u8) << (at % 8);
            }
        }
        expected[64..64 + lanes.len()].copy_from_slice(&lanes);
        for (name, seen) in machines.outputs(&text, &[input, vec![0xaa; 192]], 1) {
            assert_eq!(seen, expected, "{name}: i{w}");
        }
    }
}

#[test]
fn vectors_of_odd_lengths_are_right() {
    let mut machines = Machines::start();
    for lanes in [1_u64, 2, 3, 5, 7, 8, 16, 32] {
        for (ty, add, mul, reduce) in
            [("i32", "add", "mul", "add"), ("float", "fadd", "fmul", "fadd"), ("i8", "add", "mul", "umax")]
        {
            let (v, suffix) = (format!("<{lanes} x {ty}>"), if ty == "float" { "f32" } else { ty });
            let bytes = if ty == "i8" { 1 } else { 4 };
            let start = if ty == "float" { "float 0.0, " } else { "" };
            let compare = if ty == "float" { "fcmp olt" } else { "icmp ult" };
            let take = if ty == "float" { "llvm.maxnum" } else { "llvm.umax" };
            let last = lanes - 1;
            let shuffled: Vec<String> = (0..lanes).map(|n| format!("i32 {}", (n * 5 + 1) % (2 * lanes))).collect();
            let text = format!(
                "target triple = \"spirv64-unknown-unknown\"
                declare {ty} @llvm.vector.reduce.{reduce}.v{lanes}{suffix}({}{v})
                declare {v} @{take}.v{lanes}{suffix}({v}, {v})
                define spir_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {{
                entry:
                %n = load i32, ptr addrspace(1) %in, align 4\n%q = getelementptr i8, ptr addrspace(1) %in, i64 4
                %a = load {v}, ptr addrspace(1) %q, align 4
                %b = shufflevector {v} %a, {v} zeroinitializer, <{lanes} x i32> <{}>
                br label %loop
                loop:
                %i = phi i32 [ 0, %entry ], [ %next, %loop ]\n%sum = phi {v} [ %a, %entry ], [ %more, %loop ]
                %product = {mul} {v} %sum, %b\n%more = {add} {v} %product, %a\n%next = add i32 %i, 1
                %again = icmp ult i32 %next, %n\nbr i1 %again, label %loop, label %end
                end:
                %c = {compare} {v} %more, %a\n%s = select <{lanes} x i1> %c, {v} %more, {v} %b
                %t = call {v} @{take}.v{lanes}{suffix}({v} %s, {v} %a)
                %at = urem i32 %n, {lanes}\n%x = extractelement {v} %t, i32 %at\n%w = insertelement {v} %t, {ty} %x, i32 {last}
                %r = call {ty} @llvm.vector.reduce.{reduce}.v{lanes}{suffix}({start}{v} %w)
                %u = insertelement {v} %w, {ty} %r, i32 %at
                store {v} %u, ptr addrspace(1) %out, align 4\nret void\n}}\n",
                if ty == "float" { "float, " } else { "" },
                shuffled.join(", ")
            );
            let values: Vec<u32> = (0..lanes as u32).map(|n| 1 + n % 3).collect();
            let encode = |n: u32| match ty {
                "i8" => vec![n as u8],
                "float" => (n as f32).to_le_bytes().to_vec(),
                _ => n.to_le_bytes().to_vec(),
            };
            let mut input = 3_u32.to_le_bytes().to_vec();
            input.extend(values.iter().flat_map(|n| encode(*n)));
            // The values are small enough for floats to be exact, and for bytes to be kept apart.
            let wrap = |n: u32| if ty == "i8" { n & 0xff } else { n };
            let b: Vec<u32> = (0..lanes as usize)
                .map(|n| values.get((n * 5 + 1) % (2 * lanes as usize)).copied().unwrap_or(0))
                .collect();
            let mut sum = values.clone();
            for _ in 0..3 {
                sum = sum.iter().zip(&b).zip(&values).map(|((sum, b), a)| wrap(sum * b + a)).collect();
            }
            let chosen = sum.iter().zip(&b).zip(&values).map(|((sum, b), a)| if sum < a { *sum } else { *b });
            let mut t: Vec<u32> = chosen.zip(&values).map(|(s, a)| s.max(*a)).collect();
            let at = 3 % lanes as usize;
            t[last as usize] = t[at];
            let r = if reduce == "umax" { *t.iter().max().unwrap() } else { t.iter().sum() };
            t[at] = wrap(r);
            let expected: Vec<u8> = t.into_iter().flat_map(encode).collect();
            let room = vec![0; (lanes * bytes) as usize];
            for (name, seen) in machines.outputs(&text, &[input, room], 1) {
                assert_eq!(seen, expected, "{name}: {v}");
            }
        }
    }
}

#[test]
fn control_flow_on_odd_integers_is_right() {
    let mut machines = Machines::start();
    for w in [2_u32, 3, 7, 24, 33, 64, 65, 128] {
        let case = |n: i64| if w == 2 { (n & 3).to_string() } else { n.to_string() };
        let text = format!(
            "target triple = \"spirv64-unknown-unknown\"\ndeclare spir_func i64 @_Z13get_global_idj(i32)
            define internal spir_func i{w} @helper(i{w} %x, i{w} %y) {{
            %r = mul i{w} %x, %y\nret i{w} %r\n}}
            define spir_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {{
            entry:
            %id = call spir_func i64 @_Z13get_global_idj(i32 0)
            %p = getelementptr i64, ptr addrspace(1) %in, i64 %id\n%word = load i64, ptr addrspace(1) %p, align 8
            %wide = sext i64 %word to i160\n%x = trunc i160 %wide to i{w}
            switch i{w} %x, label %other [ i{w} 0, label %zero
            i{w} 1, label %one
            i{w} {}, label %minus
            i{w} {}, label %one ]
            zero:\nbr label %end\none:\nbr label %end\nminus:\nbr label %end\nother:\nbr label %end
            end:
            %r = phi i64 [ 10, %zero ], [ 11, %one ], [ 12, %minus ], [ 13, %other ]
            %s = phi i{w} [ 1, %zero ], [ %x, %one ], [ -1, %minus ], [ %x, %other ]
            %m = call spir_func i{w} @helper(i{w} %s, i{w} %s)\n%up = zext i{w} %m to i160\n%low = trunc i160 %up to i64
            %all = add i64 %low, %r\n%q = getelementptr i64, ptr addrspace(1) %out, i64 %id
            store i64 %all, ptr addrspace(1) %q, align 8\nret void\n}}\n",
            case(-1),
            case(2)
        );
        let values: Vec<i64> = vec![0, 1, 2, 3, -1, -2, 4, 1 << 40];
        let expected: Vec<u8> = values
            .iter()
            .flat_map(|word| {
                let x = i128::from(*word).cast_unsigned() & ones(w);
                let (r, s) = match x {
                    0 => (10, 1),
                    1 => (11, 1),
                    x if x == ones(w) => (12, ones(w)),
                    2 => (11, 2),
                    x => (13, x),
                };
                let m = s.wrapping_mul(s) & ones(w);
                (m as u64).wrapping_add(r).to_le_bytes()
            })
            .collect();
        let input: Vec<u8> = values.iter().flat_map(|word| word.to_le_bytes()).collect();
        for (name, seen) in machines.outputs(&text, &[input, vec![0; 64]], 8) {
            assert_eq!(seen, expected, "{name}: i{w}");
        }
    }
}
