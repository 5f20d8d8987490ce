// Launches larger than usual, and such as no device here has: not impossible, but out of reach.
kernel void launch_large(global int *out) {
    int v = 0;
    if (get_local_id(0) == 700) // -> true covered
        v = 1;
    if (get_group_id(0) > 1 << 20) // -> true covered
        v += 2;
    if (get_local_id(0) > 100000) // -> true unknown
        v += 4;
    atomic_or(&out[get_local_id(0)], v); // Groups meet here, in any order.
}
