/* An OpenCL host program that launches a kernel which `kassay lower` wove probes, mutants or guards into, and writes the
 * probe buffer to a file. It uses nothing of kassay: only the OpenCL loader, libOpenCL.so.1.
 *
 *     cc -o host host.c -ldl
 *     ./host MODULE KERNEL RANGE[,RANGE...] PREFIX ARGUMENT...
 *
 * MODULE is the SPIR-V, KERNEL its kernel. Each RANGE is a launch, such as 64/16 (64 work-items in groups of 16), 8x8/4x4,
 * or 64 (the runtime chooses the groups). ARGUMENTs are those of the kernel, in order: `int=5`, `uint=5`, `float=0.5`,
 * `ints=START,STEP,COUNT` and `floats=START,STEP,COUNT` (buffers), `local=BYTES`. The probe buffer of the n-th launch,
 * from 0, is written to PREFIX.n.bin, and a hash of each buffer that the kernel leaves is printed. A kernel without a probe
 * buffer is launched as it is.
 *
 * Environment: PROBE_WORDS is the length of the probe buffer for coverage. MUTANT says that the module has mutants or
 * guards, and which mutant is active (0: none); FUEL how many loop iterations a work-item may make. BUILD_OPTIONS goes to
 * clBuildProgram.
 *
 * MUTANTS, the number of mutants in the module, runs the launches, which are then a test named PREFIX, under each of them,
 * and writes a file of outcomes, PREFIX.outcomes. REACH names the reach module, so that only mutants are run that the test
 * can tell from the original; REPEATS says how often each is run.
 *
 * The parts marked with "probe:" are all that kassay adds to a host program. */

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What this program needs of CL/cl.h. */
typedef void *handle;
typedef int32_t cl_int;
typedef uint32_t cl_uint;
enum { CL_SUCCESS = 0, CL_MEM_READ_WRITE = 1, CL_MEM_COPY_HOST_PTR = 32, CL_TRUE = 1 };
enum { CL_DEVICE_IL_VERSION = 0x105B, CL_PROGRAM_BUILD_LOG = 0x1183, CL_KERNEL_NUM_ARGS = 0x1191 };
#define CL_DEVICE_TYPE_ALL 0xFFFFFFFFull

/* Functions of the loader, by name. */
#define FUNCTIONS(f)                                                                                                   \
    f(clGetPlatformIDs, cl_int, (cl_uint, handle *, cl_uint *))                                                        \
    f(clGetDeviceIDs, cl_int, (handle, uint64_t, cl_uint, handle *, cl_uint *))                                        \
    f(clGetDeviceInfo, cl_int, (handle, cl_uint, size_t, void *, size_t *))                                            \
    f(clCreateContext, handle, (const intptr_t *, cl_uint, const handle *, void *, void *, cl_int *))                  \
    f(clCreateCommandQueue, handle, (handle, handle, uint64_t, cl_int *))                                              \
    f(clCreateProgramWithIL, handle, (handle, const void *, size_t, cl_int *))                                         \
    f(clBuildProgram, cl_int, (handle, cl_uint, const handle *, const char *, void *, void *))                         \
    f(clGetProgramBuildInfo, cl_int, (handle, handle, cl_uint, size_t, void *, size_t *))                              \
    f(clCreateKernel, handle, (handle, const char *, cl_int *))                                                        \
    f(clGetKernelInfo, cl_int, (handle, cl_uint, size_t, void *, size_t *))                                            \
    f(clCreateBuffer, handle, (handle, uint64_t, size_t, void *, cl_int *))                                            \
    f(clSetKernelArg, cl_int, (handle, cl_uint, size_t, const void *))                                                 \
    f(clEnqueueNDRangeKernel, cl_int,                                                                                  \
      (handle, handle, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint, const handle *, handle *))    \
    f(clEnqueueReadBuffer, cl_int,                                                                                     \
      (handle, handle, cl_uint, size_t, size_t, void *, cl_uint, const handle *, handle *))                            \
    f(clReleaseMemObject, cl_int, (handle))
#define DECLARE(name, result, parameters) static result(*name) parameters;
#define LOAD(name, result, parameters) *(void **)&name = need(dlsym(loader, #name), #name);
FUNCTIONS(DECLARE)

static void *need(void *pointer, const char *what) {
    if (!pointer) {
        fprintf(stderr, "host: no %s\n", what);
        exit(3);
    }
    return pointer;
}

static void check(cl_int code, const char *what) {
    if (code != CL_SUCCESS) {
        fprintf(stderr, "host: %s fails with %d\n", what, code);
        exit(3);
    }
}

/* A kernel's argument: its bytes for clSetKernelArg, or the contents of its buffer. */
struct argument {
    enum { VALUE, BUFFER, LOCAL } kind;
    size_t size;
    unsigned char *bytes;
    handle buffer;
};

static struct argument argument(const char *text) {
    struct argument a = {VALUE, 4, need(malloc(4), "memory"), NULL};
    float start, step;
    unsigned long count;
    if (sscanf(text, "float=%f", (float *)a.bytes) == 1 || sscanf(text, "int=%d", (int *)a.bytes) == 1 ||
        sscanf(text, "uint=%u", (unsigned *)a.bytes) == 1) {
        return a;
    }
    int floats = strncmp(text, "floats=", 7) == 0;
    if (sscanf(text, floats ? "floats=%f,%f,%lu" : "ints=%f,%f,%lu", &start, &step, &count) == 3 && count > 0) {
        a.kind = BUFFER;
        a.size = 4 * count;
        a.bytes = need(realloc(a.bytes, a.size), "memory");
        for (unsigned long i = 0; i < count; ++i) {
            if (floats) {
                ((float *)a.bytes)[i] = start + step * (float)i;
            } else {
                ((int *)a.bytes)[i] = (int)start + (int)step * (int)i;
            }
        }
        return a;
    }
    if (sscanf(text, "local=%lu", &count) == 1) {
        a.kind = LOCAL;
        a.size = count;
        return a;
    }
    fprintf(stderr, "host: what is the argument %s?\n", text);
    exit(2);
}

/* The first device that takes SPIR-V. */
static handle device(void) {
    handle platforms[16], devices[16];
    cl_uint platform_count = 0, count = 0;
    check(clGetPlatformIDs(16, platforms, &platform_count), "clGetPlatformIDs");
    for (cl_uint p = 0; p < platform_count && p < 16; ++p) {
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &count) != CL_SUCCESS) {
            continue;
        }
        for (cl_uint d = 0; d < count && d < 16; ++d) {
            char versions[256] = "";
            if (clGetDeviceInfo(devices[d], CL_DEVICE_IL_VERSION, sizeof versions, versions, NULL) == CL_SUCCESS &&
                strstr(versions, "SPIR-V")) {
                return devices[d];
            }
        }
    }
    return need(NULL, "device that takes SPIR-V");
}

/* Reads a range such as 8x8/4x4. Returns the number of dimensions; `local[0]` is 0 if it is left open. */
static cl_uint range(const char *text, size_t global[3], size_t local[3]) {
    cl_uint dimensions = 0;
    local[0] = 0;
    for (size_t *sizes = global; *text; sizes = local) {
        dimensions = 0;
        do {
            sizes[dimensions++] = strtoul(text + (*text == 'x' || *text == '/'), (char **)&text, 10);
        } while (*text == 'x' && dimensions < 3);
        if (*text && (*text != '/' || sizes == local)) {
            fprintf(stderr, "host: what is the range ...%s?\n", text);
            exit(2);
        }
    }
    return dimensions;
}

/* FNV-1a, to compare the outputs of runs. */
static uint64_t hash(const unsigned char *bytes, size_t size) {
    uint64_t value = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; ++i) {
        value = (value ^ bytes[i]) * 0x100000001b3;
    }
    return value;
}

/* The first device that takes SPIR-V, with a queue. */
struct session {
    handle device, context, queue;
};

/* Loads the module of a file and returns its kernel. The hash of the file's bytes goes to `id`. */
static handle load(const struct session *session, const char *path, const char *name, uint64_t *id) {
    FILE *file = need(fopen(path, "rb"), path);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    void *module = need(malloc(size), "memory");
    if (fread(module, 1, size, file) != size) {
        need(NULL, path);
    }
    fclose(file);
    *id = hash(module, size);
    cl_int code;
    handle program = clCreateProgramWithIL(session->context, module, size, &code);
    check(code, "clCreateProgramWithIL");
    free(module);
    const char *options = getenv("BUILD_OPTIONS");
    if ((code = clBuildProgram(program, 1, &session->device, options ? options : "", NULL, NULL)) != CL_SUCCESS) {
        static char log[1 << 16];
        clGetProgramBuildInfo(program, session->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fprintf(stderr, "%s\n", log);
    }
    check(code, "clBuildProgram");
    handle kernel = clCreateKernel(program, name, &code);
    check(code, "clCreateKernel");
    return kernel;
}

/* A test: launches of a kernel with the same arguments. */
struct test {
    const char *ranges, *prefix;
    struct argument *arguments;
    cl_uint count;
};

/* What the launches of a test left: all buffers, as a hash; the first fault; the most iterations of loops. */
struct run {
    uint64_t outputs;
    uint32_t fault, fuel;
};

/* Runs a test. `probe` is the probe buffer before each launch, of `length` words; the words that the launches leave are
 * OR-ed to `left`, unless it is null. With `loud`, they are written to files, and hashes of the buffers are printed. */
static struct run run(const struct session *session, handle kernel, const struct test *test, const uint32_t *probe,
                      size_t length, uint32_t *left, int loud) {
    struct run result = {0xcbf29ce484222325, 0, 0};
    uint32_t *words = need(calloc(length + 1, 4), "memory");
    char *ranges = need(strdup(test->ranges), "memory");
    cl_uint count = test->count;
    cl_int code;
    int launch = 0;
    for (char *text = strtok(ranges, ","); text; text = strtok(NULL, ","), ++launch) {
        size_t global[3], local[3];
        cl_uint dimensions = range(text, global, local);
        for (cl_uint i = 0; i < count; ++i) {
            struct argument *a = &test->arguments[i];
            if (a->kind == BUFFER) {
                a->buffer =
                    clCreateBuffer(session->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, a->size, a->bytes, &code);
                check(code, "clCreateBuffer");
            }
            const void *value = a->kind == BUFFER ? (void *)&a->buffer : a->kind == VALUE ? a->bytes : NULL;
            check(clSetKernelArg(kernel, i, a->kind == BUFFER ? sizeof(handle) : a->size, value), "clSetKernelArg");
        }

        /* probe: the last argument. */
        handle buffer = NULL;
        if (length) {
            memcpy(words, probe, 4 * length);
            buffer = clCreateBuffer(session->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 4 * length, words, &code);
            check(code, "clCreateBuffer");
            check(clSetKernelArg(kernel, count, sizeof(handle), &buffer), "clSetKernelArg");
        }

        check(clEnqueueNDRangeKernel(session->queue, kernel, dimensions, NULL, global, local[0] ? local : NULL, 0, NULL,
                                     NULL),
              "clEnqueueNDRangeKernel");

        /* probe: read it back. */
        if (length) {
            check(clEnqueueReadBuffer(session->queue, buffer, CL_TRUE, 0, 4 * length, words, 0, NULL, NULL),
                  "clEnqueueReadBuffer");
            clReleaseMemObject(buffer);
        }
        for (size_t i = 0; left && i < length; ++i) {
            left[i] |= words[i];
        }
        uint32_t fault = length > 16 + 4 * count + 4 ? words[16 + 4 * count + 2] : 0;
        uint32_t fuel = length > 16 + 4 * count + 4 ? words[16 + 4 * count + 4] : 0;
        result.fault = result.fault ? result.fault : fault;
        result.fuel = result.fuel > fuel ? result.fuel : fuel;
        if (loud && length) {
            char path[4096];
            snprintf(path, sizeof path, "%s.%d.bin", test->prefix, launch);
            FILE *file = need(fopen(path, "wb"), path);
            if (fwrite(words, 4, length, file) != length || fclose(file) != 0) {
                need(NULL, "room for the probe file");
            }
            if (fault && getenv("MUTANT")) {
                printf("launch %d fault kind %u place %u\n", launch, fault & 0xff, fault >> 8);
            }
        }

        for (cl_uint i = 0; i < count; ++i) {
            struct argument *a = &test->arguments[i];
            if (a->kind == BUFFER) {
                unsigned char *bytes = need(malloc(a->size), "memory");
                check(clEnqueueReadBuffer(session->queue, a->buffer, CL_TRUE, 0, a->size, bytes, 0, NULL, NULL),
                      "clEnqueueReadBuffer");
                uint64_t outputs = hash(bytes, a->size);
                result.outputs = (result.outputs ^ outputs) * 0x100000001b3;
                if (loud) {
                    printf("launch %d argument %u %016llx\n", launch, i, (unsigned long long)outputs);
                }
                clReleaseMemObject(a->buffer);
                free(bytes);
            }
        }
    }
    free(words);
    free(ranges);
    return result;
}

/* probe: the buffer for mutants and guards, of 16 + 4 * count + 8 words. */
static void select_mutant(const struct test *test, uint32_t *probe, uint32_t mutant, uint32_t fuel) {
    memset(probe, 0, 4 * (16 + 4 * test->count + 8));
    probe[0] = fuel;
    for (cl_uint i = 0; i < test->count; ++i) {
        if (test->arguments[i].kind != VALUE) {
            probe[16 + 4 * i] = (uint32_t)test->arguments[i].size;
            probe[16 + 4 * i + 1] = (uint32_t)((uint64_t)test->arguments[i].size >> 32);
        }
    }
    probe[16 + 4 * test->count] = mutant;
}

/* probe: runs a test under all mutants and writes a file of outcomes. */
static void run_mutants(const struct session *session, const char *path, const char *name, const struct test *test,
                        uint32_t mutants) {
    char outcomes[4096];
    snprintf(outcomes, sizeof outcomes, "%s.outcomes", test->prefix);
    FILE *file = need(fopen(outcomes, "w"), outcomes);
    fprintf(file, "kassay-outcomes 1\n");
    uint64_t id;

    /* Which mutants does the test reach? */
    uint32_t words = 16 + (mutants + 15) / 16, *none = need(calloc(words, 4), "memory"), *reached = NULL;
    if (getenv("REACH")) {
        handle kernel = load(session, getenv("REACH"), name, &id);
        reached = need(calloc(words, 4), "memory");
        run(session, kernel, test, none, words, reached, 0);
        fprintf(file, "module %016llx\nreach ", (unsigned long long)id);
        for (uint32_t i = 16; i < words; ++i) {
            fprintf(file, "%08x", reached[i]);
        }
        fprintf(file, " %s\n", test->prefix);
    }

    handle kernel = load(session, path, name, &id);
    fprintf(file, "module %016llx\n", (unsigned long long)id);
    size_t length = 16 + 4 * test->count + 8;
    uint32_t *probe = need(calloc(length, 4), "memory");
    select_mutant(test, probe, 0, 2147483647);
    struct run reference = run(session, kernel, test, probe, length, NULL, 0);
    uint64_t limit = 10 * (uint64_t)reference.fuel + 1000;
    int repeats = getenv("REPEATS") ? atoi(getenv("REPEATS")) : 1;
    for (uint32_t mutant = 0; mutant <= mutants; ++mutant) {
        /* The second of a mutant's two bits says whether it has to run. */
        if (mutant && reached && !(reached[16 + (mutant - 1) / 16] >> ((mutant - 1) % 16 * 2) & 2)) {
            continue;
        }
        for (int i = 0; i < repeats; ++i) {
            select_mutant(test, probe, mutant, mutant == 0 || limit > 2147483647 ? 2147483647 : (uint32_t)limit);
            struct run ran = run(session, kernel, test, probe, length, NULL, 0);
            const char *outputs = ran.outputs == reference.outputs ? "same" : "different";
            fprintf(file, "%u %s %u %s\n", mutant, outputs, ran.fault, test->prefix);
        }
    }
    if (fclose(file) != 0) {
        need(NULL, "room for the outcomes");
    }
    free(probe);
    free(none);
    free(reached);
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fprintf(stderr, "usage: host MODULE KERNEL RANGE[,RANGE...] PREFIX ARGUMENT...\n");
        return 2;
    }
    void *loader = need(dlopen("libOpenCL.so.1", RTLD_NOW), "libOpenCL.so.1");
    FUNCTIONS(LOAD)

    cl_int code;
    struct session session = {device(), NULL, NULL};
    session.context = clCreateContext(NULL, 1, &session.device, NULL, NULL, &code);
    check(code, "clCreateContext");
    session.queue = clCreateCommandQueue(session.context, session.device, 0, &code);
    check(code, "clCreateCommandQueue");
    struct test test = {argv[3], argv[4], NULL, (cl_uint)argc - 5};
    test.arguments = need(calloc(test.count + 1, sizeof *test.arguments), "memory");
    for (cl_uint i = 0; i < test.count; ++i) {
        test.arguments[i] = argument(argv[5 + i]);
    }
    if (getenv("MUTANTS")) {
        run_mutants(&session, argv[1], argv[2], &test, (uint32_t)strtoul(getenv("MUTANTS"), NULL, 10));
        return 0;
    }

    uint64_t id;
    handle kernel = load(&session, argv[1], argv[2], &id);
    cl_uint parameters;
    check(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof parameters, &parameters, NULL), "clGetKernelInfo");
    if (parameters == test.count) {
        /* A kernel as it is. */
        run(&session, kernel, &test, NULL, 0, NULL, 1);
        return 0;
    }
    if (parameters != test.count + 1) {
        fprintf(stderr, "host: %s takes %u arguments and the probe buffer, not %u\n", argv[2], parameters - 1, test.count);
        return 2;
    }

    /* probe: for coverage, any length does; for mutants and guards, it is fixed. */
    const char *mutant = getenv("MUTANT"), *fuel = getenv("FUEL"), *words = getenv("PROBE_WORDS");
    size_t length = mutant ? 16 + 4 * test.count + 8 : words ? strtoul(words, NULL, 10) : 4096;
    uint32_t *probe = need(calloc(length, 4), "memory");
    if (mutant) {
        uint32_t limit = fuel ? (uint32_t)strtoul(fuel, NULL, 10) : 1000000;
        select_mutant(&test, probe, (uint32_t)strtoul(mutant, NULL, 10), limit);
    } else {
        probe[7] = (uint32_t)length;
    }
    run(&session, kernel, &test, probe, length, NULL, 1);
    return 0;
}
