// fault: out-of-bounds: only the first four slots are used.
//
// Four work-items compete for each slot; the number of those that got one is counted.
kernel void claim(global int *slots, global int *winners) {
    int i = (int)get_global_id(0);
    if (atomic_cmpxchg(&slots[i % 4], 0, 1) == 0)
        atomic_inc(winners);
}
