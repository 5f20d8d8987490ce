/* Several contexts and queues: two contexts at once, with two queues each, and a third after the first is gone.
 *
 * Kernels: advance, 12 launches (4 in each context, 2 in each queue); copy_back, 3 launches (1 in each context).
 * Special: the same text is built in each context; queues of a context share a buffer and wait for each other through events;
 * handles of the third context may be those of the first again. */

#include "host.h"

enum { COUNT = 640 };

static const char *source =
    "kernel void advance(global uint *state, uint factor) { size_t i = get_global_id(0); state[i] = state[i] * factor + 12345; }\n"
    "kernel void copy_back(global const uint *from, global uint *to) {\n"
    "    size_t i = get_global_id(0), count = get_global_size(0);\n"
    "    to[count - 1 - i] = from[i];\n"
    "}\n";

struct part {
    struct host host;
    cl_command_queue second;
    cl_program program;
    cl_kernel advance, copy_back;
    cl_mem state, backwards;
    cl_uint expected[COUNT];
};

static void open_part(struct part *part, cl_uint seed)
{
    cl_int error;
    part->host = host_open(0);
    CREATE(part->second, clCreateCommandQueue(part->host.context, part->host.device, CL_QUEUE_PROFILING_ENABLE, &error));
    part->program = host_program(&part->host, source, NULL);
    part->advance = host_kernel(part->program, "advance");
    part->copy_back = host_kernel(part->program, "copy_back");
    for (cl_uint i = 0; i < COUNT; i++) part->expected[i] = seed * i;
    part->state = host_buffer(&part->host, CL_MEM_READ_WRITE, sizeof part->expected, part->expected);
    part->backwards = host_buffer(&part->host, CL_MEM_READ_WRITE, sizeof part->expected, NULL);
    ARG(part->advance, 0, part->state);
}

/* Advances in the first queue, then in the second. */
static void advance(struct part *part, cl_uint factor)
{
    cl_event first, second;
    size_t global = COUNT;
    ARG(part->advance, 1, factor);
    CHECK(clEnqueueNDRangeKernel(part->host.queue, part->advance, 1, NULL, &global, NULL, 0, NULL, &first));
    CHECK(clFlush(part->host.queue));
    CHECK(clEnqueueNDRangeKernel(part->second, part->advance, 1, NULL, &global, NULL, 1, &first, &second));
    CHECK(clWaitForEvents(1, &second));
    cl_ulong from, to;
    CHECK(clGetEventProfilingInfo(second, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL));
    CHECK(clGetEventProfilingInfo(second, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL));
    EXPECT(from <= to);
    CHECK(clReleaseEvent(first));
    CHECK(clReleaseEvent(second));
    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < COUNT; i++) part->expected[i] = part->expected[i] * factor + 12345;
}

static void close_part(struct part *part)
{
    cl_uint result[COUNT];
    ARG(part->copy_back, 0, part->state);
    ARG(part->copy_back, 1, part->backwards);
    host_launch(&part->host, part->copy_back, COUNT, 32);
    host_read(&part->host, part->backwards, sizeof result, result);
    for (int i = 0; i < COUNT; i++) EXPECT(result[COUNT - 1 - i] == part->expected[i]);
    CHECK(clReleaseMemObject(part->state));
    CHECK(clReleaseMemObject(part->backwards));
    CHECK(clReleaseKernel(part->advance));
    CHECK(clReleaseKernel(part->copy_back));
    CHECK(clReleaseProgram(part->program));
    CHECK(clReleaseCommandQueue(part->second));
    host_close(&part->host);
}

int main(void)
{
    static struct part a, b, c;
    open_part(&a, 3);
    open_part(&b, 77);
    advance(&a, 5);
    advance(&b, 7);
    advance(&a, 9);
    close_part(&a);
    open_part(&c, 1);
    advance(&b, 11);
    advance(&c, 5);
    advance(&c, 5);
    close_part(&b);
    close_part(&c);
    puts("contexts: right");
    return 0;
}
