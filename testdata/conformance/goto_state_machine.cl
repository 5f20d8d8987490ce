// conformance: out=1024 global=256 local=64
// A machine of labels, with jumps forwards and backwards, out of nested loops.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global const uchar* p = in + 256 + (g & 127);
    int r = 0, left = 40;
start:
    if (left-- == 0) goto done;
    if (*p < 64) { p++; goto low; }
    if (*p < 200) goto middle;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            r += i * j;
            if (p[i + j] & 1) { p += 2; goto start; }
        }
    p++;
    goto start;
low:
    r += 3;
    if (r % 5 == 0) goto middle;
    goto start;
middle:
    r ^= *p++;
    goto start;
done:
    ((__global int*)out)[g] = r;
}
