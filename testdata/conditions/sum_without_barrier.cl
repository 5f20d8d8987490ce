// No size of groups that a host would choose helps: the barrier of the loop is missing.
// expect: racy
kernel void sum(global const int *in, global int *out, local int *tmp) {
    const size_t l = get_local_id(0);
    tmp[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t s = get_local_size(0) / 2; s > 0; s /= 2)
        if (l < s)
            tmp[l] += tmp[l + s];
    if (l == 0)
        out[get_group_id(0)] = tmp[0];
}
