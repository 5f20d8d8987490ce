/* Launches without work-items, which OpenCL 2.1 and later allow: with sizes of 0, and without sizes.
 *
 * Kernels: fill, 3 launches.
 * Special: two of the launches do nothing. Where a device knows OpenCL 2.0 at most, it refuses them, and the program skips. */

#include "host.h"

enum { COUNT = 8 };

static const char *source = "kernel void fill(global int *out) { out[get_global_id(0)] += 7; }\n";

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel fill = host_kernel(program, "fill");
    cl_int result[COUNT] = {0};
    cl_mem out = host_buffer(&host, CL_MEM_READ_WRITE, sizeof result, result);
    size_t zero = 0;
    ARG(fill, 0, out);
    if (clEnqueueNDRangeKernel(host.queue, fill, 1, NULL, NULL, NULL, 0, NULL, NULL) == CL_INVALID_GLOBAL_WORK_SIZE)
        skip("launches without work-items");
    CHECK(clEnqueueNDRangeKernel(host.queue, fill, 1, NULL, &zero, NULL, 0, NULL, NULL));
    host_launch(&host, fill, COUNT, 0);
    host_read(&host, out, sizeof result, result);
    for (int i = 0; i < COUNT; i++) EXPECT(result[i] == 7);
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(fill));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("no_work_items: right");
    return 0;
}
