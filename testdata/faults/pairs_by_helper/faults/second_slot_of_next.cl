// fault: data-race, out-of-bounds, uninitialised: the second slot is the neighbour's first one.
//
// A helper puts two values of each work-item into the group's box.
void put(local int *box, size_t at, int value) {
    box[at] = value;
}

kernel void pairs(global const int *in, global int *out) {
    local int box[32];
    size_t l = get_local_id(0), n = get_local_size(0), i = get_global_id(0);
    put(box, 2 * l, in[i]);
    put(box, 2 * l + 2, -2 * in[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = box[2 * l] + box[(2 * l + 3) % (2 * n)];
}
