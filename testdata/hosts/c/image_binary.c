/* Images in a program from a binary, of which the driver does not tell which images its kernels only read.
 *
 * Kernels: blend, 2 launches.
 * Special: in the second launch one image is both of those that are read. */

#include "host.h"

enum { WIDTH = 24, HEIGHT = 10 };

static const char *source =
    "kernel void blend(read_only image2d_t a, read_only image2d_t b, write_only image2d_t out) {\n"
    "    const sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;\n"
    "    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "    write_imageui(out, at, (read_imageui(a, exact, at) * 3 + read_imageui(b, exact, at)) / 4);\n"
    "}\n";

static cl_program rebuilt(const struct host *host)
{
    size_t size;
    cl_int status, error;
    cl_program built = host_program(host, source, ""), program;
    CHECK(clGetProgramInfo(built, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    unsigned char *binary = malloc(size);
    EXPECT(binary);
    CHECK(clGetProgramInfo(built, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    CHECK(clReleaseProgram(built));
    CREATE(program, clCreateProgramWithBinary(host->context, 1, &host->device, &size, (const unsigned char **)&binary, &status, &error));
    CHECK(status);
    CHECK(clBuildProgram(program, 1, &host->device, "", NULL, NULL));
    free(binary);
    return program;
}

int main(void)
{
    struct host host = host_open(0);
    cl_bool images = CL_FALSE;
    CHECK(clGetDeviceInfo(host.device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL));
    if (!images) skip("the device has no images");
    cl_program program = rebuilt(&host);
    cl_kernel blend = host_kernel(program, "blend");

    static cl_uchar pictures[2][HEIGHT][WIDTH][4], read[HEIGHT][WIDTH][4];
    unsigned state = 9;
    for (size_t i = 0; i < sizeof pictures; i++) ((cl_uchar *)pictures)[i] = (cl_uchar)(next_random(&state) % 256);
    cl_int error;
    cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = WIDTH, .image_height = HEIGHT};
    cl_mem in[2], out;
    for (int i = 0; i < 2; i++)
        CREATE(in[i], clCreateImage(host.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, &shape, pictures[i], &error));
    CREATE(out, clCreateImage(host.context, CL_MEM_READ_WRITE, &format, &shape, NULL, &error));

    size_t origin[3] = {0}, region[] = {WIDTH, HEIGHT, 1}, global[] = {WIDTH, HEIGHT}, local[] = {8, 2};
    for (int second = 1; second >= 0; second--) {
        ARG(blend, 0, in[0]);
        ARG(blend, 1, in[second]);
        ARG(blend, 2, out);
        CHECK(clEnqueueNDRangeKernel(host.queue, blend, 2, NULL, global, local, 0, NULL, NULL));
        CHECK(clEnqueueReadImage(host.queue, out, CL_TRUE, origin, region, 0, 0, read, 0, NULL, NULL));
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                for (int c = 0; c < 4; c++) EXPECT(read[y][x][c] == (pictures[0][y][x][c] * 3 + pictures[second][y][x][c]) / 4);
    }
    for (int i = 0; i < 2; i++) CHECK(clReleaseMemObject(in[i]));
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(blend));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("image_binary: right");
    return 0;
}
