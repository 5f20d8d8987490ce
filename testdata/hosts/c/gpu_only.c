/* A program that insists on a GPU: it asks for one in both ways and looks at the type that the device reports.
 *
 * Kernels: dither, 2 launches, if there is a GPU or a tool shows a CPU as one (`--as-gpu`); else none, and the program ends
 * with 77.
 * Special: the type is asked for when devices are listed, when the context is made, and of the device itself. */

#include "host.h"

enum { WIDTH = 64, HEIGHT = 32 };

static const char *source =
    "constant int thresholds[4] = {32, 160, 224, 96};\n"
    "kernel void dither(global const uchar *gray, global uchar *bits, int invert) {\n"
    "    int x = get_global_id(0), y = get_global_id(1), at = y * get_global_size(0) + x;\n"
    "    int bit = gray[at] > thresholds[y % 2 * 2 + x % 2];\n"
    "    bits[at] = invert ? !bit : bit;\n"
    "}\n";

int main(void)
{
    struct host host;
    cl_int error;
    cl_device_type type = 0;
    host.device = host_device(CL_DEVICE_TYPE_GPU, &host.platform);
    CHECK(clGetDeviceInfo(host.device, CL_DEVICE_TYPE, sizeof type, &type, NULL));
    if (!(type & CL_DEVICE_TYPE_GPU)) skip("the GPU says that it is none");
    cl_context_properties platform[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)host.platform, 0};
    CREATE(host.context, clCreateContextFromType(platform, CL_DEVICE_TYPE_GPU, NULL, NULL, &error));
    CHECK(clGetContextInfo(host.context, CL_CONTEXT_DEVICES, sizeof host.device, &host.device, NULL));
    CREATE(host.queue, clCreateCommandQueue(host.context, host.device, 0, &error));

    cl_program program = host_program(&host, source, NULL);
    cl_kernel dither = host_kernel(program, "dither");
    cl_uchar gray[WIDTH * HEIGHT], bits[WIDTH * HEIGHT];
    for (int i = 0; i < WIDTH * HEIGHT; i++) gray[i] = (cl_uchar)(i * 11);
    cl_mem in = host_buffer(&host, CL_MEM_READ_ONLY, sizeof gray, gray);
    cl_mem out = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof bits, NULL);
    ARG(dither, 0, in);
    ARG(dither, 1, out);
    size_t global[] = {WIDTH, HEIGHT};
    for (cl_int invert = 0; invert < 2; invert++) {
        ARG(dither, 2, invert);
        CHECK(clEnqueueNDRangeKernel(host.queue, dither, 2, NULL, global, NULL, 0, NULL, NULL));
        host_read(&host, out, sizeof bits, bits);
        static const int thresholds[4] = {32, 160, 224, 96};
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            EXPECT(bits[i] == ((gray[i] > thresholds[i / WIDTH % 2 * 2 + i % WIDTH % 2]) ^ invert));
    }
    CHECK(clReleaseMemObject(in));
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(dither));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("gpu_only: right");
    return 0;
}
