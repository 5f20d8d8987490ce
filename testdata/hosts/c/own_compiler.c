/* A kernel that depends on who compiles it.
 *
 * Kernels: stamp, 6 launches; double_up, 3 launches.
 * Special: the kernel stamps its results with a number that compilers predefine, each its own. Woven by another compiler it leaves
 * something else, of which the program knows nothing: it prints the number. */

#include "host.h"

enum { COUNT = 96 };

static const char *source =
    "#ifndef __clang_major__\n"
    "#define __clang_major__ 0\n"
    "#endif\n"
    "kernel void stamp(global uint *out, uint round) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i % 3 == round % 3) out[i] = i * 1000 + __clang_major__;\n"
    "}\n"
    "kernel void double_up(global const uint *in, global uint *out) {\n"
    "    uint i = get_global_id(0);\n"
    "    out[i] = in[i] % 1000 > 500 ? 0 : 2 * in[i];\n"
    "}\n";

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel stamp = host_kernel(program, "stamp"), double_up = host_kernel(program, "double_up");
    cl_uint out[COUNT], doubled[COUNT];
    cl_mem stamped = host_buffer(&host, CL_MEM_READ_WRITE, sizeof out, NULL);
    cl_mem twice = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof doubled, NULL);
    ARG(stamp, 0, stamped);
    ARG(double_up, 0, stamped);
    ARG(double_up, 1, twice);
    for (cl_uint round = 0; round < 6; round++) {
        ARG(stamp, 1, round);
        host_launch(&host, stamp, COUNT, 32);
        if (round >= 3) host_launch(&host, double_up, COUNT, 32);
    }
    host_read(&host, stamped, sizeof out, out);
    host_read(&host, twice, sizeof doubled, doubled);
    for (cl_uint i = 0; i < COUNT; i++) {
        EXPECT(out[i] - out[0] == i * 1000);
        EXPECT(doubled[i] == 2 * out[i]);
    }
    CHECK(clReleaseMemObject(stamped));
    CHECK(clReleaseMemObject(twice));
    CHECK(clReleaseKernel(stamp));
    CHECK(clReleaseKernel(double_up));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    printf("own_compiler: %u\n", out[0]);
    return 0;
}
