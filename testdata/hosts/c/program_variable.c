/* Variables at program scope: state that no argument shows and that lasts from launch to launch (OpenCL C 2.0).
 *
 * Kernels: deposit, 4 launches; balance, 2 launches.
 * Special: one kernel of the program writes the variables, another reads them. If one of them runs from another program
 * object than the other, the result is wrong. */

#include "host.h"

enum { COUNT = 64 };

static const char *source =
    "global int accounts[64];\n"
    "global int deposits = 100;\n"
    "kernel void deposit(int amount) {\n"
    "    size_t i = get_global_id(0);\n"
    "    accounts[i] += amount * (int)(i + 1);\n"
    "    if (i == 0) deposits++;\n"
    "}\n"
    "kernel void balance(global int *out) {\n"
    "    size_t i = get_global_id(0);\n"
    "    out[i] = accounts[i] + (i == 0 ? 1000 * deposits : 0);\n"
    "}\n";

int main(void)
{
    struct host host = host_open(0);
    const char *text = source;
    cl_int error;
    cl_program program;
    CREATE(program, clCreateProgramWithSource(host.context, 1, &text, NULL, &error));
    if (clBuildProgram(program, 1, &host.device, "-cl-std=CL2.0", NULL, NULL) != CL_SUCCESS &&
        clBuildProgram(program, 1, &host.device, "-cl-std=CL3.0", NULL, NULL) != CL_SUCCESS)
        skip("the driver has no variables at program scope");
    cl_kernel deposit = host_kernel(program, "deposit"), balance = host_kernel(program, "balance");
    cl_mem out = host_buffer(&host, CL_MEM_WRITE_ONLY, COUNT * sizeof(cl_int), NULL);
    ARG(balance, 0, out);
    for (cl_int round = 1, sum = 0; round <= 2; round++) {
        for (cl_int amount = round; amount <= round * 10; amount += 9 * round) {
            ARG(deposit, 0, amount);
            host_launch(&host, deposit, COUNT, 0);
            sum += amount;
        }
        cl_int result[COUNT];
        host_launch(&host, balance, COUNT, 0);
        host_read(&host, out, sizeof result, result);
        for (int i = 0; i < COUNT; i++) EXPECT(result[i] == sum * (i + 1) + (i == 0 ? 1000 * (100 + 2 * round) : 0));
    }
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(deposit));
    CHECK(clReleaseKernel(balance));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("program_variable: right");
    return 0;
}
