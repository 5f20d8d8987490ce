// Memory that is read in other ways: host pointers, buffers hidden from the host, maps, images with a sampler, shared
// virtual memory, memory that was never written.
#include "host.h"

static const char *source =
    "kernel void twice(global int *a) { a[get_global_id(0)] *= 2; }\n"
    "kernel void fill(global int *a, int v) { a[get_global_id(0)] = v; }\n"
    "kernel void blur(read_only image2d_t in, write_only image2d_t out, sampler_t s) {\n"
    "  int2 p = (int2)(get_global_id(0), get_global_id(1));\n"
    "  write_imageui(out, p, read_imageui(in, s, p + (int2)(1, 0)));\n"
    "}\n"
    "struct list { global struct list *next; int value; };\n"
    "kernel void sum(global struct list *first, global int *out) {\n"
    "  int total = 0;\n"
    "  for (global struct list *at = first; at; at = at->next) total += at->value;\n"
    "  *out = total;\n"
    "}\n";

struct list { struct list *next; int value; };

int main(void) {
  start(CL_DEVICE_TYPE_CPU, 0);
  cl_program program = build(source, NULL);
  cl_kernel twice = kernel_of(program, "twice"), fill = kernel_of(program, "fill");
  cl_int error;

  // The host stores between launches without a call.
  int *own = aligned_alloc(4096, 4096);
  memset(own, 0, 4096);
  cl_mem shared = buffer_of(CL_MEM_USE_HOST_PTR, 4096, own);
  set(twice, 0, sizeof shared, &shared);
  int *mapped = clEnqueueMapBuffer(queue, shared, CL_TRUE, CL_MAP_WRITE, 0, 4096, 0, NULL, NULL, &error);
  CHECK(error);
  mapped[0] = 21;
  CHECK(clEnqueueUnmapMemObject(queue, shared, mapped, 0, NULL, NULL));
  launch(twice, 4);
  mapped = clEnqueueMapBuffer(queue, shared, CL_TRUE, CL_MAP_READ, 0, 4096, 0, NULL, NULL, &error);
  CHECK(error);
  show("shared", mapped, 2);
  CHECK(clEnqueueUnmapMemObject(queue, shared, mapped, 0, NULL, NULL));

  // The host may not read this; it was not written before the launch.
  cl_mem hidden = buffer_of(CL_MEM_HOST_NO_ACCESS, 64, NULL);
  int value = 5, seen[16];
  set(fill, 0, sizeof hidden, &hidden);
  set(fill, 1, sizeof value, &value);
  launch(fill, 16);
  CHECK(clFinish(queue));
  printf("hidden: %d\n", clEnqueueReadBuffer(queue, hidden, CL_TRUE, 0, 64, seen, 0, NULL, NULL));

  cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc about;
  memset(&about, 0, sizeof about);
  about.image_type = CL_MEM_OBJECT_IMAGE2D;
  about.image_width = 5;
  about.image_height = 3;
  unsigned char pixels[60], result[60];
  for (int i = 0; i < 60; i++) pixels[i] = (unsigned char)i;
  cl_mem in = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &about, pixels, &error);
  CHECK(error);
  cl_mem out = clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &about, NULL, &error);
  CHECK(error);
  cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &error);
  CHECK(error);
  cl_kernel blur = kernel_of(program, "blur");
  set(blur, 0, sizeof in, &in);
  set(blur, 1, sizeof out, &out);
  set(blur, 2, sizeof sampler, &sampler);
  size_t size[2] = {5, 3}, origin[3] = {0, 0, 0}, region[3] = {5, 3, 1};
  CHECK(clEnqueueNDRangeKernel(queue, blur, 2, NULL, size, NULL, 0, NULL, NULL));
  CHECK(clEnqueueReadImage(queue, out, CL_TRUE, origin, region, 0, 0, result, 0, NULL, NULL));
  printf("image: %d %d\n", result[0], result[59]);

  // A list in shared virtual memory, whose second element only the first one points to.
  struct list *list = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof(struct list), 0);
  struct list *more = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof(struct list), 0);
  CHECK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, list, sizeof *list, 0, NULL, NULL));
  CHECK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, more, sizeof *more, 0, NULL, NULL));
  memset(list, 0, sizeof *list);
  memset(more, 0, sizeof *more);
  list->next = more;
  list->value = 30;
  more->value = 12;
  CHECK(clEnqueueSVMUnmap(queue, list, 0, NULL, NULL));
  CHECK(clEnqueueSVMUnmap(queue, more, 0, NULL, NULL));
  cl_mem total = buffer_of(0, sizeof(int), NULL);
  cl_kernel sum = kernel_of(program, "sum");
  CHECK(clSetKernelArgSVMPointer(sum, 0, list));
  set(sum, 1, sizeof total, &total);
  void *pointers[] = {more};
  CHECK(clSetKernelExecInfo(sum, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers));
  launch(sum, 1);
  read_back(total, sizeof(int), seen);
  show("sum", seen, 1);
  clSVMFree(context, list);
  clSVMFree(context, more);
  return 0;
}
