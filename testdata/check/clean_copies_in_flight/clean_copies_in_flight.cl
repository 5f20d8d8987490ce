// Copies with an event for each, waited for in another order than they were begun, and copies that share an event.
// expect: clean all-interleavings
kernel void in_flight(global const int *in, global int *out) {
    local int low[8], high[8];
    size_t l = get_local_id(0), n = get_local_size(0);
    event_t first = async_work_group_copy(low, in, n, 0);
    event_t second = async_work_group_copy(high, in + n, n, 0);
    wait_group_events(1, &second);
    int value = high[(l + 3) % n];
    wait_group_events(1, &first);
    value += low[(l + 5) % n];
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t both = async_work_group_copy(low, in + 2 * n, n, 0);
    both = async_work_group_strided_copy(high, in, n, 2, both);
    wait_group_events(1, &both);
    out[l] = value + low[n - 1 - l] * high[n - 1 - l];
}
