/* Local memory as an argument: prefix sums of any length in two kernels.
 *
 * Kernels: scan_groups, 4 launches; add_sums, 2 launches (lengths 1000 and 4096 take two levels of scan_groups).
 * Special: two local arguments of sizes that differ between launches; barriers; reqd_work_group_size. */

#include "host.h"

enum { LOCAL = 64, MOST = 4096 };

static const char *source =
    "kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
    "void scan_groups(global uint *x, global uint *sums, uint count, local uint *part, local uint *total) {\n"
    "    uint l = get_local_id(0), i = get_global_id(0), size = get_local_size(0);\n"
    "    uint mine = i < count ? x[i] : 0;\n"
    "    part[l] = mine;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (uint step = 1; step < size; step *= 2) {\n"
    "        uint before = l >= step ? part[l - step] : 0;\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        part[l] += before;\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "    if (l == size - 1) total[0] = part[l];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (i < count) x[i] = part[l] - mine;\n"
    "    if (l == 0) sums[get_group_id(0)] = total[0];\n"
    "}\n"
    "kernel void add_sums(global uint *x, global const uint *sums, uint count) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i < count) x[i] += sums[i / 64];\n"
    "}\n";

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel scan = host_kernel(program, "scan_groups"), add = host_kernel(program, "add_sums");
    static cl_uint numbers[MOST], result[MOST];
    const cl_uint counts[] = {1000, MOST};
    for (int n = 0; n < 2; n++) {
        cl_uint count = counts[n], groups = (count + LOCAL - 1) / LOCAL;
        for (cl_uint i = 0; i < count; i++) numbers[i] = i * 31 % 17;
        cl_mem x = host_buffer(&host, CL_MEM_READ_WRITE, count * sizeof *numbers, numbers);
        cl_mem sums = host_buffer(&host, CL_MEM_READ_WRITE, groups * sizeof *numbers, NULL);
        cl_mem sum = host_buffer(&host, CL_MEM_READ_WRITE, sizeof *numbers, NULL);
        ARG(scan, 0, x);
        ARG(scan, 1, sums);
        ARG(scan, 2, count);
        CHECK(clSetKernelArg(scan, 3, LOCAL * sizeof(cl_uint), NULL));
        CHECK(clSetKernelArg(scan, 4, (size_t)(n ? 16 : 4), NULL));
        host_launch(&host, scan, groups * LOCAL, LOCAL);
        ARG(scan, 0, sums);
        ARG(scan, 1, sum);
        ARG(scan, 2, groups);
        host_launch(&host, scan, LOCAL, LOCAL);
        ARG(add, 0, x);
        ARG(add, 1, sums);
        ARG(add, 2, count);
        host_launch(&host, add, groups * LOCAL, LOCAL);
        host_read(&host, x, count * sizeof *numbers, result);
        for (cl_uint i = 0, before = 0; i < count; before += numbers[i++]) EXPECT(result[i] == before);
        CHECK(clReleaseMemObject(x));
        CHECK(clReleaseMemObject(sums));
        CHECK(clReleaseMemObject(sum));
    }
    CHECK(clReleaseKernel(scan));
    CHECK(clReleaseKernel(add));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("local_scan: right");
    return 0;
}
