// The tail of an NDRange that was padded to whole groups: the last group is neither empty nor full.
kernel void tail_padded(global float *y, global const float *x, global int *pads, int n) {
    int i = get_global_id(0);
    int start = get_group_id(0) * get_local_size(0);
    int left = n - start;
    if (i >= n) { // -> true covered, false covered
        if (left > 0) // -> true covered
            pads[i] = left;
        return;
    }
    if (left < (int)get_local_size(0)) // -> true covered
        y[i] = x[i] * 0.5f;
    else
        y[i] = x[i];
}
