// Both tiles are copied, but only the second copy is waited for before both are used; the first is waited for too late.
// expect: racy
// finding A: data-race intra-group local weights
// cause A: copy-in-flight
kernel void weighted(global const float *in, global const float *factors, global float *out) {
    local float values[8], weights[8];
    size_t l = get_local_id(0), n = get_local_size(0);
    event_t copied[2];
    copied[0] = async_work_group_copy(weights, factors, n, 0); // <- A
    copied[1] = async_work_group_copy(values, in + get_group_id(0) * n, n, 0);
    wait_group_events(1, &copied[1]);
    out[get_global_id(0)] = values[l] * weights[n - 1 - l]; // <- A
    wait_group_events(1, &copied[0]);
}
