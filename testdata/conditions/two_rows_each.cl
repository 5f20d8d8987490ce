// A work-item has eight elements in each of two rows, which are one pitch apart.
// expect: clean
kernel void fill_rows(global float *out, int row, float value) {
    const int x = get_global_id(0), y = get_global_id(1);
    global float *first = out + (y * 2 * row + x) * 4;
    vstore4((float4)(value), 0, first);
    vstore4((float4)(-value), 0, first + row * 4);
}
