// fault: output: the first element is not numbered.
//
// Numbers the elements of the buffer behind a pointer in a struct.
struct job {
    int n;
    global int *to;
};

kernel void number(struct job j) {
    int i = (int)get_global_id(0);
    if (i > 0 && i < j.n)
        j.to[i] = i;
}
