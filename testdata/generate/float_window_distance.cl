// A distance in a window, without the square root.
kernel void float_window_distance(global const float2 *points, global int *ring, float cx, float cy) {
    int i = get_global_id(0);
    float dx = points[i].x - cx, dy = points[i].y - cy;
    float d = dx * dx + dy * dy;
    if (d > 24.9f && d < 25.1f) // -> true covered
        ring[i] = dx > 0.0f ? 1 : 2;
    else if (d == 0.0f) // -> true covered, false covered
        ring[i] = 3;
    else
        ring[i] = 0;
}
