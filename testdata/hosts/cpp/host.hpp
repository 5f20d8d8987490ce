// What the C++ programs of this folder share. They end with 0, 1 (wrong) or 77 (skipped), like those in C.

#ifndef HOST_HPP
#define HOST_HPP

#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_MINIMUM_OPENCL_VERSION 200
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>

#include <iostream>
#include <stdexcept>
#include <vector>

// Says why a program cannot show what it is for on this machine.
struct Skipped : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void require(bool condition, const char *what)
{
    if (!condition) throw std::runtime_error(std::string("it does not hold that ") + what);
}

// The first device of the first platform that has one.
inline cl::Device first_device()
{
    std::vector<cl::Platform> platforms;
    try {
        cl::Platform::get(&platforms);
    } catch (const cl::Error &) {
        throw Skipped("no OpenCL platform");
    }
    for (const auto &platform : platforms) {
        std::vector<cl::Device> devices;
        try {
            platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
        } catch (const cl::Error &) {
            continue;
        }
        if (!devices.empty()) return devices.front();
    }
    throw Skipped("no OpenCL device");
}

// Runs a program's work and returns its exit code.
template <typename Work> int guarded(Work work)
{
    try {
        work();
        return 0;
    } catch (const Skipped &skipped) {
        std::cout << "skipped: " << skipped.what() << '\n';
        return 77;
    } catch (const cl::BuildError &error) {
        std::cerr << "wrong: " << error.what() << ": error " << error.err() << '\n';
        for (const auto &log : error.getBuildLog()) std::cerr << log.second << '\n';
    } catch (const cl::Error &error) {
        std::cerr << "wrong: " << error.what() << ": error " << error.err() << '\n';
    } catch (const std::exception &error) {
        std::cerr << "wrong: " << error.what() << '\n';
    }
    return 1;
}

#endif
