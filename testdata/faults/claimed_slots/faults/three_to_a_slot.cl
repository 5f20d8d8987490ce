// fault: out-of-bounds: three work-items share a slot.
//
// Four work-items compete for each slot; the number of those that got one is counted.
kernel void claim(global int *slots, global int *winners) {
    int i = (int)get_global_id(0);
    if (atomic_cmpxchg(&slots[i / 3], 0, 1) == 0)
        atomic_inc(winners);
}
