// The end of a sum by halves within a warp, and a scan within warps, with no barriers, as programs for warps in lockstep have
// it: right only there.
// expect: clean
// flags: --warp-sync 32
kernel void sums(global const int *in, global int *out) {
    local volatile int part[64];
    local volatile int scan[64];
    const uint t = get_local_id(0), lane = t % 32;
    part[t] = in[t];
    scan[t] = in[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < 32) {
        part[t] += part[t + 32];
        if (t < 16) {
            part[t] += part[t + 16];
            part[t] += part[t + 8];
            part[t] += part[t + 4];
            part[t] += part[t + 2];
            part[t] += part[t + 1];
        }
    }
    for (uint d = 1; d < 32; d *= 2)
        if (lane >= d)
            scan[t] = scan[t] + scan[t - d];
    out[t] = scan[t];
    if (t == 0)
        out[64] = part[0];
}
