// Rows have a real part and, a scalar further on, an imaginary one. Strides are in bytes: the parts of a row, rows and layers do
// not overlap.
// expect: clean
kernel void rotate_phases(global const char *in, global char *out, ulong in1, ulong in2, ulong out0, ulong out1, ulong out2,
                          int length, int imaginary, float by) {
    const int row = get_group_id(0), layer = get_group_id(1);
    const float c = cos(by * row), s = sin(by * row);
    for (int i = get_local_id(0); i < length; i += get_local_size(0)) {
        global const float *from = (global const float *)(in + layer * in2 + row * in1 + i * 4);
        global float *to = (global float *)(out + layer * out2 + row * out1 + i * out0);
        const float re = from[0], im = from[imaginary];
        to[0] = re * c - im * s;
        to[imaginary] = re * s + im * c;
    }
}
