// The counter is raised atomically but read plainly.
// expect: racy all-interleavings
// finding A: data-race intra-group global counter
// cause A: mixed-atomic
kernel void tickets(global int *counter, global int *out) {
    size_t i = get_global_id(0);
    atomic_inc(counter); // <- A
    out[i] = counter[0]; // <- A
}
