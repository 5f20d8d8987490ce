// An array in a structure, at a place that an argument chooses.
struct table { ushort size; int slot[8]; };
kernel void struct_array(struct table t, global const struct table *tables, global int *out, uint at) {
    int i = get_global_id(0);
    int r = 0;
    if (t.slot[at & 7] == 90210) // -> true covered
        r = 1;
    if (tables[i].size == 77 && tables[i].slot[5] == tables[i].slot[1] * 3 + 1) // -> true covered
        r |= 2;
    out[i] = r;
}
