/* Two loaders in one process: the program is linked to the system's and opens a second copy of it under another name.
 *
 * Kernels: digit_sum, 6 launches: 2 of objects made and launched by the second copy, 2 of objects that the second copy made
 * and the first one launches, 2 of objects made and launched by the first.
 * Special: until the last two launches the first loader is only ever handed objects that others made, so it has not even
 * looked for drivers. */

#define _GNU_SOURCE
#include "host.h"
#include <dlfcn.h>
#include <unistd.h>

enum { COUNT = 200 };

static const char *source =
    "kernel void digit_sum(global uint *out, uint plus) {\n"
    "    uint i = get_global_id(0), sum = 0;\n"
    "    for (uint n = i * i + plus; n > 0; n /= 10) sum += n % 10;\n"
    "    out[i] = sum;\n"
    "}\n";

/* Opens a copy of the library in which clGetPlatformIDs of this program lies. */
static void *second_loader(void)
{
    Dl_info info;
    char folder[] = "/tmp/two_loaders.XXXXXX", path[64];
    size_t size;
    EXPECT(dladdr(dlsym(RTLD_DEFAULT, "clGetPlatformIDs"), &info) != 0);
    EXPECT(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/libSecondLoader.so", folder);
    char *library = host_file(info.dli_fname, &size);
    FILE *file = fopen(path, "wb");
    EXPECT(file && fwrite(library, 1, size, file) == size && fclose(file) == 0);
    free(library);
    void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    rmdir(folder);
    if (!opened) fail("%s", dlerror());
    return opened;
}

/* Calls a function of the second loader. */
#define SECOND(name) ((__typeof__(&name))dlsym(second, #name))

static void compare(const cl_uint *result, cl_uint plus)
{
    for (cl_uint i = 0; i < COUNT; i++) {
        cl_uint sum = 0;
        for (cl_uint n = i * i + plus; n > 0; n /= 10) sum += n % 10;
        EXPECT(result[i] == sum);
    }
}

int main(void)
{
    void *second = second_loader();
    EXPECT(SECOND(clGetPlatformIDs) != &clGetPlatformIDs);
    struct host host;
    cl_int error;
    cl_uint found = 0, result[COUNT];
    size_t global = COUNT;
    if (SECOND(clGetPlatformIDs)(1, &host.platform, &found) != CL_SUCCESS || found == 0) skip("no OpenCL platform");
    CHECK(SECOND(clGetDeviceIDs)(host.platform, CL_DEVICE_TYPE_ALL, 1, &host.device, NULL));
    CREATE(host.context, SECOND(clCreateContext)(NULL, 1, &host.device, NULL, NULL, &error));
    CREATE(host.queue, SECOND(clCreateCommandQueueWithProperties)(host.context, host.device, NULL, &error));
    cl_program program;
    CREATE(program, SECOND(clCreateProgramWithSource)(host.context, 1, &source, NULL, &error));
    CHECK(SECOND(clBuildProgram)(program, 0, NULL, NULL, NULL, NULL));
    cl_kernel digits;
    CREATE(digits, SECOND(clCreateKernel)(program, "digit_sum", &error));
    cl_mem out;
    CREATE(out, SECOND(clCreateBuffer)(host.context, CL_MEM_WRITE_ONLY, sizeof result, NULL, &error));
    CHECK(SECOND(clSetKernelArg)(digits, 0, sizeof out, &out));
    for (cl_uint plus = 0; plus < 2; plus++) {
        CHECK(SECOND(clSetKernelArg)(digits, 1, sizeof plus, &plus));
        CHECK(SECOND(clEnqueueNDRangeKernel)(host.queue, digits, 1, NULL, &global, NULL, 0, NULL, NULL));
        CHECK(SECOND(clEnqueueReadBuffer)(host.queue, out, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL));
        compare(result, plus);
    }
    for (cl_uint plus = 10; plus < 12; plus++) { /* the first loader, with the objects of the second */
        ARG(digits, 1, plus);
        host_launch(&host, digits, COUNT, 8);
        host_read(&host, out, sizeof result, result);
        compare(result, plus);
    }
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(digits));
    CHECK(clReleaseProgram(program));
    host_close(&host);

    host = host_open(0);
    program = host_program(&host, source, NULL);
    digits = host_kernel(program, "digit_sum");
    out = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof result, NULL);
    ARG(digits, 0, out);
    for (cl_uint plus = 20; plus < 22; plus++) {
        ARG(digits, 1, plus);
        host_launch(&host, digits, COUNT, 0);
        host_read(&host, out, sizeof result, result);
        compare(result, plus);
    }
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(digits));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("two_loaders: right");
    return 0;
}
