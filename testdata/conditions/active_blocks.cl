// A list says which blocks of a field are active. Each is there once: what is read by the list says nothing of that, what is
// written does.
// expect: clean
kernel void settle(global const int *active, global const float *field, global int *is_settled, int count, float limit) {
    local int failed;
    const int n = get_group_id(0), l = get_local_id(0);
    if (n >= count)
        return;
    const int block = active[n];
    if (l == 0)
        failed = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (fabs(field[block * get_local_size(0) + l]) > limit)
        atomic_or(&failed, 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        is_settled[block] = !failed;
}
