// Relaxed flags, but fences that release before the store and acquire after the load.
// expect: clean explored-schedules
kernel void pass(global int *box, global atomic_int *full, global int *out) {
    int i = (int)get_global_id(0);
    if (i % 2 == 0) {
        box[i / 2] = 100 + i;
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
        atomic_store_explicit(&full[i / 2], 1, memory_order_relaxed, memory_scope_device);
    } else if (atomic_load_explicit(&full[i / 2], memory_order_relaxed, memory_scope_device)) {
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        out[i / 2] = box[i / 2];
    }
}
