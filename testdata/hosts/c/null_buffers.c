/* Null buffers: optional inputs that a kernel asks about before it uses them.
 *
 * Kernels: weigh, 4 launches.
 * Special: null is passed in both ways, as a null pointer to the value and as a pointer to a null cl_mem; null for a global and
 * for a constant pointer; the same kernel object has buffers in other launches. */

#include "host.h"

enum { COUNT = 100 };

static const char *source =
    "kernel void weigh(global const int *values, global const int *weights, constant int *bias, global int *out) {\n"
    "    int i = get_global_id(0), value = values[i];\n"
    "    if (weights) value *= weights[i];\n"
    "    if (bias) value += bias[i % 4];\n"
    "    out[i] = value;\n"
    "}\n";

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel weigh = host_kernel(program, "weigh");
    cl_int values[COUNT], weights[COUNT], bias[4] = {5, -6, 7, -8}, result[COUNT];
    for (int i = 0; i < COUNT; i++) values[i] = i - 50, weights[i] = i % 9;
    cl_mem v = host_buffer(&host, CL_MEM_READ_ONLY, sizeof values, values), none = NULL;
    cl_mem w = host_buffer(&host, CL_MEM_READ_ONLY, sizeof weights, weights);
    cl_mem b = host_buffer(&host, CL_MEM_READ_ONLY, sizeof bias, bias);
    cl_mem out = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof result, NULL);
    ARG(weigh, 0, v);
    ARG(weigh, 3, out);
    for (int n = 0; n < 4; n++) {
        int with_weights = n & 1, with_bias = n & 2;
        CHECK(clSetKernelArg(weigh, 1, sizeof w, with_weights ? &w : NULL));
        CHECK(clSetKernelArg(weigh, 2, sizeof b, with_bias ? &b : &none));
        host_launch(&host, weigh, COUNT, 0);
        host_read(&host, out, sizeof result, result);
        for (int i = 0; i < COUNT; i++)
            EXPECT(result[i] == values[i] * (with_weights ? weights[i] : 1) + (with_bias ? bias[i % 4] : 0));
    }
    cl_mem made[] = {v, w, b, out};
    for (int i = 0; i < 4; i++) CHECK(clReleaseMemObject(made[i]));
    CHECK(clReleaseKernel(weigh));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("null_buffers: right");
    return 0;
}
