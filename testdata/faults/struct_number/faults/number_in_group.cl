// fault: data-race: uses the number in the group as the place.
//
// Numbers the elements of the buffer behind a pointer in a struct.
struct job {
    int n;
    global int *to;
};

kernel void number(struct job j) {
    int i = (int)get_global_id(0);
    if (i < j.n)
        j.to[get_local_id(0)] = i;
}
