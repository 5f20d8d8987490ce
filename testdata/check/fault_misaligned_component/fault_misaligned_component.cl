// A component of a vector that begins at an odd word: the component is aligned, the vector is not.
// expect: memory-fault
// finding A: misaligned global words
kernel void second(global const int *words, global int *out) {
    size_t i = get_global_id(0);
    out[i] = ((global const int4 *)(words + 1))[i].y; // <- A
}
