// conformance: out=1024 global=256 local=64
// Jumps out of a switch, and between its cases.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int x = (in + 256)[g], r = 0;
again:
    switch (x % 5) {
    case 0: r += 1; goto three;
    case 1: r += 10; x += 7; if (r < 50) goto again; goto end;
    case 2: r += 100; break;
    three:
    case 3: r += 1000; x /= 2; if (x) goto again; break;
    case 4: goto end;
    }
    r = -r;
end:
    ((__global int*)out)[g] = r;
}
