// fault: output: a count of one gives 0, too.
//
// Divides totals by counts; where there is nothing to count, the share is 0.
kernel void shares(global const uint *total, global const uint *count, global uint *out, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        out[i] = count[i] > 1 ? total[i] / count[i] : 0;
}
