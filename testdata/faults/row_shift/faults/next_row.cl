// fault: uninitialised: the neighbour of the last element of a row is the first of the next one.
//
// Each element takes its right neighbour in the row of the tile, the last one 0.
kernel void shift(global const float *in, global float *out) {
    local float tile[4][8];
    int x = (int)get_local_id(0), y = (int)get_local_id(1);
    int i = (int)(get_global_id(1) * get_global_size(0) + get_global_id(0));
    tile[y][x] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = y < 3 ? tile[y][x + 1] : 0.0f;
}
