// The race is in a helper that is called twice; its two calls meet in the same slots.
// expect: racy
// finding A: data-race intra-group local box
void put(local int *box, size_t at, int value) {
    box[at] = value; // <- A
}

kernel void pairs(global const int *in, global int *out) {
    local int box[17];
    size_t l = get_local_id(0);
    put(box, l, in[l]);
    put(box, l + 1, -in[l]);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = box[l];
}
