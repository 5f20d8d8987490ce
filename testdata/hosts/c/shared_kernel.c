/* Four threads share one kernel object and one queue: a lock holds the arguments and the launch together.
 *
 * Kernels: stamp, 100 launches (25 of each thread).
 * Special: which thread launches when differs from run to run; the arguments of a launch are those set last before it. */

#include "host.h"
#include <pthread.h>

enum { THREADS = 4, LAUNCHES = 25, WIDTH = 64 };

static const char *source =
    "kernel void stamp(global uint *rows, uint row, uint mark) {\n"
    "    uint i = get_global_id(0), width = get_global_size(0);\n"
    "    rows[row * width + i] = mark + i;\n"
    "}\n";

static struct host host;
static cl_kernel kernel;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument)
{
    cl_uint thread = *(cl_uint *)argument;
    for (cl_uint n = 0; n < LAUNCHES; n++) {
        cl_uint row = thread * LAUNCHES + n, mark = row * 1000;
        pthread_mutex_lock(&lock);
        ARG(kernel, 1, row);
        ARG(kernel, 2, mark);
        host_launch(&host, kernel, WIDTH, 0);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    kernel = host_kernel(program, "stamp");
    static cl_uint rows[THREADS * LAUNCHES * WIDTH];
    cl_mem buffer = host_buffer(&host, CL_MEM_READ_WRITE, sizeof rows, rows);
    ARG(kernel, 0, buffer);
    pthread_t threads[THREADS];
    cl_uint numbers[THREADS];
    for (cl_uint t = 0; t < THREADS; t++) {
        numbers[t] = t;
        EXPECT(pthread_create(&threads[t], NULL, work, &numbers[t]) == 0);
    }
    for (int t = 0; t < THREADS; t++) EXPECT(pthread_join(threads[t], NULL) == 0);
    host_read(&host, buffer, sizeof rows, rows);
    for (cl_uint r = 0; r < THREADS * LAUNCHES; r++)
        for (cl_uint i = 0; i < WIDTH; i++) EXPECT(rows[r * WIDTH + i] == r * 1000 + i);
    CHECK(clReleaseMemObject(buffer));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("shared_kernel: right");
    return 0;
}
