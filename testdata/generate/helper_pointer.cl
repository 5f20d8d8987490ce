// Helpers that write through pointers, one within the other.
void step(int *x, int by) {
    if (by > 100) // -> true covered, false covered
        *x += by * 2;
    else
        *x -= by;
}
int walk(int x, int by) {
    step(&x, by);
    step(&x, by - 64);
    return x;
}
kernel void helper_pointer(global int *out, int start, int by) {
    int x = walk(start, by);
    if (x == 54321 && by == 150) // -> true covered
        x = 0;
    out[get_global_id(0)] = x;
}
