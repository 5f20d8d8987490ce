// conformance: out=1024 global=256 local=64
// break and continue in a switch in a loop, cases that fall through, default in the middle.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uint x = ((__global const uint*)(in + 2560))[g], r = 1;
    for (int i = 0; i < 16; i++, x >>= 2) {
        switch (x & 7) {
        case 1:
            r += 3;
        case 2:
            r *= 5;
            break;
        default:
            r ^= x;
        case 4:
            r--;
            continue;
        case 6:
            if (r & 1) break;
            r += i;
        case 7:
            r += 100;
        }
        r = r << 1 | r >> 31;
    }
    ((__global uint*)out)[g] = r;
}
