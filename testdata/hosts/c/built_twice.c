/* One text built with several options: two programs of the same source, and one program object that is built a second time.
 *
 * Kernels: blend, 6 launches: 2 with -DWIDTH=4 -DKEEP=1, 3 with -DWIDTH=8, 1 with -DWIDTH=16 -DKEEP=3 (the program object that had
 * -DWIDTH=4 before; only its kernels are released in between).
 * Special: the kernels have the same name, and different branches of the text exist in each. */

#include "host.h"

enum { COUNT = 320 };

static const char *source =
    "#ifndef KEEP\n"
    "#define KEEP 0\n"
    "#endif\n"
    "kernel void blend(global const int *in, global int *out) {\n"
    "    int i = get_global_id(0), first = i / WIDTH * WIDTH, sum = 0;\n"
    "    for (int k = first; k < first + WIDTH; k++) sum += in[k];\n"
    "#if KEEP\n"
    "    if (i % WIDTH < KEEP) sum = in[i];\n"
    "#endif\n"
    "    out[i] = sum;\n"
    "}\n";

static cl_mem in, out;
static cl_int numbers[COUNT], result[COUNT];

static void blended(const struct host *host, cl_program program, int width, int keep, int launches)
{
    cl_kernel blend = host_kernel(program, "blend");
    ARG(blend, 0, in);
    ARG(blend, 1, out);
    for (int n = 0; n < launches; n++) {
        host_launch(host, blend, COUNT, n ? 16 : 0);
        host_read(host, out, sizeof result, result);
        for (int i = 0; i < COUNT; i++) {
            cl_int sum = 0;
            for (int k = i / width * width; k < i / width * width + width; k++) sum += numbers[k];
            EXPECT(result[i] == (i % width < keep ? numbers[i] : sum));
        }
    }
    CHECK(clReleaseKernel(blend));
}

int main(void)
{
    struct host host = host_open(0);
    for (int i = 0; i < COUNT; i++) numbers[i] = i * i % 1001;
    in = host_buffer(&host, CL_MEM_READ_ONLY, sizeof numbers, numbers);
    out = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof numbers, NULL);
    cl_program four = host_program(&host, source, "-DWIDTH=4 -DKEEP=1");
    cl_program eight = host_program(&host, source, "-DWIDTH=8");
    blended(&host, four, 4, 1, 2);
    blended(&host, eight, 8, 0, 3);
    CHECK(clBuildProgram(four, 1, &host.device, "-DWIDTH=16 -DKEEP=3", NULL, NULL));
    blended(&host, four, 16, 3, 1);
    CHECK(clReleaseMemObject(in));
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseProgram(four));
    CHECK(clReleaseProgram(eight));
    host_close(&host);
    puts("built_twice: right");
    return 0;
}
