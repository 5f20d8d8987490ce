/* Scales numbers into one of two buffers and counts them, all through pointers in a struct that is passed by value.
 *
 * Fixture for: pointers to global and constant memory in a struct argument, in a struct in it and in an
 * array that is indexed with a value from memory.
 */

struct counts {
    __global int *bins;
    int last;
};

struct work {
    int n;
    __global const float *x;
    struct counts seen;
    __global float *out[2];
    __constant float *weights;
};

__kernel void struct_pointers(struct work w, __global const int *order)
{
    int i = get_global_id(0);
    if (i >= w.n)
        return;
    int which = order[i] & 1;
    w.out[which][i] = w.x[i] * w.weights[which];
    int bin = order[i] < w.seen.last ? order[i] : w.seen.last;
    atomic_inc(&w.seen.bins[bin]);
}
