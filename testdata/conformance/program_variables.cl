// conformance: out=2048 global=256 local=64 options=-cl-std=CL2.0
// Variables of the program in global memory, static ones in functions, with initial values.
global int base = 40;
global uchar bytes[8] = { 1, 2, 3, 4 };
static global int4 lanes = (int4)(1, 2, 3, 4);

int limits(int n)
{
    static constant int most[3] = { 10, 20, 30 };
    return most[n % 3];
}

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    ((__global int*)out)[g] = base + bytes[g & 7] * 100 + lanes[g & 3] * 1000 + limits((int)g);
    ((__global int*)out)[256 + g] = lanes.w - base;
}
