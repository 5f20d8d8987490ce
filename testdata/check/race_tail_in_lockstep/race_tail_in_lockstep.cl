// The last steps of a sum by halves without barriers, when 32 work-items are left.
// expect: racy
// finding A: data-race intra-group local part
// finding B: data-race intra-group local part
// cause A: assumed-lockstep
// cause B: assumed-lockstep
kernel void total(global const int *in, global int *out) {
    local volatile int part[128];
    uint l = get_local_id(0);
    part[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = 64; width > 16; width /= 2) {
        if (l < width)
            part[l] += part[l + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l < 16) {
        part[l] += part[l + 16]; // <- B
        part[l] += part[l + 8]; // <- A B
    }
    if (l < 8)
        out[l] = part[l];
}
