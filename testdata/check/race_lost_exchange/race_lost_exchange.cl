// Each work-item reads the slot plainly, also those whose exchange failed: they read what the winner wrote.
// expect: racy
// finding A: data-race intra-group global slots
kernel void claim(global int *slots, global int *out) {
    int i = get_global_id(0);
    atomic_cmpxchg(&slots[i / 4], 0, i + 1); // <- A
    out[i] = slots[i / 4]; // <- A
}
