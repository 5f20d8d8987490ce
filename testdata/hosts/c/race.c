/* Wrong on purpose: a reduction without a barrier, and a count without atomics; beside each, the right kernel.
 *
 * Kernels: sum_hasty, sum_right, tally_plain, tally_atomic, 2 launches each.
 * A checker must find a data race within groups on local memory in sum_hasty, one between groups on global memory in
 * tally_plain, and none in the others.
 * Special: what the wrong kernels compute depends on the device, so the program only asks whether it lies where any order
 * of the work-items would put it; it prints how far off they are. */

#include "host.h"

enum { COUNT = 1024, LOCAL = 64, GROUPS = COUNT / LOCAL, BINS = 4 };

#define SUM(name, barrier)                                                                                              \
    "kernel void " name "(global const uint *in, global uint *sums, local uint *part) {\n"                              \
    "    uint l = get_local_id(0);\n"                                                                                   \
    "    part[l] = in[get_global_id(0)];\n"                                                                             \
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"                                                                               \
    "    for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {\n"                                              \
    "        if (l < step) part[l] += part[l + step];\n"                                                                \
    "        " barrier "\n"                                                                                             \
    "    }\n"                                                                                                           \
    "    if (l == 0) sums[get_group_id(0)] = part[0];\n"                                                                \
    "}\n"

static const char *source =
    SUM("sum_hasty", "")
    SUM("sum_right", "barrier(CLK_LOCAL_MEM_FENCE);")
    "kernel void tally_plain(global const uint *in, global uint *bins) { bins[in[get_global_id(0)] % 4]++; }\n"
    "kernel void tally_atomic(global const uint *in, global uint *bins) { atomic_inc(&bins[in[get_global_id(0)] % 4]); }\n";

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_uint numbers[COUNT], zeros[BINS] = {0}, result[GROUPS], bins[BINS], all[BINS] = {0};
    for (cl_uint i = 0; i < COUNT; i++) all[(numbers[i] = i * 7 % 61) % BINS]++;
    cl_mem in = host_buffer(&host, CL_MEM_READ_ONLY, sizeof numbers, numbers);
    cl_mem sums = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof result, NULL);
    cl_mem counts = host_buffer(&host, CL_MEM_READ_WRITE, sizeof bins, zeros);

    const char *names[] = {"sum_hasty", "sum_right", "tally_plain", "tally_atomic"};
    for (int n = 0; n < 4; n++) {
        cl_kernel kernel = host_kernel(program, names[n]);
        ARG(kernel, 0, in);
        if (n < 2) CHECK(clSetKernelArg(kernel, 2, LOCAL * sizeof(cl_uint), NULL));
        unsigned off = 0;
        for (int round = 0; round < 2; round++) {
            CHECK(clEnqueueWriteBuffer(host.queue, counts, CL_TRUE, 0, sizeof zeros, zeros, 0, NULL, NULL));
            if (n < 2) ARG(kernel, 1, sums);
            else ARG(kernel, 1, counts);
            host_launch(&host, kernel, COUNT, LOCAL);
            if (n < 2) {
                host_read(&host, sums, sizeof result, result);
                for (cl_uint g = 0; g < GROUPS; g++) {
                    cl_uint sum = 0;
                    for (cl_uint i = g * LOCAL; i < (g + 1) * LOCAL; i++) sum += numbers[i];
                    EXPECT(n == 0 || result[g] == sum);
                    EXPECT(result[g] >= numbers[g * LOCAL] + numbers[g * LOCAL + 1]);
                    EXPECT(result[g] <= sum);
                    off += result[g] != sum;
                }
            } else {
                host_read(&host, counts, sizeof bins, bins);
                for (int b = 0; b < BINS; b++) {
                    EXPECT(n == 2 ? bins[b] >= 1 && bins[b] <= all[b] : bins[b] == all[b]);
                    off += bins[b] != all[b];
                }
            }
        }
        printf("%s: %u results off\n", names[n], off);
        CHECK(clReleaseKernel(kernel));
    }
    CHECK(clReleaseMemObject(in));
    CHECK(clReleaseMemObject(sums));
    CHECK(clReleaseMemObject(counts));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("race: right");
    return 0;
}
