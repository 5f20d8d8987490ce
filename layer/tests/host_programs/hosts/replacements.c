// What replacements of kernels must keep: by the first argument. Launches are few and their order is fixed, so that probes can be
// counted by hand.
#include "host.h"

static const char *more = "kernel void more(global int *a) { a[get_global_id(0)] += 1; }\n";

// Program-scope variables belong to one build of one program object.
static const char *counting =
    "global int counter = 5;\n"
    "kernel void bump(global int *out) { counter += 1; *out = counter; }\n"
    "kernel void look(global int *out) { *out = counter * 100; }\n";

static int result_of(cl_program program, const char *name) {
  int value = 0;
  cl_mem out = buffer_of(CL_MEM_COPY_HOST_PTR, sizeof value, &value);
  cl_kernel kernel = kernel_of(program, name);
  set(kernel, 0, sizeof out, &out);
  launch(kernel, 1);
  read_back(out, sizeof value, &value);
  CHECK(clReleaseKernel(kernel));
  CHECK(clReleaseMemObject(out));
  return value;
}

static void variables(void) {
  start(CL_DEVICE_TYPE_CPU, 0);
  cl_program first = build(counting, "-cl-std=CL3.0"), second = build(counting, "-cl-std=CL3.0");
  int values[] = {result_of(first, "bump"), result_of(first, "bump"), result_of(second, "bump"), result_of(first, "look"),
                  result_of(second, "look")};
  show("variables", values, 5);
  CHECK(clBuildProgram(second, 1, &device, "-cl-std=CL3.0", NULL, NULL));
  CHECK(clBuildProgram(first, 1, &device, "-cl-std=CL3.0 -DX", NULL, NULL));
  int again[] = {result_of(second, "bump"), result_of(first, "bump")};
  show("built again", again, 2);
}

// A pointer to shared virtual memory in a value.
static void member(void) {
  start(CL_DEVICE_TYPE_CPU, 0);
  cl_program program = build(
      "#ifndef AT\n#define AT ((global int *)p.s1)\n#endif\n"
      "kernel void through(ulong2 p, global int *out) { *out = AT[0] + (int)p.s0; }\n", NULL);
  cl_kernel kernel = kernel_of(program, "through");
  cl_mem out = buffer_of(0, sizeof(int), NULL);
  set(kernel, 1, sizeof out, &out);
  for (int round = 0; round < 2; round++) {
    int *at = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0), value;
    CHECK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, at, 4096, 0, NULL, NULL));
    at[0] = 40 + round;
    CHECK(clEnqueueSVMUnmap(queue, at, 0, NULL, NULL));
    cl_ulong p[] = {2, (cl_ulong)at};
    set(kernel, 0, sizeof p, p);
    void *pointers[] = {at};
    CHECK(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers));
    launch(kernel, 1);
    read_back(out, sizeof value, &value);
    show("member", &value, 1);
    clSVMFree(context, at);
  }
}

static void CL_CALLBACK context_gone(cl_context gone, void *data) {
  (void)gone;
  *(int *)data += 1;
}

static void CL_CALLBACK memory_gone(cl_mem gone, void *data) {
  (void)gone;
  *(int *)data += 1;
}

static cl_uint references(void) {
  cl_uint count = 0;
  CHECK(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL));
  return count;
}

// Contexts that come and go; the last one's queue outlives the program's reference.
static void contexts(void) {
  int gone = 0, memory = 0;
  for (int round = 0; round < 4; round++) {
    start(CL_DEVICE_TYPE_CPU, 0);
    CHECK(clSetContextDestructorCallback(context, context_gone, &gone));
    cl_program program = build(more, NULL);
    cl_kernel kernel = kernel_of(program, "more");
    int value = 7;
    cl_mem buffer = buffer_of(CL_MEM_COPY_HOST_PTR, sizeof value, &value);
    CHECK(clSetMemObjectDestructorCallback(buffer, memory_gone, &memory));
    set(kernel, 0, sizeof buffer, &buffer);
    launch(kernel, 1);
    cl_uint counts[4] = {references()};
    CHECK(clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof(cl_uint), &counts[1], NULL));
    CHECK(clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof(cl_uint), &counts[2], NULL));
    CHECK(clGetMemObjectInfo(buffer, CL_MEM_REFERENCE_COUNT, sizeof(cl_uint), &counts[3], NULL));
    show("references", (int *)counts, 4);
    CHECK(clRetainContext(context));
    CHECK(clReleaseContext(context));
    if (round == 3) {
      CHECK(clReleaseContext(context));
      launch(kernel, 1);
    }
    read_back(buffer, sizeof value, &value);
    CHECK(clReleaseMemObject(buffer));
    printf("value %d, memory gone: %d\n", value, memory);
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    CHECK(clReleaseCommandQueue(queue));
    if (round < 3) CHECK(clReleaseContext(context));
    printf("contexts gone: %d\n", gone);
  }
}

static cl_kernel shared;

static void *worker(void *argument) {
  cl_int error;
  size_t global = 1;
  cl_command_queue own = clCreateCommandQueue(context, device, 0, &error);
  CHECK(error);
  for (int i = 0; i < 100; i++) CHECK(clEnqueueNDRangeKernel(own, shared, 1, NULL, &global, NULL, 0, NULL, NULL));
  CHECK(clFinish(own));
  CHECK(clReleaseCommandQueue(own));
  return argument;
}

// Threads whose first launches are of the same kernel object.
static void threads(void) {
  start(CL_DEVICE_TYPE_CPU, 0);
  cl_program program = build("kernel void add(volatile global int *a) { atomic_add(a, 3); }\n", NULL);
  shared = kernel_of(program, "add");
  int value = 0;
  cl_mem memory = buffer_of(CL_MEM_COPY_HOST_PTR, sizeof value, &value);
  set(shared, 0, sizeof memory, &memory);
  pthread_t all[8];
  for (int i = 0; i < 8; i++) pthread_create(&all[i], NULL, worker, NULL);
  for (int i = 0; i < 8; i++) pthread_join(all[i], NULL);
  read_back(memory, sizeof value, &value);
  show("threads", &value, 1);
}

// A task; buffers and local memory of several sizes; an argument that is not set; a kernel of another context; two clones.
static void sizes(void) {
  start(CL_DEVICE_TYPE_CPU, 0);
  cl_program program = build("kernel void fill(global int *a, local int *l, global int *none, int v) {\n"
                             "  l[0] = v; a[get_global_id(0)] = l[0] + (none ? 1 : 0); }\n", NULL);
  cl_kernel kernel = kernel_of(program, "fill");
  cl_mem none = NULL;
  size_t one = 1;
  printf("not set: %d\n", clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
  for (int i = 0; i < 3; i++) {
    cl_mem memory = buffer_of(0, i < 2 ? 64 : 256, NULL);
    int value = 10 + i;
    set(kernel, 0, sizeof memory, &memory);
    set(kernel, 1, 32, NULL);
    set(kernel, 2, sizeof none, &none);
    set(kernel, 3, sizeof value, &value);
    if (i == 1) CHECK(clEnqueueTask(queue, kernel, 0, NULL, NULL));
    else launch(kernel, 4);
    read_back(memory, sizeof value, &value);
    show("filled", &value, 1);
    cl_int error;
    cl_kernel clone = clCloneKernel(kernel, &error);
    CHECK(error);
    value = 100 * i;
    set(clone, 3, sizeof value, &value);
    launch(kernel, 1);
    launch(clone, 1);
    read_back(memory, sizeof value, &value);
    show("by the clone", &value, 1);
    CHECK(clReleaseKernel(clone));
    CHECK(clReleaseMemObject(memory));
  }
  cl_command_queue first = queue;
  start(CL_DEVICE_TYPE_CPU, 0);
  printf("of another context: %d\n", clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
  queue = first;
}

// Two programs, one after the other.
static void two(void) {
  start(CL_DEVICE_TYPE_CPU, 0);
  const char *sources[] = {more, "kernel void less(global int *a) { a[get_global_id(0)] -= 5; }\n"};
  for (int i = 0; i < 2; i++) {
    int value = result_of(build(sources[i], NULL), i ? "less" : "more");
    show("two", &value, 1);
  }
}

// A child with objects of its own, and its parent, which goes on with what it has.
static void forked(void) {
  start(CL_DEVICE_TYPE_CPU, 0);
  int value = result_of(build(more, NULL), "more");
  fflush(stdout);
  settle();
  pid_t child = fork();
  if (!child) {
    start(CL_DEVICE_TYPE_CPU, 0);
    _exit(10 + result_of(build(more, NULL), "more"));
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d, parent %d\n", WEXITSTATUS(status), value + result_of(build(more, NULL), "more"));
}

// A kernel that does something else in its last launch but five. What it only reads is another in each launch.
static void late(int last) {
  char options[32];
  snprintf(options, sizeof options, "-DDEEP=%d", last - 5);
  start(CL_DEVICE_TYPE_CPU, 0);
  cl_program program = build(
      "#ifndef BRANCH\n#define BRANCH(bit)\n#endif\n"
      "kernel void step(global int *a, global const int *b, int n) {\n"
      "  if (n == DEEP) { BRANCH(1); *a += 1000; } else { BRANCH(0); *a += *b > 0; }\n}\n", options);
  cl_kernel kernel = kernel_of(program, "step");
  int value = 0;
  cl_mem a = buffer_of(CL_MEM_COPY_HOST_PTR, sizeof value, &value), b = buffer_of(0, sizeof value, NULL);
  set(kernel, 0, sizeof a, &a);
  set(kernel, 1, sizeof b, &b);
  for (int n = 1; n <= last; n++) {
    CHECK(clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, sizeof n, &n, 0, NULL, NULL));
    set(kernel, 2, sizeof n, &n);
    launch(kernel, 1);
  }
  read_back(a, sizeof value, &value);
  show("late", &value, 1);
}

int main(int count, char **arguments) {
  const char *what = count > 1 ? arguments[1] : "";
  if (strcmp(what, "variables") == 0) variables();
  if (strcmp(what, "member") == 0) member();
  if (strcmp(what, "contexts") == 0) contexts();
  if (strcmp(what, "threads") == 0) threads();
  if (strcmp(what, "sizes") == 0) sizes();
  if (strcmp(what, "two") == 0) two();
  if (strcmp(what, "forked") == 0) forked();
  if (strcmp(what, "late") == 0) late(atoi(arguments[2]));
  return 0;
}
