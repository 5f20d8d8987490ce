// Sums in local memory: strides through the input, then halves its way through the group ("reduction").

kernel void reduction(global const float *in, global float *out, local float *part, uint n)
{
    uint lid = get_local_id(0);
    float sum = 0.0f;

    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += in[i];
    part[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size >>= 1) {
        if (lid < half_size)
            part[lid] += part[lid + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        out[get_group_id(0)] = part[0];
}
