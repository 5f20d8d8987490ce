// fault: output: elements stay where they are.
//
// Each work-item takes the element of its right neighbour; the buffers are behind pointers in a struct.
struct job {
    int n;
    global int *from;
    global int *to;
};

kernel void shift(struct job j) {
    int i = (int)get_global_id(0);
    if (i + 1 < j.n)
        j.to[i] = j.from[i];
}
