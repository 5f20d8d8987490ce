// fault: out-of-bounds: places grow beyond all bounds.
//
// Each work-item writes several places, as far apart as there are work-items.
kernel void everywhere(global char *out, int n, int count) {
    int i = (int)get_global_id(0), all = (int)get_global_size(0);
    for (int k = 0; k < count; k++) {
        int at = (i + k) * 1640531527;
        if (at != n)
            out[at] = (char)(k + 1);
    }
}
