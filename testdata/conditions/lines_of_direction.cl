// Each work-item filters a line, of which it keeps a copy of fixed size: a row or a column, as the direction says.
// expect: clean
#define LONGEST 32

kernel void smooth(global float *out, global const float *in, const int direction, const uint width, const uint height) {
    const uint line = get_global_id(0);
    const uint lines = direction == 0 ? height : width, length = direction == 0 ? width : height;
    if (line >= lines)
        return;
    float kept[LONGEST];
    for (uint i = 0; i < length; ++i)
        kept[i] = direction == 0 ? in[line * width + i] : in[i * width + line];
    for (uint i = 0; i < length; ++i) {
        const float sum = kept[i] + (i > 0 ? kept[i - 1] : 0.0f);
        if (direction == 0)
            out[line * width + i] = 0.5f * sum;
        else
            out[i * width + line] = 0.5f * sum;
    }
}
