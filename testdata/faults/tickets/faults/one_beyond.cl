// fault: out-of-bounds: the guard lets one ticket too many through.
//
// Each work-item draws a ticket and ticks it off; tickets from the n-th on are worth nothing.
kernel void tickets(global int *counter, global int *seen, int n) {
    int ticket = atomic_inc(counter);
    if (ticket <= n)
        seen[ticket] = 1;
}
