/* Ends in the middle of its work: no release, no exit handlers, in most ways without flushing what was printed. The argument
 * says how: `exit` (_exit with 5), `quick` (quick_exit with 6), `crash` (a store through a null pointer), `abort`,
 * `terminate` (SIGTERM to itself), `kill` (SIGKILL to itself), `thread` (returns from main while another thread, which has
 * launched, too, holds its objects), `handler` (returns from main; an atexit function launches twice more).
 *
 * Kernels: halve, 20 launches before the end, all finished and their results compared; handler: 22; thread: 21.
 * Special: what a tool holds back until the end is lost. */

#include "host.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { COUNT = 128, LAUNCHES = 20 };

static const char *source =
    "kernel void halve(global int *numbers, int odd) {\n"
    "    int i = get_global_id(0);\n"
    "    numbers[i] = (numbers[i] & 1) == odd ? numbers[i] / 2 : 3 * numbers[i] + 1;\n"
    "}\n";

static struct host host;
static cl_program program;
static cl_mem buffer;
static cl_int numbers[COUNT], result[COUNT];

static void launch(cl_kernel halve, cl_int odd)
{
    ARG(halve, 0, buffer);
    ARG(halve, 1, odd);
    host_launch(&host, halve, COUNT, 0);
    host_read(&host, buffer, sizeof result, result);
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = (numbers[i] & 1) == odd ? numbers[i] / 2 : 3 * numbers[i] + 1;
        EXPECT(result[i] == numbers[i]);
    }
}

static void *go_on(void *started)
{
    cl_kernel halve = host_kernel(program, "halve");
    cl_int error, zero = 0;
    cl_mem own = host_buffer(&host, CL_MEM_READ_WRITE, sizeof numbers, numbers);
    struct host mine = host;
    CREATE(mine.queue, clCreateCommandQueueWithProperties(host.context, host.device, NULL, &error));
    ARG(halve, 0, own);
    ARG(halve, 1, zero);
    host_launch(&mine, halve, COUNT, 0);
    CHECK(clFinish(mine.queue));
    __atomic_store_n((int *)started, 1, __ATOMIC_RELEASE);
    for (;;) pause();
    return NULL;
}

static void last_launches(void)
{
    cl_kernel halve = host_kernel(program, "halve");
    launch(halve, 1);
    launch(halve, 0);
    puts("sudden_end: right");
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "exit";
    host = host_open(0);
    program = host_program(&host, source, NULL);
    cl_kernel halve = host_kernel(program, "halve");
    for (int i = 0; i < COUNT; i++) numbers[i] = i * 3;
    buffer = host_buffer(&host, CL_MEM_READ_WRITE, sizeof numbers, numbers);
    if (strcmp(how, "handler") == 0) atexit(last_launches);
    for (int n = 0; n < LAUNCHES; n++) launch(halve, n % 3 == 0);
    if (strcmp(how, "exit") == 0) _exit(5);
    if (strcmp(how, "quick") == 0) quick_exit(6);
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "terminate") == 0) raise(SIGTERM);
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    if (strcmp(how, "crash") == 0) {
        volatile int *nowhere = NULL;
        *nowhere = 1;
    }
    if (strcmp(how, "thread") == 0) {
        pthread_t thread;
        static int started;
        EXPECT(pthread_create(&thread, NULL, go_on, &started) == 0);
        while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE)) usleep(1000);
        puts("sudden_end: right");
    }
    return 0;
}
