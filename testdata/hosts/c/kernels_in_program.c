/* clCreateKernelsInProgram: all kernels at once, into an array that has room for many more.
 *
 * Kernels: rank_odd, 16 launches; rank_even, 16 launches; flip, 1 launch.
 * Special: what lies behind the kernels in the array is garbage that nobody may touch; kernels are known by asking for their
 * names. */

#include "host.h"

enum { COUNT = 32, ROOM = 256 };

static const char *source =
    "void in_order(global int *a, global int *b) { if (*a > *b) { int c = *a; *a = *b; *b = c; } }\n"
    "kernel void rank_odd(global int *x) { size_t i = 2 * get_global_id(0) + 1; in_order(x + i, x + i + 1); }\n"
    "kernel void rank_even(global int *x) { size_t i = 2 * get_global_id(0); in_order(x + i, x + i + 1); }\n"
    "kernel void flip(global int *x) { x[get_global_id(0)] = -x[get_global_id(0)]; }\n";

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel kernels[ROOM], odd = NULL, even = NULL, flip = NULL;
    memset(kernels, 0x5A, sizeof kernels);
    cl_uint count = 0;
    CHECK(clCreateKernelsInProgram(program, 0, NULL, &count));
    EXPECT(count == 3);
    CHECK(clCreateKernelsInProgram(program, ROOM, kernels, NULL));
    for (cl_uint k = 0; k < count; k++) {
        char name[64];
        CHECK(clGetKernelInfo(kernels[k], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL));
        if (strcmp(name, "rank_odd") == 0) odd = kernels[k];
        else if (strcmp(name, "rank_even") == 0) even = kernels[k];
        else if (strcmp(name, "flip") == 0) flip = kernels[k];
    }
    EXPECT(odd && even && flip);

    cl_int numbers[COUNT], result[COUNT];
    for (int i = 0; i < COUNT; i++) numbers[i] = i * 19 % COUNT; /* 0 to 31, mixed up */
    cl_mem x = host_buffer(&host, CL_MEM_READ_WRITE, sizeof numbers, numbers);
    ARG(odd, 0, x);
    ARG(even, 0, x);
    ARG(flip, 0, x);
    for (int phase = 0; phase < COUNT / 2; phase++) {
        host_launch(&host, even, COUNT / 2, 0);
        host_launch(&host, odd, COUNT / 2 - 1, 0);
    }
    host_launch(&host, flip, COUNT, 0);
    host_read(&host, x, sizeof result, result);
    for (int i = 0; i < COUNT; i++) EXPECT(result[i] == -i);
    CHECK(clReleaseMemObject(x));
    for (cl_uint k = 0; k < count; k++) CHECK(clReleaseKernel(kernels[k]));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("kernels_in_program: right");
    return 0;
}
