// conformance: out=1024 global=256 local=64
// && and || in conditions, in values, nested with negation, guarding accesses.
bool odd(int x, int* calls) { ++*calls; return x & 1; }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global const uchar* bytes = in + 256;
    int n = 0, x = bytes[g], y = bytes[255 - g], r = 0;
    if (odd(x, &n) && odd(y, &n) || !odd(x + y, &n)) r |= 1;
    if (!(x > 100 && (y > 50 || odd(x, &n)))) r |= 2;
    int v = (x < y || odd(y, &n)) + (x && y && odd(x, &n)) * 2;
    for (int i = (int)g; i < 256 && bytes[i] != 0 && !(bytes[i] == 255 || n > 60); i++)
        n++;
    bool both = odd(x, &n) & odd(y, &n), either = odd(x, &n) | !odd(y, &n);
    ((__global int*)out)[g] = r + v * 8 + n * 64 + both * 16384 + either * 32768;
}
