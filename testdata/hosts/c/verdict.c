/* A program that judges itself, in a way that its argument chooses.
 *
 * Kernels: smooth, 1 launch; mark, 1 launch.
 * Special: the program looks only at how many elements are marked, so it does not notice every wrong one. If the number is wrong, it
 * ends with 1 (no argument), by SIGABRT (abort), or never (wait). With print it only prints the number, with write it writes it
 * to verdict.out; with pid it prints something else each time. With raw the buffer for the results holds nothing before. */

#include "host.h"
#include <unistd.h>

enum { COUNT = 96, RADIUS = 2, LIMIT = 48 };

/* How many elements are to be marked. */
static int wanted(const cl_int *numbers)
{
    int marked = 0;
    for (int i = 0; i < COUNT; i++) {
        int sum = 0, near = 0;
        for (int j = i - RADIUS; j <= i + RADIUS; j++)
            if (j >= 0 && j < COUNT) sum += numbers[j], near++;
        marked += sum / near > LIMIT;
    }
    return marked;
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "";
    struct host host = host_open(0);
    char *source = host_file("verdict.cl", NULL);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel smooth = host_kernel(program, "smooth"), mark = host_kernel(program, "mark");
    cl_int numbers[COUNT], zeros[COUNT] = {0}, n = COUNT, radius = RADIUS, limit = LIMIT;
    for (cl_int i = 0; i < COUNT; i++) numbers[i] = i * 37 % 97;
    int right = wanted(numbers);
    cl_mem in = host_buffer(&host, CL_MEM_READ_ONLY, sizeof numbers, numbers);
    cl_mem out = host_buffer(&host, CL_MEM_READ_WRITE, sizeof numbers, strcmp(how, "raw") == 0 ? NULL : zeros);
    ARG(smooth, 0, in);
    ARG(smooth, 1, out);
    ARG(smooth, 2, n);
    ARG(smooth, 3, radius);
    host_launch(&host, smooth, 128, 32);
    ARG(mark, 0, out);
    ARG(mark, 1, n);
    ARG(mark, 2, limit);
    host_launch(&host, mark, 128, 32);
    host_read(&host, out, sizeof numbers, numbers);
    int marked = 0;
    for (int i = 0; i < COUNT; i++) marked += numbers[i] == 1;
    CHECK(clReleaseMemObject(in));
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(smooth));
    CHECK(clReleaseKernel(mark));
    CHECK(clReleaseProgram(program));
    free(source);
    host_close(&host);
    if (strcmp(how, "print") == 0) {
        printf("verdict: %d marked\n", marked);
        return 0;
    }
    if (strcmp(how, "write") == 0) {
        FILE *file = fopen("verdict.out", "w");
        EXPECT(file && fprintf(file, "%d\n", marked) > 0 && fclose(file) == 0);
        return 0;
    }
    if (strcmp(how, "pid") == 0) {
        printf("verdict: in process %d\n", (int)getpid());
        return 0;
    }
    if (marked != right && strcmp(how, "abort") == 0) abort();
    while (marked != right && strcmp(how, "wait") == 0) sleep(1);
    if (marked != right) fail("%d elements are marked, not %d", marked, right);
    puts("verdict: right");
    return 0;
}
