/* Non-blocking transfers and launches in a pipeline of two halves, all held together by events, with profiling.
 *
 * Kernels: smooth, 12 launches.
 * Special: one queue copies, another computes; host memory of a write is read by the driver only when its event is complete;
 * a callback counts finished launches; the time of each launch is asked for, so the event must be that of the program's own
 * launch. */

#include "host.h"
#include <unistd.h>

enum { BLOCKS = 12, BLOCK = 4096 };

static const char *source =
    "kernel void smooth(global const ushort *in, global ushort *out) {\n"
    "    size_t i = get_global_id(0), last = get_global_size(0) - 1;\n"
    "    out[i] = (in[i > 0 ? i - 1 : 0] + 2u * in[i] + in[i < last ? i + 1 : last]) / 4u;\n"
    "}\n";

static void CL_CALLBACK count_one(cl_event event, cl_int status, void *counter)
{
    (void)event;
    if (status == CL_COMPLETE) __atomic_fetch_add((int *)counter, 1, __ATOMIC_ACQ_REL);
}

int main(void)
{
    struct host host = host_open(CL_QUEUE_PROFILING_ENABLE);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel smooth = host_kernel(program, "smooth");
    cl_int error;
    cl_command_queue copies;
    CREATE(copies, clCreateCommandQueueWithProperties(host.context, host.device, NULL, &error));
    static cl_ushort data[BLOCKS][BLOCK], result[BLOCKS][BLOCK];
    unsigned state = 8;
    for (int b = 0; b < BLOCKS; b++)
        for (int i = 0; i < BLOCK; i++) data[b][i] = (cl_ushort)next_random(&state);

    size_t size = sizeof data[0], global = BLOCK;
    cl_mem in[2], out[2];
    for (int half = 0; half < 2; half++) {
        in[half] = host_buffer(&host, CL_MEM_READ_ONLY, size, NULL);
        out[half] = host_buffer(&host, CL_MEM_WRITE_ONLY, size, NULL);
    }
    static int finished;
    cl_event written[BLOCKS], computed[BLOCKS], fetched[BLOCKS];
    for (int b = 0; b < BLOCKS; b++) {
        int half = b % 2;
        cl_uint waits = b >= 2;
        CHECK(clEnqueueWriteBuffer(copies, in[half], CL_FALSE, 0, size, data[b], waits, waits ? &computed[b - 2] : NULL, &written[b]));
        CHECK(clFlush(copies));
        ARG(smooth, 0, in[half]);
        ARG(smooth, 1, out[half]);
        cl_event both[] = {written[b], waits ? fetched[b - 2] : NULL};
        CHECK(clEnqueueNDRangeKernel(host.queue, smooth, 1, NULL, &global, NULL, 1 + waits, both, &computed[b]));
        CHECK(clSetEventCallback(computed[b], CL_COMPLETE, count_one, &finished));
        CHECK(clFlush(host.queue));
        CHECK(clEnqueueReadBuffer(copies, out[half], CL_FALSE, 0, size, result[b], 1, &computed[b], &fetched[b]));
        CHECK(clFlush(copies));
    }
    CHECK(clWaitForEvents(BLOCKS, fetched));
    for (int b = 0; b < BLOCKS; b++)
        for (int i = 0; i < BLOCK; i++) {
            unsigned left = data[b][i > 0 ? i - 1 : 0], right = data[b][i + 1 < BLOCK ? i + 1 : i];
            EXPECT(result[b][i] == (left + 2u * data[b][i] + right) / 4u);
        }
    for (int b = 0; b < BLOCKS; b++) {
        cl_ulong queued, started, ended;
        cl_command_type type;
        CHECK(clGetEventInfo(computed[b], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
        EXPECT(type == CL_COMMAND_NDRANGE_KERNEL);
        CHECK(clGetEventProfilingInfo(computed[b], CL_PROFILING_COMMAND_QUEUED, sizeof queued, &queued, NULL));
        CHECK(clGetEventProfilingInfo(computed[b], CL_PROFILING_COMMAND_START, sizeof started, &started, NULL));
        CHECK(clGetEventProfilingInfo(computed[b], CL_PROFILING_COMMAND_END, sizeof ended, &ended, NULL));
        EXPECT(queued <= started && started <= ended);
    }
    /* A callback may run after the event is complete: it gets five seconds. */
    for (int n = 0; n < 5000 && __atomic_load_n(&finished, __ATOMIC_ACQUIRE) < BLOCKS; n++) usleep(1000);
    EXPECT(finished == BLOCKS);
    for (int b = 0; b < BLOCKS; b++) {
        CHECK(clReleaseEvent(written[b]));
        CHECK(clReleaseEvent(computed[b]));
        CHECK(clReleaseEvent(fetched[b]));
    }
    for (int half = 0; half < 2; half++) {
        CHECK(clReleaseMemObject(in[half]));
        CHECK(clReleaseMemObject(out[half]));
    }
    CHECK(clReleaseCommandQueue(copies));
    CHECK(clReleaseKernel(smooth));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("pipeline: right");
    return 0;
}
