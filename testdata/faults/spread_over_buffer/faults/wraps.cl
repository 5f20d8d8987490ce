// fault: data-race: instead of ending at the end, places wrap around.
//
// Each work-item writes several places, as far apart as there are work-items.
kernel void everywhere(global char *out, int n, int count) {
    int i = (int)get_global_id(0), all = (int)get_global_size(0);
    for (int k = 0; k < count; k++) {
        int at = i + k * all;
        out[at % n] = (char)(k + 1);
    }
}
