// fault: output: kind 0 falls through to kind 1.
//
// What a work-item gives depends on its kind; the others read it after a barrier.
kernel void cases(global const int *kind, global int *out) {
    local int box[16];
    int l = (int)get_local_id(0), n = (int)get_local_size(0), i = (int)get_global_id(0);
    switch (kind[i]) {
    case 0:
        box[l] = 10;
    case 1:
        box[l] = 11 + l;
        break;
    default:
        box[l] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = box[l] - box[(l + 1) % n];
}
