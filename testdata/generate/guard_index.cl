// A place that is loaded picks from an array of the work-item's own, without any check, and so does what is loaded there.
kernel void guard_index(global const int *places, global int *out, int from) {
    int table[12] = {7, 3, 9, 1, 0, 11, 2, 5, 4, 10, 8, 6};
    int i = get_global_id(0);
    int first = table[places[i] - 100];
    int second = table[first - from];
    if (second == 11) // -> true covered
        out[i] = 1;
    else if (first == 10 && from > 1) // -> true covered
        out[i] = 2;
    else
        out[i] = second;
}
