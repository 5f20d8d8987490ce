// fault: data-race: excludes element 1 instead of the first one.
//
// The first work-item writes element 0, the eighth the element that the caller names, if it is another one.
kernel void two(global int *p, const int n, const int x) {
    int i = (int)get_global_id(0);
    if (i == 0)
        p[0] = 1;
    if (i == 7 && x >= 0 && x != 1 && x < n)
        p[x] = 2;
}
