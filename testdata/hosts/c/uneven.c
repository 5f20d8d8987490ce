/* Wrong on purpose: work-items leave before a barrier at which the others of their group wait.
 *
 * Kernels: smooth, 3 launches: two by the first thread, one between them by a second one.
 * A checker must find barrier divergence in smooth, in the second thread's launch alone: only there the group size does not divide
 * the number of elements.
 * Special: natively nothing shows: what the work-items that left would have brought into local memory is not used. */

#include "host.h"
#include <pthread.h>

enum { COUNT = 256, LOCAL = 32 };

static const char *source =
    "kernel void smooth(global const int *in, global int *out, int count, local int *tile) {\n"
    "    int i = get_global_id(0), l = get_local_id(0);\n"
    "    if (i >= count) return;\n" /* should only skip the accesses */
    "    tile[l] = in[i];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    out[i] = tile[l] + (l > 0 ? tile[l - 1] : 0);\n"
    "}\n";

static struct host host;
static cl_kernel smooth;
static cl_mem in, out;

static void launch(cl_int count)
{
    ARG(smooth, 0, in);
    ARG(smooth, 1, out);
    ARG(smooth, 2, count);
    CHECK(clSetKernelArg(smooth, 3, LOCAL * sizeof(cl_int), NULL));
    host_launch(&host, smooth, COUNT, LOCAL);
}

static void *second(void *count)
{
    launch(*(cl_int *)count);
    return NULL;
}

int main(void)
{
    host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    smooth = host_kernel(program, "smooth");
    cl_int numbers[COUNT], result[COUNT], counts[] = {COUNT, COUNT - 6, COUNT - LOCAL};
    for (int i = 0; i < COUNT; i++) numbers[i] = 3 * i + 1;
    in = host_buffer(&host, CL_MEM_READ_ONLY, sizeof numbers, numbers);
    out = host_buffer(&host, CL_MEM_READ_WRITE, sizeof result, NULL);
    for (int round = 0; round < 3; round++) {
        if (round == 1) {
            pthread_t thread;
            EXPECT(pthread_create(&thread, NULL, second, &counts[round]) == 0);
            EXPECT(pthread_join(thread, NULL) == 0);
        } else {
            launch(counts[round]);
        }
        host_read(&host, out, sizeof result, result);
        for (int i = 0; i < counts[round]; i++)
            EXPECT(result[i] == numbers[i] + (i % LOCAL > 0 ? numbers[i - 1] : 0));
    }
    CHECK(clReleaseMemObject(in));
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(smooth));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("uneven: right");
    return 0;
}
