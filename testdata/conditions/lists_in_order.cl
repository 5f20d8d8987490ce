// Dimensions are permuted: a list says which dimension of the operand each one of the result is.
// expect: clean
kernel void permute(global float *out, global const float *in, global const int *order, global const int *shape,
                    global const int *old_steps, global const int *new_steps, const int axes) {
    int from = 0, to = 0, below = 1;
    for (int axis = axes - 1; axis >= 0; --axis) {
        const int at = get_global_id(0) / below % shape[axis];
        from += at * old_steps[order[axis]];
        to += at * new_steps[axis];
        below *= shape[axis];
    }
    out[to] = in[from];
}
