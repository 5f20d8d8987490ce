// Two neighbours write one slot: write against write in a group.
// expect: racy
// finding A: data-race intra-group global out
kernel void halves(global int *out) {
    size_t i = get_global_id(0);
    out[i / 2] = (int)i; // <- A
}
