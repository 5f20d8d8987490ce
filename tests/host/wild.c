/* Ends in its second launch, wherever the driver lets a store far outside of its buffer end a program. */

#include "host.h"

enum { COUNT = 64 };

static const char *source =
    "kernel void fill(global int *out, ulong distance) {\n"
    "    out[get_global_id(0) + distance] = 7;\n"
    "}\n";

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel fill = host_kernel(program, "fill");
    cl_mem out = host_buffer(&host, CL_MEM_READ_WRITE, COUNT * sizeof(cl_int), NULL);
    for (cl_ulong distance = 0; distance <= 1UL << 40; distance += 1UL << 40) {
        ARG(fill, 0, out);
        ARG(fill, 1, distance);
        host_launch(&host, fill, COUNT, 16);
        CHECK(clFinish(host.queue));
    }
    return 0;
}
