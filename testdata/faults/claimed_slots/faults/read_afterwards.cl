// fault: data-race: who won is read plainly from the slot, which also holds 1 for those that lost.
//
// Four work-items compete for each slot; the number of those that got one is counted.
kernel void claim(global int *slots, global int *winners) {
    int i = (int)get_global_id(0);
    atomic_cmpxchg(&slots[i / 4], 0, 1);
    if (slots[i / 4] == 1)
        atomic_inc(winners);
}
