// At the border the values further inside count: there has to be an inside.
// expect: conditional `get_global_size(0) >= 3`, `get_global_size(1) >= 3` and `get_global_size(2) >= 3`
kernel void relax(global const float *in, global float *out, float rate) {
    const int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    const int4 size = (int4)(get_global_size(0), get_global_size(1), get_global_size(2), 0);
    int4 from = select(at, (int4)(2, 2, 2, 0), at == (int4)(0, 0, 0, 0));
    from = select(from, size - 3, from >= size - 1);
    const int row = size.x, plane = size.x * size.y, here = from.x + from.y * row + from.z * plane;
    const float around = in[here + 1] + in[here + row] + in[here + plane];
    out[at.x + at.y * row + at.z * plane] = in[here] + rate * (around - 3 * in[here]);
}
