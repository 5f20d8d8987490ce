// A picture on standard output: the Mandelbrot set in characters, so that the output itself can be the verdict.
//
// Kernels: escape_time, 12 launches, one for each row of tiles.
// Special: what is printed is the same in every run (fixed-point arithmetic, no times); the program compares nothing but a checksum,
// and with the argument `lax` not even that: then only its output tells whether a kernel is right.

#include "host.hpp"

#include <cstring>
#include <string>

constexpr std::size_t width = 72, height = 24, rows_a_launch = 2;
constexpr cl_uint expected_sum = 80467;

static const char *const text = R"(
    kernel void escape_time(global uchar *steps, int most)
    {
        int x = get_global_id(0), y = get_global_id(1);
        int cr = (x - 52) * 48, ci = (y * 2 - 23) * 50; /* fixed point, 10 bits */
        int zr = 0, zi = 0, n = 0;
        while (n < most && zr * zr + zi * zi <= 4 << 20) {
            int next = ((zr * zr - zi * zi) >> 10) + cr;
            zi = ((2 * zr * zi) >> 10) + ci;
            zr = next;
            n++;
        }
        steps[y * get_global_size(0) + x] = n;
    }
)";

static void run(bool lax)
{
    cl::Context context(first_device());
    cl::CommandQueue queue(context);
    cl::Program program(context, std::string(text), true);
    cl::Kernel escape(program, "escape_time");
    cl::Buffer out(context, CL_MEM_WRITE_ONLY, width * height);
    escape.setArg(0, out);
    escape.setArg(1, cl_int{40});
    for (std::size_t y = 0; y < height; y += rows_a_launch)
        queue.enqueueNDRangeKernel(escape, cl::NDRange(0, y), cl::NDRange(width, rows_a_launch), cl::NDRange(8, 2));
    std::vector<cl_uchar> steps(width * height);
    cl::copy(queue, out, steps.begin(), steps.end());
    cl_uint sum = 0;
    for (std::size_t i = 0; i < steps.size(); i++) {
        sum += steps[i] * (1 + i % 7);
        std::cout << " .:-=+*%@#"[steps[i] >= 40 ? 9 : steps[i] / 3 > 8 ? 8 : steps[i] / 3] << (i % width == width - 1 ? "\n" : "");
    }
    require(lax || sum == expected_sum, ("the checksum is right, and not " + std::to_string(sum)).c_str());
}

int main(int count, char **arguments)
{
    return guarded([&] { run(count > 1 && std::strcmp(arguments[1], "lax") == 0); });
}
