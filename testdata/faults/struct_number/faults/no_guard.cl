// fault: out-of-bounds: the end of the buffer is not checked.
//
// Numbers the elements of the buffer behind a pointer in a struct.
struct job {
    int n;
    global int *to;
};

kernel void number(struct job j) {
    int i = (int)get_global_id(0);
        j.to[i] = i;
}
