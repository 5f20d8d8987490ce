// The same buffer behind both pointers: a work-item reads what its neighbour writes.
//
// expect: racy all-interleavings
// finding A: data-race intra-group global j.from
// finding B: data-race inter-group global j.from

struct job {
    int n;
    __global const int *from;
    __global int *to;
};

__kernel void shift(struct job j)
{
    int i = get_global_id(0);
    if (i + 1 < j.n)
        j.to[i] = j.from[i + 1]; // <- A B
}
