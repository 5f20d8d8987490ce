/* A text made of several strings: a prefix, generated lines, a file and a rest that is cut off by its length.
 *
 * Kernels (many_strings_body.cl): weave, 2 launches; of a second program, with other prefix, 1 launch.
 * Special: strings with and without lengths, one of them empty, one not terminated where its length ends; a string ends in
 * the middle of a token and the next continues it. Two programs share the file, so its lines are those of two programs. */

#include "host.h"

enum { COUNT = 210 };

static void weave(const struct host *host, const char *body, const char *type, int period, int launches)
{
    char generated[64];
    snprintf(generated, sizeof generated, "#define PERIOD %d\n", period);
    const char *strings[] = {"typedef ", type, " number;\n", "", generated, "number comb", "ined(number x, number y) { return x * 2 ", "+ y; }\n",
                             body, "\n/* the end */ and this is not read"};
    size_t lengths[] = {0, strlen(type), 9, 0, 0, 0, 0, 0, strlen(body), 14};
    cl_int error;
    cl_program program;
    CREATE(program, clCreateProgramWithSource(host->context, sizeof strings / sizeof *strings, strings, lengths, &error));
    error = clBuildProgram(program, 1, &host->device, NULL, NULL, NULL);
    if (error != CL_SUCCESS) print_log(program, host->device);
    CHECK(error);
    cl_kernel kernel = host_kernel(program, "weave");

    int wide = strcmp(type, "long") == 0;
    cl_long a[COUNT], b[COUNT], result[COUNT] = {0};
    cl_int small_a[COUNT], small_b[COUNT], small[COUNT];
    for (int i = 0; i < COUNT; i++) {
        small_a[i] = i * 3, small_b[i] = -i;
        a[i] = wide ? small_a[i] * 0x100000000ll : small_a[i], b[i] = small_b[i];
    }
    size_t size = COUNT * (wide ? sizeof *a : sizeof *small_a);
    cl_mem as = host_buffer(host, CL_MEM_READ_ONLY, size, wide ? (void *)a : (void *)small_a);
    cl_mem bs = host_buffer(host, CL_MEM_READ_ONLY, size, wide ? (void *)b : (void *)small_b);
    cl_mem out = host_buffer(host, CL_MEM_WRITE_ONLY, size, NULL);
    ARG(kernel, 0, as);
    ARG(kernel, 1, bs);
    ARG(kernel, 2, out);
    for (int n = 0; n < launches; n++) {
        host_launch(host, kernel, COUNT, n ? 10 : 0);
        host_read(host, out, size, wide ? (void *)result : (void *)small);
        for (int i = 0; i < COUNT; i++) {
            if (!wide) result[i] = small[i];
            EXPECT(result[i] == (i % period == 0 ? a[i] * 2 + b[i] : i % 2 ? a[i] : b[i]));
        }
    }
    CHECK(clReleaseMemObject(as));
    CHECK(clReleaseMemObject(bs));
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
}

int main(void)
{
    struct host host = host_open(0);
    char *body = host_file("many_strings_body.cl", NULL);
    weave(&host, body, "int", 3, 2);
    weave(&host, body, "long", 7, 1);
    free(body);
    host_close(&host);
    puts("many_strings: right");
    return 0;
}
