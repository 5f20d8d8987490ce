// Adds up the numbers from `from` down to 1, in steps of `step`.
//
// Fixture: with a step of 0 the loop has no end. Nothing but a time limit stops it.
kernel void endless_loop(global volatile int *out, const int from, const int step)
{
    const int i = get_global_id(0);
    for (int n = from; n > 0; n -= step)
        out[i] += n;
}
