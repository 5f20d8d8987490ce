// A vector of three components takes the place of four numbers; the fourth belongs to the neighbour, who counts there.
// expect: clean all-interleavings
kernel void normals(global float3 *normal, global const float *height) {
    int i = get_local_id(0), n = get_local_size(0);
    global float *numbers = (global float *)normal;
    numbers[4 * ((i + 1) % n) + 3] = i;
    float3 old = normal[i];
    normal[i] = (float3)(height[i] + old.x, old.y, 1.0f);
}
