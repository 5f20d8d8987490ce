// One half of the group makes what the other half takes; both come to every barrier.
// expect: clean all-interleavings
kernel void pipeline(global const int *in, global int *out, local int *belt, int rounds) {
    int l = (int)get_local_id(0), h = (int)get_local_size(0) / 2;
    for (int r = 0; r <= rounds; r++) {
        if (l < h) {
            if (r < rounds)
                belt[r % 2 * h + l] = in[r * h + l] * 3;
        } else if (r > 0) {
            out[(r - 1) * h + l - h] = belt[(r - 1) % 2 * h + 2 * h - 1 - l];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
