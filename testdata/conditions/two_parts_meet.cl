// The second part of a row begins where the first one still goes on: its last element is the first of the other part.
// expect: racy
kernel void split(global const float *in, global float *out, int half_length) {
    const int i = get_global_id(0);
    if (i > half_length)
        return;
    out[i] = in[2 * i];
    out[i + half_length] = in[2 * i + 1];
}
