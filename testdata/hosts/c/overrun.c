/* Wrong on purpose: kernels that leave their buffers, with results that are right all the same.
 *
 * Kernels: pad, 2 launches, of which the second stores one element past the end; slope, 1 launch, which loads one past the end.
 * A checker must find an out-of-bounds write in pad (argument out) and an out-of-bounds read in slope (argument x).
 * Special: natively nothing shows, in every run: the buffers lie in the program's own memory (CL_MEM_USE_HOST_PTR), which goes
 * on behind them, and what is read too far is multiplied by zero. */

#include "host.h"

enum { COUNT = 1000, ROUNDED = 1024 };

static const char *source =
    "kernel void pad(global int *out, int count) {\n"
    "    int i = get_global_id(0);\n"
    "    if (i <= count) out[i] = i < count ? i : 0;\n" /* should be i < count */
    "}\n"
    "kernel void slope(global const int *x, global int *dx, int count) {\n"
    "    int i = get_global_id(0);\n"
    "    if (i >= count) return;\n"
    "    int inside = i + 1 < count;\n"
    "    dx[i] = inside * (x[i + 1] - x[i]);\n"
    "}\n";

static cl_mem around(const struct host *host, cl_int *memory)
{
    cl_int error;
    cl_mem created;
    cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    CREATE(created, clCreateBuffer(host->context, flags, COUNT * sizeof(cl_int), memory, &error));
    return created;
}

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel pad = host_kernel(program, "pad"), slope = host_kernel(program, "slope");
    cl_int *x = aligned_alloc(4096, 8192), *dx = aligned_alloc(4096, 8192), result[COUNT];
    EXPECT(x && dx);
    memset(x, 0, 8192);
    memset(dx, 0, 8192);
    cl_mem xs = around(&host, x), dxs = around(&host, dx);
    for (cl_int count = COUNT - 1; count <= COUNT; count++) {
        ARG(pad, 0, xs);
        ARG(pad, 1, count);
        host_launch(&host, pad, ROUNDED, 32);
    }
    host_read(&host, xs, sizeof result, result);
    for (int i = 0; i < COUNT; i++) EXPECT(result[i] == i);
    cl_int count = COUNT;
    ARG(slope, 0, xs);
    ARG(slope, 1, dxs);
    ARG(slope, 2, count);
    host_launch(&host, slope, ROUNDED, 32);
    host_read(&host, dxs, sizeof result, result);
    for (int i = 0; i < COUNT; i++) EXPECT(result[i] == (i + 1 < COUNT));
    CHECK(clReleaseMemObject(xs));
    CHECK(clReleaseMemObject(dxs));
    CHECK(clReleaseKernel(pad));
    CHECK(clReleaseKernel(slope));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    free(x);
    free(dx);
    puts("overrun: right");
    return 0;
}
