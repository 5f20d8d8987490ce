/* Writes a header, builds a program that includes it, and removes it before the first launch: from then on the program cannot be
 * compiled from what is on disk. */

#include "host.h"
#include <unistd.h>

enum { COUNT = 100 };

int main(void)
{
    struct host host = host_open(0);
    char folder[] = "/tmp/gone-XXXXXX", path[64], options[64];
    if (!mkdtemp(folder)) fail("cannot make a folder");
    snprintf(path, sizeof path, "%s/scale.h", folder);
    snprintf(options, sizeof options, "-I %s", folder);
    FILE *file = fopen(path, "w");
    if (!file || fputs("int scaled(int x) { if (x > 50) return 50; return x; }\n", file) < 0 || fclose(file) != 0)
        fail("cannot write %s", path);
    cl_program program = host_program(&host,
                                      "#include \"scale.h\"\n"
                                      "kernel void scale(global int *x) {\n"
                                      "    size_t i = get_global_id(0);\n"
                                      "    x[i] = scaled(x[i]);\n"
                                      "}\n",
                                      options);
    unlink(path);
    rmdir(folder);
    cl_kernel scale = host_kernel(program, "scale");
    cl_int numbers[COUNT];
    for (int i = 0; i < COUNT; i++) numbers[i] = i;
    cl_mem x = host_buffer(&host, CL_MEM_READ_WRITE, sizeof numbers, numbers);
    ARG(scale, 0, x);
    host_launch(&host, scale, COUNT, 0);
    host_read(&host, x, sizeof numbers, numbers);
    for (int i = 0; i < COUNT; i++) EXPECT(numbers[i] == (i > 50 ? 50 : i));
    CHECK(clReleaseMemObject(x));
    CHECK(clReleaseKernel(scale));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("gone: right");
    return 0;
}
