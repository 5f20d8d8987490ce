// All work-items add to one sum. Each has an element of its own, so that they are meant to be many.
// expect: racy
kernel void total(global const float *in, global float *sum, int n) {
    const int i = get_global_id(0);
    if (i < n)
        sum[0] += in[i];
}
