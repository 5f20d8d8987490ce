// fault: data-race: the counter is raised atomically, but read plainly.
//
// Each work-item draws a ticket and ticks it off; tickets from the n-th on are worth nothing.
kernel void tickets(global int *counter, global int *seen, int n) {
    atomic_inc(counter);
    int ticket = counter[0] - 1;
    if (ticket < n)
        seen[ticket] = 1;
}
