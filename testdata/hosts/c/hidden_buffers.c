/* Buffers that the host may not read or write: Horner's scheme with state that lives on the device only.
 *
 * Kernels: load, 1 launch; horner, 5 launches; store, 1 launch.
 * Special: CL_MEM_HOST_NO_ACCESS (state), CL_MEM_HOST_WRITE_ONLY (points), CL_MEM_HOST_READ_ONLY (result): a tool that reads a
 * buffer with clEnqueueReadBuffer gets an error. The state is written before it is read, but never by the host. */

#include "host.h"

enum { COUNT = 512, DEGREE = 5 };

static const char *source =
    "kernel void load(global uint *state, uint first) { state[get_global_id(0)] = first; }\n"
    "kernel void horner(global const uint *points, global uint *state, uint coefficient) {\n"
    "    size_t i = get_global_id(0);\n"
    "    state[i] = (state[i] * points[i] + coefficient) % 65521;\n"
    "}\n"
    "kernel void store(global const uint *state, global uint *result) { result[get_global_id(0)] = state[get_global_id(0)]; }\n";

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel load = host_kernel(program, "load"), horner = host_kernel(program, "horner"), store = host_kernel(program, "store");
    cl_uint points[COUNT], result[COUNT], coefficients[DEGREE + 1] = {3, 1, 4, 1, 5, 9};
    for (cl_uint i = 0; i < COUNT; i++) points[i] = i * 127 % 65521;
    cl_mem at = host_buffer(&host, CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, sizeof points, NULL);
    cl_mem state = host_buffer(&host, CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS, sizeof points, NULL);
    cl_mem out = host_buffer(&host, CL_MEM_WRITE_ONLY | CL_MEM_HOST_READ_ONLY, sizeof points, NULL);
    EXPECT(clEnqueueReadBuffer(host.queue, state, CL_TRUE, 0, sizeof points, result, 0, NULL, NULL) == CL_INVALID_OPERATION);
    CHECK(clEnqueueWriteBuffer(host.queue, at, CL_TRUE, 0, sizeof points, points, 0, NULL, NULL));
    ARG(load, 0, state);
    ARG(load, 1, coefficients[0]);
    host_launch(&host, load, COUNT, 0);
    for (int d = 1; d <= DEGREE; d++) {
        ARG(horner, 0, at);
        ARG(horner, 1, state);
        ARG(horner, 2, coefficients[d]);
        host_launch(&host, horner, COUNT, 64);
    }
    ARG(store, 0, state);
    ARG(store, 1, out);
    host_launch(&host, store, COUNT, 0);
    host_read(&host, out, sizeof result, result);
    for (int i = 0; i < COUNT; i++) {
        cl_uint value = coefficients[0];
        for (int d = 1; d <= DEGREE; d++) value = (value * points[i] + coefficients[d]) % 65521;
        EXPECT(result[i] == value);
    }
    CHECK(clReleaseMemObject(at));
    CHECK(clReleaseMemObject(state));
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(load));
    CHECK(clReleaseKernel(horner));
    CHECK(clReleaseKernel(store));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("hidden_buffers: right");
    return 0;
}
