// A set in local memory: whoever puts a value in first counts it. Those who find it there only read, by exchanges that fail.
// expect: clean explored-schedules
kernel void distinct(global const uint *values, global uint *counts) {
    local uint set[64];
    local uint count;
    uint l = get_local_id(0);
    for (uint i = l; i < 64; i += get_local_size(0)) set[i] = 0;
    if (l == 0) count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint value = values[get_global_id(0)] + 1;
    for (uint at = value % 64;; at = (at + 1) % 64) {
        uint old = atomic_cmpxchg(&set[at], 0u, value);
        if (old == value) break;
        if (old == 0) {
            atomic_add(&count, set[at] != 0);
            break;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) counts[get_group_id(0)] = count;
}
