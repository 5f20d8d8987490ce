// fault: output: all numbers from 2 on choose the second buffer.
//
// Writes into one of two buffers, or into none.
kernel void choose(global int *a, global int *b, int which) {
    global int *to = 0;
    if (which == 1)
        to = a;
    if (which >= 2)
        to = b;
    if (to)
        to[get_global_id(0)] = which;
}
