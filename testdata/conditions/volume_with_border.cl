// The last rows and planes are smoothed like those three steps further inside: there have to be so many.
// expect: conditional `get_global_size(1) >= 3` and `get_global_size(2) >= 3`
kernel void smooth(global const float *in, global float *out, float rate) {
    const int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    const int width = get_global_size(0), plane = width * get_global_size(1);
    const int2 size = (int2)(get_global_size(1), get_global_size(2));
    const int2 from = min(at.yz, size - 3);
    const int here = at.x + from.x * width + from.y * plane;
    float around = 0.0f;
    for (int k = 1; k <= 2; k++)
        around += in[here + k * width] + in[here + k * plane];
    out[at.x + at.y * width + at.z * plane] = in[here] + rate * (around / 4 - in[here]);
}
