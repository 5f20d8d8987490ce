// A scan across groups: each waits until the one before it has handed on its total.
// expect: clean explored-schedules
kernel void running_sum(global const int *in, global int *out, global int *total, global atomic_int *ready) {
    local int before;
    int sum = work_group_reduce_add(in[get_global_id(0)]);
    int mine = work_group_scan_inclusive_add(in[get_global_id(0)]);
    int g = (int)get_group_id(0);
    if (get_local_id(0) == 0) {
        before = 0;
        if (g > 0) {
            while (atomic_load_explicit(&ready[g - 1], memory_order_acquire, memory_scope_device) == 0) {
            }
            before = total[g - 1];
        }
        total[g] = before + sum;
        atomic_store_explicit(&ready[g], 1, memory_order_release, memory_scope_device);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = before + mine;
}
