/* Sub-devices: the device is split into parts of one compute unit, each with its queue in one context.
 *
 * Kernels: primes, 4 launches, dealt out to the parts in turn.
 * Special: the program is built for the parts, not for the root device. A device that cannot be split is used as one part. */

#include "host.h"

enum { COUNT = 1000, LAUNCHES = 4, MOST = 64 };

static const char *source =
    "kernel void primes(uint first, global uchar *is_prime) {\n"
    "    uint i = get_global_id(0), n = first + i, d = 2;\n"
    "    while (d * d <= n && n % d != 0) d++;\n"
    "    is_prime[i] = n > 1 && d * d > n;\n"
    "}\n";

int main(void)
{
    cl_platform_id platform;
    cl_device_id root = host_device(CL_DEVICE_TYPE_ALL, &platform), parts[MOST] = {root};
    cl_uint count = 0;
    cl_int error;
    cl_device_partition_property by[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    int split = clCreateSubDevices(root, by, 0, NULL, &count) == CL_SUCCESS && count > 1 && count <= MOST;
    if (split) CHECK(clCreateSubDevices(root, by, count, parts, NULL));
    else count = 1;

    struct host host = {.platform = platform};
    CREATE(host.context, clCreateContext(NULL, count, parts, NULL, NULL, &error));
    cl_program program;
    CREATE(program, clCreateProgramWithSource(host.context, 1, &source, NULL, &error));
    CHECK(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    cl_kernel primes = host_kernel(program, "primes");
    cl_command_queue queues[MOST];
    for (cl_uint p = 0; p < count; p++)
        CREATE(queues[p], clCreateCommandQueueWithProperties(host.context, parts[p], NULL, &error));
    cl_mem out = host_buffer(&host, CL_MEM_WRITE_ONLY, COUNT, NULL);
    cl_uchar sieve[LAUNCHES * COUNT], result[COUNT];
    memset(sieve, 1, sizeof sieve);
    sieve[0] = sieve[1] = 0;
    for (size_t n = 2; n < sizeof sieve; n++)
        for (size_t m = n * n; m < sizeof sieve; m += n) sieve[m] = 0;
    for (cl_uint n = 0; n < LAUNCHES; n++) {
        host.queue = queues[n % count];
        cl_uint first = n * COUNT;
        ARG(primes, 0, first);
        ARG(primes, 1, out);
        host_launch(&host, primes, COUNT, 0);
        host_read(&host, out, sizeof result, result);
        EXPECT(memcmp(result, sieve + first, sizeof result) == 0);
    }
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(primes));
    CHECK(clReleaseProgram(program));
    for (cl_uint p = 0; p < count; p++) CHECK(clReleaseCommandQueue(queues[p]));
    CHECK(clReleaseContext(host.context));
    for (cl_uint p = 0; split && p < count; p++) CHECK(clReleaseDevice(parts[p]));
    puts("sub_devices: right");
    return 0;
}
