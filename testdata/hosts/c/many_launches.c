/* A hundred thousand launches of a tiny kernel.
 *
 * Kernels: tick, 100000 launches.
 * Special: a scalar argument has another value in every launch, and none of the launches is waited for by itself: whatever a
 * tool does at a launch, it does 100000 times. */

#include "host.h"

enum { LAUNCHES = 100000, SLOTS = 16 };

static const char *source =
    "kernel void tick(global uint *slots, uint round) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (round % 16 == i) slots[i] += 1;\n"
    "    else if (round % 1000 == 999) slots[i] ^= 0x10000;\n"
    "}\n";

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel tick = host_kernel(program, "tick");
    cl_uint slots[SLOTS] = {0}, expected[SLOTS] = {0};
    cl_mem buffer = host_buffer(&host, CL_MEM_READ_WRITE, sizeof slots, slots);
    ARG(tick, 0, buffer);
    for (cl_uint round = 0; round < LAUNCHES; round++) {
        ARG(tick, 1, round);
        host_launch(&host, tick, SLOTS, SLOTS);
        if (round % 2000 == 1999) CHECK(clFinish(host.queue)); /* bounds the queue's memory */
        for (cl_uint i = 0; i < SLOTS; i++)
            if (round % 16 == i) expected[i] += 1;
            else if (round % 1000 == 999) expected[i] ^= 0x10000;
    }
    host_read(&host, buffer, sizeof slots, slots);
    EXPECT(memcmp(slots, expected, sizeof slots) == 0);
    CHECK(clReleaseMemObject(buffer));
    CHECK(clReleaseKernel(tick));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("many_launches: right");
    return 0;
}
