// fault: data-race: the counter is raised without an atomic.
//
// Each work-item draws a ticket and ticks it off; tickets from the n-th on are worth nothing.
kernel void tickets(global int *counter, global int *seen, int n) {
    int ticket = counter[0]++;
    if (ticket < n)
        seen[ticket] = 1;
}
