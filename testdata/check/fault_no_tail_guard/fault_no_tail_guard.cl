// More items than elements and no guard.
// expect: memory-fault
// finding A: out-of-bounds global out
kernel void square(global float *out) {
    size_t i = get_global_id(0);
    out[i] = (float)(i * i); // <- A
}
