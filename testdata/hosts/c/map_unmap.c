/* Map and unmap: histogram equalisation of three frames in pinned buffers that the host touches only through maps.
 *
 * Kernels: count_levels, 3 launches; apply_levels, 3 launches.
 * Special: CL_MEM_ALLOC_HOST_PTR; a map that invalidates (frame), one for reading and writing (the histogram becomes the
 * table of levels in place), one for reading at an offset (the result). Between the launches of a frame, memory changes
 * without any write call. */

#include "host.h"

enum { WIDTH = 128, HEIGHT = 96, PIXELS = WIDTH * HEIGHT, FRAMES = 3, SKIPPED = 256 };

static const char *source =
    "kernel void count_levels(global const uchar *frame, global uint *levels) {\n"
    "    atomic_inc(&levels[frame[get_global_id(0)]]);\n"
    "}\n"
    "kernel void apply_levels(global const uchar *frame, global const uint *levels, global uchar *result) {\n"
    "    size_t i = get_global_id(0);\n"
    "    result[i] = (uchar)levels[frame[i]];\n"
    "}\n";

static void *map(struct host *host, cl_mem buffer, cl_map_flags flags, size_t offset, size_t size)
{
    cl_int error;
    void *at;
    CREATE(at, clEnqueueMapBuffer(host->queue, buffer, CL_TRUE, flags, offset, size, 0, NULL, NULL, &error));
    return at;
}

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, "");
    cl_kernel count = host_kernel(program, "count_levels"), apply = host_kernel(program, "apply_levels");
    cl_mem frame = host_buffer(&host, CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR, PIXELS, NULL);
    cl_mem levels = host_buffer(&host, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, 256 * sizeof(cl_uint), NULL);
    cl_mem result = host_buffer(&host, CL_MEM_WRITE_ONLY | CL_MEM_ALLOC_HOST_PTR, PIXELS, NULL);
    ARG(count, 0, frame);
    ARG(count, 1, levels);
    ARG(apply, 0, frame);
    ARG(apply, 1, levels);
    ARG(apply, 2, result);

    unsigned state = 1;
    for (int f = 0; f < FRAMES; f++) {
        cl_uchar expected[PIXELS];
        cl_uint table[256] = {0}, sum = 0;
        cl_uchar *pixels = map(&host, frame, CL_MAP_WRITE_INVALIDATE_REGION, 0, PIXELS);
        for (int i = 0; i < PIXELS; i++) {
            unsigned a = next_random(&state) % 100, b = next_random(&state) % 100;
            expected[i] = pixels[i] = (cl_uchar)(a + b / (1 + (unsigned)f));
            table[expected[i]]++;
        }
        CHECK(clEnqueueUnmapMemObject(host.queue, frame, pixels, 0, NULL, NULL));

        cl_uint *counted = map(&host, levels, CL_MAP_WRITE, 0, 256 * sizeof(cl_uint));
        memset(counted, 0, 256 * sizeof(cl_uint));
        CHECK(clEnqueueUnmapMemObject(host.queue, levels, counted, 0, NULL, NULL));
        host_launch(&host, count, PIXELS, 64);

        counted = map(&host, levels, CL_MAP_READ | CL_MAP_WRITE, 0, 256 * sizeof(cl_uint));
        for (int i = 0; i < 256; i++) {
            EXPECT(counted[i] == table[i]);
            sum += counted[i];
            counted[i] = table[i] = sum * 255 / PIXELS;
        }
        CHECK(clEnqueueUnmapMemObject(host.queue, levels, counted, 0, NULL, NULL));
        host_launch(&host, apply, PIXELS, 0);

        const cl_uchar *equal = map(&host, result, CL_MAP_READ, SKIPPED, PIXELS - SKIPPED);
        for (int i = SKIPPED; i < PIXELS; i++) EXPECT(equal[i - SKIPPED] == table[expected[i]]);
        CHECK(clEnqueueUnmapMemObject(host.queue, result, (void *)equal, 0, NULL, NULL));
    }
    CHECK(clReleaseMemObject(frame));
    CHECK(clReleaseMemObject(levels));
    CHECK(clReleaseMemObject(result));
    CHECK(clReleaseKernel(count));
    CHECK(clReleaseKernel(apply));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("map_unmap: right");
    return 0;
}
