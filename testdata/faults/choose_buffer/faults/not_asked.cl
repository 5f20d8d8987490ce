// fault: null-access: the pointer stays null if nothing was chosen.
//
// Writes into one of two buffers, or into none.
kernel void choose(global int *a, global int *b, int which) {
    global int *to = 0;
    if (which == 1)
        to = a;
    if (which == 2)
        to = b;
        to[get_global_id(0)] = which;
}
