/* A simulation that does something else once, late.
 *
 * Kernels: settle, 1200 launches.
 * Special: the 1000th launch, whose number is no power of two and whose sizes and scalars are those of all others, is the only
 * one that takes a branch of the kernel; what decides is in a buffer, which the kernel has written itself. */

#include "host.h"

enum { CELLS = 64, LAUNCHES = 1200, LATE = 1000 };

static const char *source =
    "kernel void settle(global uint *cells, global const uint *rain, uint capacity) {\n"
    "    uint i = get_global_id(0);\n"
    "    cells[i] += rain[i];\n"
    "    if (cells[i] == capacity)\n"
    "        cells[i] = capacity / 2;\n"
    "}\n";

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel settle = host_kernel(program, "settle");
    cl_uint cells[CELLS], rain[CELLS], expected[CELLS], capacity = 1u << 20;
    for (cl_uint i = 0; i < CELLS; i++) {
        rain[i] = i == 17 ? 1 : 2 * i;
        /* Only cell 17 is ever full: in the launch LATE. */
        cells[i] = expected[i] = i == 17 ? capacity - LATE : 1;
    }
    cl_mem state = host_buffer(&host, CL_MEM_READ_WRITE, sizeof cells, cells);
    cl_mem input = host_buffer(&host, CL_MEM_READ_ONLY, sizeof rain, rain);
    ARG(settle, 0, state);
    ARG(settle, 1, input);
    ARG(settle, 2, capacity);
    for (int launch = 0; launch < LAUNCHES; launch++) {
        host_launch(&host, settle, CELLS, 16);
        for (cl_uint i = 0; i < CELLS; i++) {
            expected[i] += rain[i];
            if (expected[i] == capacity) expected[i] = capacity / 2;
        }
    }
    host_read(&host, state, sizeof cells, cells);
    EXPECT(memcmp(cells, expected, sizeof cells) == 0);
    CHECK(clReleaseMemObject(state));
    CHECK(clReleaseMemObject(input));
    CHECK(clReleaseKernel(settle));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("late_branch: right");
    return 0;
}
