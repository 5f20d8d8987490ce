// Constant memory written through a pointer that forgot what it is.
// expect: memory-fault
// finding A: read-only-write constant table
kernel void scribble(constant int *table, global int *out) {
    size_t i = get_global_id(0);
    ((global int *)(ulong)table)[i] = 0; // <- A
    out[i] = table[i];
}
