//! Checks what flows from atomics and from racing accesses to addresses, branches and barriers, on small kernels.

use inkwell::passes::PassBuilderOptions;
use kassay_ir::cfg::schedule_dependence::{self, Origin, Sink};
use kassay_ir::llvm::{Context, DebugLocation, Inst, Opcode, View};

use crate::common::kernels::{cl_std, open, source_file};

/// Returns the flows in `source`'s only kernel if the accesses in the lines `racing` race: the sink, its line, and
/// whether the origin is a race.
fn flows(source: &str, racing: &[u32]) -> Vec<(Sink, u32, bool)> {
    let (_folder, path) = source_file(source);
    let context = Context::create();
    let under_test = open(&context, &path, None, &cl_std("CL3.0")).unwrap().under_test;
    let module = under_test.module.clone();
    let passes = "function(sroa<preserve-cfg>)";
    module.run_passes(passes, &under_test.machine, PassBuilderOptions::create()).unwrap();
    let all = View::of(&module).instructions().into_iter();
    let places: Vec<DebugLocation> = all.filter_map(Inst::location).filter(|l| racing.contains(&l.line)).collect();
    let mut accesses = places.clone();
    if racing.contains(&0) {
        accesses.push(DebugLocation { file: String::new(), line: 0, column: 0 });
    }
    // Only accesses can race.
    accesses.retain(|place| place.line == 0 || is_access(&module, place));
    let found = schedule_dependence::flows(&module, &under_test.entry, &accesses);
    let line = |l: &Option<DebugLocation>| l.as_ref().map_or(0, |l| l.line);
    found.iter().map(|f| (f.sink, line(&f.location), matches!(f.origin, Origin::Race(_)))).collect()
}

fn is_access(module: &inkwell::module::Module<'_>, place: &DebugLocation) -> bool {
    let mut all = View::of(module).instructions().into_iter().filter(|i| i.location().as_ref() == Some(place));
    all.any(|i| i.is(Opcode::LLVMLoad) || i.is(Opcode::LLVMStore) || i.callee().is_some_and(|c| c.contains("vstore")))
}

const NOTHING: [(Sink, u32, bool); 0] = [];

#[test]
fn inputs_are_the_same_in_every_interleaving() {
    let source = "kernel void k(global int *x, global const int *index, int n) {
        int i = get_global_id(0);
        if (index[i] < n)
            x[index[i]] = n / index[i];
        barrier(CLK_GLOBAL_MEM_FENCE);
    }";
    assert_eq!(flows(source, &[]), NOTHING);
}

#[test]
fn an_atomic_that_gives_an_index_decides_an_address() {
    let source = "kernel void k(global int *x, volatile global int *count) {
        int slot = atomic_inc(count);
        x[slot] = 1;
        if (slot == 7)
            x[0] = 2;
        x[1] = x[2] / slot;
    }";
    assert_eq!(flows(source, &[]), [(Sink::Address, 3, false), (Sink::Branch, 4, false), (Sink::Divisor, 6, false)]);
}

#[test]
fn values_of_atomics_may_go_to_memory() {
    let source = "kernel void k(global int *x, volatile global int *count) {
        int i = get_global_id(0);
        x[i] = atomic_inc(count);
    }";
    assert_eq!(flows(source, &[]), NOTHING);
}

#[test]
fn values_come_back_from_memory() {
    let source = "kernel void k(global int *x, global int *y, volatile global int *count) {
        int i = get_global_id(0);
        x[i] = atomic_inc(count);
        barrier(CLK_GLOBAL_MEM_FENCE);
        y[x[i]] = 1;
    }";
    assert_eq!(flows(source, &[]), [(Sink::Address, 5, false)]);
}

#[test]
fn sums_do_not_depend_on_the_order_of_their_parts() {
    let with = |first: &str, second: &str| {
        format!(
            "kernel void k(global int *x, volatile local int *count, global const int *data) {{
                int i = get_local_id(0);
                {first}
                {second}
                barrier(CLK_LOCAL_MEM_FENCE);
                if (count[i] > 3)
                    x[i] = 1;
            }}"
        )
    };
    let add = "atomic_add(&count[data[i]], 2);";
    assert_eq!(flows(&with(add, "atomic_dec(&count[i]);"), &[]), NOTHING);
    assert_eq!(flows(&with(add, "atomic_max(&count[i], 3);"), &[]), [(Sink::Branch, 6, false)]);
    assert_eq!(flows(&with(add, "atomic_xchg(&count[i], 3);"), &[]), [(Sink::Branch, 6, false)]);
    assert_eq!(flows(&with(add, "x[0] = atomic_add(&count[i], 3);"), &[]), [(Sink::Branch, 6, false)]);
}

#[test]
fn sums_of_atomic_results_do_depend_on_the_order() {
    let source = "kernel void k(global int *x, volatile global int *a, volatile global int *b) {
        atomic_add(b, atomic_inc(a));
        barrier(CLK_GLOBAL_MEM_FENCE);
        x[*b] = 1;
    }";
    assert_eq!(flows(source, &[]), [(Sink::Address, 4, false)]);
}

#[test]
fn racing_reads_and_writes_count_where_they_race() {
    let source = "kernel void k(global int *x, global int *y) {
        int i = get_global_id(0);
        x[0] = i;
        int one = x[1];
        y[i] = one;
        if (x[2] > 0)
            y[one] = 2;
    }";
    assert_eq!(flows(source, &[]), NOTHING);
    // The last writer decides what is in `x`.
    assert_eq!(flows(source, &[3]), [(Sink::Branch, 6, true), (Sink::Address, 7, true)]);
    assert_eq!(flows(source, &[4]), [(Sink::Address, 7, true)]);
    assert_eq!(flows(source, &[6]), [(Sink::Branch, 6, true)]);
}

#[test]
fn races_at_unknown_places_may_be_anywhere() {
    let source = "kernel void k(global int *x, global const int *index) {
        int i = index[get_global_id(0)];
        x[i] = i;
        if (x[i + 1] > 0)
            x[i] = 2;
    }";
    assert_eq!(flows(source, &[0]), [(Sink::Branch, 4, true)]);
}

#[test]
fn values_go_through_helpers_and_private_variables() {
    let source = "int next(volatile global int *count) { return atomic_inc(count); }
    void put(global int *x, int at) { x[at] = 1; }
    kernel void k(global int *x, volatile global int *count) {
        int kept[2], j = get_local_id(0) & 1;
        kept[j] = next(count);
        kept[1 - j] = 0;
        put(x, kept[0]);
        for (int i = 0; i < kept[1]; i++)
            x[i] = 0;
    }";
    // The analysis treats an array as one place.
    assert_eq!(flows(source, &[]), [(Sink::Address, 2, false), (Sink::Branch, 8, false)]);
}

#[test]
fn builtins_that_access_memory_have_addresses() {
    let source = "kernel void k(global float *x, volatile global int *count) {
        int slot = atomic_inc(count);
        vstore4((float4)(slot), 0, x);
        vstore4((float4)(1), slot, x);
        float4 v = vload4(slot, x);
        vstore4(v, 3, x);
    }";
    assert_eq!(flows(source, &[]), [(Sink::Address, 4, false), (Sink::Address, 5, false)]);
}

#[test]
fn c11_atomics_are_atomics() {
    let source = "kernel void k(global int *x, volatile global atomic_int *flag) {
        if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device))
            x[0] = 1;
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    }";
    assert_eq!(flows(source, &[]), [(Sink::Branch, 2, false)]);
}

#[test]
fn flows_are_described_in_a_sentence() {
    let place = |line| Some(DebugLocation { file: "k.cl".to_owned(), line, column: 1 });
    let flow = schedule_dependence::Flow { sink: Sink::Branch, location: place(9), origin: Origin::Atomic(place(7)) };
    assert_eq!(flow.to_string(), "a value of an atomic in line 7 decides a branch in line 9");
    let flow = schedule_dependence::Flow { sink: Sink::Address, location: None, origin: Origin::Race(None) };
    assert_eq!(flow.to_string(), "a value of a racing access decides an address");
}
