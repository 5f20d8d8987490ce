/* The other kinds of images: a volume, an array of layers, a line of texels, an image over a buffer.
 *
 * Kernels: project, 1 launch; pick_layer, 2 launches; look_up, 1 launch.
 * Special: image3d_t, image2d_array_t, image1d_t, image1d_buffer_t; channels of one and of two components, normalised and
 * float; clEnqueueFillImage, clEnqueueMapImage, clEnqueueWriteImage of one layer. */

#include "host.h"

enum { SIDE = 16, DEPTH = 8, LAYERS = 3, ENTRIES = 64 };

static const char *source =
    "constant sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "kernel void project(read_only image3d_t volume, global float *plane) {\n"
    "    int x = get_global_id(0), y = get_global_id(1);\n"
    "    float most = 0;\n"
    "    for (int z = 0; z < get_image_depth(volume); z++)\n"
    "        most = fmax(most, read_imagef(volume, exact, (int4)(x, y, z, 0)).x);\n"
    "    plane[y * get_image_width(volume) + x] = most;\n"
    "}\n"
    "kernel void pick_layer(read_only image2d_array_t layers, int layer, write_only image2d_t to) {\n"
    "    int x = get_global_id(0), y = get_global_id(1);\n"
    "    write_imagef(to, (int2)(x, y), read_imagef(layers, exact, (int4)(x, y, layer, 0)));\n"
    "}\n"
    "kernel void look_up(read_only image1d_t indices, read_only image1d_buffer_t table, global int *out) {\n"
    "    int i = get_global_id(0);\n"
    "    int at = read_imagei(indices, exact, i).x;\n"
    "    out[i] = read_imagei(table, at).x;\n"
    "}\n";

static cl_mem image(const struct host *host, cl_channel_order order, cl_channel_type type, cl_image_desc shape, void *contents)
{
    cl_int error;
    cl_mem created;
    cl_image_format format = {order, type};
    cl_mem_flags flags = CL_MEM_READ_WRITE | (contents ? CL_MEM_COPY_HOST_PTR : 0);
    CREATE(created, clCreateImage(host->context, flags, &format, &shape, contents, &error));
    return created;
}

int main(void)
{
    struct host host = host_open(0);
    cl_bool images = CL_FALSE;
    CHECK(clGetDeviceInfo(host.device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL));
    if (!images) skip("the device has no images");
    cl_program program = host_program(&host, source, "-cl-std=CL1.2");
    size_t origin[3] = {0}, square[] = {SIDE, SIDE, 1};
    cl_int error;

    static cl_float volume[DEPTH][SIDE][SIDE], plane[SIDE][SIDE];
    unsigned state = 9;
    for (int i = 0; i < DEPTH * SIDE * SIDE; i++) (&volume[0][0][0])[i] = (float)(next_random(&state) % 1000);
    cl_mem solid = image(&host, CL_R, CL_FLOAT,
                         (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = SIDE, .image_height = SIDE,
                                         .image_depth = DEPTH},
                         volume);
    cl_mem flat = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof plane, NULL);
    cl_kernel project = host_kernel(program, "project");
    ARG(project, 0, solid);
    ARG(project, 1, flat);
    CHECK(clEnqueueNDRangeKernel(host.queue, project, 2, NULL, square, NULL, 0, NULL, NULL));
    host_read(&host, flat, sizeof plane, plane);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            float most = 0;
            for (int z = 0; z < DEPTH; z++) most = volume[z][y][x] > most ? volume[z][y][x] : most;
            EXPECT(plane[y][x] == most);
        }

    cl_mem layers = image(&host, CL_RG, CL_UNORM_INT8,
                          (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = SIDE,
                                          .image_height = SIDE, .image_array_size = LAYERS},
                          NULL);
    cl_mem picked = image(&host, CL_RG, CL_UNORM_INT8,
                          (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE}, NULL);
    cl_float black[4] = {0, 0, 0, 1};
    size_t all[] = {SIDE, SIDE, LAYERS}, second[] = {0, 0, 1};
    cl_uchar layer[SIDE][SIDE][2];
    for (int i = 0; i < SIDE * SIDE * 2; i++) (&layer[0][0][0])[i] = (cl_uchar)i;
    CHECK(clEnqueueFillImage(host.queue, layers, black, origin, all, 0, NULL, NULL));
    CHECK(clEnqueueWriteImage(host.queue, layers, CL_TRUE, second, square, 0, 0, layer, 0, NULL, NULL));
    cl_kernel pick = host_kernel(program, "pick_layer");
    for (cl_int l = 0; l < 2; l++) {
        ARG(pick, 0, layers);
        ARG(pick, 1, l);
        ARG(pick, 2, picked);
        CHECK(clEnqueueNDRangeKernel(host.queue, pick, 2, NULL, square, NULL, 0, NULL, NULL));
        size_t pitch;
        cl_uchar *mapped;
        CREATE(mapped, clEnqueueMapImage(host.queue, picked, CL_TRUE, CL_MAP_READ, origin, square, &pitch, NULL, 0, NULL,
                                         NULL, &error));
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE * 2; x++) EXPECT(mapped[(size_t)y * pitch + (size_t)x] == (l ? layer[y][x / 2][x % 2] : 0));
        CHECK(clEnqueueUnmapMemObject(host.queue, picked, mapped, 0, NULL, NULL));
    }

    cl_int indices[ENTRIES], table[ENTRIES], found[ENTRIES];
    for (int i = 0; i < ENTRIES; i++) indices[i] = i * 5 % ENTRIES, table[i] = 1000 - i;
    cl_mem line = image(&host, CL_R, CL_SIGNED_INT32,
                        (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = ENTRIES}, indices);
    cl_mem below = host_buffer(&host, CL_MEM_READ_WRITE, sizeof table, table);
    cl_mem over = image(&host, CL_R, CL_SIGNED_INT32,
                        (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = ENTRIES,
                                        .mem_object = below},
                        NULL);
    cl_mem out = host_buffer(&host, CL_MEM_WRITE_ONLY, sizeof found, NULL);
    cl_kernel look_up = host_kernel(program, "look_up");
    ARG(look_up, 0, line);
    ARG(look_up, 1, over);
    ARG(look_up, 2, out);
    host_launch(&host, look_up, ENTRIES, 16);
    host_read(&host, out, sizeof found, found);
    for (int i = 0; i < ENTRIES; i++) EXPECT(found[i] == table[indices[i]]);

    cl_mem made[] = {solid, flat, layers, picked, line, over, below, out};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) CHECK(clReleaseMemObject(made[i]));
    CHECK(clReleaseKernel(project));
    CHECK(clReleaseKernel(pick));
    CHECK(clReleaseKernel(look_up));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("image_kinds: right");
    return 0;
}
