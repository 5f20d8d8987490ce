// Ranks count the threads of a block in all its dimensions, but the code knows blocks in two of them only.
// expect: clean
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void scale_rows(float *matrix, const float *factors, int width, int height)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const int column = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (column >= width)
        return;
    float *plane = matrix + blockIdx.y * width * height;
    for (int row = warp.thread_rank(); row < height; row += warp.size())
        plane[row * width + column] *= factors[column];
}
