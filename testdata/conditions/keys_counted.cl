// Keys look up weights, too, but what is added to by them is also read: nothing says that keys differ, and the host has to.
// expect: conditional no two elements of `keys` are equal
kernel void count_keys(global const int *keys, global const float *weights, global float *totals, int n) {
    const int i = get_global_id(0);
    if (i < n)
        totals[keys[i]] += weights[keys[i]];
}
