// A tensor whose strides are in bytes: they are multiples of the elements, and in order.
// expect: clean
kernel void negate(global const char *in, global char *out, ulong in0, ulong in1, ulong in2, ulong out0, ulong out1,
                   ulong out2) {
    const ulong i = get_global_id(0), j = get_global_id(1), k = get_global_id(2);
    const float value = *(global const float *)(in + k * in2 + j * in1 + i * in0);
    *(global float *)(out + k * out2 + j * out1 + i * out0) = -value;
}
