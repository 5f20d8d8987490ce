/* What an auto-tuner does: one kernel's file, tuned.cl, built with several values of its macros, which stand in front of the text or among
 * the options.
 *
 * Kernels: clip, 6 launches: 3 of the first variant, which has its macros and a #line in front; 2 of the second, with one macro in front
 * and the others among the options; 1 of the third, with the text as it is.
 * Special: no variant does all that the kernel's text can do. The first and the third clip nothing from below, the second everything; the
 * first has no code for the upper bound, the second stays below it, the third is above. None has a marked number. The third runs its loop
 * once, the others more often. */

#include "host.h"

enum { COUNT = 256 };

static cl_mem in, out;
static cl_int numbers[COUNT], result[COUNT];

static void clipped(const struct host *host, const char *front, const char *options, int tile, int launches, int low, int high)
{
    cl_int error;
    cl_program program;
    size_t size;
    char *own = host_file("tuned.cl", &size);
    char *text = malloc(strlen(front) + size + 1);
    if (!text) fail("no memory");
    sprintf(text, "%s%s", front, own);
    CREATE(program, clCreateProgramWithSource(host->context, 1, (const char **)&text, NULL, &error));
    error = clBuildProgram(program, 1, &host->device, options, NULL, NULL);
    if (error != CL_SUCCESS) print_log(program, host->device);
    check_at(error, "clBuildProgram", __FILE__, __LINE__);
    cl_kernel clip = host_kernel(program, "clip");
    ARG(clip, 0, in);
    ARG(clip, 1, out);
    ARG(clip, 2, low);
    ARG(clip, 3, high);
    for (int n = 0; n < launches; n++) {
        host_launch(host, clip, COUNT / tile, 0);
        host_read(host, out, sizeof result, result);
        for (int i = 0; i < COUNT; i++) {
            cl_int x = numbers[i] < low ? low : numbers[i];
            EXPECT(result[i] == (x > high ? high : x));
        }
    }
    CHECK(clReleaseKernel(clip));
    CHECK(clReleaseProgram(program));
    free(text);
    free(own);
}

int main(void)
{
    struct host host = host_open(0);
    for (int i = 0; i < COUNT; i++) numbers[i] = 100 + i * i % 1001;
    in = host_buffer(&host, CL_MEM_READ_ONLY, sizeof numbers, numbers);
    out = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof numbers, NULL);
    clipped(&host, "#define TILE 4\n#define MARKED(x) ((x) == 7)\n#line 1\n", "", 4, 3, 0, 5000);
    clipped(&host, "#define TILE 8\n", "-DHIGH=1 -D \"MARKED(x)=((x) == 7 || (x) == 9)\"", 8, 2, 3000, 5000);
    clipped(&host, "", "-D TILE=1 -D HIGH -D \"MARKED(x)=((x) == 7 || (x) == 8 || (x) == 9)\"", 1, 1, 0, 50);
    CHECK(clReleaseMemObject(in));
    CHECK(clReleaseMemObject(out));
    host_close(&host);
    puts("tuned: right");
    return 0;
}
