// The two items of a pair write different fields of one struct.
// expect: clean all-interleavings
typedef struct {
    int even;
    int odd;
} Pair;

kernel void split(global const int *in, global int *out, local Pair *pairs) {
    size_t l = get_local_id(0);
    if (l % 2 == 0)
        pairs[l / 2].even = in[l];
    else
        pairs[l / 2].odd = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l % 2 == 0)
        out[l / 2] = pairs[l / 2].even - pairs[l / 2].odd;
}
