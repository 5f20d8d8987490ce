// Arguments of all kinds: buffers, a scalar, a struct by value, local memory, null, parts of a buffer that overlap; an
// offset; errors of clSetKernelArg; handles that are used again; a clone.
#include "host.h"

static const char *source =
    "struct pair { int a; char b; };\n"
    "kernel void scale(global const int *in, global int *out, int factor, struct pair p, local int *tmp, global int *none) {\n"
    "  size_t i = get_global_id(0);\n"
    "  tmp[get_local_id(0)] = in[i] * factor;\n"
    "  out[i] = tmp[get_local_id(0)] + p.a + p.b + (none ? 1000 : 0);\n"
    "}\n"
    "kernel void add(global int *a, global const int *b) { a[get_global_id(0)] += b[get_global_id(0)]; }\n";

struct pair { int a; char b; };

int main(void) {
  start(CL_DEVICE_TYPE_CPU, 0);
  cl_program program = build(source, "-DUNUSED=1 -cl-mad-enable");
  int data[64], result[64] = {0}, factor = 3;
  for (int i = 0; i < 64; i++) data[i] = i;
  cl_mem in = buffer_of(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof data, data);
  cl_mem out = buffer_of(CL_MEM_READ_WRITE, sizeof data, NULL);
  cl_mem none = NULL;
  struct pair pair;
  memset(&pair, 0, sizeof pair);
  pair.a = 100;
  pair.b = 7;
  cl_kernel scale = kernel_of(program, "scale");
  set(scale, 0, sizeof in, &in);
  set(scale, 1, sizeof out, &out);
  set(scale, 2, sizeof factor, &factor);
  set(scale, 3, sizeof pair, &pair);
  set(scale, 4, 8 * sizeof(int), NULL);
  set(scale, 5, sizeof none, &none);
  // Refused, and so without effect.
  printf("wrong size: %d\n", clSetKernelArg(scale, 2, 1, &factor) != CL_SUCCESS);
  printf("wrong index: %d\n", clSetKernelArg(scale, 99, sizeof factor, &factor) != CL_SUCCESS);
  size_t offset = 8, global = 32, local = 8;
  CHECK(clEnqueueNDRangeKernel(queue, scale, 1, &offset, &global, &local, 0, NULL, NULL));
  size_t odd = 7;
  printf("wrong local size: %d\n", clEnqueueNDRangeKernel(queue, scale, 1, NULL, &global, &odd, 0, NULL, NULL) != CL_SUCCESS);
  read_back(out, sizeof result, result);
  show("scaled", result + 8, 32);

  // Two parts of a buffer that overlap, by a clone whose arguments are the original's.
  cl_int error;
  size_t align = 0;
  CHECK(clGetDeviceInfo(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(cl_uint), &align, NULL));
  align /= 8;
  size_t bytes = 4 * align;
  int *many = calloc(1, bytes);
  for (size_t i = 0; i < bytes / 4; i++) many[i] = (int)i;
  cl_mem whole = buffer_of(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, many);
  cl_buffer_region first = {align, 2 * align}, second = {2 * align, 2 * align};
  cl_mem low = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &first, &error);
  CHECK(error);
  cl_mem high = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &second, &error);
  CHECK(error);
  printf("align %zu\n", align);
  cl_kernel add = kernel_of(program, "add");
  set(add, 0, sizeof low, &low);
  set(add, 1, sizeof high, &high);
  cl_kernel clone = clCloneKernel(add, &error);
  CHECK(error);
  CHECK(clReleaseKernel(add));
  // One work-item: more would race, as the parts overlap.
  launch(clone, 1);
  read_back(low, sizeof(int), result);
  show("added", result, 1);

  // The same handle may come again for another buffer.
  for (int round = 0; round < 3; round++) {
    int value = 10 * round;
    cl_mem a = buffer_of(CL_MEM_COPY_HOST_PTR, sizeof value, &value);
    set(clone, 0, sizeof a, &a);
    set(clone, 1, sizeof a, &a);
    launch(clone, 1);
    read_back(a, sizeof value, &value);
    show("doubled", &value, 1);
    CHECK(clReleaseMemObject(a));
  }
  printf("null kernel: %d\n", clEnqueueNDRangeKernel(queue, NULL, 1, NULL, &global, NULL, 0, NULL, NULL));
  printf("null queue: %d\n", clEnqueueNDRangeKernel(NULL, scale, 1, NULL, &global, NULL, 0, NULL, NULL));
  printf("null argument: %d\n", clSetKernelArg(NULL, 0, sizeof factor, &factor));
  printf("null release: %d %d\n", clReleaseMemObject(NULL), clReleaseKernel(NULL));
  CHECK(clReleaseKernel(clone));
  CHECK(clReleaseContext(context));
  return 3;
}
