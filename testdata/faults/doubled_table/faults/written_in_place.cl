// fault: read-only-write: the table is doubled in place, through a pointer that forgot what it is.
//
// Writes the doubles of a table in constant memory, repeated from its beginning.
kernel void scribble(constant int *table, global int *out, int size, int n) {
    int i = (int)get_global_id(0);
    if (i >= n)
        return;
    ((global int *)(ulong)table)[i % size] *= 2;
    out[i] = 2 * table[i % size];
}
