// Relations of whole vectors: any lane, all lanes, chosen lanes.
kernel void vector_masks(global const int4 *v, global int *out, int4 limit) {
    int i = get_global_id(0);
    int r = 0;
    if (any(v[i] == (int4)(10, 200, 3000, 40000))) // -> true covered
        r = 1;
    if (all(v[i] > limit)) // -> true covered
        r |= 2;
    int4 chosen = select(v[i], limit, v[i] > 1000);
    if (chosen.x + chosen.y == 1234567) // -> true covered
        r |= 4;
    out[i] = r;
}
