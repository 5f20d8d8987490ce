/* A program from a binary. Without an argument, the binary is taken from a program that was built just before and thrown
 * away. With the name of a file, it is kept there: the first run builds from source, the next ones have the binary only, as
 * with the caches of pyopencl or hashcat. The file's name is relative to XDG_CACHE_HOME, if that is set.
 *
 * Kernels: mix_hash, 2 launches: from a binary, or in the first run with a file, from source.
 * Special: in a run from the file no source is ever seen. Of a program from a binary the driver does not tell that `salt` is in
 * constant memory, so that the kernel cannot write to it. A binary that the driver refuses is made anew. */

#include "host.h"

enum { COUNT = 1024 };

static const char *source =
    "uint turn(uint x, uint by) { return x << by | x >> (32 - by); }\n"
    "kernel void mix_hash(global const uint *in, global uint *out, uint rounds, constant uint *salt) {\n"
    "    uint i = get_global_id(0), h = in[i];\n"
    "    for (uint r = 0; r < rounds; r++) {\n"
    "        h ^= turn(h, 13) + salt[r & 3];\n"
    "        if (h & 1) h *= 0x9E3779B1u;\n"
    "    }\n"
    "    out[i] = h;\n"
    "}\n";

static unsigned char *binary_of(cl_program program, size_t *size)
{
    unsigned char *binary;
    CHECK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL));
    EXPECT(*size > 0);
    binary = malloc(*size);
    EXPECT(binary);
    CHECK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    return binary;
}

/* Returns null if the driver refuses the binary. */
static cl_program from_binary(const struct host *host, const unsigned char *binary, size_t size)
{
    cl_int status, error;
    cl_program program = clCreateProgramWithBinary(host->context, 1, &host->device, &size, &binary, &status, &error);
    if (error != CL_SUCCESS || status != CL_SUCCESS) return NULL;
    return clBuildProgram(program, 1, &host->device, "", NULL, NULL) == CL_SUCCESS ? program : NULL;
}

static cl_program cached(const struct host *host, const char *name)
{
    char path[4096];
    const char *home = getenv("XDG_CACHE_HOME");
    if (home && *home) snprintf(path, sizeof path, "%s/%s", home, name);
    else snprintf(path, sizeof path, "%s", name);

    size_t size;
    FILE *file = fopen(path, "rb");
    if (file) {
        fclose(file);
        unsigned char *binary = (unsigned char *)host_file(path, &size);
        cl_program program = from_binary(host, binary, size);
        free(binary);
        if (program) {
            puts("from_binary: from the cache");
            return program;
        }
    }
    cl_program program = host_program(host, source, "");
    unsigned char *binary = binary_of(program, &size);
    file = fopen(path, "wb");
    if (!file || fwrite(binary, 1, size, file) != size || fclose(file) != 0) fail("cannot write %s", path);
    free(binary);
    puts("from_binary: from source");
    return program;
}

static cl_program fresh(const struct host *host)
{
    size_t size;
    cl_program built = host_program(host, source, "");
    unsigned char *binary = binary_of(built, &size);
    CHECK(clReleaseProgram(built));
    cl_program program = from_binary(host, binary, size);
    EXPECT(program);
    free(binary);
    return program;
}

int main(int count, char **arguments)
{
    struct host host = host_open(0);
    cl_program program = count > 1 ? cached(&host, arguments[1]) : fresh(&host);
    cl_kernel mix = host_kernel(program, "mix_hash");
    cl_uint words[COUNT], result[COUNT];
    const cl_uint salt[4] = {3, 1, 4, 159};
    for (cl_uint i = 0; i < COUNT; i++) words[i] = i * i + 7;
    cl_mem in = host_buffer(&host, CL_MEM_READ_ONLY, sizeof words, words);
    cl_mem out = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof words, NULL);
    cl_mem salts = host_buffer(&host, CL_MEM_COPY_HOST_PTR, sizeof salt, salt);
    ARG(mix, 0, in);
    ARG(mix, 1, out);
    ARG(mix, 3, salts);
    for (cl_uint rounds = 4; rounds <= 9; rounds += 5) {
        ARG(mix, 2, rounds);
        host_launch(&host, mix, COUNT, 64);
        host_read(&host, out, sizeof result, result);
        for (int i = 0; i < COUNT; i++) {
            cl_uint h = words[i];
            for (cl_uint r = 0; r < rounds; r++) {
                h ^= (h << 13 | h >> 19) + salt[r & 3];
                if (h & 1) h *= 0x9E3779B1u;
            }
            EXPECT(result[i] == h);
        }
    }
    CHECK(clReleaseMemObject(in));
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseMemObject(salts));
    CHECK(clReleaseKernel(mix));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("from_binary: right");
    return 0;
}
