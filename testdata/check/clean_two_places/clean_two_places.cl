// Two scalars name the places of two results: a host that gives both the same name is none that anybody means.
// expect: clean all-interleavings
kernel void results(global int *p, const int sum, const int most) {
    int i = get_global_id(0);
    if (i == 3)
        p[sum] = 1;
    if (i == 4)
        p[most] = 2;
}
