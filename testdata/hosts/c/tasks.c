/* clEnqueueTask, and a new kernel object for every launch.
 *
 * Kernels: parse_number, 500 launches by clEnqueueTask, each with a kernel object of its own.
 * Special: one work-item; objects are released right after they were enqueued, so their handles are used again. */

#include "host.h"

enum { LAUNCHES = 500, LINE = 16 };

static const char *source =
    "kernel void parse_number(global const char *text, int line, global int *numbers) {\n"
    "    int value = 0, negative = 0;\n"
    "    for (int i = 0; i < 16; i++) {\n"
    "        char c = text[line * 16 + i];\n"
    "        if (c == 0) break;\n"
    "        if (c == '-') negative = 1;\n"
    "        else if (c >= '0' && c <= '9') value = value * 10 + (c - '0');\n"
    "    }\n"
    "    numbers[line] = negative ? -value : value;\n"
    "}\n";

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    static char text[LAUNCHES][LINE];
    static cl_int numbers[LAUNCHES];
    for (int n = 0; n < LAUNCHES; n++) snprintf(text[n], LINE, "%s%d", n % 3 ? " " : "", (n - 250) * 1237);
    cl_mem in = host_buffer(&host, CL_MEM_READ_ONLY, sizeof text, text);
    cl_mem out = host_buffer(&host, CL_MEM_READ_WRITE, sizeof numbers, numbers);
    for (cl_int n = 0; n < LAUNCHES; n++) {
        cl_kernel parse = host_kernel(program, "parse_number");
        ARG(parse, 0, in);
        ARG(parse, 1, n);
        ARG(parse, 2, out);
        CHECK(clEnqueueTask(host.queue, parse, 0, NULL, NULL));
        CHECK(clReleaseKernel(parse));
    }
    host_read(&host, out, sizeof numbers, numbers);
    for (int n = 0; n < LAUNCHES; n++) EXPECT(numbers[n] == (n - 250) * 1237);
    CHECK(clReleaseMemObject(in));
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("tasks: right");
    return 0;
}
