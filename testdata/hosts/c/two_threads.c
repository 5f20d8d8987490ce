/* Two threads, each with its own queue and kernel object, in one context with one program.
 *
 * Kernels: collatz, 100 launches (50 of each thread).
 * Special: the threads work at the same time on halves of one buffer (sub-buffers) and wait for their own queue only. */

#include "host.h"
#include <pthread.h>

enum { THREADS = 2, LAUNCHES = 50, COUNT = 256 };

static const char *source =
    "kernel void collatz(uint start, global uint *steps) {\n"
    "    uint i = get_global_id(0), n = start + i, count = 0;\n"
    "    while (n > 1) { n = n % 2 ? 3 * n + 1 : n / 2; count++; }\n"
    "    steps[i] += count;\n"
    "}\n";

struct job {
    pthread_t thread;
    struct host host;
    cl_program program;
    cl_mem steps;
    cl_uint first;
};

static void *work(void *argument)
{
    struct job *job = argument;
    cl_kernel collatz = host_kernel(job->program, "collatz");
    ARG(collatz, 1, job->steps);
    for (cl_uint n = 0; n < LAUNCHES; n++) {
        cl_uint start = job->first + n * COUNT;
        ARG(collatz, 0, start);
        host_launch(&job->host, collatz, COUNT, 32);
        if (n % 10 == 9) CHECK(clFinish(job->host.queue));
    }
    CHECK(clFinish(job->host.queue));
    CHECK(clReleaseKernel(collatz));
    return NULL;
}

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_uint steps[THREADS * COUNT] = {0};
    cl_int error;
    cl_mem all = host_buffer(&host, CL_MEM_READ_WRITE, sizeof steps, steps);
    struct job jobs[THREADS];
    for (cl_uint t = 0; t < THREADS; t++) {
        cl_buffer_region half = {t * COUNT * sizeof(cl_uint), COUNT * sizeof(cl_uint)};
        jobs[t].host = host;
        jobs[t].program = program;
        jobs[t].first = 1 + t * LAUNCHES * COUNT;
        CREATE(jobs[t].host.queue, clCreateCommandQueueWithProperties(host.context, host.device, NULL, &error));
        CREATE(jobs[t].steps, clCreateSubBuffer(all, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &half, &error));
    }
    for (int t = 0; t < THREADS; t++) EXPECT(pthread_create(&jobs[t].thread, NULL, work, &jobs[t]) == 0);
    for (int t = 0; t < THREADS; t++) {
        EXPECT(pthread_join(jobs[t].thread, NULL) == 0);
        CHECK(clReleaseMemObject(jobs[t].steps));
        CHECK(clReleaseCommandQueue(jobs[t].host.queue));
    }
    host_read(&host, all, sizeof steps, steps);
    for (cl_uint t = 0; t < THREADS; t++)
        for (cl_uint i = 0; i < COUNT; i++) {
            cl_uint expected = 0;
            for (cl_uint l = 0; l < LAUNCHES; l++)
                for (cl_uint n = jobs[t].first + l * COUNT + i; n > 1; expected++) n = n % 2 ? 3 * n + 1 : n / 2;
            EXPECT(steps[t * COUNT + i] == expected);
        }
    CHECK(clReleaseMemObject(all));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("two_threads: right");
    return 0;
}
