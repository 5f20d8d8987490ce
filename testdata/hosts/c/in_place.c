/* Aliases: the same buffer for two arguments, two overlapping sub-buffers, one buffer as input of all three.
 *
 * Kernels: combine, 5 launches.
 * Special: in place (out is a), out is b, all three the same, a and b the same with another out, and in place through two
 * sub-buffers of the same region. Every work-item touches its own element only, so none of it is a race. */

#include "host.h"

enum { COUNT = 256 };

static const char *source =
    "kernel void combine(global const int *a, global const int *b, global int *out) {\n"
    "    int i = get_global_id(0);\n"
    "    out[i] = 3 * a[i] - b[i] + 1;\n"
    "}\n";

static cl_kernel combine;

static void launch(const struct host *host, cl_mem a, cl_mem b, cl_mem out)
{
    ARG(combine, 0, a);
    ARG(combine, 1, b);
    ARG(combine, 2, out);
    host_launch(host, combine, COUNT, 32);
}

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    combine = host_kernel(program, "combine");
    cl_int x[COUNT], y[COUNT], z[2 * COUNT], result[2 * COUNT], error;
    for (int i = 0; i < COUNT; i++) x[i] = i, y[i] = 1000 - i, z[i] = z[COUNT + i] = 7 * i;
    cl_mem xs = host_buffer(&host, CL_MEM_READ_WRITE, sizeof x, x), ys = host_buffer(&host, CL_MEM_READ_WRITE, sizeof y, y);
    cl_mem zs = host_buffer(&host, CL_MEM_READ_WRITE, sizeof z, z);

    launch(&host, xs, ys, xs);
    launch(&host, ys, xs, xs);
    launch(&host, ys, ys, ys);
    launch(&host, xs, xs, ys);
    for (int i = 0; i < COUNT; i++) {
        x[i] = 3 * x[i] - y[i] + 1;
        x[i] = 3 * y[i] - x[i] + 1;
        y[i] = 3 * y[i] - y[i] + 1;
        y[i] = 3 * x[i] - x[i] + 1;
    }
    cl_buffer_region second_half = {COUNT * sizeof(cl_int), COUNT * sizeof(cl_int)};
    cl_mem one, same;
    CREATE(one, clCreateSubBuffer(zs, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &second_half, &error));
    CREATE(same, clCreateSubBuffer(zs, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &second_half, &error));
    launch(&host, one, xs, same);
    for (int i = 0; i < COUNT; i++) z[COUNT + i] = 3 * z[COUNT + i] - x[i] + 1;

    host_read(&host, xs, sizeof x, result);
    EXPECT(memcmp(result, x, sizeof x) == 0);
    host_read(&host, ys, sizeof y, result);
    EXPECT(memcmp(result, y, sizeof y) == 0);
    host_read(&host, zs, sizeof z, result);
    EXPECT(memcmp(result, z, sizeof z) == 0);
    cl_mem made[] = {one, same, xs, ys, zs};
    for (int i = 0; i < 5; i++) CHECK(clReleaseMemObject(made[i]));
    CHECK(clReleaseKernel(combine));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("in_place: right");
    return 0;
}
