// A counter that each work-item raises: who sees which number is open, but nobody sees as many as there are work-items.
kernel void trap_atomic_order(global int *out) {
    local uint taken;
    if (get_local_id(0) == 0)
        taken = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint mine = atomic_inc(&taken);
    int r = 0;
    if (mine == 5) // -> true covered, false covered
        r = 1;
    if (mine != get_local_id(0)) // -> true covered/unknown
        r |= 2;
    if (mine >= get_local_size(0)) // -> true infeasible/unknown
        r |= 4;
    out[get_global_id(0)] = r;
}
