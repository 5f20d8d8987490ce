// conformance: out=1024 global=16 local=16 values=float ulps=4 line=16 copy=16 formats=float
// An image that lies in a buffer.
__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image1d_buffer_t line, __write_only image1d_buffer_t copy)
{
    int x = get_global_id(0);
    __global float* to = (__global float*)out + 16 * x;
    float4 v = read_imagef(line, x);
    vstore4(v, 0, to);
    to[4] = get_image_width(line);
    to[5] = get_image_channel_data_type(line);
    write_imagef(copy, 15 - x, v);
}
