// Lock-free: the greatest float, through compare-and-exchange of its bits, and no plain access to it.
// expect: clean explored-schedules
kernel void greatest(global const float *in, volatile global uint *best) {
    float mine = in[get_global_id(0)];
    uint seen = atomic_or(best, 0u);
    while (as_float(seen) < mine) {
        uint before = atomic_cmpxchg(best, seen, as_uint(mine));
        if (before == seen)
            break;
        seen = before;
    }
}
