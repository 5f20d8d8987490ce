// The first term of each order is kept one place too far on, and the last one outside.
// expect: memory-fault
kernel void expand(global const float *x, global float *sums, int n, int order) {
    const int i = get_global_id(0);
    if (i >= n)
        return;
    float terms[24] = {0.0f};
    float power = 1.0f;
    for (int k = 0; k < 24; k++) {
        power *= x[i] + order;
        terms[k + 1] = power;
    }
    sums[i] = terms[1] + terms[23];
}
