// Halves: an equality and a window.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void half_level(global const half *level, global int *out) {
    int i = get_global_id(0);
    half h = level[i];
    int r = 0;
    if (h == (half)1234.0f) // -> true covered
        r = 1;
    if (h > (half)0.5f && h < (half)0.51f) // -> true covered
        r += 2;
    out[i] = r;
}
