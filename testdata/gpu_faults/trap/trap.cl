// Each work-item stores its number, unless it is to stop at a trap.
//
// Fixture: the instruction that stops a kernel at once.
kernel void trap(global int *out, const int stop)
{
    const int i = get_global_id(0);
    if (stop != 0 && i == 7)
        __builtin_trap();
    out[i] = i;
}
