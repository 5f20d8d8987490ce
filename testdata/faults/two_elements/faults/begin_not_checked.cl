// fault: data-race, out-of-bounds: neither element 0 nor those before it are excluded.
//
// The first work-item writes element 0, the eighth the element that the caller names, if it is another one.
kernel void two(global int *p, const int n, const int x) {
    int i = (int)get_global_id(0);
    if (i == 0)
        p[0] = 1;
    if (i == 7 && x < n)
        p[x] = 2;
}
