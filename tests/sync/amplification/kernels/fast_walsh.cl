// Walsh transform of one group's block in local memory ("fastWalshTransform").

kernel void fast_walsh(global float *data, local float *block, int log_size)
{
    int size = 1 << log_size;
    int base = get_group_id(0) << log_size;

    for (int i = get_local_id(0); i < size; i += get_local_size(0))
        block[i] = data[base + i];
    for (int stride = size / 2; stride > 0; stride >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int pair = get_local_id(0); pair < size / 2; pair += get_local_size(0)) {
            int low = 2 * pair - (pair & (stride - 1));
            float a = block[low];
            float b = block[low + stride];
            block[low] = a + b;
            block[low + stride] = a - b;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < size; i += get_local_size(0))
        data[base + i] = block[i];
}
