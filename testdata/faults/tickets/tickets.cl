// Each work-item draws a ticket and ticks it off; tickets from the n-th on are worth nothing.
// The right form of `testdata/check/race_plain_read_of_counter`.
kernel void tickets(global int *counter, global int *seen, int n) {
    int ticket = atomic_inc(counter);
    if (ticket < n)
        seen[ticket] = 1;
}
