/* Unified shared memory (cl_intel_unified_shared_memory): pointers of three kinds as arguments.
 *
 * Kernels: relative, 3 launches.
 * Special: allocation, arguments and copies go through functions of the extension; host, device and shared allocations; a
 * pointer into the middle of one. */

#include "host.h"
#include <CL/cl_ext.h>

enum { COUNT = 480 };

static const char *source =
    "kernel void relative(global const int *x, global const int *base, global int *out) {\n"
    "    size_t i = get_global_id(0);\n"
    "    out[i] = x[i] - base[i / 16];\n"
    "}\n";

#define EXTENSION(name) name##_fn name = (name##_fn)clGetExtensionFunctionAddressForPlatform(host.platform, #name)

int main(void)
{
    struct host host = host_open(0);
    EXTENSION(clHostMemAllocINTEL);
    EXTENSION(clDeviceMemAllocINTEL);
    EXTENSION(clSharedMemAllocINTEL);
    EXTENSION(clSetKernelArgMemPointerINTEL);
    EXTENSION(clEnqueueMemcpyINTEL);
    EXTENSION(clMemBlockingFreeINTEL);
    if (!clHostMemAllocINTEL || !clDeviceMemAllocINTEL || !clSharedMemAllocINTEL || !clSetKernelArgMemPointerINTEL ||
        !clEnqueueMemcpyINTEL || !clMemBlockingFreeINTEL)
        skip("the driver has no unified shared memory");
    cl_program program = host_program(&host, source, NULL);
    cl_kernel relative = host_kernel(program, "relative");
    cl_int error, *x, *base, *out, result[COUNT];
    size_t size = COUNT * sizeof(cl_int);
    CREATE(x, clHostMemAllocINTEL(host.context, NULL, 2 * size, 64, &error));
    CREATE(base, clSharedMemAllocINTEL(host.context, host.device, NULL, COUNT / 16 * sizeof(cl_int), 64, &error));
    CREATE(out, clDeviceMemAllocINTEL(host.context, host.device, NULL, size, 64, &error));
    for (int i = 0; i < 2 * COUNT; i++) x[i] = i * i;
    for (int n = 0; n < 3; n++) {
        for (int i = 0; i < COUNT / 16; i++) base[i] = i * 100 + n;
        CHECK(clSetKernelArgMemPointerINTEL(relative, 0, x + n * 100));
        CHECK(clSetKernelArgMemPointerINTEL(relative, 1, base));
        CHECK(clSetKernelArgMemPointerINTEL(relative, 2, out));
        host_launch(&host, relative, COUNT, 16);
        CHECK(clEnqueueMemcpyINTEL(host.queue, CL_TRUE, result, out, size, 0, NULL, NULL));
        for (int i = 0; i < COUNT; i++) EXPECT(result[i] == x[n * 100 + i] - base[i / 16]);
    }
    CHECK(clFinish(host.queue));
    CHECK(clMemBlockingFreeINTEL(host.context, x));
    CHECK(clMemBlockingFreeINTEL(host.context, base));
    CHECK(clMemBlockingFreeINTEL(host.context, out));
    CHECK(clReleaseKernel(relative));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("unified_memory: right");
    return 0;
}
