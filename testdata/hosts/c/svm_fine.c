/* Fine-grained SVM: the host reads and writes without maps, and passes pointers into the middle of allocations.
 *
 * Kernels: shift_add, 3 launches.
 * Special: arguments that point inside an allocation; two arguments in one allocation; clEnqueueSVMMemcpy and
 * clEnqueueSVMMemFill between launches. The program ends without freeing its allocations. */

#include "host.h"

enum { COUNT = 4096, PART = 1000 };

static const char *source =
    "kernel void shift_add(global const int *from, global int *to, int by) {\n"
    "    size_t i = get_global_id(0);\n"
    "    to[i] += from[i] + by;\n"
    "}\n";

int main(void)
{
    struct host host = host_open(0);
    cl_device_svm_capabilities svm = 0;
    if (clGetDeviceInfo(host.device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL) != CL_SUCCESS ||
        !(svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER))
        skip("the device has no fine-grained shared virtual memory");
    cl_program program = host_program(&host, source, "-cl-std=CL2.0");
    cl_kernel shift = host_kernel(program, "shift_add");
    cl_int *data = clSVMAlloc(host.context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, COUNT * sizeof *data, 0);
    EXPECT(data);

    cl_int expected[COUNT], by = 10, pattern = -1;
    for (int i = 0; i < COUNT; i++) expected[i] = data[i] = i * 3;

    /* From the middle of the allocation to a later part. */
    CHECK(clSetKernelArgSVMPointer(shift, 0, data + 100));
    CHECK(clSetKernelArgSVMPointer(shift, 1, data + 2000));
    ARG(shift, 2, by);
    host_launch(&host, shift, PART, 0);
    CHECK(clFinish(host.queue));
    for (int i = 0; i < PART; i++) expected[2000 + i] += expected[100 + i] + by;
    EXPECT(memcmp(data, expected, sizeof expected) == 0);

    /* The host changes what it likes in between, without a call. */
    for (int i = 0; i < COUNT; i += 5) expected[i] = data[i] = -i;
    host_launch(&host, shift, PART, 8);
    for (int i = 0; i < PART; i++) expected[2000 + i] += expected[100 + i] + by;

    CHECK(clEnqueueSVMMemFill(host.queue, data, &pattern, sizeof pattern, 64 * sizeof *data, 0, NULL, NULL));
    CHECK(clEnqueueSVMMemcpy(host.queue, CL_TRUE, data + 3000, data, 500 * sizeof *data, 0, NULL, NULL));
    for (int i = 0; i < 64; i++) expected[i] = -1;
    memcpy(expected + 3000, expected, 500 * sizeof *expected);

    by = -1;
    CHECK(clSetKernelArgSVMPointer(shift, 0, data + 3000));
    CHECK(clSetKernelArgSVMPointer(shift, 1, data));
    ARG(shift, 2, by);
    host_launch(&host, shift, 256, 16);
    CHECK(clFinish(host.queue));
    for (int i = 0; i < 256; i++) expected[i] += expected[3000 + i] + by;
    EXPECT(memcmp(data, expected, sizeof expected) == 0);
    puts("svm_fine: right");
    return 0;
}
