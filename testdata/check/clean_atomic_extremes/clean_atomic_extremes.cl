// Least and greatest over all groups; nobody reads what the atomics give.
// expect: clean all-interleavings
kernel void extremes(global const int *in, global int *least, global int *greatest) {
    int v = in[get_global_id(0)];
    atomic_min(least, v);
    atomic_max(greatest, v);
}
