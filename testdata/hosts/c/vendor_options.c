/* Build options: those of vendors, those of the standard, and macros that need care.
 *
 * Kernels: norms, 5 launches, one for each set of options.
 * Special: options of another vendor, which the driver may refuse (then the program builds without them, as programs do);
 * -cl-fast-relaxed-math and its kin; -w and -Werror; macros with values that contain quotes, parentheses and blanks; a
 * program with no options, one with an empty text, one with blanks only. */

#include "host.h"

enum { COUNT = 256 };

static const char *source =
    "#ifndef SCALE\n"
    "#define SCALE 1.0f\n"
    "#endif\n"
    "#ifndef LIMIT\n"
    "#define LIMIT(x) x\n"
    "#endif\n"
    "kernel void norms(global const float4 *v, global float *out) {\n"
    "    int i = get_global_id(0);\n"
    "    out[i] = LIMIT(SCALE * sqrt(dot(v[i], v[i])));\n"
    "}\n";

struct options {
    const char *text;
    int vendors; /* may be refused */
    float scale, limit;
};

static const struct options sets[] = {
    {NULL, 0, 1, 1e9f},
    {"-cl-fast-relaxed-math -cl-mad-enable -cl-no-signed-zeros -cl-denorms-are-zero -w", 0, 1, 1e9f},
    {"  -D SCALE=(1.0f+1.0f) -D\"LIMIT(x)=min((x), 20.0f)\" -cl-std=CL1.2 -Werror ", 0, 2, 20},
    {"-cl-nv-verbose -cl-nv-maxrregcount=32 -DSCALE=3.0f", 1, 3, 1e9f},
    {"-cl-intel-greater-than-4GB-buffer-required -DSCALE=0.5f -cl-finite-math-only", 1, 0.5f, 1e9f},
};

int main(void)
{
    struct host host = host_open(0);
    cl_float4 vectors[COUNT];
    cl_float result[COUNT];
    for (int i = 0; i < COUNT; i++) vectors[i] = (cl_float4){{(float)i, (float)(2 * i), (float)(2 * i), 0}};
    cl_mem in = host_buffer(&host, CL_MEM_READ_ONLY, sizeof vectors, vectors);
    cl_mem out = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof result, NULL);
    for (size_t n = 0; n < sizeof sets / sizeof *sets; n++) {
        cl_int error;
        cl_program program;
        CREATE(program, clCreateProgramWithSource(host.context, 1, &source, NULL, &error));
        error = clBuildProgram(program, 1, &host.device, sets[n].text, NULL, NULL);
        if (error != CL_SUCCESS && sets[n].vendors) {
            /* The driver does not know them: without them, but with the macro. */
            char macro[64];
            const char *from = strstr(sets[n].text, "-DSCALE");
            snprintf(macro, sizeof macro, "%.*s", (int)strcspn(from, " "), from);
            CHECK(clReleaseProgram(program));
            CREATE(program, clCreateProgramWithSource(host.context, 1, &source, NULL, &error));
            error = clBuildProgram(program, 1, &host.device, macro, NULL, NULL);
            printf("vendor_options: refused: %s\n", sets[n].text);
        }
        if (error != CL_SUCCESS) print_log(program, host.device);
        CHECK(error);
        cl_kernel norms = host_kernel(program, "norms");
        ARG(norms, 0, in);
        ARG(norms, 1, out);
        host_launch(&host, norms, COUNT, 0);
        host_read(&host, out, sizeof result, result);
        for (int i = 0; i < COUNT; i++) {
            float expected = sets[n].scale * 3 * (float)i, off;
            if (expected > sets[n].limit) expected = sets[n].limit;
            off = result[i] > expected ? result[i] - expected : expected - result[i];
            EXPECT(off <= expected * 1e-4f);
        }
        CHECK(clReleaseKernel(norms));
        CHECK(clReleaseProgram(program));
    }
    CHECK(clReleaseMemObject(in));
    CHECK(clReleaseMemObject(out));
    host_close(&host);
    puts("vendor_options: right");
    return 0;
}
