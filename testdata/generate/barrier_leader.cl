// The first work-item of a group decides for all of them.
kernel void barrier_leader(global const uint *control, global uint *out) {
    local uint command;
    if (get_local_id(0) == 0)
        command = control[get_group_id(0)] ^ 0x55aa55aau;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint v = 0;
    if (command == 0x0badcafeu) // -> true covered
        v = 1;
    else if (command >> 24 == get_local_id(0) && command & 1) // -> true covered
        v = 2;
    out[get_global_id(0)] = v;
}
