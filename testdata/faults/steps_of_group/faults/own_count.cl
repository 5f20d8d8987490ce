// fault: barrier-divergence: the loop around the barriers runs as often as the work-item's number says.
//
// All work-items make as many steps as the group's greatest number says; each counts only its own.
kernel void steps(global const int *count, global int *out, int most) {
    local int slot[16];
    int l = (int)get_local_id(0), n = (int)get_local_size(0), i = (int)get_global_id(0), sum = 0;
    for (int k = 0; k < min(count[i], most); k++) {
        slot[l] = k < count[i] ? l + 1 : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += slot[(l + n - 1) % n];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = sum;
}
