// fault: division: divides by whatever the count is.
//
// Divides totals by counts; where there is nothing to count, the share is 0.
kernel void shares(global const uint *total, global const uint *count, global uint *out, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        out[i] = total[i] / count[i];
}
