// fault: out-of-bounds: the table is taken to be as long as the result.
//
// Writes the doubles of a table in constant memory, repeated from its beginning.
kernel void scribble(constant int *table, global int *out, int size, int n) {
    int i = (int)get_global_id(0);
    if (i >= n)
        return;
    out[i] = 2 * table[i];
}
