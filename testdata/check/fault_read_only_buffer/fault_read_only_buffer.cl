// The host has made the table for reading only, and the kernel normalises it in place.
// expect: memory-fault
// finding A: read-only-write global table
kernel void normalise(global float *table, global float *out, float scale) {
    size_t i = get_global_id(0);
    float value = table[i] * scale;
    table[i] = value; // <- A
    out[i] = value;
}
