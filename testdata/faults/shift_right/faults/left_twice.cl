// fault: output: the second work-item takes the border's value, too.
//
// Moves the elements of each group one place to the right.
kernel void shift(global const int *in, global int *out) {
    local int tile[16];
    size_t l = get_local_id(0), i = get_global_id(0);
    tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = l > 1 ? tile[l - 1] : 0;
}
