// Every item writes the group's scalar, each another value.
// expect: racy
// finding A: data-race intra-group local base
kernel void offset_by(global int *out) {
    local int base;
    base = (int)get_local_id(0); // <- A
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = base;
}
