/* A result whose order is open: an atomic counter hands out the places in each bucket.
 *
 * Kernels: scatter, 3 launches.
 * Special: which number is where in a bucket depends on the order in which work-items run, so two runs differ, and a tool
 * that compares outputs word by word with a second run finds differences that are no fault. There is no race in it: all
 * that work-items share is atomic. The program sorts each bucket before it compares. */

#include "host.h"

enum { COUNT = 4096, BUCKETS = 8, ROOM = 1024, LAUNCHES = 3 };

static const char *source =
    "kernel void scatter(global const uint *in, global uint *filled, global uint *buckets, uint room) {\n"
    "    uint value = in[get_global_id(0)], bucket = value % 8;\n"
    "    uint place = atomic_inc(&filled[bucket]);\n"
    "    if (place < room) buckets[bucket * room + place] = value;\n"
    "}\n";

static int ascending(const void *a, const void *b)
{
    cl_uint x = *(const cl_uint *)a, y = *(const cl_uint *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel scatter = host_kernel(program, "scatter");
    static cl_uint numbers[COUNT], buckets[BUCKETS][ROOM], expected[BUCKETS][ROOM];
    cl_uint filled[BUCKETS], zeros[BUCKETS] = {0}, room = ROOM;
    cl_mem in = host_buffer(&host, CL_MEM_READ_ONLY, sizeof numbers, numbers);
    cl_mem counts = host_buffer(&host, CL_MEM_READ_WRITE, sizeof filled, zeros);
    cl_mem out = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof buckets, NULL);
    ARG(scatter, 0, in);
    ARG(scatter, 1, counts);
    ARG(scatter, 2, out);
    ARG(scatter, 3, room);
    unsigned state = 2;
    for (int n = 0; n < LAUNCHES; n++) {
        cl_uint count[BUCKETS] = {0};
        for (int i = 0; i < COUNT; i++) {
            cl_uint value = numbers[i] = next_random(&state);
            expected[value % BUCKETS][count[value % BUCKETS]++] = value;
        }
        CHECK(clEnqueueWriteBuffer(host.queue, in, CL_FALSE, 0, sizeof numbers, numbers, 0, NULL, NULL));
        CHECK(clEnqueueFillBuffer(host.queue, counts, zeros, sizeof *zeros, 0, sizeof filled, 0, NULL, NULL));
        host_launch(&host, scatter, COUNT, 64);
        host_read(&host, counts, sizeof filled, filled);
        host_read(&host, out, sizeof buckets, buckets);
        for (int b = 0; b < BUCKETS; b++) {
            EXPECT(filled[b] == count[b] && count[b] <= ROOM);
            qsort(buckets[b], count[b], sizeof(cl_uint), ascending);
            qsort(expected[b], count[b], sizeof(cl_uint), ascending);
            EXPECT(memcmp(buckets[b], expected[b], count[b] * sizeof(cl_uint)) == 0);
        }
    }
    CHECK(clReleaseMemObject(in));
    CHECK(clReleaseMemObject(counts));
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(scatter));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("buckets: right");
    return 0;
}
