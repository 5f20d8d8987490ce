// Kernels whose accesses follow from data: "radixSort" (scatter), "eigenvalues" (bisection), "dxtc" (order by projection).

kernel void scatter_by_digit(global const uint *keys, global uint *sorted, global const uint *offsets, uint shift, uint n)
{
    uint i = get_global_id(0);

    if (i < n) {
        uint digit = (keys[i] >> shift) & 15;
        sorted[offsets[digit * get_num_groups(0) + get_group_id(0)] + get_local_id(0)] = keys[i];
    }
}

kernel void bisect(global const float *diagonal, global const float *beside, global float *left, global float *right, int n,
                   float precision)
{
    int i = get_global_id(0);

    while (right[i] - left[i] > precision) {
        float middle = 0.5f * (left[i] + right[i]);
        float pivot = diagonal[0] - middle;
        int below = pivot < 0.0f;
        for (int k = 1; k < n; k++) {
            pivot = diagonal[k] - middle - beside[k - 1] * beside[k - 1] / pivot;
            below += pivot < 0.0f;
        }
        if (below > i)
            right[i] = middle;
        else
            left[i] = middle;
    }
}

kernel void order_colours(global const float4 *colours, global float4 *ordered, float4 axis)
{
    local float along[16];
    int lid = get_local_id(0);
    float4 mine = colours[get_group_id(0) * 16 + lid];

    along[lid] = dot(mine, axis);
    barrier(CLK_LOCAL_MEM_FENCE);
    int rank = 0;
    for (int k = 0; k < 16; k++)
        rank += along[k] < along[lid] || (along[k] == along[lid] && k < lid);
    ordered[get_group_id(0) * 16 + rank] = mine;
}

// The first phase only marks what is to be kept.
kernel void mark_digits(global const uint *keys, global uint *marks, uint shift, uint digit, uint n)
{
    uint i = get_global_id(0);

    if (i < n)
        marks[i] = ((keys[i] >> shift) & 15) == digit;
}
