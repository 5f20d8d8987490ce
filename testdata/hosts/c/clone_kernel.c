/* clCloneKernel: a kernel with its arguments is copied, and both are changed and launched independently.
 *
 * Kernels: threshold, 5 launches (original 2, clone 2, clone of the clone 1).
 * Special: the original is released before the last launch of the clone; a clone has all arguments set without any call. */

#include "host.h"

enum { COUNT = 500 };

static const char *source =
    "kernel void threshold(global const int *in, global int *out, int limit, int above, int below) {\n"
    "    int i = get_global_id(0);\n"
    "    out[i] = in[i] > limit ? above : below;\n"
    "}\n";

static cl_int numbers[COUNT];
static cl_mem out;

static void launch(const struct host *host, cl_kernel kernel, cl_int limit, cl_int above, cl_int below)
{
    cl_int result[COUNT];
    host_launch(host, kernel, COUNT, 50);
    host_read(host, out, sizeof result, result);
    for (int i = 0; i < COUNT; i++) EXPECT(result[i] == (numbers[i] > limit ? above : below));
}

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    for (int i = 0; i < COUNT; i++) numbers[i] = i * 13 % 200;
    cl_mem in = host_buffer(&host, CL_MEM_READ_ONLY, sizeof numbers, numbers);
    out = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof numbers, NULL);
    cl_int limit = 60, above = 1, below = -1, other = 120, more = 9, error;
    cl_kernel first = host_kernel(program, "threshold"), second, third;
    ARG(first, 0, in);
    ARG(first, 1, out);
    ARG(first, 2, limit);
    ARG(first, 3, above);
    ARG(first, 4, below);
    launch(&host, first, 60, 1, -1);
    second = clCloneKernel(first, &error);
    if (!second) skip("the driver clones no kernels");
    CHECK(error);
    launch(&host, second, 60, 1, -1);
    ARG(second, 2, other);
    CREATE(third, clCloneKernel(second, &error));
    ARG(first, 3, more);
    launch(&host, first, 60, 9, -1);
    CHECK(clReleaseKernel(first));
    launch(&host, second, 120, 1, -1);
    CHECK(clReleaseKernel(second));
    ARG(third, 4, more);
    launch(&host, third, 120, 1, 9);
    CHECK(clReleaseKernel(third));
    CHECK(clReleaseMemObject(in));
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("clone_kernel: right");
    return 0;
}
