// conformance: out=1024 global=256 local=64
// Overloaded functions of a user, static and inline ones, attributes.
int __attribute__((overloadable)) half_of(int x) { return x / 2; }
float __attribute__((overloadable)) half_of(float x) { return x * 0.5f; }
int4 __attribute__((overloadable)) half_of(int4 x) { return x >> 1; }
static inline int twice(int x) { return (int)(x * 2u); }
__attribute__((noinline)) int apart(int x, const int y) { return x ^ y; }
inline __attribute__((always_inline)) int within(int x) { return apart(x, 3); }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int x = ((__global const short*)(in + 512))[g];
    ((__global int*)out)[g] = half_of(x) + (int)half_of((float)x) * 3 + half_of((int4)x).z * 5 + twice(within(x));
}
