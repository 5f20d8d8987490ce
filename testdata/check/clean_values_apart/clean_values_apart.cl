// Addresses that a scalar picks, and that no value of it brings together: odd and even elements, and elements at a fixed distance.
// expect: clean all-interleavings
kernel void apart(global int *p, const int x) {
    int i = get_global_id(0);
    if (i == 3)
        p[2 * x + 1] = 1;
    if (i == 4)
        p[8] = 2;
    if (i == 5)
        p[2 * x + 3] = 3;
}
