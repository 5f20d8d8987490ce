/* Forks. The argument says when: `before` (the first use of OpenCL is after the fork), `after` (the parent has used OpenCL
 * and goes on; the child opens it anew), `idle` (as `after`, but the child does nothing and ends), `exec` (the child becomes a
 * new process of this program, started with the argument `child`).
 *
 * Kernels: sum_squares. Launches: before 3 + 2 (parent + child), after 3 + 2, idle 3, exec 3 + 2.
 * Special: OpenCL leaves open whether a child may use it after the parent has; it works with Intel's CPU runtime, and the
 * child tries it with a context of its own. The parent launches before and after the fork. An idle child must not call exit: the
 * driver's part of it waits for ever if one of the driver's threads, which are not in the child, held a lock at the fork. */

#include "host.h"
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 512 };

static const char *source =
    "kernel void sum_squares(global int *out, int to) {\n"
    "    int i = get_global_id(0), sum = 0;\n"
    "    for (int n = 1; n <= to; n++) sum += (i + n) * (i + n);\n"
    "    out[i] = sum;\n"
    "}\n";

struct work {
    struct host host;
    cl_program program;
    cl_kernel kernel;
    cl_mem out;
};

static struct work start(void)
{
    struct work work;
    work.host = host_open(0);
    work.program = host_program(&work.host, source, NULL);
    work.kernel = host_kernel(work.program, "sum_squares");
    work.out = host_buffer(&work.host, CL_MEM_WRITE_ONLY, COUNT * sizeof(cl_int), NULL);
    return work;
}

static void launch(struct work *work, cl_int to)
{
    cl_int result[COUNT];
    ARG(work->kernel, 0, work->out);
    ARG(work->kernel, 1, to);
    host_launch(&work->host, work->kernel, COUNT, 0);
    host_read(&work->host, work->out, sizeof result, result);
    for (int i = 0; i < COUNT; i++) {
        cl_int sum = 0;
        for (int n = 1; n <= to; n++) sum += (i + n) * (i + n);
        EXPECT(result[i] == sum);
    }
}

static void end(struct work *work)
{
    CHECK(clReleaseMemObject(work->out));
    CHECK(clReleaseKernel(work->kernel));
    CHECK(clReleaseProgram(work->program));
    host_close(&work->host);
}

static int child(void)
{
    struct work work = start();
    launch(&work, 10);
    launch(&work, 20);
    end(&work);
    puts("forks: child right");
    return 0;
}

int main(int count, char **arguments)
{
    const char *when = count > 1 ? arguments[1] : "before";
    if (strcmp(when, "child") == 0) return child();

    struct work work;
    int before = strcmp(when, "before") == 0;
    if (!before) {
        work = start();
        launch(&work, 5);
    }
    fflush(NULL);
    pid_t pid = fork();
    EXPECT(pid >= 0);
    if (pid == 0) {
        if (strcmp(when, "idle") == 0) _exit(0);
        if (strcmp(when, "exec") == 0) {
            execl("/proc/self/exe", arguments[0], "child", (char *)NULL);
            _exit(127);
        }
        exit(child());
    }
    if (before) {
        work = start();
        launch(&work, 5);
    }
    launch(&work, 6);
    int status;
    EXPECT(waitpid(pid, &status, 0) == pid);
    EXPECT(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) return 77;
    EXPECT(WEXITSTATUS(status) == 0);
    launch(&work, 7);
    end(&work);
    puts("forks: right");
    return 0;
}
