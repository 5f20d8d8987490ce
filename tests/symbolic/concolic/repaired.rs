//! Checks that launches that fault are changed until they do not, and that proposals consist of whole elements.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_model::interface::ArgKind;
use kassay_prove::symbolic::concolic::{Engine, Limits, Ranges};
use kassay_suite::launch::{ArgValue, Launch};

use super::support::{self, Kernel};
use crate::common::launches::words;

fn repaired(kernel: &Kernel, launch: &Launch) -> Option<Launch> {
    let mut engine = Engine::new(&kernel.program, &kernel.interface, &[], Ranges::default());
    let limits = Limits { end: Some(Instant::now() + Duration::from_secs(60)), ..Limits::default() };
    engine.avoid_fault(launch, &limits)
}

fn ints(value: &ArgValue) -> Vec<i32> {
    let ArgValue::Buffer(bytes) = value else { panic!("no buffer") };
    words(bytes)
}

#[test]
fn a_zero_divisor_in_a_buffer_is_repaired() {
    let kernel = support::kernel(
        "kernel void k(global const int *size, global int *out) { int n = size[0]; out[get_global_id(0)] = 100 / n; }",
    );
    let zeros = support::zeros(&kernel.interface, 4, 4, 4);
    let launch = repaired(&kernel, &zeros).expect("a launch");
    assert_ne!(ints(&launch.args[0])[0], 0);
    // The repaired launch has no fault left.
    assert_eq!(repaired(&kernel, &launch), None);
}

#[test]
fn divisors_are_repaired_one_after_another_and_for_every_work_item() {
    let kernel = support::kernel(
        "kernel void k(global const int *a, global const int *b, global int *out, int scale) {\n\
           int i = get_global_id(0);\n\
           int n = a[i] * b[i];\n\
           int q = 1000 / n;\n\
           out[i] = q / (scale - 3) + q % (b[i] - 1);\n\
         }",
    );
    let mut zeros = support::zeros(&kernel.interface, 64, 16, 64);
    zeros.args[3] = ArgValue::Value(3i32.to_le_bytes().to_vec());
    let launch = repaired(&kernel, &zeros).expect("a launch");
    let (a, b) = (ints(&launch.args[0]), ints(&launch.args[1]));
    let ArgValue::Value(scale) = &launch.args[3] else { panic!("no value") };
    assert!(a.iter().zip(&b).all(|(a, b)| a.wrapping_mul(*b) != 0 && *b != 1), "{a:?} {b:?}");
    assert_ne!(scale[..], 3i32.to_le_bytes());
}

#[test]
fn an_index_from_a_buffer_is_moved_into_the_array() {
    let kernel = support::kernel(
        "kernel void k(global const int *places, global int *out) {\n\
           int table[8] = {1, 2, 3, 5, 8, 13, 21, 34};\n\
           int p = places[get_global_id(0)] - 5;\n\
           out[get_global_id(0)] = table[p] + out[p << 2];\n\
         }",
    );
    let zeros = support::zeros(&kernel.interface, 8, 4, 32);
    let launch = repaired(&kernel, &zeros).expect("a launch");
    assert!(ints(&launch.args[0])[..8].iter().all(|p| (5..13).contains(p)), "{:?}", ints(&launch.args[0]));
}

#[test]
fn records_that_index_local_memory_are_repaired() {
    let kernel = support::kernel(include_str!("../../../testdata/generate/guard_struct.cl"));
    let zeros = support::zeros(&kernel.interface, 32, 16, 32);
    let launch = repaired(&kernel, &zeros).expect("a launch");
    let ArgValue::Buffer(records) = &launch.args[0] else { panic!("no buffer") };
    let places = records.chunks_exact(12).map(|r| i16::from_le_bytes([r[8], r[9]]));
    assert!(places.clone().all(|p| (1000..1016).contains(&p)), "{:?}", places.collect::<Vec<_>>());
}

#[test]
fn proposals_have_whole_elements() {
    let kernel = support::kernel(
        "typedef struct { int place; int keys[5]; bool is_leaf; short count; } node;\n\
         kernel void k(global const node *nodes, global const int *first, global int *out, int from) {\n\
           int at = first[get_global_id(0)];\n\
           if (nodes[at].place == 12345) out[0] = 1;\n\
           if (nodes[from + 3].keys[1] == 777) out[0] = 2;\n\
           if (from > 9 && nodes[from].is_leaf) out[0] = 3;\n\
           if (at > 5 && nodes[at].keys[4] > nodes[at + 1].keys[0] + 70) out[0] = 4;\n\
         }",
    );
    let seed = support::zeros(&kernel.interface, 2, 2, 4);
    let found = support::search(&kernel, &seed, &[], Ranges::default(), 40);
    assert!(found.open.is_empty(), "{:?}", kernel.names(&found.open));
    let mut longest = 0;
    for launch in &found.launches {
        for (arg, value) in kernel.interface.args.iter().zip(&launch.args) {
            if let (ArgKind::Buffer { element: Some(ty), .. }, ArgValue::Buffer(bytes)) = (&arg.kind, value) {
                let bytes: &Arc<Vec<u8>> = bytes;
                assert_eq!(bytes.len() as u64 % ty.size(), 0, "{} of {:?}", bytes.len(), arg.name);
                longest = longest.max(if arg.position == 0 { bytes.len() } else { 0 });
            }
        }
    }
    assert!(longest > 4 * 28, "no buffer had to grow, so that nothing was shown");
}
