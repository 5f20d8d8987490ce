// Each work-item writes its own element, through a pointer in a struct: no other pointer leads there.
//
// expect: clean all-interleavings

struct job {
    int n;
    __global const int *from;
    __global int *to;
};

__kernel void shift(struct job j)
{
    int i = get_global_id(0);
    if (i + 1 < j.n)
        j.to[i] = j.from[i + 1];
}
