/* Images: a picture is blurred four times, to and fro between two images, and made gray.
 *
 * Kernels (image_blur.cl): blur, 4 launches; luma, 1 launch.
 * Special: a sampler as an argument, which is another one for the last two launches; a sampler in the kernel; an image
 * created with its contents and one without; ranges of two dimensions, once without a local size. */

#include "host.h"

enum { WIDTH = 80, HEIGHT = 48 };

static cl_sampler sampler(const struct host *host, cl_addressing_mode addressing)
{
    cl_int error;
    cl_sampler created;
    cl_sampler_properties list[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_FALSE, CL_SAMPLER_ADDRESSING_MODE, addressing,
                                    CL_SAMPLER_FILTER_MODE, CL_FILTER_NEAREST, 0};
    CREATE(created, clCreateSamplerWithProperties(host->context, list, &error));
    return created;
}

static void blur_here(cl_uchar (*image)[WIDTH][4], int clamps)
{
    static cl_uchar result[HEIGHT][WIDTH][4];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 4; c++) {
                unsigned sum = 0;
                for (int v = y - 1; v <= y + 1; v++)
                    for (int u = x - 1; u <= x + 1; u++) {
                        int beyond = u < 0 || u >= WIDTH || v < 0 || v >= HEIGHT;
                        if (beyond && !clamps) continue; /* CL_ADDRESS_CLAMP: the border is black and transparent */
                        int row = v < 0 ? 0 : v >= HEIGHT ? HEIGHT - 1 : v, column = u < 0 ? 0 : u >= WIDTH ? WIDTH - 1 : u;
                        sum += image[row][column][c];
                    }
                result[y][x][c] = (cl_uchar)(sum / 9);
            }
    memcpy(image, result, sizeof result);
}

int main(void)
{
    struct host host = host_open(0);
    cl_bool images = CL_FALSE;
    CHECK(clGetDeviceInfo(host.device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL));
    if (!images) skip("the device has no images");
    char *source = host_file("image_blur.cl", NULL);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel blur = host_kernel(program, "blur"), luma = host_kernel(program, "luma");

    static cl_uchar picture[HEIGHT][WIDTH][4], read[HEIGHT][WIDTH][4], gray[HEIGHT][WIDTH];
    unsigned state = 3;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 4; c++) picture[y][x][c] = (cl_uchar)(next_random(&state) % 256 * (x > y) + y);

    cl_int error;
    cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = WIDTH, .image_height = HEIGHT};
    cl_mem pair[2];
    CREATE(pair[0], clCreateImage(host.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, &shape, picture, &error));
    CREATE(pair[1], clCreateImage(host.context, CL_MEM_READ_WRITE, &format, &shape, NULL, &error));
    cl_sampler clamps = sampler(&host, CL_ADDRESS_CLAMP_TO_EDGE), border = sampler(&host, CL_ADDRESS_CLAMP);

    size_t global[] = {WIDTH, HEIGHT}, local[] = {8, 4};
    for (int pass = 0; pass < 4; pass++) {
        ARG(blur, 0, pair[pass % 2]);
        ARG(blur, 1, pair[(pass + 1) % 2]);
        if (pass < 2) ARG(blur, 2, clamps);
        else ARG(blur, 2, border);
        CHECK(clEnqueueNDRangeKernel(host.queue, blur, 2, NULL, global, pass == 3 ? NULL : local, 0, NULL, NULL));
        blur_here(picture, pass < 2);
    }
    size_t origin[3] = {0}, region[] = {WIDTH, HEIGHT, 1};
    CHECK(clEnqueueReadImage(host.queue, pair[0], CL_TRUE, origin, region, 0, 0, read, 0, NULL, NULL));
    EXPECT(memcmp(read, picture, sizeof read) == 0);

    cl_mem into = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof gray, NULL);
    ARG(luma, 0, pair[0]);
    ARG(luma, 1, into);
    CHECK(clEnqueueNDRangeKernel(host.queue, luma, 2, NULL, global, local, 0, NULL, NULL));
    host_read(&host, into, sizeof gray, gray);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const cl_uchar *p = picture[y][x];
            EXPECT(gray[y][x] == (p[0] * 2 + p[1] * 5 + p[2]) / 8);
        }
    CHECK(clReleaseSampler(clamps));
    CHECK(clReleaseSampler(border));
    CHECK(clReleaseMemObject(into));
    CHECK(clReleaseMemObject(pair[0]));
    CHECK(clReleaseMemObject(pair[1]));
    CHECK(clReleaseKernel(blur));
    CHECK(clReleaseKernel(luma));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    free(source);
    puts("image_blur: right");
    return 0;
}
