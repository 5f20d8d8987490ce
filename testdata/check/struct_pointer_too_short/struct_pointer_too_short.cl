// The buffer behind a pointer in a struct is one element too short for the last work-item.
//
// expect: memory-fault all-interleavings
// finding A: out-of-bounds global j.to

struct job {
    int n;
    __global int *to;
};

__kernel void number(struct job j)
{
    int i = get_global_id(0);
    if (i <= j.n)
        j.to[i] = i; // <- A
}
