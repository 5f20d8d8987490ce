// fault: data-race: the counter is read plainly beforehand to save work.
//
// Each work-item draws a ticket and ticks it off; tickets from the n-th on are worth nothing.
kernel void tickets(global int *counter, global int *seen, int n) {
    if (counter[0] >= n)
        return;
    int ticket = atomic_inc(counter);
    if (ticket < n)
        seen[ticket] = 1;
}
