// An element found by another buffer's element, as a gather has it; what it finds points on.
kernel void index_indirect(global const uint *link, global const int *payload, global int *out, uint mask) {
    int i = get_global_id(0);
    uint first = link[i & 15] & 15u;
    uint second = link[first] & 15u;
    out[i] = 0;
    if (first != second) { // -> true covered
        if (payload[second] == -99173) // -> true covered
            out[i] = 1;
        if (link[second] == first + mask && mask > 1000u) // -> true covered
            out[i] += 2;
    }
}
