// conformance: out=1024 global=256 local=64 options=-cl-std=CL2.0
// Unnamed address spaces: a function used with global, local and private memory, a struct of generic pointers.
typedef struct { int* data; int count; } Span;

int total(Span span)
{
    int sum = 0;
    for (int i = 0; i < span.count; i++)
        sum = sum * 3 + span.data[i] % 1000;
    return sum;
}

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int tile[64];
    size_t g = get_global_id(0), l = get_local_id(0);
    int own[4] = { 1, 2, 3, (int)g };
    tile[l] = (int)l * 3;
    ((__global int*)out)[g] = (int)g;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    Span spans[3] = { { own, 4 }, { tile + (l & 31), 8 }, { (__global int*)out + g, 1 } };
    int r = total(spans[g % 3]) + total(spans[(g + 1) % 3]);
    barrier(CLK_GLOBAL_MEM_FENCE);
    ((__global int*)out)[g] = r;
}
