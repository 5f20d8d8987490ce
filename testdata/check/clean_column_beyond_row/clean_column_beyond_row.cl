// The neighbour of the last column of a row is the first of the next row: within the tile, but not an element of the row.
// That is said, and is no finding: much code means flat access.
// expect: clean
// note: clean_column_beyond_row.cl:12:
// note: reads element 8 of a row of 8 of `tile`
kernel void shift(global const float *in, global float *out) {
    local float tile[4][8];
    int x = get_local_id(0), y = get_local_id(1);
    int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    tile[y][x] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = y < 3 ? tile[y][x + 1] : 0.0f;
}
