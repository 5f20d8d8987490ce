/* Include paths relative to the program's folder: the game of life, whose kernel includes headers from two folders, one of
 * which has a blank in its name.
 *
 * Kernels (life/kernels.cl): generation, 20 launches: 12 without a macro, 8 with -DHIGH_LIFE.
 * Special: the program copies the folder with the blank itself (it is made when the program starts, and removed when it
 * ends): once it has ended, its kernel can no longer be compiled from what is on disk. */

#include "host.h"
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 32, HEIGHT = 24 };

static int at(int x, int y) { return (y + HEIGHT) % HEIGHT * WIDTH + (x + WIDTH) % WIDTH; }

static void generations(const struct host *host, const char *source, const char *options, int high, int count)
{
    cl_program program = host_program(host, source, options);
    cl_kernel kernel = host_kernel(program, "generation");
    cl_uchar cells[2][WIDTH * HEIGHT], result[WIDTH * HEIGHT];
    unsigned state = 4;
    for (int i = 0; i < WIDTH * HEIGHT; i++) cells[0][i] = next_random(&state) % 3 == 0;
    cl_mem pair[] = {host_buffer(host, CL_MEM_READ_WRITE, sizeof result, cells[0]),
                     host_buffer(host, CL_MEM_READ_WRITE, sizeof result, NULL)};
    struct { cl_int width, height; } grid = {WIDTH, HEIGHT};
    size_t global[] = {WIDTH, HEIGHT}, local[] = {8, 8};
    for (int g = 0; g < count; g++) {
        const cl_uchar *now = cells[g % 2];
        ARG(kernel, 0, pair[g % 2]);
        ARG(kernel, 1, pair[(g + 1) % 2]);
        ARG(kernel, 2, grid);
        CHECK(clEnqueueNDRangeKernel(host->queue, kernel, 2, NULL, global, local, 0, NULL, NULL));
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                int around = -now[at(x, y)];
                for (int v = y - 1; v <= y + 1; v++)
                    for (int u = x - 1; u <= x + 1; u++) around += now[at(u, v)];
                cells[(g + 1) % 2][at(x, y)] =
                    around == 3 || (now[at(x, y)] && around == 2) || (high && !now[at(x, y)] && around == 6);
            }
    }
    host_read(host, pair[count % 2], sizeof result, result);
    EXPECT(memcmp(result, cells[count % 2], sizeof result) == 0);
    CHECK(clReleaseMemObject(pair[0]));
    CHECK(clReleaseMemObject(pair[1]));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
}

static void copy(const char *from, const char *to)
{
    size_t size;
    char *text = host_file(from, &size);
    FILE *file = fopen(to, "wb");
    if (!file || fwrite(text, 1, size, file) != size || fclose(file) != 0) fail("cannot write %s", to);
    free(text);
}

int main(void)
{
    struct host host = host_open(0);
    char *source = host_file("life/kernels.cl", NULL);
    mkdir("my shapes", 0777);
    copy("life/shapes/grid.h", "my shapes/grid.h");
    copy("life/shapes/wrap.h", "my shapes/wrap.h");
    generations(&host, source, "-Ilife -I \"my shapes\"", 0, 12);
    generations(&host, source, "-I \"./my shapes\" -D HIGH_LIFE -I ./life/", 1, 8);
    unlink("my shapes/grid.h");
    unlink("my shapes/wrap.h");
    rmdir("my shapes");
    free(source);
    host_close(&host);
    puts("include_paths: right");
    return 0;
}
