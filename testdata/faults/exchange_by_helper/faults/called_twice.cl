// fault: data-race: the helper is called twice: the second exchange begins while the first one's values are read.
//
// A helper exchanges values in pairs of neighbours; the second half of the group gives negative ones.
int exchange(local int *box, int l, int value) {
    box[l] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    return box[l ^ 1];
}

kernel void both(global const int *in, global int *out) {
    local int box[16];
    int l = (int)get_local_id(0), i = (int)get_global_id(0);
    int value = l < (int)get_local_size(0) / 2 ? in[i] : -in[i];
    int other = exchange(box, l, 0);
    out[i] = exchange(box, l, value) + other;
}
