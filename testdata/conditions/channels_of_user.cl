// A colour has three channels, through which the loop counts down.
// expect: clean
kernel void tint(global float *image, const float red, const float green, const float blue, const int channels, const int plane) {
    const float colour[3] = {red, green, blue};
    const int i = get_global_id(0);
    if (i >= plane)
        return;
    for (int c = channels - 1; c >= 0; --c)
        image[c * plane + i] = mix(image[c * plane + i], colour[c], 0.25f);
}
