// Sizes and strides of an array in a struct, the first stride the smallest; dimensions beyond the second lie side by side in the
// first two of the launch.
// expect: clean
typedef struct {
    int dims[4];
    int strides[4];
    int offset;
} info_t;

kernel void ramp(global float *out, const info_t info, int blocks) {
    const int z = get_group_id(0) / blocks;
    const int x = (get_group_id(0) - z * blocks) * get_local_size(0) + get_local_id(0), y = get_global_id(1);
    if (x < info.dims[0] && y < info.dims[1] && z < info.dims[2])
        out[z * info.strides[2] + y * info.strides[1] + x * info.strides[0] + info.offset] = x + y + z;
}
