// fault: data-race: places are as far apart as a group has work-items.
//
// Each work-item writes several places, as far apart as there are work-items.
kernel void everywhere(global char *out, int n, int count) {
    int i = (int)get_global_id(0), all = (int)get_local_size(0);
    for (int k = 0; k < count; k++) {
        int at = i + k * all;
        if (at < n)
            out[at] = (char)(k + 1);
    }
}
