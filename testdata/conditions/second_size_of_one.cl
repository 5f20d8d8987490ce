// Only a check reads the second id: all rows of work-items would write the same places.
// expect: conditional `get_global_size(1) == 1`
kernel void copy_all(int size0, int size1, global const float *in, global float *out) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= size0 || y >= size1)
        return;
    vstore4(vload4(x, in), x, out);
}
