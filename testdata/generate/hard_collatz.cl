// The steps of a walk that nobody has proved to end.
kernel void hard_collatz(global const uint *start, global int *out) {
    int i = get_global_id(0);
    ulong x = start[i];
    int steps = 0;
    while (x > 1 && steps < 1000) {
        x = x % 2 == 0 ? x / 2 : 3 * x + 1; // -> true covered, false covered
        steps++;
    }
    if (steps > 120) // -> true covered/unknown
        out[i] = 1;
    else if (steps == 1000) // -> true infeasible
        out[i] = 2;
    else
        out[i] = steps;
}
