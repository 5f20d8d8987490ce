/* CL_MEM_USE_HOST_PTR: a sparse matrix and a vector in memory of the program, multiplied again and again.
 *
 * Kernels: spmv_rows, 6 launches.
 * Special: the host changes the vector between launches, properly between map and unmap, so that the only call that says so
 * is an unmap; the buffer of the matrix begins within a larger block; the result is read through a map, which must return
 * the program's own pointer. */

#include "host.h"

enum { ROWS = 256, PER_ROW = 5, LAUNCHES = 6 };

static const char *source =
    "kernel void spmv_rows(global const int *columns, global const int *values, global const int *x, global int *y, int per_row) {\n"
    "    int row = get_global_id(0), sum = 0;\n"
    "    for (int k = row * per_row; k < (row + 1) * per_row; k++)\n"
    "        if (columns[k] >= 0) sum += values[k] * x[columns[k]];\n"
    "    y[row] = sum;\n"
    "}\n";

static cl_mem around(const struct host *host, void *memory, size_t size)
{
    cl_int error;
    cl_mem created;
    CREATE(created, clCreateBuffer(host->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size, memory, &error));
    return created;
}

static void *map(const struct host *host, cl_mem buffer, cl_map_flags flags, size_t size, void *expected)
{
    cl_int error;
    void *at;
    CREATE(at, clEnqueueMapBuffer(host->queue, buffer, CL_TRUE, flags, 0, size, 0, NULL, NULL, &error));
    EXPECT(at == expected);
    return at;
}

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel spmv = host_kernel(program, "spmv_rows");
    enum { ENTRIES = ROWS * PER_ROW };
    cl_int *block = aligned_alloc(4096, (4 * ENTRIES) * sizeof *block);
    cl_int *x = aligned_alloc(4096, ROWS * sizeof *x), *y = aligned_alloc(4096, ROWS * sizeof *y);
    EXPECT(block && x && y);
    cl_int *columns = block + 1024, *values = columns + ENTRIES, per_row = PER_ROW;
    unsigned state = 21;
    for (int k = 0; k < ENTRIES; k++) {
        columns[k] = k % 7 == 3 ? -1 : (cl_int)(next_random(&state) % ROWS);
        values[k] = (cl_int)(next_random(&state) % 9) - 4;
    }
    for (int i = 0; i < ROWS; i++) x[i] = i % 4, y[i] = 0;
    cl_mem buffers[] = {around(&host, columns, ENTRIES * sizeof *columns), around(&host, values, ENTRIES * sizeof *values),
                        around(&host, x, ROWS * sizeof *x), around(&host, y, ROWS * sizeof *y)};
    for (cl_uint b = 0; b < 4; b++) ARG(spmv, b, buffers[b]);
    ARG(spmv, 4, per_row);
    for (int n = 0; n < LAUNCHES; n++) {
        host_launch(&host, spmv, ROWS, 32);
        cl_int *result = map(&host, buffers[3], CL_MAP_READ, ROWS * sizeof *y, y);
        cl_int *vector = map(&host, buffers[2], CL_MAP_READ | CL_MAP_WRITE, ROWS * sizeof *x, x);
        for (int row = 0; row < ROWS; row++) {
            cl_int sum = 0;
            for (int k = row * PER_ROW; k < (row + 1) * PER_ROW; k++)
                if (columns[k] >= 0) sum += values[k] * vector[columns[k]];
            EXPECT(result[row] == sum);
        }
        for (int row = 0; row < ROWS; row++) vector[row] = (result[row] + n) % 50;
        CHECK(clEnqueueUnmapMemObject(host.queue, buffers[2], vector, 0, NULL, NULL));
        CHECK(clEnqueueUnmapMemObject(host.queue, buffers[3], result, 0, NULL, NULL));
    }
    CHECK(clFinish(host.queue));
    for (int b = 0; b < 4; b++) CHECK(clReleaseMemObject(buffers[b]));
    CHECK(clReleaseKernel(spmv));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    free(block);
    free(x);
    free(y);
    puts("use_host_ptr: right");
    return 0;
}
