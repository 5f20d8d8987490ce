/* Structs that hold pointers: one by value with addresses in it, and an array of structs in shared virtual memory that point to
 * other allocations.
 *
 * Kernels: gather, 4 launches; chase, 2 launches.
 * Special: OpenCL C has no pointers in a kernel's arguments, so they travel as integers; what they point to is announced by
 * CL_KERNEL_EXEC_INFO_SVM_PTRS only. */

#include "host.h"

enum { COUNT = 96, ROWS = 6 };

struct view {
    cl_ulong data;
    cl_uint stride, offset;
};

static const char *source =
    "struct view { ulong data; uint stride, offset; };\n"
    "kernel void gather(struct view view, global int *out) {\n"
    "    size_t i = get_global_id(0);\n"
    "    global const int *data = (global const int *)view.data;\n"
    "    out[i] = data[i * view.stride + view.offset];\n"
    "}\n"
    "struct row { global const int *cells; uint length, unused; };\n"
    "kernel void chase(global const struct row *rows, global int *sums) {\n"
    "    size_t i = get_global_id(0);\n"
    "    int sum = 0;\n"
    "    for (uint c = 0; c < rows[i].length; c++) sum += rows[i].cells[c];\n"
    "    sums[i] = sum;\n"
    "}\n";

struct row {
    cl_ulong cells;
    cl_uint length, unused;
};

int main(void)
{
    struct host host = host_open(0);
    cl_device_svm_capabilities has = 0;
    if (clGetDeviceInfo(host.device, CL_DEVICE_SVM_CAPABILITIES, sizeof has, &has, NULL) != CL_SUCCESS ||
        !(has & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER))
        skip("the device has no shared virtual memory");
    cl_program program = host_program(&host, source, NULL);
    cl_kernel gather = host_kernel(program, "gather"), chase = host_kernel(program, "chase");

    size_t size = 4 * COUNT * sizeof(cl_int);
    cl_int *data = clSVMAlloc(host.context, CL_MEM_READ_WRITE, size, 0), out[COUNT];
    if (!data) fail("clSVMAlloc");
    CHECK(clEnqueueSVMMap(host.queue, CL_TRUE, CL_MAP_WRITE, data, size, 0, NULL, NULL));
    for (int i = 0; i < 4 * COUNT; i++) data[i] = i * 3;
    CHECK(clEnqueueSVMUnmap(host.queue, data, 0, NULL, NULL));
    cl_mem result = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof out, NULL);
    void *reached[] = {data};
    CHECK(clSetKernelExecInfo(gather, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof reached, reached));
    ARG(gather, 1, result);
    for (cl_uint offset = 0; offset < 4; offset++) {
        struct view view = {(cl_ulong)(size_t)data, 4, offset};
        ARG(gather, 0, view);
        host_launch(&host, gather, COUNT, 0);
        host_read(&host, result, sizeof out, out);
        for (cl_uint i = 0; i < COUNT; i++) EXPECT(out[i] == (cl_int)(4 * i + offset) * 3);
    }

    struct row *rows = clSVMAlloc(host.context, CL_MEM_READ_WRITE, ROWS * sizeof *rows, 0);
    cl_int *cells[ROWS], sums[ROWS];
    if (!rows) fail("clSVMAlloc");
    void *all[ROWS];
    CHECK(clEnqueueSVMMap(host.queue, CL_TRUE, CL_MAP_WRITE, rows, ROWS * sizeof *rows, 0, NULL, NULL));
    for (cl_uint i = 0; i < ROWS; i++) {
        size_t bytes = (i + 1) * sizeof(cl_int);
        all[i] = cells[i] = clSVMAlloc(host.context, CL_MEM_READ_WRITE, bytes, 0);
        if (!cells[i]) fail("clSVMAlloc");
        CHECK(clEnqueueSVMMap(host.queue, CL_TRUE, CL_MAP_WRITE, cells[i], bytes, 0, NULL, NULL));
        for (cl_uint c = 0; c <= i; c++) cells[i][c] = (cl_int)(10 * i + c);
        CHECK(clEnqueueSVMUnmap(host.queue, cells[i], 0, NULL, NULL));
        rows[i] = (struct row){(cl_ulong)(size_t)cells[i], i + 1, 0};
    }
    CHECK(clEnqueueSVMUnmap(host.queue, rows, 0, NULL, NULL));
    cl_mem total = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof sums, NULL);
    CHECK(clSetKernelArgSVMPointer(chase, 0, rows));
    ARG(chase, 1, total);
    CHECK(clSetKernelExecInfo(chase, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof all, all));
    for (int round = 0; round < 2; round++) {
        host_launch(&host, chase, ROWS, 0);
        host_read(&host, total, sizeof sums, sums);
        for (int i = 0; i < ROWS; i++) EXPECT(sums[i] == (i + 1) * 10 * i + i * (i + 1) / 2);
    }

    CHECK(clFinish(host.queue));
    for (int i = 0; i < ROWS; i++) clSVMFree(host.context, cells[i]);
    clSVMFree(host.context, rows);
    clSVMFree(host.context, data);
    CHECK(clReleaseMemObject(result));
    CHECK(clReleaseMemObject(total));
    CHECK(clReleaseKernel(gather));
    CHECK(clReleaseKernel(chase));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("struct_pointers: right");
    return 0;
}
