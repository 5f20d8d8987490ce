// fault: output: work-item 20 marks its element, too.
//
// Work-items 16 to 19 mark elements of their own, and work-item 2 the element that a scalar picks, unless it is one
// of those.
kernel void mark(global int *p, const int n, const int base) {
    int i = (int)get_global_id(0);
    int at = 2 * base + 1;
    if (i >= 16 && i <= 20 && i < n)
        p[i] = 1;
    if (i == 2 && base >= 0 && base < 100 && at < n && (at < 16 || at >= 20))
        p[at] = 3;
}
