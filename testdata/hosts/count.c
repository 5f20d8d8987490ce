/* An ICD layer that counts launches, to check the numbers in hosts.toml by something that is not kassay: for each launch that the
 * driver accepts it appends a line with the kernel's name to the file that COUNT_LAUNCHES names. A line is one write, so that
 * forks, threads and crashes lose nothing.
 *
 *     cc -shared -fPIC -o libcount.so count.c
 *     OPENCL_LAYERS=$PWD/libcount.so COUNT_LAUNCHES=$PWD/launches ./program
 *
 * It sees what a loader with layers sees: not the calls of a second loader that is only handed objects of the first, nor of
 * loaders that know no layers, nor launches by functions of extensions. */

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cl_icd_dispatch *target;
static cl_icd_dispatch own;
static int file = -1;

static void count(cl_kernel kernel)
{
    char line[512];
    size_t size = 0;
    if (file < 0 || target->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof line, line, &size) != CL_SUCCESS) return;
    line[size - 1] = '\n'; /* instead of the terminating null */
    if (write(file, line, size) != (ssize_t)size) perror("count");
}

static CL_API_ENTRY cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                              const size_t *global, const size_t *local, cl_uint waits,
                                              const cl_event *wait_list, cl_event *event)
{
    cl_int code = target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait_list, event);
    if (code == CL_SUCCESS) count(kernel);
    return code;
}

static CL_API_ENTRY cl_int CL_API_CALL task(cl_command_queue queue, cl_kernel kernel, cl_uint waits, const cl_event *wait_list,
                                            cl_event *event)
{
    cl_int code = target->clEnqueueTask(queue, kernel, waits, wait_list, event);
    if (code == CL_SUCCESS) count(kernel);
    return code;
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value, size_t *needed)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    const void *from = name == CL_LAYER_API_VERSION ? (const void *)&version : name == CL_LAYER_NAME ? (const void *)"count" : NULL;
    size_t length = name == CL_LAYER_API_VERSION ? sizeof version : 6;
    if (!from || (value && size < length)) return CL_INVALID_VALUE;
    if (value) memcpy(value, from, length);
    if (needed) *needed = length;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *dispatch, cl_uint *entries_ret,
                                            const cl_icd_dispatch **dispatch_ret)
{
    const char *path = getenv("COUNT_LAUNCHES");
    if (entries < sizeof own / sizeof(void *)) return CL_INVALID_VALUE;
    if (path) file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    target = dispatch;
    own = *dispatch;
    own.clEnqueueNDRangeKernel = launch;
    own.clEnqueueTask = task;
    *entries_ret = sizeof own / sizeof(void *);
    *dispatch_ret = &own;
    return CL_SUCCESS;
}
