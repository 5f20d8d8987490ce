// conformance: out=1024 global=256 local=64
// Pointers in private structs, chosen at run time.
typedef struct { __global const int* from; __global int* to; int step; } View;

void copy(const View* view, int n) { view->to[0] = view->from[n * view->step & 255] + n; }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    View views[2];
    for (int i = 0; i < 2; i++) {
        views[i].from = (__global const int*)(in + 1536 + 1024 * i);
        views[i].to = (__global int*)out + g;
        views[i].step = 3 + i;
    }
    copy(&views[g & 1], (int)g);
}
