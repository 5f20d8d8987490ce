/* Kernels of histogram.py. */

kernel void histogram(global const uchar *pixels, uint count, global uint *bins, local uint *part)
{
    uint l = get_local_id(0), size = get_local_size(0);
    for (uint b = l; b < 256; b += size)
        part[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        atomic_inc(&part[pixels[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = l; b < 256; b += size)
        if (part[b])
            atomic_add(&bins[b], part[b]);
}

kernel void stretch(global uchar *pixels, uint low, uint high)
{
    size_t i = get_global_id(0);
    uint value = clamp((uint)pixels[i], low, high);
    pixels[i] = high > low ? (value - low) * 255 / (high - low) : value;
}
