// A helper with a barrier, called twice by all.
// expect: clean all-interleavings
int from_neighbour(local int *box, int l, int n, int value) {
    barrier(CLK_LOCAL_MEM_FENCE);
    box[l] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    return box[(l + 1) % n];
}

kernel void twice(global const int *in, global int *out) {
    local int box[8];
    int l = (int)get_local_id(0), n = (int)get_local_size(0);
    int v = from_neighbour(box, l, n, in[l]);
    out[l] = from_neighbour(box, l, n, v);
}
