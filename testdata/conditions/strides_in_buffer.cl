// Shape and strides of a tensor lie in buffers of their own.
// expect: clean
kernel void scale(global float *out, global const float *in, global const int *shape, global const int *strides,
                  global const int *offset) {
    const int i = get_global_id(2), j = get_global_id(1), k = get_global_id(0);
    if (i < shape[0] && j < shape[1] && k < shape[2])
        out[offset[0] + i * strides[0] + j * strides[1] + k] = 2.0f * in[(i * shape[1] + j) * shape[2] + k];
}
