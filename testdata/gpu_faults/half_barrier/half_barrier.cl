// Turns a row of `get_local_size(0)` numbers round, in local memory; only the first `waiting` work-items wait at the barrier.
//
// Fixture: a barrier that half of a group does not reach. A GPU does not notice.
kernel void half_barrier(global int *out, local int *row, const int waiting)
{
    const int lid = get_local_id(0), last = get_local_size(0) - 1;
    row[lid] = lid;
    if (lid < waiting)
        barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = row[last - lid];
}
