/* Many kernels, each in a program of its own, as with libraries that make a kernel for each expression.
 *
 * Kernels: element_0 to element_7, 2 launches each; with a number as its argument, so many kernels.
 * Special: whatever a tool does for a kernel, it does that often. The programs have little in common but their shape. */

#include "host.h"

enum { COUNT = 256 };

int main(int count, char **arguments)
{
    int kernels = count > 1 ? atoi(arguments[1]) : 8;
    struct host host = host_open(0);
    cl_float numbers[COUNT], result[COUNT];
    for (int i = 0; i < COUNT; i++) numbers[i] = (cl_float)i;
    cl_mem in = host_buffer(&host, CL_MEM_READ_ONLY, sizeof numbers, numbers);
    cl_mem out = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof result, NULL);
    for (int n = 0; n < kernels; n++) {
        char text[400], name[32];
        snprintf(name, sizeof name, "element_%d", n);
        snprintf(text, sizeof text,
                 "kernel void %s(global const float *in, global float *out, float least) {\n"
                 "    size_t i = get_global_id(0);\n"
                 "    float v = in[i];\n"
                 "    out[i] = v < least ? v + %d.0f : v - least;\n"
                 "}\n",
                 name, n);
        cl_program program = host_program(&host, text, NULL);
        cl_kernel element = host_kernel(program, name);
        ARG(element, 0, in);
        ARG(element, 1, out);
        for (int launch = 0; launch < 2; launch++) {
            cl_float least = (cl_float)(launch * COUNT / 2);
            ARG(element, 2, least);
            host_launch(&host, element, COUNT, 0);
            host_read(&host, out, sizeof result, result);
            for (int i = 0; i < COUNT; i++)
                EXPECT(result[i] == (numbers[i] < least ? numbers[i] + (cl_float)n : numbers[i] - least));
        }
        CHECK(clReleaseKernel(element));
        CHECK(clReleaseProgram(program));
    }
    CHECK(clReleaseMemObject(in));
    CHECK(clReleaseMemObject(out));
    host_close(&host);
    puts("many_kernels: right");
    return 0;
}
