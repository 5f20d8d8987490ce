/* Complex numbers as unions: by their parts and as a vector, as libraries of complex arithmetic have them.
 *
 * Kernels: multiply, 2 launches.
 * Special: the results are floats that differ in their last bits between compilers, and are told to be floats by a union only. */

#include <math.h>

#include "host.h"

enum { COUNT = 64 };

struct complex {
    float real, imag;
};

static const char *source =
    "typedef union { struct { float real, imag; }; float parts[2]; } complex;\n"
    "kernel void multiply(global complex *product, global const complex *a, global const complex *b) {\n"
    "    size_t i = get_global_id(0);\n"
    "    product[i].real = a[i].real * b[i].real - a[i].imag * b[i].imag;\n"
    "    product[i].parts[1] = a[i].parts[0] * b[i].parts[1] + a[i].parts[1] * b[i].parts[0];\n"
    "}\n";

static void fill(struct complex *numbers, unsigned *state)
{
    for (int i = 0; i < COUNT; i++) {
        numbers[i].real = (float)(next_random(state) % 2000) / 700 - 1;
        numbers[i].imag = (float)(next_random(state) % 2000) / 900 - 1;
    }
}

static int is_near(float value, double expected)
{
    return fabs(value - expected) < 1e-5;
}

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel multiply = host_kernel(program, "multiply");
    struct complex a[COUNT], b[COUNT], product[COUNT];
    unsigned state = 5;
    for (int round = 0; round < 2; round++) {
        fill(a, &state);
        fill(b, &state);
        cl_mem to = host_buffer(&host, CL_MEM_READ_WRITE, sizeof product, a);
        cl_mem from = host_buffer(&host, CL_MEM_READ_ONLY, sizeof a, a), by = host_buffer(&host, CL_MEM_READ_ONLY, sizeof b, b);
        ARG(multiply, 0, to);
        ARG(multiply, 1, from);
        ARG(multiply, 2, by);
        host_launch(&host, multiply, COUNT, 16);
        host_read(&host, to, sizeof product, product);
        for (int i = 0; i < COUNT; i++) {
            EXPECT(is_near(product[i].real, (double)a[i].real * b[i].real - (double)a[i].imag * b[i].imag));
            EXPECT(is_near(product[i].imag, (double)a[i].real * b[i].imag + (double)a[i].imag * b[i].real));
        }
        CHECK(clReleaseMemObject(to));
        CHECK(clReleaseMemObject(from));
        CHECK(clReleaseMemObject(by));
    }
    CHECK(clReleaseKernel(multiply));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("complex_union: right");
    return 0;
}
