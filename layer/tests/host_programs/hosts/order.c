// Which platform and device a program gets that takes the first one, or leaves the choice to the loader.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>

static void show(const char *what, cl_device_id device) {
  char name[256] = "none";
  if (device) clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
  printf("%s: %s\n", what, name);
}

int main(void) {
  cl_platform_id platforms[8];
  cl_uint count = 0;
  if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) return 1;
  for (cl_uint i = 0; i < count && i < 8; i++) {
    char name[256] = "";
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
    printf("platform: %s\n", name);
  }
  cl_device_id device = NULL;
  clGetDeviceIDs(NULL, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  show("default", device);
  device = NULL;
  cl_int error;
  cl_context context = clCreateContextFromType(NULL, CL_DEVICE_TYPE_DEFAULT, NULL, NULL, &error);
  if (context) {
    clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof device, &device, NULL);
    show("context", device);
    clReleaseContext(context);
  }
  return 0;
}
