// conformance: out=4096 global=256 local=64 values=uint
// Vectors of three have the size of four; vload3 reads packed ones.
typedef struct { uchar a; float3 position; short3 small; } Point;

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    Point points[2];
    points[0].a = 3;
    points[0].position = (float3)(1.0f, 2.0f, (float)g);
    points[0].small = vload3(g & 63, (__global const short*)(in + 512));
    points[1] = points[0];
    points[1].position.zx = points[0].position.xy;
    uint3 u = vload3(g & 63, (__global const uint*)(in + 2560));
    __global uint* to = (__global uint*)out + 4 * g;
    to[0] = sizeof(Point) * 1000 + sizeof(float3) * 100 + sizeof(uchar3);
    to[1] = u.x + u.y * 3 + u.z * 5;
    to[2] = as_uint(points[1].position.x + points[1].position.y + points[1].position.z);
    to[3] = (uint)points[1].small.z + ((__global const uint3*)(in + 2560))[g & 31].z;
}
