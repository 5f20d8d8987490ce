/* Command buffers (cl_khr_command_buffer): launches that are recorded once and enqueued as a whole, many times.
 *
 * Kernels: decay and inject: 1 launch of each in the usual way; then one of each is recorded and the record is enqueued 5
 * times. A tool that wraps clEnqueueNDRangeKernel alone sees 1 launch of each.
 * Special: the functions are reached only through clGetExtensionFunctionAddressForPlatform. */

#include "host.h"
#include <CL/cl_ext.h>

enum { COUNT = 256, REPEATS = 5 };

static const char *source =
    "kernel void decay(global int *x) { size_t i = get_global_id(0); x[i] -= x[i] / 4; }\n"
    "kernel void inject(global int *x, int amount) {\n"
    "    size_t i = get_global_id(0);\n"
    "    if (i % 8 == 0) x[i] += amount;\n"
    "}\n";

#define EXTENSION(name) name##_fn name = (name##_fn)clGetExtensionFunctionAddressForPlatform(host.platform, #name)

int main(void)
{
    struct host host = host_open(0);
    EXTENSION(clCreateCommandBufferKHR);
    EXTENSION(clCommandNDRangeKernelKHR);
    EXTENSION(clFinalizeCommandBufferKHR);
    EXTENSION(clEnqueueCommandBufferKHR);
    EXTENSION(clReleaseCommandBufferKHR);
    if (!clCreateCommandBufferKHR || !clCommandNDRangeKernelKHR || !clFinalizeCommandBufferKHR ||
        !clEnqueueCommandBufferKHR || !clReleaseCommandBufferKHR)
        skip("the driver has no command buffers");
    cl_program program = host_program(&host, source, NULL);
    cl_kernel decay = host_kernel(program, "decay"), inject = host_kernel(program, "inject");
    cl_int numbers[COUNT], result[COUNT], amount = 1000, error;
    for (int i = 0; i < COUNT; i++) numbers[i] = i * 50;
    cl_mem x = host_buffer(&host, CL_MEM_READ_WRITE, sizeof numbers, numbers);
    ARG(decay, 0, x);
    ARG(inject, 0, x);
    ARG(inject, 1, amount);
    host_launch(&host, decay, COUNT, 0);
    host_launch(&host, inject, COUNT, 0);

    cl_command_buffer_khr commands;
    cl_sync_point_khr decayed;
    size_t global = COUNT;
    CREATE(commands, clCreateCommandBufferKHR(1, &host.queue, NULL, &error));
    CHECK(clCommandNDRangeKernelKHR(commands, NULL, NULL, decay, 1, NULL, &global, NULL, 0, NULL, &decayed, NULL));
    amount = -30; /* arguments are those of the moment of recording */
    ARG(inject, 1, amount);
    CHECK(clCommandNDRangeKernelKHR(commands, NULL, NULL, inject, 1, NULL, &global, NULL, 1, &decayed, NULL, NULL));
    CHECK(clFinalizeCommandBufferKHR(commands));
    amount = 7;
    ARG(inject, 1, amount);
    for (int n = 0; n < REPEATS; n++) CHECK(clEnqueueCommandBufferKHR(0, NULL, commands, 0, NULL, NULL));
    host_read(&host, x, sizeof result, result);
    for (int i = 0; i < COUNT; i++) {
        cl_int value = numbers[i];
        for (int n = 0; n <= REPEATS; n++) {
            value -= value / 4;
            if (i % 8 == 0) value += n ? -30 : 1000;
        }
        EXPECT(result[i] == value);
    }
    CHECK(clReleaseCommandBufferKHR(commands));
    CHECK(clReleaseMemObject(x));
    CHECK(clReleaseKernel(decay));
    CHECK(clReleaseKernel(inject));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("command_buffer: right");
    return 0;
}
