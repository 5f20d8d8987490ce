// conformance: out=1024 global=256 local=64
// A switch in a switch, an empty one, and one with a declaration in a case.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int x = (int)g, r = 0;
    switch (x >> 4) {
    case 1:
    case 2: {
        int y = x & 7;
        switch (y) {
        case 0: r = 5; break;
        case 3: r = 6;
        default: r += y;
        }
        r *= 2;
        break;
    }
    case 3:
        switch (x & 1) default: r = 70;
        break;
    case 9:
        switch (r) { }
        r = 11;
    default:
        r += 1;
    }
    ((__global int*)out)[g] = r;
}
