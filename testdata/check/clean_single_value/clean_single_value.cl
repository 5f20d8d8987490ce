// As race_single_value, but the number of the other's element is refused.
// expect: clean all-interleavings
kernel void two(global int *p, const int x) {
    int i = get_global_id(0);
    if (i == 0) p[0] = 1;
    if (i == 7 && x > 0) p[x] = 2;
}
