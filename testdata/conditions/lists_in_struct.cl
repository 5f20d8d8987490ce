// A tensor of any number of dimensions is copied from one layout to another: sizes and strides are arrays in structs that are passed
// by value, of which a loop takes an element for each dimension.
// expect: clean
typedef struct {
    int count;
    int sizes[6];
    int strides[6];
} layout_t;

kernel void relayout(global float *out, global const float *in, const layout_t to, const layout_t from, const int n) {
    const int i = get_global_id(0);
    if (i >= n)
        return;
    int rest = i, place = 0, source = 0;
    for (int d = to.count - 1; d >= 0; --d) {
        const int at = rest % to.sizes[d];
        rest /= to.sizes[d];
        place += at * to.strides[d];
        source += at * from.strides[d];
    }
    out[place] = in[source];
}
