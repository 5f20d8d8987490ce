// fault: data-race: the slot is tested and then set, without an atomic.
//
// Four work-items compete for each slot; the number of those that got one is counted.
kernel void claim(global int *slots, global int *winners) {
    int i = (int)get_global_id(0);
    if (slots[i / 4] == 0) {
        slots[i / 4] = 1;
        atomic_inc(winners);
    }
}
