// fault: output: the ticket is the work-item's number, whatever was drawn before.
//
// Each work-item draws a ticket and ticks it off; tickets from the n-th on are worth nothing.
kernel void tickets(global int *counter, global int *seen, int n) {
    atomic_inc(counter);
    int ticket = (int)get_global_id(0);
    if (ticket < n)
        seen[ticket] = 1;
}
