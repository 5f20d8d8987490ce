// A program that insists on a GPU.
#include "host.h"

int main(void) {
  CHECK(clGetPlatformIDs(1, &platform, NULL));
  cl_int error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL);
  if (error) {
    printf("no GPU: %d\n", error);
    return 1;
  }
  cl_device_type type;
  CHECK(clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL));
  cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
  context = clCreateContextFromType(properties, CL_DEVICE_TYPE_GPU, NULL, NULL, &error);
  CHECK(error);
  printf("GPU: %d\n", (type & CL_DEVICE_TYPE_GPU) && !(type & CL_DEVICE_TYPE_CPU));
  return 0;
}
