/* Wrong on purpose: kernels that do with buffers what the program has not made them for. CPU devices do not notice.
 *
 * Kernels: accumulate, which adds to sums that are made for writing only (a sub-buffer that inherits this); bump, which
 * writes to a sub-buffer that is made for reading only, of a buffer made for both; copy, which does neither. */

#include "host.h"

enum { COUNT = 256 };

static const char *source =
    "kernel void accumulate(global const int *in, global int *sums) {\n"
    "    sums[get_global_id(0)] += in[get_global_id(0)];\n"
    "}\n"
    "kernel void bump(global int *table, global int *out) {\n"
    "    int i = get_global_id(0);\n"
    "    out[i] = table[i];\n"
    "    table[i] = i;\n"
    "}\n"
    "kernel void copy(global const int *in, global int *out) {\n"
    "    out[get_global_id(0)] = in[get_global_id(0)];\n"
    "}\n";

static cl_mem half(cl_mem whole, cl_mem_flags flags)
{
    cl_int error;
    cl_mem created;
    cl_buffer_region region = {COUNT * sizeof(cl_int), COUNT * sizeof(cl_int)};
    CREATE(created, clCreateSubBuffer(whole, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
    return created;
}

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_int numbers[2 * COUNT];
    for (int i = 0; i < 2 * COUNT; i++) numbers[i] = i;
    cl_mem in = host_buffer(&host, CL_MEM_READ_ONLY, sizeof numbers, numbers);
    cl_mem both = host_buffer(&host, CL_MEM_READ_WRITE, sizeof numbers, numbers);
    cl_mem out = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof numbers, NULL);
    cl_mem table = half(both, CL_MEM_READ_ONLY), sums = half(out, 0);
    struct { const char *name; cl_mem from, to; } launches[] = {
        {"copy", in, out}, {"accumulate", in, sums}, {"bump", table, out}, {"copy", table, sums},
    };
    for (size_t n = 0; n < sizeof launches / sizeof *launches; n++) {
        cl_kernel kernel = host_kernel(program, launches[n].name);
        ARG(kernel, 0, launches[n].from);
        ARG(kernel, 1, launches[n].to);
        host_launch(&host, kernel, COUNT, 32);
        CHECK(clReleaseKernel(kernel));
    }
    cl_mem all[] = {table, sums, in, both, out};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) CHECK(clReleaseMemObject(all[n]));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("buffer_flags: right");
    return 0;
}
