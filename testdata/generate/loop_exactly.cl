// A loop has to run a certain number of times.
kernel void loop_exactly(global int *out, uint value) {
    int steps = 0;
    while (value != 0) {
        value &= value - 1;
        steps++;
    }
    if (steps == 17) // -> true covered
        out[get_global_id(0)] = 1;
    else
        out[get_global_id(0)] = steps;
}
