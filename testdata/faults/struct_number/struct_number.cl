// Numbers the elements of the buffer behind a pointer in a struct.
// The right form of `testdata/check/struct_pointer_too_short`.
struct job {
    int n;
    global int *to;
};

kernel void number(struct job j) {
    int i = (int)get_global_id(0);
    if (i < j.n)
        j.to[i] = i;
}
