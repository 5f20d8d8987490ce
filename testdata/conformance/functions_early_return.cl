// conformance: out=1024 global=256 local=64
// Functions with many returns, called under conditions and in arguments, with outputs by pointer.
int classify(int x, int* detail)
{
    *detail = 0;
    if (x == 0) return 1;
    if (x < 0) {
        *detail = -1;
        if (x < -1000) return 2;
        for (int i = 0; i < 10; i++)
            if ((x + i) % 7 == 0) { *detail = i; return 3; }
        return 4;
    }
    while (x > 3) {
        x /= 3;
        if (x % 4 == 2) return 5;
        ++*detail;
    }
    return 6;
}

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int x = ((__global const short*)(in + 512))[g], a, b = 9;
    int r = classify(x, &a) * 100 + a;
    if (r & 1 && classify(x / 2, &b) > 3) r += b;
    ((__global int*)out)[g] = r + max(classify(-x, &a), b) + a;
}
