/* Transfers of every kind: rectangles, fills, copies between buffers, buffers and images.
 *
 * Kernels: rotate_tile, 9 launches (one for each tile of a 3 by 3 mosaic).
 * Special: the kernel works on a small buffer into which tiles of a large one are copied as rectangles; nothing of the large
 * buffer is ever written by the host as a whole. */

#include "host.h"

enum { TILE = 16, TILES = 3, SIDE = TILE * TILES };

static const char *source =
    "kernel void rotate_tile(global const uint *in, global uint *out) {\n"
    "    size_t x = get_global_id(0), y = get_global_id(1), side = get_global_size(0);\n"
    "    out[x * side + (side - 1 - y)] = in[y * side + x];\n"
    "}\n";

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel rotate = host_kernel(program, "rotate_tile");
    cl_uint expected[SIDE][SIDE], result[SIDE][SIDE], line[SIDE], background = 7;
    size_t row = SIDE * sizeof(cl_uint), tile_row = TILE * sizeof(cl_uint), zero[3] = {0};
    cl_mem mosaic = host_buffer(&host, CL_MEM_READ_WRITE, sizeof result, NULL);
    cl_mem from = host_buffer(&host, CL_MEM_READ_WRITE, TILE * tile_row, NULL);
    cl_mem to = host_buffer(&host, CL_MEM_READ_WRITE, TILE * tile_row, NULL);

    CHECK(clEnqueueFillBuffer(host.queue, mosaic, &background, sizeof background, 0, sizeof result, 0, NULL, NULL));
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) expected[y][x] = background;
    /* A column of every fourth, as a rectangle one element wide, from a host array without gaps. */
    for (int x = 0; x < SIDE; x += 4) {
        for (int y = 0; y < SIDE; y++) line[y] = expected[y][x] = (cl_uint)(x * 100 + y);
        size_t at[] = {(size_t)x * sizeof(cl_uint), 0, 0}, region[] = {sizeof(cl_uint), SIDE, 1};
        CHECK(clEnqueueWriteBufferRect(host.queue, mosaic, CL_TRUE, at, zero, region, row, 0, sizeof(cl_uint), 0, line, 0, NULL, NULL));
    }
    ARG(rotate, 0, from);
    ARG(rotate, 1, to);
    size_t global[] = {TILE, TILE}, region[] = {tile_row, TILE, 1};
    for (size_t t = 0; t < TILES * TILES; t++) {
        size_t left = t % TILES * TILE, top = t / TILES * TILE, at[] = {left * sizeof(cl_uint), top, 0};
        CHECK(clEnqueueCopyBufferRect(host.queue, mosaic, from, at, zero, region, row, 0, tile_row, 0, 0, NULL, NULL));
        CHECK(clEnqueueNDRangeKernel(host.queue, rotate, 2, NULL, global, NULL, 0, NULL, NULL));
        CHECK(clEnqueueCopyBufferRect(host.queue, to, mosaic, zero, at, region, tile_row, 0, row, 0, 0, NULL, NULL));
        cl_uint turned[TILE][TILE];
        for (size_t y = 0; y < TILE; y++)
            for (size_t x = 0; x < TILE; x++) turned[x][TILE - 1 - y] = expected[top + y][left + x];
        for (size_t y = 0; y < TILE; y++) memcpy(&expected[top + y][left], turned[y], tile_row);
    }
    /* The upper third once more over the lower one, within the buffer; then everything is read in three parts. */
    size_t third = sizeof result / TILES;
    CHECK(clEnqueueCopyBuffer(host.queue, mosaic, mosaic, 0, 2 * third, third, 0, NULL, NULL));
    memcpy(&expected[2 * TILE], expected, third);
    for (size_t part = 0; part < TILES; part++)
        CHECK(clEnqueueReadBuffer(host.queue, mosaic, CL_FALSE, part * third, third, (char *)result + part * third, 0, NULL, NULL));
    CHECK(clFinish(host.queue));
    EXPECT(memcmp(result, expected, sizeof result) == 0);
    CHECK(clReleaseMemObject(mosaic));
    CHECK(clReleaseMemObject(from));
    CHECK(clReleaseMemObject(to));
    CHECK(clReleaseKernel(rotate));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("transfers: right");
    return 0;
}
