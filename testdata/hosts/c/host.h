/* What the C programs of this folder share: opening the first device, building a program, checked calls. Everything that
 * is a program's subject is in the program itself.
 *
 * A program ends with 0 if its results are right, with 1 if they are not or a call fails that should not, and with 77 if
 * the device lacks what the program is for. */

#ifndef HOST_H
#define HOST_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host {
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
};

static inline void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("wrong: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static inline void skip(const char *what)
{
    printf("skipped: %s\n", what);
    exit(77);
}

static inline void check_at(cl_int code, const char *call, const char *file, int line)
{
    if (code != CL_SUCCESS) fail("%s:%d: %s: error %d", file, line, call, code);
}

/* A call that returns its error. */
#define CHECK(call) check_at(call, #call, __FILE__, __LINE__)
/* A call that creates something and stores its error in `error`, which the program declares. */
#define CREATE(target, call) (target = call, check_at(error, #call, __FILE__, __LINE__))
/* Sets an argument to the value of a variable. */
#define ARG(kernel, index, value) CHECK(clSetKernelArg(kernel, index, sizeof(value), &(value)))
/* Ends the program unless the condition holds. */
#define EXPECT(condition) ((condition) ? (void)0 : fail("%s:%d: %s", __FILE__, __LINE__, #condition))

static inline cl_device_id host_device(cl_device_type type, cl_platform_id *platform)
{
    cl_platform_id platforms[16];
    cl_uint count = 0;
    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS || count == 0) skip("no OpenCL platform");
    for (cl_uint i = 0; i < count && i < 16; i++) {
        cl_device_id device;
        if (clGetDeviceIDs(platforms[i], type, 1, &device, NULL) != CL_SUCCESS) continue;
        *platform = platforms[i];
        return device;
    }
    skip("no device of the type asked for");
    return NULL;
}

/* Opens the first device with a context and a queue that has the given properties (0: in order). */
static inline struct host host_open(cl_command_queue_properties properties)
{
    struct host host;
    cl_int error;
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
    host.device = host_device(CL_DEVICE_TYPE_ALL, &host.platform);
    CREATE(host.context, clCreateContext(NULL, 1, &host.device, NULL, NULL, &error));
    CREATE(host.queue, clCreateCommandQueueWithProperties(host.context, host.device, list, &error));
    return host;
}

static inline void host_close(struct host *host)
{
    CHECK(clFinish(host->queue));
    CHECK(clReleaseCommandQueue(host->queue));
    CHECK(clReleaseContext(host->context));
}

static inline void print_log(cl_program program, cl_device_id device)
{
    size_t size = 0;
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS || size == 0) return;
    char *log = calloc(size + 1, 1);
    if (log && clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL) == CL_SUCCESS)
        fprintf(stderr, "%s\n", log);
    free(log);
}

/* Builds a program from one text. */
static inline cl_program host_program(const struct host *host, const char *source, const char *options)
{
    cl_int error;
    cl_program program;
    CREATE(program, clCreateProgramWithSource(host->context, 1, &source, NULL, &error));
    error = clBuildProgram(program, 1, &host->device, options, NULL, NULL);
    if (error != CL_SUCCESS) print_log(program, host->device);
    check_at(error, "clBuildProgram", __FILE__, __LINE__);
    return program;
}

static inline cl_kernel host_kernel(cl_program program, const char *name)
{
    cl_int error;
    cl_kernel kernel;
    CREATE(kernel, clCreateKernel(program, name, &error));
    return kernel;
}

/* Creates a buffer; contents, if given, are copied into it. */
static inline cl_mem host_buffer(const struct host *host, cl_mem_flags flags, size_t size, const void *contents)
{
    cl_int error;
    cl_mem buffer;
    if (contents) flags |= CL_MEM_COPY_HOST_PTR;
    CREATE(buffer, clCreateBuffer(host->context, flags, size, (void *)contents, &error));
    return buffer;
}

static inline void host_read(const struct host *host, cl_mem buffer, size_t size, void *into)
{
    CHECK(clEnqueueReadBuffer(host->queue, buffer, CL_TRUE, 0, size, into, 0, NULL, NULL));
}

/* Enqueues a kernel in one dimension; local 0 leaves the size of work-groups to the driver. */
static inline void host_launch(const struct host *host, cl_kernel kernel, size_t global, size_t local)
{
    CHECK(clEnqueueNDRangeKernel(host->queue, kernel, 1, NULL, &global, local ? &local : NULL, 0, NULL, NULL));
}

/* Returns the text of a file beside the program, to be freed. */
static inline char *host_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) fail("cannot open %s: run the program in its own folder", path);
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *text = calloc((size_t)length + 1, 1);
    if (!text || fread(text, 1, (size_t)length, file) != (size_t)length) fail("cannot read %s", path);
    fclose(file);
    if (size) *size = (size_t)length;
    return text;
}

/* A small generator of numbers that are the same everywhere. */
static inline unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#endif
