// conformance: out=1024 global=256 local=64
// Duff's device: a switch into the middle of a loop.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int count = (int)(g & 31) + 1, n = (count + 7) / 8;
    __global const uint* from = (__global const uint*)(in + 2560);
    uint r = 0;
    switch (count % 8) {
    case 0: do { r = r * 3 + *from++;
    case 7:      r = r * 3 + *from++;
    case 6:      r = r * 3 + *from++;
    case 5:      r = r * 3 + *from++;
    case 4:      r = r * 3 + *from++;
    case 3:      r = r * 3 + *from++;
    case 2:      r = r * 3 + *from++;
    case 1:      r = r * 3 + *from++;
            } while (--n > 0);
    }
    ((__global uint*)out)[g] = r;
}
