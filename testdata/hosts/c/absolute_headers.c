/* Headers that are named by absolute paths: a step of a sequence, whose header includes another one beside its own folder.
 *
 * Kernels (one text): step, 4 launches, 1 of each program. The programs name the header
 *   1. in the text,
 *   2. by -D STEPS=\"...\",
 *   3. by -D STEPS=<...>, as a file in the folder of -I,
 *   4. by a macro in the text.
 * Special: the program writes the headers itself, to a folder outside of its own, and removes them when it ends. */

#include "host.h"
#include <sys/stat.h>
#include <unistd.h>

enum { N = 64 };

static const char body[] = "kernel void step(global const int *x, global int *y) {\n"
                           "    int i = get_global_id(0);\n"
                           "    y[i] = step_of(x[i]);\n"
                           "}\n";
static char folder[] = "/tmp/absolute-headers-XXXXXX";

/* In one of two buffers, which take turns. */
static const char *at(const char *path)
{
    static char paths[2][256];
    static int turn;
    char *to = paths[turn = !turn];
    snprintf(to, sizeof paths[0], "%s/%s", folder, path);
    return to;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) fail("cannot write %s", path);
}

static void launch(const struct host *host, const char *include, const char *options)
{
    char source[1024];
    snprintf(source, sizeof source, "%s\n%s", include, body);
    cl_program program = host_program(host, source, options);
    cl_kernel kernel = host_kernel(program, "step");
    cl_int x[N], y[N];
    for (int i = 0; i < N; i++) x[i] = i;
    cl_mem in = host_buffer(host, CL_MEM_READ_ONLY, sizeof x, x), out = host_buffer(host, CL_MEM_WRITE_ONLY, sizeof y, NULL);
    ARG(kernel, 0, in);
    ARG(kernel, 1, out);
    host_launch(host, kernel, N, 0);
    host_read(host, out, sizeof y, y);
    for (int i = 0; i < N; i++) EXPECT(y[i] == (i % 2 ? 3 * i + 1 : i / 2));
    CHECK(clReleaseMemObject(in));
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
}

int main(void)
{
    struct host host = host_open(0);
    char include[512], options[512];
    if (!mkdtemp(folder)) fail("cannot make %s", folder);
    mkdir(at("steps"), 0777);
    mkdir(at("shared"), 0777);
    write_file(at("steps/collatz.h"), "#include \"../shared/odd.h\"\n"
                                      "static inline int step_of(int n) { return is_odd(n) ? 3 * n + 1 : n / 2; }\n");
    write_file(at("shared/odd.h"), "static inline int is_odd(int n) { return n & 1; }\n");
    snprintf(include, sizeof include, "#include \"%s\"", at("steps/../steps/collatz.h"));
    launch(&host, include, "");
    snprintf(options, sizeof options, "-D STEPS=\\\"%s\\\"", at("steps/collatz.h"));
    launch(&host, "#include STEPS", options);
    snprintf(options, sizeof options, "-D STEPS=<%s> -I %s", at("steps/collatz.h"), at("."));
    launch(&host, "#include STEPS", options);
    snprintf(include, sizeof include, "#define STEPS \"%s\"\n#include STEPS", at("steps/collatz.h"));
    launch(&host, include, "");
    unlink(at("steps/collatz.h"));
    unlink(at("shared/odd.h"));
    rmdir(at("steps"));
    rmdir(at("shared"));
    rmdir(folder);
    host_close(&host);
    puts("absolute_headers: right");
    return 0;
}
