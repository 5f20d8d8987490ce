// Sizes and strides are lists, but the coordinate in the last dimension is never added: work-items that differ in it alone write the
// same element.
// expect: racy
kernel void smear(global float *out, global const float *in, global const int *sizes, global const int *strides, const int dims,
                  const int n) {
    const int i = get_global_id(0);
    if (i >= n)
        return;
    int place = 0, rest = i / sizes[dims];
    for (int d = dims - 1; d >= 0; --d) {
        place += (rest % sizes[d]) * strides[d];
        rest /= sizes[d];
    }
    out[place] = in[i];
}
