// Rows of a table are looked up: the index is one of a row, not of an element.
// expect: clean
kernel void embed(global const int *tokens, global const float4 *table, global float4 *out, int length, int width4) {
    const int t = get_global_id(1), c = get_global_id(0);
    if (c < width4 && t < length)
        out[t * width4 + c] = table[tokens[t] * width4 + c];
}
