// The number of terms grows with the square of the order: there is room for those of the fourth.
// expect: clean
kernel void expand(global const float *x, global float *sums, int n, int order) {
    const int i = get_global_id(0);
    if (i >= n)
        return;
    float terms[24] = {0.0f};
    float power = 1.0f;
    for (int k = 0; k < (order + 1) * (order + 1) - 1; k++) {
        power *= x[i];
        terms[k] = power;
    }
    float sum = 0.0f;
    for (int k = 0; k < 24; k++)
        sum += terms[k];
    sums[i] = sum;
}
