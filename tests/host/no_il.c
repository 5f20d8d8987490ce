// A driver that takes no SPIR-V: the one that the environment names (REAL_DRIVER), with what OpenCL has for intermediate languages hidden.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static cl_icd_dispatch real;

static cl_int CL_API_CALL about(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *size_ret) {
  if (what != CL_DEVICE_IL_VERSION) return real.clGetDeviceInfo(device, what, size, value, size_ret);
  if (value && size) *(char *)value = 0;
  if (size_ret) *size_ret = 1;
  return CL_SUCCESS;
}

static cl_program CL_API_CALL refuse(cl_context context, const void *il, size_t length, cl_int *error) {
  (void)context, (void)il, (void)length;
  if (error) *error = CL_INVALID_OPERATION;
  return NULL;
}

static cl_int CL_API_CALL platforms(cl_uint most, cl_platform_id *found, cl_uint *count) {
  void *driver = dlopen(getenv("REAL_DRIVER"), RTLD_NOW);
  if (!driver) return -1001;
  void *(*find)(const char *) = (void *(*)(const char *))dlsym(driver, "clGetExtensionFunctionAddress");
  cl_int (*list)(cl_uint, cl_platform_id *, cl_uint *) =
      (cl_int(*)(cl_uint, cl_platform_id *, cl_uint *))find("clIcdGetPlatformIDsKHR");
  cl_platform_id platform;
  cl_uint all;
  if (list(1, &platform, &all) != CL_SUCCESS) return -1001;
  cl_icd_dispatch *table = *(cl_icd_dispatch **)platform;
  if (table->clCreateProgramWithIL != refuse) {
    real = *table;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *from = (char *)((size_t)table / page * page);
    mprotect(from, (size_t)((char *)(table + 1) - from), PROT_READ | PROT_WRITE);
    table->clGetDeviceInfo = about;
    table->clCreateProgramWithIL = refuse;
  }
  if (found && most) *found = platform;
  if (count) *count = 1;
  return CL_SUCCESS;
}

void *clGetExtensionFunctionAddress(const char *name) {
  if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return (void *)platforms;
  return real.clGetExtensionFunctionAddress ? real.clGetExtensionFunctionAddress(name) : NULL;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size, void *value, size_t *size_ret) {
  return real.clGetPlatformInfo(platform, what, size, value, size_ret);
}
