// A table in constant memory read past its end.
// expect: memory-fault
// finding A: out-of-bounds constant weights
constant float weights[3] = {0.25f, 0.5f, 0.25f};

kernel void weigh(global const int *at, global float *out) {
    size_t i = get_global_id(0);
    out[i] = weights[at[i]]; // <- A
}
