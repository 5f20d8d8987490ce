/* clCompileProgram and clLinkProgram: two units that share two headers, one of them linked into a library first.
 *
 * Kernels: root_table, 3 launches; sine_table, 1 launch.
 * Special: the headers exist in memory only; each unit is compiled with options of its own; the executable has no source and
 * no build options that would rebuild it. */

#include "host.h"

enum { COUNT = 400 };

static const char *fixed_h =
    "#ifndef FIXED_H\n"
    "#define FIXED_H\n"
    "#include \"types/number.h\"\n"
    "number fixed_mul(number a, number b);\n"
    "number fixed_root(number x);\n"
    "#endif\n";
static const char *number_h = "typedef int number;\n#ifndef POINT\n#define POINT 8\n#endif\n";
static const char *library_source =
    "#include \"fixed.h\"\n"
    "number fixed_mul(number a, number b) { return (number)(((long)a * b) >> POINT); }\n"
    "number fixed_root(number x) {\n"
    "    number low = 0, high = 46340;\n"
    "    while (low < high) {\n"
    "        number middle = (low + high + 1) / 2;\n"
    "        if (fixed_mul(middle, middle) <= x) low = middle; else high = middle - 1;\n"
    "    }\n"
    "    return low;\n"
    "}\n";
static const char *kernels_source =
    "#include \"fixed.h\"\n"
    "kernel void root_table(global number *out, number step) {\n"
    "    number i = get_global_id(0);\n"
    "    out[i] = fixed_root(i * step) + OFFSET;\n"
    "}\n"
    "kernel void sine_table(global number *out) {\n"
    "    number i = get_global_id(0), x = i % 256, square = fixed_mul(x, x);\n"
    "    out[i] = x - fixed_mul(x, square) / 6;\n"
    "}\n";

static cl_program unit(const struct host *host, const char *source)
{
    cl_int error;
    cl_program created;
    CREATE(created, clCreateProgramWithSource(host->context, 1, &source, NULL, &error));
    return created;
}

static void compile(const struct host *host, cl_program program, const char *options, cl_program *headers)
{
    const char *names[] = {"fixed.h", "types/number.h"};
    cl_int error = clCompileProgram(program, 1, &host->device, options, 2, headers, names, NULL, NULL);
    if (error != CL_SUCCESS) print_log(program, host->device);
    CHECK(error);
}

static cl_int multiply(cl_int a, cl_int b) { return (cl_int)(((cl_long)a * b) >> 8); }

int main(void)
{
    struct host host = host_open(0);
    cl_int error;
    cl_program headers[] = {unit(&host, fixed_h), unit(&host, number_h)};
    cl_program units[] = {unit(&host, library_source), unit(&host, kernels_source)};
    compile(&host, units[0], "-DPOINT=8", headers);
    compile(&host, units[1], "-DOFFSET=3 -cl-std=CL1.2", headers);
    cl_program linked[2], whole;
    CREATE(linked[0], clLinkProgram(host.context, 1, &host.device, "-create-library", 1, &units[0], NULL, NULL, &error));
    linked[1] = units[1];
    CREATE(whole, clLinkProgram(host.context, 1, &host.device, "", 2, linked, NULL, NULL, &error));
    for (int i = 0; i < 2; i++) {
        CHECK(clReleaseProgram(headers[i]));
        CHECK(clReleaseProgram(units[i]));
    }

    cl_kernel root = host_kernel(whole, "root_table"), sine = host_kernel(whole, "sine_table");
    cl_mem out = host_buffer(&host, CL_MEM_WRITE_ONLY, COUNT * sizeof(cl_int), NULL);
    cl_int result[COUNT];
    ARG(root, 0, out);
    for (cl_int step = 1; step <= 100; step *= 10) {
        ARG(root, 1, step);
        host_launch(&host, root, COUNT, 16);
        host_read(&host, out, sizeof result, result);
        for (int i = 0; i < COUNT; i++) {
            cl_int n = result[i] - 3;
            EXPECT(multiply(n, n) <= i * step && multiply(n + 1, n + 1) > i * step);
        }
    }
    ARG(sine, 0, out);
    host_launch(&host, sine, COUNT, 0);
    host_read(&host, out, sizeof result, result);
    for (int i = 0; i < COUNT; i++) {
        cl_int x = i % 256;
        EXPECT(result[i] == x - multiply(x, multiply(x, x)) / 6);
    }
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(root));
    CHECK(clReleaseKernel(sine));
    CHECK(clReleaseProgram(linked[0]));
    CHECK(clReleaseProgram(whole));
    host_close(&host);
    puts("compile_link: right");
    return 0;
}
