// Collatz without the case that ends it.
// expect: memory-fault
// flags: --timeout 3
// finding A: non-termination
kernel void endless(global int *out) {
    uint n = (uint)get_global_id(0) + 1;
    int steps = 0;
    while (n != 0) { // <- A
        n = n % 2 ? 3 * n + 1 : n / 2;
        n |= 1;
        steps++;
    }
    out[get_global_id(0)] = steps;
}
