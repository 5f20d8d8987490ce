// fault: data-race: the counter is raised without an atomic.
//
// Counts all work-items whose value is positive, with an atomic that the whole device sees.
kernel void count(global const int *in, int n, global atomic_int *counter) {
    int i = (int)get_global_id(0);
    if (i < n && in[i] > 0)
        ((global int *)counter)[0] += 1;
}
