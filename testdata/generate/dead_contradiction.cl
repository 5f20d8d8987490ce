// Guards that contradict one another: by two constants, and by three arguments in a circle.
kernel void dead_contradiction(global int *out, int n, int a, int b, int c) {
    int i = get_global_id(0);
    int r = 0;
    if (n > 10) {    // <- A
        if (n < 5)   // -> true infeasible by A
            r = 1;
        if (n == 10) // -> true infeasible by A
            r = 2;
    }
    if (a < b && b < c) { // <- B
        if (c < a)        // -> true infeasible by B
            r = 3;
        if (a == c)       // -> true infeasible by B
            r = 4;
    }
    out[i] = r;
}
