// fault: null-access: any number but 0 is taken for a choice.
//
// Writes into one of two buffers, or into none.
kernel void choose(global int *a, global int *b, int which) {
    global int *to = 0;
    if (which == 1)
        to = a;
    if (which == 2)
        to = b;
    if (which)
        to[get_global_id(0)] = which;
}
