// In lockstep, too, the sides of a branch are in no order.
// expect: racy
// finding A: data-race intra-group local part
// flags: --warp-sync 32
kernel void sides(global const int *in, global int *out) {
    local int part[64];
    const uint t = get_local_id(0);
    if (t % 2 == 0) {
        part[t] = in[t]; // <- A
        out[t] = 0;
    } else {
        out[t] = part[t - 1]; // <- A
    }
}
