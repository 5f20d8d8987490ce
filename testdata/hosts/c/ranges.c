/* Launch ranges: of one, two and three dimensions, with global offsets, with the local size left to the driver, with sizes
 * that leave a smaller group at the end where the device allows it.
 *
 * Kernels: record, 7 launches; bounds, 2 launches.
 * Special: record writes what the work-item functions return, so a launch that a tool makes in another shape shows in the
 * output. Where the driver chooses the local size, only what does not depend on it is compared. */

#include "host.h"

enum { MOST = 4096 };

static const char *source =
    "kernel void record(global uint *seen, global uint *ids) {\n"
    "    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);\n"
    "    size_t z = get_global_id(2) - get_global_offset(2);\n"
    "    size_t at = (z * get_global_size(1) + y) * get_global_size(0) + x;\n"
    "    seen[at] += get_work_dim();\n"
    "    ids[at] = get_global_id(0) + 100 * get_global_id(1) + 10000 * get_global_id(2);\n"
    "}\n"
    "kernel void bounds(global uint *groups) {\n"
    "    if (get_local_id(0) == 0) groups[get_group_id(0)] = get_local_size(0);\n"
    "}\n";

struct range {
    cl_uint dimensions;
    size_t global[3], local[3], offset[3];
    int has_local, has_offset;
};

static const struct range ranges[] = {
    {1, {1000}, {0}, {0}, 0, 0},
    {1, {1000}, {8}, {0}, 1, 0},
    {1, {512}, {64}, {77}, 1, 1},
    {2, {30, 20}, {5, 4}, {0}, 1, 0},
    {2, {31, 17}, {0}, {3, 9}, 0, 1},
    {3, {8, 6, 4}, {4, 3, 2}, {1, 2, 3}, 1, 1},
    {3, {7, 5, 3}, {0}, {0, 0, 0}, 0, 1},
};

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, "-cl-std=CL2.0");
    cl_kernel record = host_kernel(program, "record"), bounds = host_kernel(program, "bounds");
    static cl_uint zeros[MOST], seen[MOST], ids[MOST], expected[MOST];
    cl_mem count = host_buffer(&host, CL_MEM_READ_WRITE, sizeof zeros, zeros);
    cl_mem last = host_buffer(&host, CL_MEM_READ_WRITE, sizeof zeros, zeros);
    ARG(record, 0, count);
    ARG(record, 1, last);
    for (size_t n = 0; n < sizeof ranges / sizeof *ranges; n++) {
        const struct range *r = &ranges[n];
        CHECK(clEnqueueNDRangeKernel(host.queue, record, r->dimensions, r->has_offset ? r->offset : NULL, r->global,
                                     r->has_local ? r->local : NULL, 0, NULL, NULL));
        host_read(&host, count, sizeof seen, seen);
        host_read(&host, last, sizeof ids, ids);
        size_t width = r->global[0], height = r->dimensions > 1 ? r->global[1] : 1, depth = r->dimensions > 2 ? r->global[2] : 1;
        for (size_t at = 0; at < width * height * depth; at++) {
            size_t x = at % width, y = at / width % height, z = at / width / height;
            expected[at] += r->dimensions;
            EXPECT(ids[at] == x + r->offset[0] + 100 * (y + r->offset[1]) + 10000 * (z + r->offset[2]));
        }
        EXPECT(memcmp(seen, expected, sizeof seen) == 0);
    }

    /* 100 = 3 groups of 30 and one of 10, since OpenCL 2.0; 3.0 lets devices refuse it again. */
    size_t global = 100, local = 30;
    CHECK(clEnqueueWriteBuffer(host.queue, count, CL_TRUE, 0, sizeof zeros, zeros, 0, NULL, NULL));
    ARG(bounds, 0, count);
    cl_int error = clEnqueueNDRangeKernel(host.queue, bounds, 1, NULL, &global, &local, 0, NULL, NULL);
    if (error == CL_INVALID_WORK_GROUP_SIZE) skip("the device wants groups that divide the range");
    CHECK(error);
    host_read(&host, count, sizeof seen, seen);
    EXPECT(seen[0] == 30 && seen[1] == 30 && seen[2] == 30 && seen[3] == 10 && seen[4] == 0);
    host_launch(&host, bounds, 90, 30);
    host_read(&host, count, sizeof seen, seen);
    EXPECT(seen[2] == 30 && seen[3] == 10);
    CHECK(clReleaseMemObject(count));
    CHECK(clReleaseMemObject(last));
    CHECK(clReleaseKernel(record));
    CHECK(clReleaseKernel(bounds));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("ranges: right");
    return 0;
}
