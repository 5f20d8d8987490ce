// Many programs of which few are used, as with libraries that build all they might need.
//
// Kernels: polynomial, 5 launches: 1 in each of five programs. 30 programs are built, each with another constant in its text, and
// 25 of them are never launched.
// Special: whatever a tool does when a program is built, it does 30 times, for five that matter. Programs are built from two
// threads at once, one half each, and one of them with a callback, which makes clBuildProgram asynchronous.

#include "host.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

constexpr std::size_t programs = 30, every = 6, count = 64;

static std::string text_of(std::size_t number)
{
    return "#define NUMBER " + std::to_string(number) +
           "\n"
           "kernel void polynomial(global const int *x, global int *y) {\n"
           "    size_t i = get_global_id(0);\n"
           "    int v = x[i];\n"
           "    y[i] = v > NUMBER ? v * v + NUMBER * v - 7 : NUMBER - v;\n"
           "}\n";
}

static std::atomic<int> built{0};

static void CL_CALLBACK note(cl_program, void *) { built++; }

static void run()
{
    cl::Context context(first_device());
    cl::CommandQueue queue(context);
    std::vector<cl::Program> all(programs);
    std::exception_ptr failure[2];
    auto build = [&](std::size_t first) {
        try {
            for (std::size_t n = first; n < programs; n += 2) {
                all[n] = cl::Program(context, text_of(n));
                all[n].build(nullptr, n == 0 ? note : nullptr);
            }
        } catch (...) {
            failure[first] = std::current_exception();
        }
    };
    std::thread other(build, 1);
    build(0);
    other.join();
    for (const auto &one : failure)
        if (one) std::rethrow_exception(one);
    for (int n = 0; n < 5000 && built == 0; n++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    require(built == 1, "the callback of the first program is called");

    std::vector<cl_int> x(count), y(count);
    for (std::size_t i = 0; i < count; i++) x[i] = static_cast<cl_int>(i);
    cl::Buffer on_x(context, x.begin(), x.end(), true), on_y(context, CL_MEM_WRITE_ONLY, count * sizeof(cl_int));
    for (std::size_t n = 0; n < programs; n += every) {
        cl::Kernel polynomial(all[n], "polynomial");
        polynomial.setArg(0, on_x);
        polynomial.setArg(1, on_y);
        queue.enqueueNDRangeKernel(polynomial, cl::NullRange, cl::NDRange(count));
        cl::copy(queue, on_y, y.begin(), y.end());
        for (std::size_t i = 0; i < count; i++) {
            cl_int v = x[i], number = static_cast<cl_int>(n);
            require(y[i] == (v > number ? v * v + number * v - 7 : number - v), "polynomial is right");
        }
    }
    std::cout << "many_programs: right\n";
}

int main() { return guarded(run); }
