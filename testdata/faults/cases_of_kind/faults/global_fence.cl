// fault: data-race: the barrier orders global memory, the box is local.
//
// What a work-item gives depends on its kind; the others read it after a barrier.
kernel void cases(global const int *kind, global int *out) {
    local int box[16];
    int l = (int)get_local_id(0), n = (int)get_local_size(0), i = (int)get_global_id(0);
    switch (kind[i]) {
    case 0:
        box[l] = 10;
        break;
    case 1:
        box[l] = 11 + l;
        break;
    default:
        box[l] = 0;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = box[l] - box[(l + 1) % n];
}
