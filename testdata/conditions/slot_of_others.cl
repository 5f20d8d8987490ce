// Only for one value of the scalar two work-items meet: a size of groups does not change that.
// expect: racy
kernel void mark(global int *out, int slot) {
    local int seen[16];
    const int l = get_local_id(0);
    seen[l] = l;
    if (l == 3)
        seen[(slot & 7) + 8] = -1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = seen[l];
}
