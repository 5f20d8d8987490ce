/* Kernels that print: what goes to standard output is a result of the program, too.
 *
 * Kernels: announce, 2 launches.
 * Special: a kernel that is run once more, on the device, prints once more. The program cannot see it, but whoever compares
 * its output can: natively `announce: N of 3` is printed for N = 0, 1, 2 by the first launch and again by the second, six
 * lines in all. Lines of one launch come in any order. */

#include "host.h"

static const char *source =
    "kernel void announce(global int *seen) {\n"
    "    int i = get_global_id(0);\n"
    "    seen[i]++;\n"
    "    printf(\"announce: %d of %d\\n\", i, (int)get_global_size(0));\n"
    "}\n";

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel announce = host_kernel(program, "announce");
    cl_int seen[3] = {0};
    cl_mem buffer = host_buffer(&host, CL_MEM_READ_WRITE, sizeof seen, seen);
    ARG(announce, 0, buffer);
    for (int n = 1; n <= 2; n++) {
        host_launch(&host, announce, 3, 0);
        host_read(&host, buffer, sizeof seen, seen);
        EXPECT(seen[0] == n && seen[1] == n && seen[2] == n);
    }
    CHECK(clReleaseMemObject(buffer));
    CHECK(clReleaseKernel(announce));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("printing: right");
    return 0;
}
