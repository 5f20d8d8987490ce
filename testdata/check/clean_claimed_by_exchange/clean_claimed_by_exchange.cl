// Work-items claim slots of a table; the one that wins a slot reads it plainly. The exchanges of those that lose it write nothing.
// expect: clean explored-schedules
kernel void claim(global int *slots, global int *out, const int n) {
    int me = get_global_id(0) + 1;
    int slot = me / 4 % n;
    while (atomic_cmpxchg(&slots[slot], 0, me) != 0) slot = (slot + 1) % n;
    out[get_global_id(0)] = slots[slot];
}
