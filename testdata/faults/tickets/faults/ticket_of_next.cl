// fault: out-of-bounds: ticks off the ticket after its own.
//
// Each work-item draws a ticket and ticks it off; tickets from the n-th on are worth nothing.
kernel void tickets(global int *counter, global int *seen, int n) {
    int ticket = atomic_inc(counter);
    if (ticket < n)
        seen[ticket + 1] = 1;
}
