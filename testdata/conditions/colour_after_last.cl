// Whatever the bytes are, the last colour has a place outside.
// expect: memory-fault
kernel void count_colours(global const uchar *colours, global int *out, int n) {
    const int i = get_global_id(0);
    if (i >= n)
        return;
    int counts[3] = {0, 0, 0};
    for (int k = 0; k <= 3; k++)
        counts[k] += colours[i] == k;
    out[i] = counts[0] + 2 * counts[1] + 4 * counts[2];
}
