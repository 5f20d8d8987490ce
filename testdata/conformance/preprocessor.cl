// conformance: out=1024 global=256 local=64 options=-cl-std=CL1.2,-DWIDTH=4,-DNAME=scaled
// Macros: options, concatenation, text, variadic ones, conditions, versions; #line.
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define VECTOR PASTE(int, WIDTH)
#define SUM(first, ...) (first + COUNTED(__VA_ARGS__))
#define COUNTED(a, b, c) (a * 1 + b * 2 + c * 3)
#define REPEAT4(x) x(0) x(1) x(2) x(3)
#define STEP(n) r += v.s##n << n;
#define TEXT(x) #x
#if __OPENCL_C_VERSION__ >= 120 && defined(CL_VERSION_1_1) && defined(WIDTH) && !defined(cl_missing)
#define EXTRA 5
#else
#error conditions
#endif

int NAME(int x) { return x * EXTRA; }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    VECTOR v = PASTE(vload, WIDTH)(g & 63, (__global const short*)(in + 512)).s0123.x;
    int r = SUM(1, 2, 3, (int)g);
    REPEAT4(STEP)
#line 500 "elsewhere.cl"
    ((__global int*)out)[g] = scaled(r) + __LINE__ + sizeof(TEXT(a + b)) + __ENDIAN_LITTLE__ + __OPENCL_C_VERSION__;
}
