// What the host programs of the tests share: one device, one context, one queue, and an end with a message on any error.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define _GNU_SOURCE
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call) check((call), #call, __LINE__)

static inline void check(cl_int error, const char *what, int line) {
  if (error) {
    printf("%s: error %d in line %d\n", what, error, line);
    exit(9);
  }
}

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static inline void start(cl_device_type type, cl_command_queue_properties properties) {
  cl_int error;
  CHECK(clGetPlatformIDs(1, &platform, NULL));
  CHECK(clGetDeviceIDs(platform, type, 1, &device, NULL));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  CHECK(error);
  queue = clCreateCommandQueue(context, device, properties, &error);
  CHECK(error);
}

static inline cl_program build(const char *source, const char *options) {
  cl_int error;
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  CHECK(error);
  CHECK(clBuildProgram(program, 1, &device, options, NULL, NULL));
  return program;
}

static inline cl_kernel kernel_of(cl_program program, const char *name) {
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK(error);
  return kernel;
}

static inline cl_mem buffer_of(cl_mem_flags flags, size_t size, void *host) {
  cl_int error;
  cl_mem memory = clCreateBuffer(context, flags, size, host, &error);
  CHECK(error);
  return memory;
}

static inline void set(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
  CHECK(clSetKernelArg(kernel, index, size, value));
}

static inline void launch(cl_kernel kernel, size_t global) {
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
}

static inline void read_back(cl_mem memory, size_t size, void *to) {
  CHECK(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, size, to, 0, NULL, NULL));
}

// Before a fork: lets the driver's threads, which a child does not have, let go of the locks that they hold after work.
static inline void settle(void) { usleep(200000); }

static inline void show(const char *what, const int *values, int count) {
  printf("%s:", what);
  for (int i = 0; i < count; i++) printf(" %d", values[i]);
  printf("\n");
}
