// The sizes and strides of a tensor of any number of dimensions lie in buffers.
// expect: clean
kernel void negate(global float *data, global const int *sizes, global const long *strides, const int dims, const int n) {
    const int i = get_global_id(0);
    if (i >= n)
        return;
    long place = 0;
    int rest = i;
    for (int d = dims - 1; d > 0; --d) {
        place += (rest % sizes[d]) * strides[d];
        rest = rest / sizes[d];
    }
    place += rest * strides[0];
    data[place] = -data[place];
}
