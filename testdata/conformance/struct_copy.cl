// conformance: out=8192 global=256 local=64 values=uint
// Structs by value to and from functions, assigned between address spaces, with arrays and structs in them.
typedef struct { short x, y; } Pair;
typedef struct { Pair pairs[3]; float weight; uchar tag; } Item;

Item moved(Item item, Pair by)
{
    for (int i = 0; i < 3; i++) {
        item.pairs[i].x += by.x;
        item.pairs[i].y -= by.y;
    }
    item.tag++;
    return item;
}

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0), l = get_local_id(0);
    __global const short* shorts = (__global const short*)(in + 512);
    __local Item tile[64];
    Item own = { { { shorts[g], 1 }, { 2, shorts[255 - g] } }, 0.5f, 255 };
    Pair by = own.pairs[1];
    own = moved(own, by);
    tile[l] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    Item other = tile[63 - l];
    Pair step = { 1, 2 };
    Item changed = moved(other, step);
    other.pairs[0] = changed.pairs[2];
    uint8 r;
    r.s0 = (ushort)other.pairs[0].x;
    r.s1 = (ushort)other.pairs[0].y;
    r.s2 = (ushort)other.pairs[1].x;
    r.s3 = (ushort)other.pairs[1].y;
    r.s4 = as_uint(other.weight);
    r.s5 = other.tag;
    r.s6 = sizeof(Item);
    r.s7 = (ushort)own.pairs[2].y;
    vstore8(r, g, (__global uint*)out);
}
