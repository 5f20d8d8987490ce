// Offsets that no launch has by chance; the id is far beyond the sizes of launches.
kernel void launch_offset(global int *out, uint key) {
    int v = 0;
    if (get_global_offset(0) == 1234567) // -> true covered
        v = 1;
    if (get_global_id(0) == (size_t)1 << 40) // -> true covered
        v += 2;
    if (get_global_id(0) - get_global_offset(0) == 37 && get_global_offset(0) == key && key > 100000) // -> true covered
        v += 4;
    out[get_local_id(0)] = v;
}
