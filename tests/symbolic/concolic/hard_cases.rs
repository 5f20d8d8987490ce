//! Checks that each hard case is reached from a launch of zeros, within few proposals.

use kassay_prove::symbolic::concolic::{Bound, Ranges};
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::scalar_layout::Number;

use super::support::{kernel, search, zeros};

/// Checks that at most `most` proposals cover all outcomes of a kernel, starting from zeros.
fn covers_all(source: &str, most: usize) {
    let kernel = kernel(source);
    let seed = zeros(&kernel.interface, 16, 4, 64);
    let started = std::time::Instant::now();
    let found = search(&kernel, &seed, &[], Ranges::default(), most);
    eprintln!("{} proposals, {:?}, {:?}", found.proposals.len(), started.elapsed(), found.statistics);
    assert!(found.open.is_empty(), "{:?}, {:?}", kernel.names(&found.open), found.statistics);
}

#[test]
fn a_constant_of_32_bits() {
    covers_all("kernel void k(global int *out, int n) { if (n == 123456789) out[0] = 1; else out[0] = 2; }", 2);
}

#[test]
fn an_argument_that_is_an_id() {
    covers_all(
        "kernel void k(global int *out, uint n) {
            uint i = get_global_id(0);
            if (i == n && n > 9) out[i] = 1;
        }",
        4,
    );
    // No work-item of the seed launch has that id.
    covers_all(
        "kernel void k(global int *out, uint n) {
            uint i = get_global_id(0);
            if (i == n && n == 21) out[i] = 1;
        }",
        4,
    );
}

#[test]
fn an_element_at_a_computed_index() {
    covers_all(
        "kernel void k(global const int *a, global int *out, int n) {
            int i = get_global_id(0);
            if (n > 3 && a[(i * 7) % n] == 12345) out[i] = 1;
        }",
        5,
    );
}

#[test]
fn guards_five_deep() {
    covers_all(
        "kernel void k(global int *out, int a, int b, int c, int d, int e) {
            if (a > 10)
                if (b == a * 3)
                    if ((c ^ b) == 77)
                        if (d - c == 1000)
                            if (e == (a + b + c + d)) out[0] = 1;
        }",
        11,
    );
}

#[test]
fn launches_that_do_not_divide() {
    covers_all(
        "kernel void k(global int *out, int n) {
            int i = get_global_id(0);
            if (n > 10 && i >= n) return;
            if (n % (int)get_local_size(0) != 0 && n > 20) out[i] = n;
        }",
        8,
    );
    covers_all(
        "kernel void k(global int *out) {
            if (get_global_size(0) / get_local_size(0) == 5) out[get_global_id(0)] = 1;
            if (get_local_size(0) % 3 == 0) out[get_global_id(0)] = 2;
        }",
        4,
    );
}

#[test]
fn a_window_of_floats() {
    covers_all(
        "kernel void k(global const float *x, global int *out) {
            float v = x[get_global_id(0)];
            if (v > 0.4999f && v * 2.0f < 1.0001f) out[0] = 1;
        }",
        4,
    );
}

#[test]
fn a_component_of_a_vector() {
    covers_all(
        "kernel void k(global const float4 *x, int4 c, global int *out) {
            float4 v = x[get_global_id(0)];
            if (v.z == 3.5f && c.w == 99) out[0] = 1;
            if (all(c.xy == (int2)(7, 8))) out[1] = 1;
        }",
        6,
    );
}

#[test]
fn a_field_of_a_struct() {
    covers_all(
        "typedef struct { char tag; int count; float f; } In;
        typedef struct { In in; short s[3]; } Out;
        kernel void k(global const Out *x, In by_value, global int *out) {
            int i = get_global_id(0);
            if (x[i].in.count == 5150 && x[i].s[1] == -3) out[0] = 1;
            if (by_value.count == 31337 && by_value.tag == 'x') out[1] = 1;
        }",
        8,
    );
}

#[test]
fn a_checksum() {
    covers_all(
        "kernel void k(global const uint *x, global int *out) {
            uint i = get_global_id(0), sum = 0;
            if (i > 0) return;
            for (int j = 0; j < 8; j++) sum = sum * 31 + x[j];
            if (sum == 0xdeadbeefu) out[0] = 1;
        }",
        3,
    );
}

#[test]
fn a_value_of_another_work_item() {
    covers_all(
        "kernel void k(global const int *x, global int *out) {
            local int t[4];
            int l = get_local_id(0);
            t[l] = x[get_global_id(0)] * 3;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (t[3 - l] == 2997) out[get_global_id(0)] = 1;
        }",
        2,
    );
    // The stored value depends on what the work-item read.
    covers_all(
        "kernel void k(global const int *x, global int *out) {
            local int flag[4];
            int l = get_local_id(0);
            flag[l] = 0;
            if (x[get_global_id(0)] == 77) flag[l] = 1;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (l == 0 && flag[2] == 1) out[0] = 1;
        }",
        6,
    );
}

#[test]
fn a_machine_of_three_steps() {
    covers_all(
        "kernel void k(global const uchar *word, global int *out) {
            int state = 0;
            for (int j = 0; j < 4; j++) {
                uchar c = word[j];
                switch (state) {
                    case 0: state = c == 'a' ? 1 : 0; break;
                    case 1: if (c == 'b') state = 2; else state = 0; break;
                    case 2: if (c == 'c') state = 3; else state = 0; break;
                }
            }
            if (state == 3) out[get_global_id(0)] = 1;
        }",
        10,
    );
}

#[test]
fn nested_structs_through_pointers() {
    covers_all(
        "struct Leaf { int key; uchar kind; };
        struct Node { struct Leaf leaves[3]; int next; };
        kernel void k(global const struct Node *nodes, global int *out) {
            global const struct Node *node = &nodes[get_global_id(0)];
            int next = node->next;
            if (next <= 0 || next > 50) return;
            global const struct Leaf *leaf = &nodes[next].leaves[2];
            if (leaf->kind == 9 && leaf->key == 424242) out[0] = next;
        }",
        8,
    );
}

#[test]
fn a_loop_of_seventeen_iterations() {
    covers_all(
        "kernel void k(global int *out, int n) {
            int turns = 0;
            for (int i = 0; i < n; i++) turns++;
            if (turns == 17) out[0] = 1;
        }",
        6,
    );
    // Each iteration reads the input.
    covers_all(
        "kernel void k(global const int *next, global int *out) {
            int turns = 0, at = 0;
            while (next[at] > at && turns < 40) { at = next[at]; turns++; }
            if (turns == 17) out[0] = 1;
        }",
        8,
    );
}

fn int(launch: &Launch, position: usize) -> i32 {
    match &launch.args[position] {
        ArgValue::Value(bytes) => i32::from_le_bytes(bytes[..4].try_into().unwrap()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn bounds_are_kept() {
    let kernel = kernel(
        "kernel void k(global int *out, global const int *x, int n, int m) {
            if (n > 10) out[0] = 1;
            if (n < -20) out[1] = 1;
            if (m == 5) out[2] = 1;
            if (x[get_global_id(0)] > 90) out[3] = 1;
            if (get_global_size(0) > 100) out[4] = 1;
        }",
    );
    let seed = zeros(&kernel.interface, 16, 4, 64);
    let numbers = |position, least, greatest| Bound {
        position,
        fixed: false,
        least: Some(Number::Integer(least)),
        greatest: Some(Number::Integer(greatest)),
    };
    let fixed = Bound { position: 3, fixed: true, least: None, greatest: None };
    let bounds = [numbers(1, 0, 91), numbers(2, -15, 12), fixed];
    let ranges = Ranges { max_items: 64, ..Ranges::default() };
    let found = search(&kernel, &seed, &bounds, ranges, 20);
    let left: Vec<u32> = kernel.names(&found.open).iter().map(|(line, _)| *line).collect();
    assert_eq!(left, [3, 4, 6], "{:?}", kernel.names(&found.open));
    for launch in &found.launches {
        assert!((-15..=12).contains(&int(launch, 2)));
        assert_eq!(int(launch, 3), 0);
        assert_eq!(launch.range, seed.range);
    }
    assert!(found.launches.iter().any(|l| matches!(&l.args[1], ArgValue::Buffer(b) if b.contains(&91))));
    let freely = search(&kernel, &seed, &[], Ranges::default(), 20);
    assert!(freely.open.is_empty(), "{:?}", kernel.names(&freely.open));
}

#[test]
fn launches_change_their_geometry() {
    let kernel = kernel(
        "kernel void k(global int *out) {
            int v = 0;
            if (get_local_id(0) == 201 && get_num_groups(0) > 60) v = 1;
            if (get_work_dim() == 3 && get_global_size(2) == 7 && get_local_size(1) == 5) v += 2;
            if (get_global_offset(0) == 1234567) v += 4;
            if (get_global_id(0) == 5000000000UL) v += 8;
            if (get_group_id(0) == 1000 && get_local_id(0) == 3) v += 16;
            if (get_global_size(0) == 3 * get_local_size(0) && get_local_size(0) > 9) v += 32;
            out[get_local_id(0)] = v;
        }",
    );
    let seed = zeros(&kernel.interface, 16, 4, 64);
    let ranges = Ranges { max_items: 1 << 20, max_group: 1024, ..Ranges::default() };
    let found = search(&kernel, &seed, &[], ranges.clone(), 40);
    assert!(found.open.is_empty(), "{:?}", kernel.names(&found.open));
    // Outcomes that need no large launch get none, and no launch exceeds the limit.
    assert!(found.launches.iter().filter(|l| l.range.items() > 4096).count() <= 3);
    assert!(found.launches.iter().all(|l| l.range.items() <= 1 << 20 && l.range.group_items() <= 1024));
    let small = Ranges { max_items: 4096, ..ranges };
    let found = search(&kernel, &seed, &[], small, 40);
    let mut left: Vec<u32> = kernel.names(&found.open).iter().map(|(line, _)| *line).collect();
    left.dedup();
    assert_eq!(left, [3], "{:?}", kernel.names(&found.open));
}

#[test]
fn sizes_change_after_barriers_and_local_memory_grows_with_them() {
    let kernel = kernel(
        "kernel void k(global const int *in, global int *out, local int *row) {
            int l = get_local_id(0);
            row[l] = in[get_global_id(0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            int v = row[get_local_size(0) - 1 - l];
            barrier(CLK_LOCAL_MEM_FENCE);
            if (get_local_size(0) == 96 && get_num_groups(0) == 11) v = -v;
            out[get_global_id(0)] = v;
        }",
    );
    let seed = zeros(&kernel.interface, 16, 4, 64);
    let found = search(&kernel, &seed, &[], Ranges::default(), 20);
    assert!(found.open.is_empty(), "{:?}", kernel.names(&found.open));
    assert!(found.launches.iter().any(|l| l.range.local == Some([96, 1, 1]) && l.args[2] == ArgValue::Local(384)));
}

#[test]
fn equal_searches_give_equal_proposals() {
    let kernel = kernel(
        "kernel void k(global const int *next, global int *out, float f) {
            int at = 0;
            for (int turns = 0; turns < 5 && next[at] > at; turns++) at = next[at];
            if (at > 20 && f * f > 2.0f && f < 1.5f) out[get_global_id(0)] = at;
        }",
    );
    let seed = zeros(&kernel.interface, 16, 4, 64);
    let once = search(&kernel, &seed, &[], Ranges::default(), 20);
    let again = search(&kernel, &seed, &[], Ranges::default(), 20);
    assert!(once.open.is_empty(), "{:?}", kernel.names(&once.open));
    assert_eq!(once.proposals, again.proposals);
}

#[test]
fn solved_inputs_do_not_overflow() {
    // Only modulo 2^32 is 3 * 0xaaaaaaab equal to 1, and signed integers are not computed so.
    let kernel = kernel("kernel void k(global int *out, int n) { if (n * 3 == 1) out[0] = 1; }");
    let found = search(&kernel, &zeros(&kernel.interface, 16, 4, 64), &[], Ranges::default(), 5);
    assert!(found.launches.is_empty(), "{:?}", found.proposals);
    covers_all("kernel void k(global int *out, uint n) { if (n * 3 == 1) out[0] = 1; }", 2);
    covers_all("kernel void k(global int *out, int n, int m) { if (n * m > 1000000) out[0] = n + m; }", 2);
    // A hash overflows whatever its input.
    covers_all(
        "kernel void k(global int *out, int n) {
            int h = 2000000000;
            for (int i = 0; i < 4; i++) h = h * 31 + n;
            if ((h & 1023) == 192) out[0] = h;
        }",
        4,
    );
}
