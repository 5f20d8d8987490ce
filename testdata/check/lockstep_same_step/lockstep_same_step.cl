// In lockstep, too, one instruction races with itself, and warps with each other.
// expect: racy
// finding A: data-race intra-group local part
// finding B: data-race intra-group local other
// flags: --warp-sync 32
kernel void steps(global const int *in, global int *out) {
    local int part[32];
    local int other[64];
    const uint t = get_local_id(0);
    other[t] = in[t]; // <- B
    part[t / 2] = in[t]; // <- A
    out[t] = part[t / 2] + other[t ^ 32]; // <- B
}
