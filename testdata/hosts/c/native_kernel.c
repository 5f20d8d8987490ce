/* A native kernel: a function of the host that the queue runs between two launches, on a buffer's memory.
 *
 * Kernels: square_all, 2 launches. The native function is no kernel and is not counted.
 * Special: it changes a buffer in the queue's order, without a transfer. */

#include "host.h"

enum { COUNT = 300 };

static const char *source = "kernel void square_all(global int *x) { size_t i = get_global_id(0); x[i] *= x[i]; }\n";

struct step {
    cl_int *numbers; /* replaced by the memory of the buffer */
    cl_int count;
};

static void CL_CALLBACK reverse(void *argument)
{
    struct step *step = argument;
    for (cl_int i = 0, j = step->count - 1; i < j; i++, j--) {
        cl_int other = step->numbers[i];
        step->numbers[i] = step->numbers[j] % 10;
        step->numbers[j] = other % 10;
    }
}

int main(void)
{
    struct host host = host_open(0);
    cl_device_exec_capabilities can = 0;
    CHECK(clGetDeviceInfo(host.device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL));
    if (!(can & CL_EXEC_NATIVE_KERNEL)) skip("the device runs no native kernels");
    cl_program program = host_program(&host, source, NULL);
    cl_kernel square = host_kernel(program, "square_all");
    cl_int numbers[COUNT], result[COUNT];
    for (int i = 0; i < COUNT; i++) numbers[i] = i % 40;
    cl_mem x = host_buffer(&host, CL_MEM_READ_WRITE, sizeof numbers, numbers);
    ARG(square, 0, x);
    host_launch(&host, square, COUNT, 0);
    struct step step = {NULL, COUNT};
    const void *places[] = {&step.numbers};
    CHECK(clEnqueueNativeKernel(host.queue, reverse, &step, sizeof step, 1, &x, places, 0, NULL, NULL));
    host_launch(&host, square, COUNT, 0);
    host_read(&host, x, sizeof result, result);
    for (int i = 0; i < COUNT; i++) {
        cl_int before = numbers[COUNT - 1 - i] * numbers[COUNT - 1 - i] % 10;
        EXPECT(result[i] == before * before);
    }
    CHECK(clReleaseMemObject(x));
    CHECK(clReleaseKernel(square));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("native_kernel: right");
    return 0;
}
