// conformance: out=1024 global=256 local=64
// Arrays of arrays in private memory, indexed dynamically, with partial initialisers.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uchar grid[5][7] = { { 1, 2, 3 }, { [3] = 9 }, [4] = { 4, 5, 6, 7, 8, 9, 10 } };
    for (int i = 0; i < 20; i++)
        grid[(g + i * 3) % 5][(g * i) % 7] ^= (in + 256)[(g + i) & 255];
    uint r = 0;
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 7; x++)
            r = r * 31 + grid[y][x];
    ((__global uint*)out)[g] = r;
}
