// fault: output: the second buffer is never chosen.
//
// Writes into one of two buffers, or into none.
kernel void choose(global int *a, global int *b, int which) {
    global int *to = 0;
    if (which == 1)
        to = a;
    if (to)
        to[get_global_id(0)] = which;
}
