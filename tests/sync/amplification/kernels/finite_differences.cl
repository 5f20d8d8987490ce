// One step of a stencil in three dimensions, walking along z with a tile in local memory ("FDTD3d").

#define TILE_X 8
#define TILE_Y 4

kernel void finite_differences(global float *out, global const float *in, constant float *weight, int width, int height, int depth)
{
    local float tile[TILE_Y + 2][TILE_X + 2];
    int lx = get_local_id(0) + 1;
    int ly = get_local_id(1) + 1;
    int plane = (width + 2) * (height + 2);
    int at = (get_global_id(1) + 1) * (width + 2) + get_global_id(0) + 1 + plane;

    for (int z = 0; z < depth; z++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[ly][lx] = in[at];
        if (lx == 1) {
            tile[ly][0] = in[at - 1];
            tile[ly][TILE_X + 1] = in[at + TILE_X];
        }
        if (ly == 1) {
            tile[0][lx] = in[at - (width + 2)];
            tile[TILE_Y + 1][lx] = in[at + TILE_Y * (width + 2)];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        float sum = weight[0] * tile[ly][lx];
        sum += weight[1] * (tile[ly - 1][lx] + tile[ly + 1][lx] + tile[ly][lx - 1] + tile[ly][lx + 1]);
        out[at] = sum + weight[1] * (in[at - plane] + in[at + plane]);
        at += plane;
    }
}
