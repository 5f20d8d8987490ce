//! Checks work-item functions, with uneven groups and offsets.

use kassay_ir::lower::native::emit::Effort;

use super::support::{Arg, Loaded, Range, code, run, words};

const SOURCE: &str = "kernel void k(global int *out) {
    size_t n = get_global_linear_id();
    global int *o = out + n * 64;
    uint d[5] = {0, 1, 2, 3, 4000000000u};
    for (int i = 0; i < 5; i++) {
        uint j = d[i];
        *o++ = get_global_id(j); *o++ = get_local_id(j); *o++ = get_group_id(j); *o++ = get_global_size(j);
        *o++ = get_local_size(j); *o++ = get_enqueued_local_size(j); *o++ = get_num_groups(j); *o++ = get_global_offset(j);
    }
    *o++ = get_work_dim(); *o++ = get_local_linear_id();
    *o++ = get_sub_group_id(); *o++ = get_sub_group_local_id(); *o++ = get_sub_group_size();
    *o++ = get_max_sub_group_size(); *o++ = get_num_sub_groups(); *o++ = get_enqueued_num_sub_groups();
}";

#[test]
fn work_item_functions_return_the_values_of_the_contexts() {
    let range = Range { dimensions: 3, global: [7, 5, 3], local: [4, 5, 2], offset: [10, 0, 100], sub_group: 16 };
    let sizes = [(Effort::Quick, 16), (Effort::Full, 16), (Effort::Quick, 1), (Effort::Full, 8), (Effort::Quick, 64)];
    for (effort, sub_group) in sizes {
        let range = Range { sub_group, ..range };
        let most = sub_group as i32;
        let loaded = Loaded::new(&code(SOURCE, "CL3.0", effort).unwrap());
        let mut out = vec![0; 7 * 5 * 3 * 64 * 4];
        run(&loaded, range, &mut [Arg::Buffer(&mut out)]);
        let out = words(&out);
        for z in 0..3 {
            for y in 0..5 {
                for x in 0..7 {
                    let id = [x, y, z];
                    let seen = &out[((z * 5 + y) * 7 + x) as usize * 64..][..48];
                    let mut wanted = Vec::new();
                    let group: [i32; 3] = std::array::from_fn(|d| id[d] / range.local[d] as i32);
                    let local: [i32; 3] = std::array::from_fn(|d| id[d] % range.local[d] as i32);
                    let size: [i32; 3] = std::array::from_fn(|d| {
                        (range.local[d] as i32).min(range.global[d] as i32 - group[d] * range.local[d] as i32)
                    });
                    for d in 0..3 {
                        let (global, offset) = (range.global[d] as i32, range.offset[d] as i32);
                        let groups =
                            global.div_euclid(range.local[d] as i32) + i32::from(global % range.local[d] as i32 != 0);
                        wanted.extend([
                            id[d] + offset,
                            local[d],
                            group[d],
                            global,
                            size[d],
                            range.local[d] as i32,
                            groups,
                            offset,
                        ]);
                    }
                    for _ in 0..2 {
                        wanted.extend([0, 0, 0, 1, 1, 1, 1, 0]);
                    }
                    let linear = (local[2] * size[1] + local[1]) * size[0] + local[0];
                    let items: i32 = size.iter().product();
                    let sub_groups = (items + most - 1) / most;
                    let rest = items - linear / most * most;
                    wanted.extend([3, linear, linear / most, linear % most, rest.min(most), most.min(40)]);
                    wanted.extend([sub_groups, (40 + most - 1) / most]);
                    assert_eq!(seen, wanted, "{id:?} {effort:?}, {most} in a sub-group");
                }
            }
        }
    }
}
