// Order: an out-of-order queue, a second queue, events with times, a wait list, a user event that the program sets later,
// threads with a queue each, threads that share a buffer.
#include "host.h"

static const char *source =
    "kernel void twice(global int *a) { a[get_global_id(0)] *= 2; }\n"
    "kernel void more(global int *a) { a[get_global_id(0)] += 1; }\n";
static cl_program program;

static void *worker(void *argument) {
  cl_int error;
  int value = *(int *)argument;
  cl_command_queue own = clCreateCommandQueue(context, device, 0, &error);
  cl_mem memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof value, &value, &error);
  cl_kernel kernel = clCreateKernel(program, "more", &error);
  size_t one = 1;
  for (int i = 0; i < 200; i++) {
    CHECK(clSetKernelArg(kernel, 0, sizeof memory, &memory));
    CHECK(clEnqueueNDRangeKernel(own, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
  }
  CHECK(clEnqueueReadBuffer(own, memory, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
  CHECK(clReleaseKernel(kernel));
  CHECK(clReleaseMemObject(memory));
  CHECK(clReleaseCommandQueue(own));
  *(int *)argument = value;
  return NULL;
}

int main(void) {
  start(CL_DEVICE_TYPE_CPU, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
  program = build(source, NULL);
  cl_int error;
  int value[4] = {1, 2, 3, 4}, later[4] = {10, 20, 30, 40};
  cl_mem memory = buffer_of(CL_MEM_COPY_HOST_PTR, sizeof value, value);
  cl_kernel twice = kernel_of(program, "twice");
  set(twice, 0, sizeof memory, &memory);
  size_t global = 4;
  cl_event wrote, ran;
  CHECK(clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, sizeof later, later, 0, NULL, &wrote));
  CHECK(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &global, NULL, 1, &wrote, &ran));
  CHECK(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof value, value, 1, &ran, NULL));
  show("after a write", value, 4);
  cl_ulong began, ended;
  CHECK(clGetEventProfilingInfo(ran, CL_PROFILING_COMMAND_START, sizeof began, &began, NULL));
  CHECK(clGetEventProfilingInfo(ran, CL_PROFILING_COMMAND_END, sizeof ended, &ended, NULL));
  cl_command_type type;
  CHECK(clGetEventInfo(ran, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
  printf("timed: %d, type %x\n", began <= ended && began > 0, type);

  // A second queue whose launch waits for the first one's.
  cl_command_queue second = clCreateCommandQueueWithProperties(context, device, NULL, &error);
  CHECK(error);
  cl_event again;
  CHECK(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &global, NULL, 0, NULL, &ran));
  CHECK(clFlush(queue));
  CHECK(clEnqueueNDRangeKernel(second, twice, 1, NULL, &global, NULL, 1, &ran, &again));
  CHECK(clEnqueueReadBuffer(second, memory, CL_TRUE, 0, sizeof value, value, 1, &again, NULL));
  show("on two queues", value, 4);

  // A wait for this launch here would never end.
  cl_event user = clCreateUserEvent(context, &error);
  CHECK(error);
  cl_kernel more = kernel_of(program, "more");
  set(more, 0, sizeof memory, &memory);
  CHECK(clEnqueueNDRangeKernel(second, more, 1, NULL, &global, NULL, 1, &user, &again));
  CHECK(clSetUserEventStatus(user, CL_COMPLETE));
  CHECK(clWaitForEvents(1, &again));
  CHECK(clReleaseEvent(user));
  CHECK(clEnqueueReadBuffer(second, memory, CL_TRUE, 0, sizeof value, value, 0, NULL, NULL));
  show("after a user event", value, 4);
  CHECK(clReleaseCommandQueue(second));

  pthread_t threads[4];
  int values[4] = {0, 1000, 2000, 3000};
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, worker, &values[i]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  show("threads", values, 4);
  return 0;
}
