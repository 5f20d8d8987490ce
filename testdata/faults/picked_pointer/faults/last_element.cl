// fault: output: the total is stored in the element of the last work-item.
//
// A pointer without an address space: for the first work-item it leads to the group's total, for the others to the
// buffer.
kernel void pick(global const int *in, global int *out) {
    local int shared;
    size_t l = get_local_id(0), i = get_global_id(0), n = get_local_size(0);
    int *to = l == 0 ? (int *)&shared : (int *)&out[i];
    *to = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == n - 1)
        out[i] = shared + 1;
}
