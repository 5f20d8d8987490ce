// Weights are added by atomics, where columns repeat, but the loop reads the sum plainly before it exchanges it.
// expect: racy
kernel void scatter(global const int *column, global const float *weight, global volatile float *sum, const int n) {
    const int i = get_global_id(0);
    if (i >= n)
        return;
    global volatile float *to = sum + column[i];
    uint before, now = as_uint(*to);
    do {
        before = now;
        now = atomic_cmpxchg((global volatile uint *)to, before, as_uint(as_float(before) + weight[i]));
    } while (now != before);
}
