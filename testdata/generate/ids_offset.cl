// The part of a larger range: the offset counts, in one dimension and as a stride.
kernel void ids_offset(global int *out, uint part) {
    size_t i = get_global_id(0) - get_global_offset(0);
    int r = 0;
    if (get_global_offset(0) == 24 && i == 3) // -> true covered
        r = 1;
    if (get_global_id(0) == part && part > i) // -> true covered
        r |= 2;
    out[i] = r;
}
