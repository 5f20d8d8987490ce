/* An out-of-order queue: five rounds of a graph of four launches that only events keep in order.
 *
 * Kernels: wave, doubled, squared, join, 5 launches each.
 * Special: doubled and squared of a round may run at once; rounds overlap, because only what shares a buffer waits. The
 * first launch waits for a user event that the host sets when everything is enqueued. Whoever snapshots a buffer "after" a
 * launch by the order of calls alone sees another launch's work. */

#include "host.h"

enum { COUNT = 2048, ROUNDS = 5 };

static const char *source =
    "kernel void wave(global int *out, int round) { int i = get_global_id(0); out[i] = (i * 37 + round * 11) % 101; }\n"
    "kernel void doubled(global const int *in, global int *out) { int i = get_global_id(0); out[i] = 2 * in[i]; }\n"
    "kernel void squared(global const int *in, global int *out) { int i = get_global_id(0); out[i] = in[i] * in[i]; }\n"
    "kernel void join(global const int *a, global const int *b, global int *sum) {\n"
    "    int i = get_global_id(0);\n"
    "    sum[i] += a[i] - b[i];\n"
    "}\n";

static cl_event after(const struct host *host, cl_kernel kernel, cl_uint count, const cl_event *events)
{
    cl_event done;
    size_t global = COUNT;
    CHECK(clEnqueueNDRangeKernel(host->queue, kernel, 1, NULL, &global, NULL, count, events, &done));
    return done;
}

int main(void)
{
    cl_device_id device;
    cl_platform_id platform;
    cl_command_queue_properties has = 0;
    device = host_device(CL_DEVICE_TYPE_ALL, &platform);
    CHECK(clGetDeviceInfo(device, CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, sizeof has, &has, NULL));
    if (!(has & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) skip("the device has no out-of-order queues");
    struct host host = host_open(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel wave = host_kernel(program, "wave"), doubled = host_kernel(program, "doubled");
    cl_kernel squared = host_kernel(program, "squared"), join = host_kernel(program, "join");

    cl_int zeros[COUNT] = {0}, result[COUNT], error;
    cl_mem from[2], twice[2], square[2], sum = host_buffer(&host, CL_MEM_READ_WRITE, sizeof zeros, zeros);
    for (int i = 0; i < 2; i++) {
        from[i] = host_buffer(&host, CL_MEM_READ_WRITE, sizeof zeros, NULL);
        twice[i] = host_buffer(&host, CL_MEM_READ_WRITE, sizeof zeros, NULL);
        square[i] = host_buffer(&host, CL_MEM_READ_WRITE, sizeof zeros, NULL);
    }
    cl_event gate, joined[ROUNDS + 2];
    CREATE(gate, clCreateUserEvent(host.context, &error));
    joined[0] = joined[1] = gate; /* of "two rounds ago", for the first two rounds */
    for (int round = 0; round < ROUNDS; round++) {
        int half = round % 2;
        cl_int number = round;
        ARG(wave, 0, from[half]);
        ARG(wave, 1, number);
        /* The buffers of this half were last used by the join of two rounds ago. */
        cl_event made = after(&host, wave, 1, &joined[round]);
        ARG(doubled, 0, from[half]);
        ARG(doubled, 1, twice[half]);
        cl_event branches[3];
        branches[0] = after(&host, doubled, 1, &made);
        ARG(squared, 0, from[half]);
        ARG(squared, 1, square[half]);
        branches[1] = after(&host, squared, 1, &made);
        branches[2] = joined[round + 1]; /* sum is everybody's */
        ARG(join, 0, twice[half]);
        ARG(join, 1, square[half]);
        ARG(join, 2, sum);
        joined[round + 2] = after(&host, join, 3, branches);
        CHECK(clReleaseEvent(made));
        CHECK(clReleaseEvent(branches[0]));
        CHECK(clReleaseEvent(branches[1]));
    }
    CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
    CHECK(clEnqueueReadBuffer(host.queue, sum, CL_TRUE, 0, sizeof result, result, 1, &joined[ROUNDS + 1], NULL));
    for (int i = 0; i < COUNT; i++) {
        cl_int expected = 0;
        for (int round = 0; round < ROUNDS; round++) {
            cl_int x = (i * 37 + round * 11) % 101;
            expected += 2 * x - x * x;
        }
        EXPECT(result[i] == expected);
    }
    for (int round = 0; round < ROUNDS; round++) CHECK(clReleaseEvent(joined[round + 2]));
    CHECK(clReleaseEvent(gate));
    for (int i = 0; i < 2; i++) {
        CHECK(clReleaseMemObject(from[i]));
        CHECK(clReleaseMemObject(twice[i]));
        CHECK(clReleaseMemObject(square[i]));
    }
    CHECK(clReleaseMemObject(sum));
    CHECK(clReleaseKernel(wave));
    CHECK(clReleaseKernel(doubled));
    CHECK(clReleaseKernel(squared));
    CHECK(clReleaseKernel(join));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("out_of_order: right");
    return 0;
}
