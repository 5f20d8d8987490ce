// conformance: out=1024 global=256 local=64
// 4 KiB of private memory for each work-item, as a stack for a depth-first walk.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    ushort stack[2048];
    int top = 0, visited = 0;
    uint r = 0;
    stack[top++] = (ushort)(g + 1);
    while (top > 0 && visited < 300) {
        uint node = stack[--top];
        visited++;
        r = r * 31 + node;
        if (node < 4000) {
            if ((in + 256)[node & 255] & 1) stack[top++] = (ushort)(2 * node + 1);
            if ((in + 256)[node & 255] & 6) stack[top++] = (ushort)(2 * node);
        }
    }
    ((__global uint*)out)[g] = r + visited;
}
