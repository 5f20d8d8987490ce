// With the value of the scalar that brings two work-items together the kernel reads beyond its table: it is not made for that value.
// expect: clean all-interleavings
constant int table[4] = {1, 2, 3, 4};

kernel void look_up(global int *p, const int x) {
    int i = get_global_id(0);
    if (i == 0)
        p[6] = 1;
    if (i == 7)
        p[x] = table[x];
}
