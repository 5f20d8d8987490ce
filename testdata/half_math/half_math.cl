/* Half precision in storage and in arithmetic.
 *
 * Scales and shifts halves, either converted to float for the sum or in half arithmetic throughout, and counts what
 * overflowed to infinity. Fixture for: half buffers, vload_half and vstore_half, vload_half4, half scalars as arguments,
 * cl_khr_fp16.
 */

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void half_math(__global const half *in, __global half *out, half scale, half shift, int wide,
                        __global int *overflows)
{
    size_t gid = get_global_id(0);
    size_t first = 4 * gid;

    if (wide) {
        float4 x = vload_half4(gid, in);
        float4 y = x * (float)scale + (float)shift;
        vstore_half4_rte(y, gid, out);
    } else {
        for (size_t i = first; i < first + 4; i++) {
            half x = in[i];
            half product = x * scale;
            out[i] = product + shift;
        }
    }

    int count = 0;
    for (size_t i = first; i < first + 4; i++) {
        float result = vload_half(i, out);
        if (isinf(result))
            count++;
    }
    if (count > 0)
        atomic_add(overflows, count);
}
