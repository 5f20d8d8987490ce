// A group is a cube: its rows, and the rows of a layer, are constants of the flat index. Each work-item has two elements.
// expect: clean
kernel void settle(global const int *in, global int *out) {
    local int cube[64];
    const int x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
    const int at = z * 16 + y * 4 + x, base = get_group_id(0) * 64;
    cube[at] = in[base + at];
    cube[at + 32] = in[base + at + 32];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + at] = cube[63 - at];
    out[base + at + 32] = cube[31 - at];
}
