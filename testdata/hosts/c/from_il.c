/* A program from IL: SPIR-V from a file, with and without a value for its specialisation constant.
 *
 * Kernels (from_il.spvasm): gcd_table, 3 launches: 2 of the program as it is, 1 of that whose constant is set.
 * Special: no source anywhere; two programs of the same words that differ only by clSetProgramSpecializationConstant. */

#include "host.h"

enum { ROWS = 24, COLUMNS = 36 };

static unsigned gcd(unsigned a, unsigned b) { return b ? gcd(b, a % b) : a; }

static void table(const struct host *host, cl_kernel kernel, cl_mem out, cl_uint first, const size_t *local)
{
    cl_uint columns = COLUMNS, result[ROWS][COLUMNS];
    size_t global[] = {ROWS, COLUMNS};
    ARG(kernel, 0, out);
    ARG(kernel, 1, columns);
    CHECK(clEnqueueNDRangeKernel(host->queue, kernel, 2, NULL, global, local, 0, NULL, NULL));
    host_read(host, out, sizeof result, result);
    for (cl_uint r = 0; r < ROWS; r++)
        for (cl_uint c = 0; c < COLUMNS; c++) EXPECT(result[r][c] == gcd(r + first, c + first));
}

int main(void)
{
    struct host host = host_open(0);
    char versions[512] = "";
    if (clGetDeviceInfo(host.device, CL_DEVICE_IL_VERSION, sizeof versions, versions, NULL) != CL_SUCCESS ||
        !strstr(versions, "SPIR-V"))
        skip("the device takes no SPIR-V");
    size_t size, local[] = {8, 4};
    char *words = host_file("from_il.spv", &size);
    cl_mem out = host_buffer(&host, CL_MEM_WRITE_ONLY, ROWS * COLUMNS * sizeof(cl_uint), NULL);
    cl_int error;
    for (int set = 0; set < 2; set++) {
        cl_program program;
        cl_uint first = 1;
        CREATE(program, clCreateProgramWithIL(host.context, words, size, &error));
        if (set) {
            first = 5;
            if (clSetProgramSpecializationConstant(program, 7, sizeof first, &first) != CL_SUCCESS)
                skip("the driver sets no specialisation constants");
        }
        error = clBuildProgram(program, 1, &host.device, NULL, NULL, NULL);
        if (error != CL_SUCCESS) print_log(program, host.device);
        CHECK(error);
        cl_kernel kernel = host_kernel(program, "gcd_table");
        table(&host, kernel, out, first, local);
        if (!set) table(&host, kernel, out, first, NULL);
        CHECK(clReleaseKernel(kernel));
        CHECK(clReleaseProgram(program));
    }
    CHECK(clReleaseMemObject(out));
    host_close(&host);
    free(words);
    puts("from_il: right");
    return 0;
}
