/* The error path: calls that must fail, with the errors that they must return, and the right work after each.
 *
 * Kernels: scale, 2 launches that succeed; 5 more that are refused.
 * Special: a text that does not compile; null handles everywhere; a kernel that is not there; an argument of a wrong size or
 * with a wrong number; launches without all arguments, without dimensions, in groups that do not divide the range, of a null
 * kernel; a buffer of no bytes; a null string as source. */

#include "host.h"

static const char *source =
    "__attribute__((reqd_work_group_size(16, 1, 1)))\n"
    "kernel void scale(global float *x, float by) { x[get_global_id(0)] *= by; }\n";
static const char *broken = "kernel void scale(global float *x) { x[get_global_id(0)] = undeclared; }\n";

static int refused;

static void fails_with(cl_int code, cl_int expected, int line)
{
    if (code != expected) fail("line %d: error %d instead of %d", line, code, expected);
    refused++;
}

#define FAILS(code, expected) fails_with(code, expected, __LINE__)

static void scaled(const struct host *host, cl_mem buffer, float by)
{
    cl_float values[64];
    host_read(host, buffer, sizeof values, values);
    for (int i = 0; i < 64; i++) EXPECT(values[i] == (float)i * by);
}

int main(void)
{
    struct host host = host_open(0);
    cl_int error;
    size_t size = 0, global = 64, ragged = 60, local = 16;

    cl_program bad;
    CREATE(bad, clCreateProgramWithSource(host.context, 1, &broken, NULL, &error));
    FAILS(clBuildProgram(bad, 1, &host.device, NULL, NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    CHECK(clGetProgramBuildInfo(bad, host.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size));
    EXPECT(size > 1);
    EXPECT(clCreateKernel(bad, "scale", &error) == NULL);
    FAILS(error, CL_INVALID_PROGRAM_EXECUTABLE);
    CHECK(clReleaseProgram(bad));

    const char *none = NULL;
    EXPECT(clCreateProgramWithSource(host.context, 1, &none, NULL, &error) == NULL);
    FAILS(error, CL_INVALID_VALUE);
    EXPECT(clCreateProgramWithSource(NULL, 1, &source, NULL, &error) == NULL);
    FAILS(error, CL_INVALID_CONTEXT);
    EXPECT(clCreateProgramWithSource(NULL, 1, &source, NULL, NULL) == NULL);
    FAILS(clBuildProgram(NULL, 0, NULL, NULL, NULL, NULL), CL_INVALID_PROGRAM);
    EXPECT(clCreateKernel(NULL, "scale", &error) == NULL);
    FAILS(error, CL_INVALID_PROGRAM);
    EXPECT(clCreateBuffer(host.context, CL_MEM_READ_WRITE, 0, NULL, &error) == NULL);
    FAILS(error, CL_INVALID_BUFFER_SIZE);
    FAILS(clReleaseKernel(NULL), CL_INVALID_KERNEL);
    FAILS(clReleaseMemObject(NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clReleaseProgram(NULL), CL_INVALID_PROGRAM);
    FAILS(clReleaseContext(NULL), CL_INVALID_CONTEXT);

    cl_program program = host_program(&host, source, NULL);
    EXPECT(clCreateKernel(program, "no_such_kernel", &error) == NULL);
    FAILS(error, CL_INVALID_KERNEL_NAME);
    cl_kernel scale = host_kernel(program, "scale");
    cl_float values[64], by = 2;
    for (int i = 0; i < 64; i++) values[i] = (float)i;
    cl_mem buffer = host_buffer(&host, CL_MEM_READ_WRITE, sizeof values, values);

    FAILS(clEnqueueNDRangeKernel(host.queue, scale, 1, NULL, &global, &local, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    FAILS(clSetKernelArg(scale, 2, sizeof by, &by), CL_INVALID_ARG_INDEX);
    FAILS(clSetKernelArg(scale, 1, 2, &by), CL_INVALID_ARG_SIZE);
    FAILS(clSetKernelArg(NULL, 0, sizeof by, &by), CL_INVALID_KERNEL);
    ARG(scale, 0, buffer);
    ARG(scale, 1, by);
    host_launch(&host, scale, global, local);
    scaled(&host, buffer, 2);

    FAILS(clEnqueueNDRangeKernel(host.queue, scale, 1, NULL, &ragged, &local, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    FAILS(clEnqueueNDRangeKernel(host.queue, scale, 4, NULL, &global, &local, 0, NULL, NULL), CL_INVALID_WORK_DIMENSION);
    FAILS(clEnqueueNDRangeKernel(host.queue, NULL, 1, NULL, &global, &local, 0, NULL, NULL), CL_INVALID_KERNEL);
    FAILS(clEnqueueNDRangeKernel(NULL, scale, 1, NULL, &global, &local, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    FAILS(clEnqueueReadBuffer(host.queue, buffer, CL_TRUE, 0, sizeof values + 1, values, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clFinish(NULL), CL_INVALID_COMMAND_QUEUE);
    scaled(&host, buffer, 2);

    by = 0.5f;
    ARG(scale, 1, by);
    host_launch(&host, scale, global, local);
    scaled(&host, buffer, 1);
    CHECK(clReleaseMemObject(buffer));
    CHECK(clReleaseKernel(scale));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    printf("errors: right (%d calls were refused)\n", refused);
    return 0;
}
