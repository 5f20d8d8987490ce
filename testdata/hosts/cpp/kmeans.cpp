// k-means clustering with the C++ bindings (opencl.hpp): exceptions, cl::copy, kernel functors.
//
// Kernels (kmeans.cl): assign and accumulate, 6 launches each: the points are settled after so many steps.
// Special: the kernels do not compile without -DCLUSTERS=5, which the host passes; the number of steps depends on what the kernels
// compute, so a wrong result can end in too many steps (the program gives up after 60, with exit code 1).

#include "host.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <string>

constexpr std::size_t count = 1000, padded = 1024;
constexpr int clusters = 5, most_steps = 60;

struct Point {
    cl_int x, y;
};

static std::vector<Point> make_points()
{
    std::vector<Point> points;
    unsigned state = 17;
    auto next = [&] { return static_cast<cl_int>((state = state * 1664525u + 1013904223u) >> 8); };
    for (std::size_t i = 0; i < count; i++) {
        cl_int heap = static_cast<cl_int>(i % clusters);
        points.push_back({heap * 300 + next() % 280, heap * heap * 90 % 700 + next() % 280});
    }
    return points;
}

// One step as the host does it: assigns, and returns whether a point moved.
static bool step_here(const std::vector<Point> &points, std::array<Point, clusters> &centres, std::vector<cl_uchar> &cluster)
{
    bool moved = false;
    std::array<std::array<cl_int, 3>, clusters> sums{};
    for (std::size_t i = 0; i < count; i++) {
        cl_uint nearest = ~0u;
        cl_uchar best = 0;
        for (cl_uchar c = 0; c < clusters; c++) {
            cl_int dx = points[i].x - centres[c].x, dy = points[i].y - centres[c].y;
            cl_uint square = static_cast<cl_uint>(dx * dx + dy * dy);
            if (square < nearest) nearest = square, best = c;
        }
        moved |= cluster[i] != best;
        cluster[i] = best;
        sums[best][0] += points[i].x, sums[best][1] += points[i].y, sums[best][2]++;
    }
    for (std::size_t c = 0; c < clusters; c++)
        if (sums[c][2]) centres[c] = {sums[c][0] / sums[c][2], sums[c][1] / sums[c][2]};
    return moved;
}

static void run()
{
    auto points = make_points();
    std::array<Point, clusters> centres, expected_centres;
    for (std::size_t c = 0; c < clusters; c++) centres[c] = points[c * 3];
    expected_centres = centres;
    std::vector<cl_uchar> cluster(count, 255), expected(count, 255);

    std::ifstream file("kmeans.cl");
    require(file.good(), "kmeans.cl is beside the program");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    cl::Context context(first_device());
    cl::CommandQueue queue(context);
    cl::Program program(context, text);
    program.build(("-DCLUSTERS=" + std::to_string(clusters)).c_str());
    cl::KernelFunctor<cl::Buffer, cl::Buffer, cl::Buffer, cl::Buffer, cl_uint> assign(program, "assign");
    cl::KernelFunctor<cl::Buffer, cl::Buffer, cl::Buffer, cl_uint> accumulate(program, "accumulate");

    cl::Buffer on_points(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, count * sizeof(Point), points.data());
    cl::Buffer on_centres(context, CL_MEM_READ_ONLY, sizeof centres);
    cl::Buffer on_cluster(context, CL_MEM_READ_WRITE, count), on_moved(context, CL_MEM_READ_WRITE, sizeof(cl_uint));
    cl::Buffer on_sums(context, CL_MEM_READ_WRITE, clusters * 3 * sizeof(cl_int));
    cl::copy(queue, cluster.begin(), cluster.end(), on_cluster);
    cl::EnqueueArgs range(queue, cl::NDRange(padded), cl::NDRange(64));

    int steps = 0;
    for (cl_uint moved = 1; moved != 0;) {
        require(++steps <= most_steps, "the points settle");
        queue.enqueueWriteBuffer(on_centres, CL_TRUE, 0, sizeof centres, centres.data());
        queue.enqueueFillBuffer(on_moved, cl_uint{0}, 0, sizeof(cl_uint));
        queue.enqueueFillBuffer(on_sums, cl_int{0}, 0, clusters * 3 * sizeof(cl_int));
        assign(range, on_points, on_centres, on_cluster, on_moved, count);
        accumulate(range, on_points, on_cluster, on_sums, count);
        std::array<cl_int, clusters * 3> sums;
        queue.enqueueReadBuffer(on_sums, CL_TRUE, 0, sizeof sums, sums.data());
        queue.enqueueReadBuffer(on_moved, CL_TRUE, 0, sizeof moved, &moved);
        for (std::size_t c = 0; c < clusters; c++)
            if (sums[c * 3 + 2]) centres[c] = {sums[c * 3] / sums[c * 3 + 2], sums[c * 3 + 1] / sums[c * 3 + 2]};
        require(step_here(points, expected_centres, expected) == (moved != 0), "as many points move as on the host");
    }
    cl::copy(queue, on_cluster, cluster.begin(), cluster.end());
    require(cluster == expected, "the clusters are those of the host");
    std::cout << "kmeans: right after " << steps << " steps\n";
}

int main() { return guarded(run); }
