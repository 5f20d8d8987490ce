// fault: out-of-bounds: the last element is taken to have a right neighbour.
//
// Each work-item takes the element of its right neighbour; the buffers are behind pointers in a struct.
struct job {
    int n;
    global int *from;
    global int *to;
};

kernel void shift(struct job j) {
    int i = (int)get_global_id(0);
    if (i < j.n)
        j.to[i] = j.from[i + 1];
}
