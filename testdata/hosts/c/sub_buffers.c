/* Sub-buffers: heat in a rod whose next state is computed slab by slab, each slab a sub-buffer of its own.
 *
 * Kernels: relax_slab, 40 launches (10 steps of 4 slabs); add_shifted, 1 launch.
 * Special: relax_slab writes a sub-buffer with an offset and reads the whole of the other buffer; add_shifted reads two
 * sub-buffers of one buffer that overlap. The parents change roles after each step, and slabs are made anew for each. */

#include "host.h"

enum { SLABS = 4, SLAB = 512, CELLS = SLABS * SLAB, STEPS = 10, SHIFT = 1024 };

static const char *source =
    "kernel void relax_slab(global const int *now, global int *slab, int first, int cells) {\n"
    "    int i = get_global_id(0), at = first + i;\n"
    "    int left = at > 0 ? now[at - 1] : now[at];\n"
    "    int right = at + 1 < cells ? now[at + 1] : now[at];\n"
    "    slab[i] = (left + 2 * now[at] + right) / 4;\n"
    "}\n"
    "kernel void add_shifted(global const int *early, global const int *late, global int *sum) {\n"
    "    int i = get_global_id(0);\n"
    "    sum[i] = early[i] + late[i];\n"
    "}\n";

static cl_mem part(cl_mem whole, cl_mem_flags flags, size_t first, size_t count)
{
    cl_int error;
    cl_mem sub;
    cl_buffer_region region = {first * sizeof(cl_int), count * sizeof(cl_int)};
    CREATE(sub, clCreateSubBuffer(whole, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
    return sub;
}

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel relax = host_kernel(program, "relax_slab"), add = host_kernel(program, "add_shifted");

    cl_int now[CELLS], next[CELLS], result[CELLS], cells = CELLS;
    for (int i = 0; i < CELLS; i++) now[i] = i % 97 * 1000;
    cl_mem rods[2] = {host_buffer(&host, CL_MEM_READ_WRITE, sizeof now, now),
                      host_buffer(&host, CL_MEM_READ_WRITE, sizeof now, NULL)};

    for (int step = 0; step < STEPS; step++) {
        cl_mem from = rods[step % 2], to = rods[(step + 1) % 2];
        for (cl_int s = 0; s < SLABS; s++) {
            cl_int first = s * SLAB;
            cl_mem slab = part(to, CL_MEM_WRITE_ONLY, (size_t)first, SLAB);
            ARG(relax, 0, from);
            ARG(relax, 1, slab);
            ARG(relax, 2, first);
            ARG(relax, 3, cells);
            host_launch(&host, relax, SLAB, 64);
            CHECK(clReleaseMemObject(slab));
        }
        for (int i = 0; i < CELLS; i++) {
            cl_int left = i > 0 ? now[i - 1] : now[i], right = i + 1 < CELLS ? now[i + 1] : now[i];
            next[i] = (left + 2 * now[i] + right) / 4;
        }
        memcpy(now, next, sizeof now);
    }
    host_read(&host, rods[STEPS % 2], sizeof result, result);
    EXPECT(memcmp(result, now, sizeof now) == 0);

    cl_mem early = part(rods[0], CL_MEM_READ_ONLY, 0, SHIFT), late = part(rods[0], CL_MEM_READ_ONLY, SHIFT / 2, SHIFT);
    cl_mem sum = host_buffer(&host, CL_MEM_READ_WRITE, SHIFT * sizeof(cl_int), NULL);
    ARG(add, 0, early);
    ARG(add, 1, late);
    ARG(add, 2, sum);
    host_launch(&host, add, SHIFT, 0);
    host_read(&host, sum, SHIFT * sizeof(cl_int), result);
    for (int i = 0; i < SHIFT; i++) EXPECT(result[i] == now[i] + now[i + SHIFT / 2]);

    CHECK(clReleaseMemObject(early));
    CHECK(clReleaseMemObject(late));
    CHECK(clReleaseMemObject(sum));
    CHECK(clReleaseMemObject(rods[0]));
    CHECK(clReleaseMemObject(rods[1]));
    CHECK(clReleaseKernel(relax));
    CHECK(clReleaseKernel(add));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("sub_buffers: right");
    return 0;
}
