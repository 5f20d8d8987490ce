// Programs made by a template: the same kernel name in four programs, for four types.
//
// Kernels: axpy, 3 launches in each of four programs (char, int, long, float): 12; dot_parts, 1 launch in each: 4.
// Special: the type comes in as text in the source, not as an option, and long takes 8 bytes by value, char 1; each context lives in
// an object at namespace scope, which is destroyed after main has ended.

#include "host.hpp"

#include <memory>
#include <string>

constexpr std::size_t count = 384, group = 32;

struct Device {
    cl::Context context;
    cl::CommandQueue queue;
};

// Destroyed by static destructors.
static std::unique_ptr<Device> device;

template <typename T> static void check_type(const std::string &name)
{
    std::string text = "typedef " + name + " element;\n";
    text += R"(
        kernel void axpy(element a, global const element *x, global element *y)
        {
            size_t i = get_global_id(0);
            y[i] = a * x[i] + y[i];
        }

        kernel void dot_parts(global const element *x, global const element *y, global element *parts, local element *part)
        {
            uint l = get_local_id(0);
            part[l] = x[get_global_id(0)] * y[get_global_id(0)];
            for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {
                barrier(CLK_LOCAL_MEM_FENCE);
                if (l < step)
                    part[l] += part[l + step];
            }
            if (l == 0)
                parts[get_group_id(0)] = part[0];
        }
    )";
    cl::Program program(device->context, text, true);
    std::vector<T> x(count), y(count), parts(count / group);
    for (std::size_t i = 0; i < count; i++) x[i] = static_cast<T>(i % 5), y[i] = static_cast<T>(i % 3);
    cl::Buffer on_x(device->context, x.begin(), x.end(), true), on_y(device->context, y.begin(), y.end(), false);
    cl::Buffer on_parts(device->context, CL_MEM_WRITE_ONLY, parts.size() * sizeof(T));

    cl::Kernel axpy(program, "axpy"), dot(program, "dot_parts");
    for (int n = 1; n <= 3; n++) {
        T a = static_cast<T>(n % 2 ? n : -1);
        axpy.setArg(0, a);
        axpy.setArg(1, on_x);
        axpy.setArg(2, on_y);
        device->queue.enqueueNDRangeKernel(axpy, cl::NullRange, cl::NDRange(count), n == 2 ? cl::NDRange(group) : cl::NullRange);
        for (std::size_t i = 0; i < count; i++) y[i] = static_cast<T>(a * x[i] + y[i]);
    }
    dot.setArg(0, on_x);
    dot.setArg(1, on_y);
    dot.setArg(2, on_parts);
    dot.setArg(3, cl::Local(group * sizeof(T)));
    device->queue.enqueueNDRangeKernel(dot, cl::NullRange, cl::NDRange(count), cl::NDRange(group));
    std::vector<T> read(count);
    cl::copy(device->queue, on_y, read.begin(), read.end());
    cl::copy(device->queue, on_parts, parts.begin(), parts.end());
    require(read == y, ("axpy of " + name + " is right").c_str());
    for (std::size_t g = 0; g < parts.size(); g++) {
        T sum = 0; // all values are small whole numbers: float is exact, too
        for (std::size_t i = g * group; i < (g + 1) * group; i++) sum = static_cast<T>(sum + x[i] * y[i]);
        require(parts[g] == sum, ("dot_parts of " + name + " is right").c_str());
    }
}

static void run()
{
    cl::Context context(first_device());
    device = std::make_unique<Device>(Device{context, cl::CommandQueue(context)});
    check_type<cl_char>("char");
    check_type<cl_int>("int");
    check_type<cl_long>("long");
    check_type<cl_float>("float");
    std::cout << "templates: right\n";
}

int main() { return guarded(run); }
